// The picture of a map that is being learned: the value that view/map.js draws.

import { prefers, stateValue } from "../learning/criteria.js";
import { ACTIONS, HIGH, LOW } from "../learning/puck.js";
import { placeOf, written } from "./reasons.js";

const [WIDE, TALL] = [HIGH[0] - LOW[0], HIGH[1] - LOW[1]];

/** The outlines of the cells of all prototypes within the frame: what is nearer to it than to any other. */
export function outlinesOf(prototypes) {
  const places = prototypes.map(([x, v]) => [x / WIDE, v / TALL]);
  const corners = [[LOW[0], LOW[1]], [HIGH[0], LOW[1]], [HIGH[0], HIGH[1]], [LOW[0], HIGH[1]]];
  return places.map((own, p) => {
    let outline = corners.map(([x, v]) => [x / WIDE, v / TALL]);
    places.forEach((other, n) => {
      if (n !== p) outline = nearerSide(outline, own, other);
    });
    return outline.map(([x, v]) => [x * WIDE, v * TALL]);
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

/** A state of the map in words: its region, what is best there and what each push is worth. */
export function aboutPoint(memory, delta, point) {
  const j = memory.region(point);
  const q = memory.q[j];
  const best = policyOf(q, delta);
  const worth = ACTIONS.map((name, a) => `${name} ${written(q[a], 3)}`).join(", ");
  return `${placeOf(point)}: region ${memory.primaries().indexOf(j)}, ${best < 0 ? "the pushes are tied" : `push ${ACTIONS[best]} is best`} (${worth})`;
}

/** Makes pictures of a memory; outlines are computed anew only when there are other prototypes. */
export class Pictures {
  constructor() {
    this.memory = null;
    this.outlines = [];
  }

  of(memory, delta) {
    if (this.memory !== memory || this.outlines.length !== memory.size) {
      this.memory = memory;
      this.outlines = outlinesOf(memory.x.map((_, p) => memory.state(p)));
    }
    const numbers = new Map(memory.primaries().map((p, region) => [p, region]));
    return {
      title: "What the puck's learner tells apart",
      axes: ["position x (m)", "velocity v (m/s)"],
      low: LOW,
      high: HIGH,
      cells: this.outlines.map((outline, p) => {
        const q = memory.q[memory.primary[p]];
        return { outline, region: numbers.get(memory.primary[p]), action: policyOf(q, delta), value: stateValue(q) };
      }),
      prototypes: memory.x.map((_, p) => memory.state(p)),
      primary: memory.primary.map((j, p) => j === p),
      actions: ACTIONS,
      note: "",
      labels: [],
    };
  }
}
