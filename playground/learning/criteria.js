// When do differences matter? The paper's Definitions 2-9, as in src/distinguo/criteria.py.

/** The rules of Definition 9, as bits. */
export const [POLICY, VALUE, BEST] = [1, 2, 4];

/** Definitions 2 and 6: the value of a state is that of its best action. */
export function stateValue(q) {
  let best = q[0];
  for (let a = 1; a < q.length; a += 1) if (q[a] > best) best = q[a];
  return best;
}

/** Definitions 3 and 7: whether an action is as good as the best, up to a tolerance. */
export function prefers(q, a, tolerance) {
  return q[a] >= stateValue(q) - tolerance;
}

/** Which actions are preferred. */
export function preferred(q, tolerance) {
  return q.map((_, a) => prefers(q, a, tolerance));
}

/** Definition 8: whether a region's values q serve a state with the look-ahead values q1 (Eqs. 1 and 2). */
export function adequate(q, q1, epsilon, delta) {
  for (let a = 0; a < q.length; a += 1) {
    if (prefers(q, a, delta) && !prefers(q1, a, epsilon)) return false;
  }
  return Math.abs(stateValue(q1) - stateValue(q)) <= epsilon;
}

function samePreferences(q1, q2, tolerance) {
  for (let a = 0; a < q1.length; a += 1) {
    if (prefers(q1, a, tolerance) !== prefers(q2, a, tolerance)) return false;
  }
  return true;
}

/** Definition 9: the rules that keep two states apart. */
export function incompatibility(q1, q2, epsilon, delta) {
  const tie = delta <= epsilon / 2 ? delta : 0;
  let broken = 0;
  if (!samePreferences(q1, q2, epsilon)) broken |= POLICY; // Eq. 3: the same actions look good
  if (!(Math.abs(stateValue(q1) - stateValue(q2)) <= delta)) broken |= VALUE; // Eq. 4: worth the same
  if (!samePreferences(q1, q2, tie)) broken |= BEST; // Eq. 5, or 6: the same actions look best
  return broken;
}

/** Section 2.2: the reward lost at a state when the values q choose the action, and q1 is what the actions bring. */
export function incrementalRegret(q, q1, delta) {
  let least = Infinity;
  for (let a = 0; a < q.length; a += 1) if (prefers(q, a, delta)) least = Math.min(least, q1[a]);
  return stateValue(q1) - least;
}

/** The reward at stake between two profiles: by the other's best action, or by taking the other's value for one's own. */
export function stake(q1, q2) {
  const policy = Math.max(incrementalRegret(q1, q2, 0), incrementalRegret(q2, q1, 0));
  return Math.max(policy, Math.abs(stateValue(q1) - stateValue(q2)));
}

/**
 * The least epsilon (with delta = epsilon, as when regions are split and merged) at which two states are compatible;
 * Infinity if their best actions differ, which no epsilon mends (Eq. 6).
 */
export function mergingEpsilon(q1, q2) {
  if (!samePreferences(q1, q2, 0)) return Infinity;
  const values = Math.abs(stateValue(q1) - stateValue(q2));
  const gaps = [q1, q2].flatMap((q) => q.map((value) => stateValue(q) - value));
  const turning = [values, ...gaps].flatMap((gap) => [gap, gap * (1 + 2 ** -50)]); // a difference may be rounded down
  const candidates = turning.filter((epsilon) => epsilon >= values).sort((a, b) => a - b);
  return candidates.find((epsilon) => incompatibility(q1, q2, epsilon, epsilon) === 0) ?? Infinity;
}
