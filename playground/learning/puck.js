// The puck on the hill y = -beta x^2, as in src/distinguo/tasks/puck/puck.py: the same operations in the same order.

const HILL = Object.freeze({ beta: 0.3, gravity: 9.8, mass: 1, force: 3, interval: 0.02, wall: 2.4 });
const RIGHT = 1;

export const PUCK = Object.freeze({
  key: "puck",
  name: "puck",
  actions: ["left", "right"],
  /** The frame of the map, and the scale of distances: "[-2.4, 2.4] x [-5.5, 5.5]" (section 4.2.2). */
  low: [-HILL.wall, -5.5],
  high: [HILL.wall, 5.5],
  threshold: null, // it should be held as long as the cap says
  limit: Infinity,

  start() {
    return [0, 0];
  },

  /** Push a state [x, v] for one interval, in place; return whether it hit a wall. */
  transition(s, a) {
    const x = s[0];
    const v = s[1];
    const u = -2 * HILL.beta * x;
    const c = 1 / Math.sqrt(1 + u * u);
    const f = a === RIGHT ? HILL.force : -HILL.force;
    const next = x + HILL.interval * v;
    s[1] = v + HILL.interval * ((f / HILL.mass - HILL.gravity * (u * c)) * c);
    s[0] = next;
    return !(-HILL.wall < next && next < HILL.wall);
  },

  reward(_s, terminal) {
    return terminal ? -1 : 0;
  },
});
