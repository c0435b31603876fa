// Colours that colour-blind eyes tell apart: the same palette as the pictures of matplotlib (views/colours.py).
//
// Everything that is neither hue nor shade comes from the page, by CSS variables on any ancestor of a canvas:
// --ink (text and lines), --muted (axes), --line (hairlines), --paper (what canvases are drawn on), --accent (what the
// reader points at) and --map-base (what the hue of an action is mixed with where the value is low).

export const HUES = [
  "#0072b2", // blue
  "#e69f00", // orange
  "#009e73", // green
  "#cc79a7", // pink
  "#56b4e9", // sky
  "#d55e00", // vermilion
  "#f0e442", // yellow
  "#882255", // wine
  "#999933", // olive
  "#332288", // indigo
];
export const UNDECIDED = "#777777"; // for regions without a preferred action
const PALEST = 0.3; // share of the hue at the lowest value
const PALEST_OF_MANY = 0.65;
const UNSURE = 0.45; // a region without an opinion should not be the loudest on a screen
const FEW = 4; // hues that are told apart even when they are pale

const DEFAULTS = {
  ink: "#1c2430",
  muted: "#5d6878",
  line: "#d5dae1",
  paper: "#ffffff",
  accent: "#c2185b",
  "map-base": "#ffffff",
};

/** The colours of the page around an element. */
export function theme(element) {
  const style = getComputedStyle(element);
  const colours = {};
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    colours[name] = style.getPropertyValue(`--${name}`).trim() || usual;
  }
  return colours;
}

/** The places in HUES of actions that many tasks have, so that each has the same hue in all of them. */
const MEANINGS = [
  ["left", "west"],
  ["right", "east"],
  ["none", "nothing", "idle", "stay", "noop", "coast", "down", "south"],
  ["up", "north"],
];
const LEVELS = [[0, 4, 9], [1, 5, 6]]; // places of forces to the left and to the right, the strongest first

/** The hue of an action, by its number and the names of all; -1 is undecided. */
export function hueOf(action, names = []) {
  if (action < 0) return UNDECIDED;
  return names.length ? huesOf(names)[action] : HUES[action % HUES.length];
}

/** The hues of a task's actions: left, right, up, down and none, or forces by their sign, have their own. */
export function huesOf(names) {
  const wanted = ofForces(names) ?? names.map((name) => MEANINGS.findIndex((same) => same.includes(name.toLowerCase())));
  const taken = wanted.map((place, n) => (wanted.indexOf(place) < n ? -1 : place));
  const free = HUES.map((_, place) => place).filter((place) => !taken.includes(place));
  return taken.map((place, n) => HUES[(place >= 0 ? place : free.shift() ?? n) % HUES.length]);
}

/** The places of forces; null if the actions are no numbers, or too many on one side. */
function ofForces(names) {
  const forces = names.map((name) => (name.trim() ? Number(name) : NaN));
  if (forces.some(Number.isNaN)) return null;
  const sides = [-1, 1].map((sign) => forces.filter((f) => f * sign > 0).sort((a, b) => sign * (b - a)));
  if (sides.some((side, n) => !side.length || side.length > LEVELS[n].length)) return null;
  return forces.map((force) => (force ? LEVELS[+(force > 0)][sides[+(force > 0)].indexOf(force)] : 2));
}

/** The hues of lines on a paper; on a dark one sky takes the place of blue, which would hardly be seen. */
export function lineHues(paper) {
  const isDark = /^#/.test(paper) && rgb(paper).every((part) => part < 128);
  return isDark ? ["#56b4e9", ...HUES.slice(1, 4), "#0072b2", ...HUES.slice(5)] : HUES;
}

/** The share of the hue that the least valuable state gets: many hues must stay strong. */
export function palest(actions) {
  return actions <= FEW ? PALEST : PALEST_OF_MANY;
}

/** A function from values to shares between 0 and 1; differences in the last digits are none. */
export function shadesOf(values) {
  let lowest = Infinity;
  let highest = -Infinity;
  for (const value of values) {
    lowest = Math.min(lowest, value);
    highest = Math.max(highest, value);
  }
  const least = 0.01 * Math.max(1, Math.abs(highest));
  const width = Math.max(highest - lowest, least);
  return (value) => Math.min(1, Math.max(0, (value - (highest - width)) / width));
}

/** The red, green and blue of "#rgb" or "#rrggbb", from 0 to 255. */
export function rgb(colour) {
  const digits = colour.slice(1);
  const long = digits.length === 3 ? [...digits].map((d) => d + d).join("") : digits;
  return [0, 2, 4].map((at) => parseInt(long.slice(at, at + 2), 16));
}

/** A hue mixed with a base, white unless told otherwise. */
export function shaded(hue, share, base = "#ffffff") {
  const [from, to] = [rgb(base), rgb(hue)];
  return `rgb(${from.map((part, i) => Math.round(part + share * (to[i] - part))).join(",")})`;
}

/** What to write with on a colour "rgb(r,g,b)": the ink that stands out. */
export function inkOn(colour) {
  const [red, green, blue] = colour.match(/\d+/g).map(Number);
  return (0.299 * red + 0.587 * green + 0.114 * blue) / 255 > 0.55 ? "#000000" : "#ffffff";
}

/** The colour of every cell of a picture: hue for the action, shade for the value. */
export function cellColours(picture, base) {
  if (!picture.actions.length) return picture.cells.map(() => shaded(base, 1, base));
  const shade = shadesOf(picture.cells.map((cell) => cell.value));
  const [pale, hues] = [palest(picture.actions.length), huesOf(picture.actions)];
  return picture.cells.map((cell) => {
    const share = pale + (1 - pale) * shade(cell.value);
    return shaded(cell.action < 0 ? UNDECIDED : hues[cell.action], cell.action < 0 ? UNSURE * share : share, base);
  });
}

const ARROWS = { left: "←", right: "→", up: "↑", down: "↓" };

/** One or two letters for an action, so that hue is never the only sign of it. */
export function glyphOf(name) {
  if (name === undefined) return "";
  return ARROWS[name.toLowerCase()] ?? (name.length <= 2 ? name : name[0].toUpperCase());
}
