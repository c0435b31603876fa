// Why a state is where it is, and why two are kept apart: sentences first, figures second.

import { plain } from "./places.js";

/** Show an answer of the studio in an element; a figure that is missing has no row. */
export function showReasons(element, { sentences, figures }) {
  const words = sentences.map((sentence, n) => made("p", sentence, n ? "" : "first"));
  const notes = (figures.notes ?? []).map((note) => made("p", note, "hint"));
  const details = document.createElement("details");
  details.open = true;
  details.append(made("summary", "The figures"), tableOf(figures));
  element.replaceChildren(...words, ...notes, details);
}

function made(tag, text, kind = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (kind) element.className = kind;
  return element;
}

function tableOf(figures) {
  const states = figures.other ? [figures, figures.other] : [figures];
  const table = document.createElement("table");
  if (states.length === 2) addRow(table, "", ["A, here", "B, there"], "th");
  addRow(table, "region", states.map((one) => plain(one.region)));
  addRow(table, "best by the map", states.map((one) => one.actions.join(", ")));
  addRow(table, "value", states.map((one) => plain(one.value)));
  addProfiles(table, figures, states);
  addRow(table, "born", states.map((one) => birth(one.born)));
  if (figures.other) addPair(table, figures);
  return table;
}

/** What each action is worth by each source, as the sentences have it; the best ones are marked. */
function addProfiles(table, figures, states) {
  const each = figures.table.length / states.length;
  for (let n = 0; n < each; n += 1) {
    const sides = states.map((_, side) => figures.table[side * each + n]);
    figures.action_names.forEach((name, action) => {
      const cells = sides.map((row, side) => {
        const unsure = row.source === "now" && !states[side].profile.reliable[action] ? " (not reliable)" : "";
        return row.written[action].replace("-", "−") + unsure;
      });
      addRow(table, `${name}, ${sides[0].source}`, cells);
      sides.forEach((row, side) => {
        if (row.best.includes(action)) table.rows[table.rows.length - 1].cells[side + 1].className = "best";
      });
    });
  }
}

function birth(born) {
  if (!born) return null;
  if (born.came === "split") {
    return `trial ${born.trial}, from prototype ${born.parent}${born.rules.length ? ` by ${born.rules.join(", ")}` : ""}`;
  }
  return born.came === "first" ? "the first region" : born.came;
}

function addPair(table, { rules, rules_now: now, regret, per, epsilon, epsilon_half: half, price }) {
  addRow(table, "kept apart by", [rules.join(", ")]);
  addRow(table, "now by", [now?.join(", ")]);
  addRow(table, `lost per ${per ?? "visit"} if merged`, [number(regret)]);
  addRow(table, "lost per trial", [price && number(price.lost)]);
  addRow(table, "ε that would merge them", [number(epsilon) ?? (number(half) && `none; ${number(half)} with δ = ε/2`)]);
}

function number(value) {
  return typeof value === "number" ? plain(value) : null;
}

function addRow(table, name, cells, tag = "td") {
  if (cells.every((cell) => !cell)) return;
  const row = table.insertRow();
  const head = made("th", name);
  head.scope = "row";
  row.append(head, ...cells.map((cell) => made(tag, cell ?? "–")));
  if (cells.length === 1) row.lastChild.colSpan = 2;
}
