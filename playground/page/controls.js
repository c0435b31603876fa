// Buttons, sliders and the link: what the reader chooses.

import { PRESETS_OF, STARTS, choiceFrom, commandOf, hashOf, settingsOf, usualFor } from "../learning/settings.js";
import { WORDS } from "./words.js";

const byId = (id) => document.getElementById(id);

/** Sliders go by orders of magnitude: epsilon as the task says, and 1 - gamma from 0.5 to 0.001. */
const SLIDERS = {
  epsilon: { from: (at) => 10 ** at, to: (value) => Math.log10(value), digits: 2 },
  gamma: { from: (at) => 1 - 10 ** -at, to: (value) => -Math.log10(1 - value), digits: 3 },
};

/** Where a document of the repository is on the built site, which has a folder for each page. */
function siteLink(place) {
  return place.includes("README") ? "./" : place.replace(/(index)?\.md$/, "/").replace(/^\/$/, "./");
}

/** Offer what can be chosen, in these words; a choice of one is none. */
function fill(select, known, words) {
  select.replaceChildren(...Object.keys(known).map((name) => new Option(words[name], name)));
  select.disabled = select.length < 2;
}

export class Controls {
  /** onChoice is called with every new choice, onSpeed with the number of a speed. */
  constructor({ onChoice, onSpeed }) {
    this.onChoice = onChoice;
    const { choice, problems } = choiceFrom(location.hash);
    this.choice = choice;
    this.problems = problems;
    byId("tasks").replaceChildren(...Object.entries(WORDS).map(([task, { label }]) => this.pill(task, label)));
    for (const name of ["preset", "start"]) byId(name).addEventListener("change", () => this.pick(name));
    byId("seed").addEventListener("change", () => this.pickSeed(byId("seed").value));
    byId("another").addEventListener("click", () => this.pickSeed(String(this.choice.seed + 1n)));
    for (const name of Object.keys(SLIDERS)) {
      byId(name).addEventListener("input", () => this.show({ ...this.choice, [name]: this.read(name) }));
      byId(name).addEventListener("change", () => this.choose({ [name]: this.read(name) }));
    }
    byId("speed").addEventListener("input", () => {
      onSpeed(Number(byId("speed").value));
      this.showSpeed();
    });
    byId("copy").addEventListener("click", () => this.copy());
    if (location.protocol.startsWith("http")) {
      for (const link of document.querySelectorAll("nav a")) link.href = siteLink(link.getAttribute("href"));
    }
    addEventListener("hashchange", () => this.follow());
    this.show(this.choice);
    this.sayProblems();
  }

  /** A button for a task; arrow keys go from one to the next. */
  pill(task, label) {
    const input = Object.assign(document.createElement("input"), { type: "radio", name: "task", id: `task-${task}`, value: task });
    input.addEventListener("change", () => this.choose({ ...usualFor(task), seed: this.choice.seed }));
    const made = document.createElement("label");
    made.append(input, label);
    return made;
  }

  read(name) {
    const { from, digits } = SLIDERS[name];
    return Number(from(Number(byId(name).value)).toPrecision(digits));
  }

  pick(name) {
    const changes = { [name]: byId(name).value };
    if (name === "preset") Object.assign(changes, { epsilon: null, gamma: null });
    this.choose(changes);
  }

  pickSeed(word) {
    const { choice, problems } = choiceFrom(`seed=${encodeURIComponent(word.trim())}`);
    this.problems = problems;
    this.sayProblems();
    if (problems.length) byId("seed").value = String(this.choice.seed);
    else this.choose({ seed: choice.seed });
  }

  choose(changes) {
    this.remember(changes);
    this.show(this.choice);
    this.onChoice(this.choice);
  }

  /** Write a choice into the address. */
  remember(changes) {
    this.choice = { ...this.choice, ...changes };
    const hash = hashOf(this.choice);
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  }

  /** The reader went to another link on the same page. */
  follow() {
    const { choice, problems } = choiceFrom(location.hash);
    this.problems = problems;
    this.sayProblems();
    this.choice = choice;
    this.show(choice);
    this.onChoice(choice);
  }

  /** Show a choice that may not be made yet, as while a slider is moved. */
  show(choice) {
    const words = WORDS[choice.task];
    byId(`task-${choice.task}`).checked = true;
    fill(byId("preset"), PRESETS_OF[choice.task], words.presets);
    fill(byId("start"), STARTS[choice.task], words.starts);
    byId("preset").value = choice.preset;
    byId("start").value = choice.start;
    [byId("epsilon").min, byId("epsilon").max] = words.epsilon.map(String);
    byId("seed").value = String(choice.seed);
    for (const [name, { to }] of Object.entries(SLIDERS)) {
      const value = settingsOf(choice)[name];
      byId(name).value = String(to(value));
      byId(name).setAttribute("aria-valuetext", String(value));
      byId(`${name}-value`).textContent = String(value);
    }
    byId("command").textContent = commandOf(choice);
    this.showSpeed();
  }

  showSpeed() {
    const name = WORDS[this.choice.task].speeds[Number(byId("speed").value)];
    byId("speed").setAttribute("aria-valuetext", name);
    byId("speed-value").textContent = name;
  }

  sayProblems() {
    const place = byId("problem");
    place.hidden = !this.problems.length;
    place.textContent = this.problems.length
      ? `This page cannot take all of that: ${this.problems.join("; ")}. The usual settings are taken instead.` : "";
  }

  async copy() {
    const link = location.href.split("#")[0] + (hashOf(this.choice) ? `#${hashOf(this.choice)}` : "");
    try {
      await navigator.clipboard.writeText(link);
      byId("copied").textContent = "Copied.";
    } catch { // a page that was opened as a file may not write there
      byId("copied").textContent = link;
    }
  }
}
