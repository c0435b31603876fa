// Two runs side by side, in figures.

import { plain } from "./places.js";

const ROWS = [
  ["task", (head) => head.task],
  ["learner", (head) => head.learner],
  ["seed", (head) => String(head.seed)],
  ["ε, reward at stake", (head) => plain(head.settings.epsilon)],
  ["γ, discount", (head) => plain(head.settings.gamma)],
  ["result", (head) => (head.state === "finished" ? (head.solved ? "solved" : "not solved") : head.state === "growing" ? "live" : head.state)],
  ["score", (head) => plain(head.result.score)],
  ["trials", (head) => plain(head.result.trials ?? head.trial)],
  ["environment steps to learn it", (head) => plain(head.result.environment_steps ?? head.steps)],
  ["regions", (head, regions) => plain(head.result.regions ?? regions)],
  ["prototypes", (head) => plain(head.result.prototypes)],
];

/** Fill a table with two panes; what differs is set in bold. */
export function compare(table, panes) {
  const rows = ROWS.map(([name, of]) => [name, panes.map((pane) => of(pane.head, pane.regions))]);
  const text = JSON.stringify([panes.map((pane) => pane.head.name), rows]);
  if (table.dataset.shown === text) return;
  table.dataset.shown = text;
  const body = document.createElement("tbody");
  const head = body.insertRow();
  head.append(cell("td", ""), ...panes.map((pane) => cell("th", pane.head.name, "col")));
  for (const [name, values] of rows.filter(([, values]) => values.some((value) => value !== "–"))) {
    const row = body.insertRow();
    row.classList.toggle("differs", values[0] !== values[1]);
    row.append(cell("th", name, "row"), ...values.map((value) => cell("td", value)));
  }
  table.replaceChildren(table.caption, body);
}

function cell(tag, words, scope) {
  const made = document.createElement(tag);
  made.textContent = words;
  if (scope) made.scope = scope;
  return made;
}
