// The picture of a map that is being learned: the value that view/map.js draws.

import { prefers, stateValue } from "../learning/criteria.js";
import { FIELDS } from "../learning/lake.js";
import { amounts, preference, tiedBest } from "./choices.js";
import { placeOf } from "./reasons.js";
import { WORDS } from "./words.js";

/** The state of a task that a point of its map means. */
export function stateOf(task, point) {
  return task.stateAt ? task.stateAt(point) : point;
}

/** Where a state is on the map. */
export function pointOf(task, s) {
  return task.pointOf ? task.pointOf(s) : s;
}

/** The outlines of the cells of all prototypes within the frame: what is nearer to it than to any other. */
function outlinesOf(prototypes, { low, high }) {
  const [wide, tall] = [high[0] - low[0], high[1] - low[1]];
  const places = prototypes.map(([x, v]) => [x / wide, v / tall]);
  const corners = [[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]];
  return places.map((own, p) => {
    let outline = corners.map(([x, v]) => [x / wide, v / tall]);
    places.forEach((other, n) => {
      if (n !== p) outline = nearerSide(outline, own, other);
    });
    return outline.map(([x, v]) => [x * wide, v * tall]);
  });
}

/** The part of an outline that is nearer to one place than to another. */
function nearerSide(outline, [ax, ay], [bx, by]) {
  const side = ([x, y]) => (bx - ax) * (x - (ax + bx) / 2) + (by - ay) * (y - (ay + by) / 2);
  return outline.flatMap((from, i) => {
    const to = outline[(i + 1) % outline.length];
    const [here, there] = [side(from), side(to)];
    const kept = here <= 0 ? [from] : [];
    if (here <= 0 === there <= 0) return kept;
    const share = here / (here - there);
    return [...kept, [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])]];
  });
}

/** The one action that a region prefers, or -1 if several are tied. */
export function policyOf(q, delta) {
  const good = q.flatMap((_, a) => (prefers(q, a, delta) ? [a] : []));
  return good.length === 1 ? good[0] : -1;
}

/** A state of the map in words: its region, what is best there and what each action is worth. */
export function aboutPoint(memory, delta, point) {
  const { task } = memory;
  const s = stateOf(task, point);
  const j = memory.region(s);
  const q = memory.q[j];
  const written = amounts(...q);
  const worth = task.actions.map((name, a) => `${name} ${written[a]}`).join(", ");
  return `${placeOf(s, task)}: region ${memory.primaries().indexOf(j)}, ${preference(WORDS[task.key].doing, tiedBest(q, delta))} (${worth})`;
}

/** Makes pictures of a memory; outlines are computed anew only when there are other prototypes. */
export class Pictures {
  constructor() {
    this.memory = null;
    this.outlines = [];
  }

  of(memory, delta) {
    const { task } = memory;
    const words = WORDS[task.key];
    const numbers = new Map(memory.primaries().map((p, region) => [p, region]));
    const cell = (outline, j) => ({ outline, region: numbers.get(j), action: policyOf(memory.q[j], delta), value: stateValue(memory.q[j]) });
    return {
      title: words.title,
      axes: words.axes,
      ticks: words.ticks,
      low: task.low,
      high: task.high,
      cells: task.labels ? fieldsOf(memory, cell) : this.outlinesIn(memory).map((outline, p) => cell(outline, memory.primary[p])),
      prototypes: memory.x.map((_, p) => pointOf(task, memory.state(p))),
      primary: memory.primary.map((j, p) => j === p),
      actions: task.actions,
      note: "",
      labels: task.labels ? labelsOf(memory, numbers) : [],
    };
  }

  outlinesIn(memory) {
    if (this.memory !== memory || this.outlines.length !== memory.size) {
      this.memory = memory;
      this.outlines = outlinesOf(memory.x.map((_, p) => memory.state(p)), memory.task);
    }
    return this.outlines;
  }
}

/** A square for every field; where trials end nothing is chosen. */
function fieldsOf(memory, cell) {
  return [...FIELDS].map((kind, field) => {
    const [x, y] = memory.task.pointOf([field]);
    const outline = [[x - 0.5, y - 0.5], [x + 0.5, y - 0.5], [x + 0.5, y + 0.5], [x - 0.5, y + 0.5]];
    const made = cell(outline, memory.region([field, 0]));
    return "HG".includes(kind) ? { ...made, action: -1 } : made;
  });
}

/** On every field the number of its region, or what it is where trials end. */
function labelsOf(memory, numbers) {
  return [...FIELDS].map((kind, field) => {
    const [x, y] = memory.task.pointOf([field]);
    const text = { H: "hole", G: "goal" }[kind] ?? String(numbers.get(memory.region([field, 0])));
    return { x, y, text };
  });
}
