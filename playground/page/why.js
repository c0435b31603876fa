// The panel that answers "why": sentences first, then both action profiles as a table.

import { glyphOf, hueOf } from "../../src/distinguo/views/studio/page/view/colours.js";
import { amounts, tiedBest } from "./choices.js";
import { explainOne, explainTwo } from "./reasons.js";
import { WORDS } from "./words.js";

function element(tag, text = "", attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

export class Why {
  constructor(place) {
    this.place = place;
    this.marks = [];
  }

  /** Ask about a state, or about a second one; a third begins anew. */
  ask(point) {
    this.marks = this.marks.length === 1 ? [this.marks[0], [...point]] : [[...point]];
  }

  clear() {
    this.marks = [];
    this.place.replaceChildren();
  }

  /** Say something about an earlier map; reasons are those of the newest. */
  tellThen(words, moment) {
    this.place.replaceChildren(
      element("p", `${words}.`),
      element("p", `This is the map after trial ${moment}. Press Newest to ask why.`, { class: "hint" }),
    );
  }

  /** Answer by what is known now. */
  answer(stage) {
    if (!this.marks.length) return null;
    const found = this.marks.length === 1 ? explainOne(stage, this.marks[0]) : explainTwo(stage, ...this.marks);
    const [first, ...rest] = found.sentences;
    this.place.replaceChildren(
      element("p", first, { class: "verdict" }),
      ...rest.map((sentence) => element("p", sentence)),
      this.table(found, stage),
    );
    if (this.marks.length === 1) this.place.append(element("p", "Click a second state to ask why the two are kept apart, or not.", { class: "hint" }));
    return found;
  }

  table({ states, then }, { task, settings }) {
    const table = element("table");
    const head = element("tr");
    head.append(element("td"), ...WORDS[task.key].acts.map((act, a) => element("th", `${act} ${glyphOf(task.actions[a])}`, { scope: "col" })));
    table.append(element("caption", "What each action is worth"), head);
    states.forEach((about, n) => {
      const name = "AB"[n];
      if (then) table.append(row(`${name}'s family, then (trial ${then.trial})`, then.profiles[n], task));
      table.append(row(`${name}, learned (region ${about.region})`, about.q, task, settings.delta), row(`${name}, now`, about.now.q1, task));
    });
    return table;
  }
}

/** A row of values, the best ones marked by the colour of their action. */
function row(name, profile, { actions }, tolerance = 0) {
  const made = element("tr");
  made.append(element("th", name, { scope: "row" }));
  const best = tiedBest(profile, tolerance);
  amounts(...profile).forEach((text, a) => {
    const cell = element("td", text);
    if (best.includes(a)) {
      cell.className = "best";
      cell.style.borderColor = hueOf(a, actions);
    }
    made.append(cell);
  });
  return made;
}
