// The puck on the hill y = -beta x^2, as in src/distinguo/tasks/puck/puck.py: the same operations in the same order.

export const PUCK = Object.freeze({ beta: 0.3, gravity: 9.8, mass: 1, force: 3, interval: 0.02, wall: 2.4 });
export const [LEFT, RIGHT] = [0, 1];
export const ACTIONS = ["left", "right"];
export const START = Object.freeze([0, 0]);
/** The frame of the map, and the scale of distances: "[-2.4, 2.4] x [-5.5, 5.5]" (section 4.2.2). */
export const LOW = [-PUCK.wall, -5.5];
export const HIGH = [PUCK.wall, 5.5];

/** Push a state [x, v] for one interval, in place; return whether it hit a wall, which costs a reward of 1. */
export function transition(s, a) {
  const x = s[0];
  const v = s[1];
  const u = -2 * PUCK.beta * x;
  const c = 1 / Math.sqrt(1 + u * u);
  const f = a === RIGHT ? PUCK.force : -PUCK.force;
  const next = x + PUCK.interval * v;
  s[1] = v + PUCK.interval * ((f / PUCK.mass - PUCK.gravity * (u * c)) * c);
  s[0] = next;
  return !(-PUCK.wall < next && next < PUCK.wall);
}
