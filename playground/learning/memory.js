// What the learner remembers: its prototypes, the action values of its regions, its stack and its counters.
//
// Rows are indexed by prototype; a region uses the row of its primary prototype (learners/economy/memory.py).

import { ACTIONS, HIGH, LOW } from "./puck.js";

const WEIGHT_X = 1 / (HIGH[0] - LOW[0]);
const WEIGHT_V = 1 / (HIGH[1] - LOW[1]);

export class Memory {
  constructor(prototypes) {
    this.x = [];
    this.v = [];
    this.primary = [];
    this.q = [];
    this.updates = [];
    this.investigated = [];
    this.stacked = [];
    this.pushedAt = []; // 0 for a region that is not on the stack
    this.profiles = []; // the latest of every prototype
    this.sessions = 0;
    this.feCalls = 0;
    this.mergeCalls = 0;
    this.clock = 0;
    for (const s of prototypes) this.add(s);
  }

  /** What the map was made of, to be looked at later. */
  copy() {
    const made = new Memory([]);
    [made.x, made.v, made.primary, made.q] = [[...this.x], [...this.v], [...this.primary], this.q.map((row) => [...row])];
    return made;
  }

  get size() {
    return this.x.length;
  }

  /** Add a state as the prototype of a new simple region; return its row. */
  add(s) {
    const p = this.size;
    this.x.push(s[0]);
    this.v.push(s[1]);
    this.primary.push(p);
    this.q.push(ACTIONS.map(() => 0));
    this.updates.push(ACTIONS.map(() => 0));
    this.investigated.push(false);
    this.stacked.push([0, 0]);
    this.pushedAt.push(0);
    this.profiles.push(null);
    return p;
  }

  state(p) {
    return [this.x[p], this.v[p]];
  }

  /** Whether a state is prototype p itself. */
  isAt(p, s) {
    return s[0] === this.x[p] && s[1] === this.v[p];
  }

  /** The prototype nearest to a state; of equally near ones the oldest. */
  nearest(s) {
    const { x, v } = this;
    let best = 0;
    let least = Infinity;
    for (let p = 0; p < x.length; p += 1) {
      const dx = (s[0] - x[p]) * WEIGHT_X;
      const dv = (s[1] - v[p]) * WEIGHT_V;
      const distance = dx * dx + dv * dv;
      if (distance < least) {
        best = p;
        least = distance;
      }
    }
    return best;
  }

  /** The region of a state, by the row of its primary prototype. */
  region(s) {
    return this.primary[this.nearest(s)];
  }

  /** Give region k to the primary prototype of region j. */
  merge(j, k) {
    for (let p = 0; p < this.size; p += 1) if (this.primary[p] === k) this.primary[p] = j;
  }

  /** The rows of the primary prototypes, in the order of the numbers of their regions: 0, 1, 2, … */
  primaries() {
    return this.primary.flatMap((j, p) => (j === p ? [p] : []));
  }

  /** Push a state of region j in place of any earlier one of that region. */
  push(s, j) {
    this.clock += 1;
    this.pushedAt[j] = this.clock;
    this.stacked[j][0] = s[0];
    this.stacked[j][1] = s[1];
  }

  /** Take the latest state off the stack, or null. */
  pop() {
    let latest = -1;
    for (let j = 0; j < this.size; j += 1) {
      if (this.pushedAt[j] > 0 && (latest < 0 || this.pushedAt[j] > this.pushedAt[latest])) latest = j;
    }
    if (latest < 0) return null;
    this.pushedAt[latest] = 0;
    return [...this.stacked[latest]];
  }

  /** Section 3.1: whether some action value of region k was updated often enough. */
  reliableSource(k, least) {
    const updates = this.updates[k];
    for (let a = 0; a < updates.length; a += 1) if (updates[a] >= least) return true;
    return false;
  }

  /** Section 3.3: whether every action value of region j was. */
  reliablePrototype(j, least) {
    return this.updates[j].every((count) => count >= least);
  }
}
