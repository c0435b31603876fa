// The frozen lake, Gymnasium's FrozenLake-v1 with is_slippery=False: sixteen fields, four of them holes. A state is
// [field, steps so far]; only the field is observed, and it is a label: no field is nearer to another than a third.

const SIDE = 4;
export const FIELDS = "SFFFFHFHFFFHHFFG";
const LIMIT = 100;
const [LEFT, DOWN, RIGHT] = [0, 1, 2];

export const LAKE = Object.freeze({
  key: "lake",
  name: "FrozenLake-v1",
  parameters: ["task.is_slippery=false"],
  actions: ["left", "down", "right", "up"],
  low: [-0.5, -0.5], // the frame of the map, in fields
  high: [SIDE - 0.5, SIDE - 0.5],
  labels: true,
  hasOneStart: true, // and no chance: all trials of a policy are the same
  threshold: 0.7,
  limit: LIMIT,

  start() {
    return [0, 0];
  },

  /** Go to the next field, in place; return whether that is a hole or the goal. */
  transition(s, a) {
    const [row, column] = [Math.floor(s[0] / SIDE), s[0] % SIDE];
    if (a === LEFT) s[0] = row * SIDE + Math.max(column - 1, 0);
    else if (a === DOWN) s[0] = Math.min(row + 1, SIDE - 1) * SIDE + column;
    else if (a === RIGHT) s[0] = row * SIDE + Math.min(column + 1, SIDE - 1);
    else s[0] = Math.max(row - 1, 0) * SIDE + column;
    s[1] += 1;
    return LAKE.isEnd(s);
  },

  /** Whether trials end on this field: it is a hole or the goal. */
  isEnd([field]) {
    return "GH".includes(FIELDS[field]);
  },

  reward(s) {
    return FIELDS[s[0]] === "G" ? 1 : 0;
  },

  /** Whether the time is over. */
  stops(s) {
    return s[1] >= LIMIT;
  },

  /** The state of a point of the map. */
  stateAt([x, y]) {
    const [column, row] = [x, SIDE - 1 - y].map((at) => Math.min(SIDE - 1, Math.max(0, Math.round(at))));
    return [row * SIDE + column, 0];
  },

  /** Where a field is on the map. */
  pointOf([field]) {
    return [field % SIDE, SIDE - 1 - Math.floor(field / SIDE)];
  },
});
