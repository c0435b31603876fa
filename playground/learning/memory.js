// What the learner remembers: its prototypes, the action values of its regions, its stack and its counters.
//
// Rows are indexed by prototype; a region uses the row of its primary prototype (learners/economy/memory.py).

export class Memory {
  /** Given points are prototypes as they are; of states, prototypes are what is observed. */
  constructor(task, { points = [], states = [] }) {
    this.task = task;
    this.weightX = 1 / (task.high[0] - task.low[0]);
    this.weightV = 1 / (task.high[1] - task.low[1]);
    this.states = [];
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
    for (const point of points) this.add(point, point);
    for (const s of states) this.add(s);
  }

  /** What the map was made of, to be looked at later. */
  copy() {
    const made = new Memory(this.task, {});
    [made.states, made.x, made.v, made.primary] = [[...this.states], [...this.x], [...this.v], [...this.primary]];
    [made.q, made.updates] = [this.q.map((row) => [...row]), this.updates.map((row) => [...row])];
    return made;
  }

  get size() {
    return this.x.length;
  }

  /** Add a state, as it is seen, as the prototype of a new simple region; return its row. */
  add(s, seen = this.seen(s)) {
    const p = this.size;
    const { actions } = this.task;
    this.states.push([...s]);
    this.x.push(seen[0]);
    this.v.push(seen[1]);
    this.primary.push(p);
    this.q.push(actions.map(() => 0));
    this.updates.push(actions.map(() => 0));
    this.investigated.push(false);
    this.stacked.push([0, 0]);
    this.pushedAt.push(0);
    this.profiles.push(null);
    return p;
  }

  /** Prototype p: what is observed of its state. */
  state(p) {
    return this.task.labels ? [this.x[p]] : [this.x[p], this.v[p]];
  }

  /** What is observed of a state. */
  seen([x, v]) {
    if (this.task.labels) return [x, 0];
    return this.task.rounds ? [Math.fround(x), Math.fround(v)] : [x, v];
  }

  /** Whether a state looks like prototype p. */
  isAt(p, s) {
    const [x, v] = this.seen(s);
    return x === this.x[p] && v === this.v[p];
  }

  /** The prototype nearest to a state, of equally near ones the oldest; all other labels are equally far from one. */
  nearest(s) {
    const { x, v, task, weightX, weightV } = this;
    if (task.labels) return Math.max(0, x.indexOf(s[0]));
    const atX = task.rounds ? Math.fround(s[0]) : s[0];
    const atV = task.rounds ? Math.fround(s[1]) : s[1];
    let best = 0;
    let least = Infinity;
    for (let p = 0; p < x.length; p += 1) {
      const dx = (atX - x[p]) * weightX;
      const dv = (atV - v[p]) * weightV;
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
