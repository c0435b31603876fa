// The panel that answers "why": sentences first, then both action profiles as a table.

import { glyphOf, hueOf } from "../../src/distinguo/views/studio/page/view/colours.js";
import { explainOne, explainTwo, written } from "./reasons.js";
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
      this.table(found, stage.task),
    );
    if (this.marks.length === 1) this.place.append(element("p", "Click a second state to ask whether the two are told apart.", { class: "hint" }));
    return found;
  }

  table({ states, then }, task) {
    const table = element("table");
    const head = element("tr");
    head.append(element("td"), ...WORDS[task.key].acts.map((act, a) => element("th", `${act} ${glyphOf(task.actions[a])}`, { scope: "col" })));
    table.append(element("caption", "What each action is worth"), head);
    states.forEach((about, n) => {
      const name = "AB"[n];
      table.append(row(`${name}, looking ahead now`, about.now.q1), row(`${name}, by region ${about.region}`, about.q));
      if (then) table.append(row(`${name}'s family, in trial ${then.trial}`, then.profiles[n]));
    });
    return table;
  }
}

/** A row of values, the best ones marked by the colour of their action. */
function row(name, profile) {
  const made = element("tr");
  made.append(element("th", name, { scope: "row" }));
  const best = Math.max(...profile);
  profile.forEach((value, a) => {
    const cell = element("td", written(value, 3));
    if (value === best) {
      cell.className = "best";
      cell.style.borderColor = hueOf(a);
    }
    made.append(cell);
  });
  return made;
}
