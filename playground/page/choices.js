// Which actions count as best, and how values are written: as src/distinguo/explanations/choices.py has it, so that
// sentences, the table below them and the package agree.

import { preferred } from "../learning/criteria.js";

const DECIMALS = 9; // of a look-ahead that count
export const NOTHING = 10 ** -DECIMALS; // less reward is written as 0

/** The values of a look-ahead without the noise of its arithmetic. */
export function withoutNoise(values) {
  return values.map((value) => Number(value.toFixed(DECIMALS)) + 0);
}

/** The actions within a tolerance of the best: one, or several that are tied. */
export function tiedBest(q, tolerance = 0) {
  return preferred(q, tolerance).flatMap((is, a) => (is ? [a] : []));
}

/** A number with the digits worth reading. */
export function amount(number) {
  if (Math.abs(number) < NOTHING) return "0";
  return signed(Math.abs(number) >= 100 ? number.toFixed(1) : String(Number(number.toPrecision(3))));
}

function signed(text) {
  return text.replace(/^-/, "−");
}

/** Numbers to be compared by a reader: with as many digits as it takes to see which are equal. */
export function amounts(...numbers) {
  const written = numbers.map(amount);
  for (let digits = 4; digits < 18; digits += 1) {
    const clash = written.map((text, n) => written.some((other, m) => text === other && numbers[n] !== numbers[m]));
    if (!clash.includes(true)) break;
    clash.forEach((is, n) => {
      if (is) written[n] = signed(String(Number(numbers[n].toPrecision(digits)) + 0));
    });
  }
  return written;
}

/** What is best, in words; `doing` has the actions as activities. */
export function preference(doing, actions) {
  if (actions.length === 1) return `${doing[actions[0]]} is best`;
  if (actions.length === doing.length) return `${doing.length === 2 ? "either" : "any"} action will do`;
  const names = actions.map((a) => doing[a]);
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)} are tied`;
}
