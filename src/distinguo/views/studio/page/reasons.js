// Why a state is where it is, and why two are kept apart: sentences first, figures second.

import { plain } from "./places.js";

/** Show an answer of the studio in an element. */
export function showReasons(element, { sentences, figures }) {
  const words = sentences.map((sentence) => made("p", sentence));
  const details = document.createElement("details");
  details.append(made("summary", "The figures"), tableOf(figures));
  element.replaceChildren(...words, details);
}

function made(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

/** A table of names and values; a table within is shown by names with a dot. */
function tableOf(figures) {
  const table = document.createElement("table");
  for (const [name, value] of rowsOf(figures)) {
    const row = table.insertRow();
    const head = made("th", name);
    head.scope = "row";
    row.append(head, made("td", value));
  }
  return table;
}

function rowsOf(value, prefix = "") {
  return Object.entries(value).flatMap(([key, inner]) => {
    const name = prefix ? `${prefix}, ${key.replaceAll("_", " ")}` : key.replaceAll("_", " ");
    if (inner && typeof inner === "object" && !Array.isArray(inner)) return rowsOf(inner, name);
    if (Array.isArray(inner) && inner.some((one) => one && typeof one === "object" && !Array.isArray(one))) {
      return inner.flatMap((one, n) => rowsOf(one, `${name} ${n + 1}`));
    }
    return name === "sentences" ? [] : [[name, inText(inner)]];
  });
}

function inText(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return plain(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map(inText).join(", ");
  return String(value);
}
