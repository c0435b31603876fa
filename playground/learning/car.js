// The car in a valley, MountainCar-v0, as in src/distinguo/tasks/mountain_car.py: the same operations in the same order.
//
// Browsers differ in the last bit of Math.cos, and so do C libraries. The cosine here is computed with twice the digits
// and rounded once. glibc's has another last bit for about 2 of 1,000 arguments: a state may then differ from the
// package's in its last bit, far below the 32 bits in which it is observed.

const CAR = Object.freeze({ left: -1.2, right: 0.6, speed: 0.07, goal: 0.5, force: 0.001, gravity: 0.0025 });
const [FIRST_LOW, FIRST_HIGH] = [-0.6, -0.4];

export const MOUNTAIN_CAR = Object.freeze({
  key: "car",
  name: "MountainCar-v0",
  actions: ["left", "none", "right"],
  low: [Math.fround(CAR.left), Math.fround(-CAR.speed)],
  high: [Math.fround(CAR.right), Math.fround(CAR.speed)],
  rounds: true, // states are observed with 32 bits
  threshold: -110,
  limit: 200,

  start(rng) {
    return [FIRST_LOW + (FIRST_HIGH - FIRST_LOW) * rng.random(), 0];
  },

  /** Drive a state [x, v] for one step, in place; return whether it arrived. */
  transition(s, a) {
    const x = s[0];
    let v = s[1] + ((a - 1) * CAR.force + cosine(3 * x) * -CAR.gravity);
    v = clipped(v, -CAR.speed, CAR.speed);
    const next = clipped(x + v, CAR.left, CAR.right);
    if (next === CAR.left && v < 0) v = 0;
    s[0] = next;
    s[1] = v;
    return next >= CAR.goal && v >= 0;
  },

  reward() {
    return -1;
  },
});

function clipped(number, low, high) {
  if (number < low) return low;
  return number > high ? high : number;
}

// ---- the cosine, by pairs of doubles whose sum has twice the digits -------------------------------------------------

const SPLITTER = 2 ** 27 + 1;
const [HALF_PI, HALF_PI_REST] = [1.5707963267948966, 6.123233995736766e-17];
const LAST = 27; // of the factorials in the series: the next term is below 2^-110

/** What a product of two doubles loses by rounding. */
function lost(a, b, product) {
  const [ca, cb] = [SPLITTER * a, SPLITTER * b];
  const [high, tall] = [ca - (ca - a), cb - (cb - b)];
  const [low, short] = [a - high, b - tall];
  return low * short - (product - high * tall - low * tall - high * short);
}

/** The cosine of a number of moderate size, rounded correctly. */
export function cosine(x) {
  const turns = Math.round(Math.abs(x) / HALF_PI);
  const part = turns * HALF_PI;
  const rest = Math.abs(x) - part; // exact, as the two are near each other or turns is 0
  const below = -(lost(turns, HALF_PI, part) + turns * HALF_PI_REST);
  const r = rest + below;
  const rLow = below - (r - rest);
  const square = r * r;
  const squareLow = lost(r, r, square) + 2 * r * rLow;
  const isSine = turns % 2 === 1;
  let [high, low] = [1, 0]; // 1 - r²/(n(n-1)) · (1 - …), from the last term to the first
  for (let n = isSine ? LAST : LAST - 1; n > 1; n -= 2) {
    const product = high * square;
    const error = lost(high, square, product) + high * squareLow + low * square;
    const quotient = product / (n * (n - 1));
    const back = quotient * (n * (n - 1));
    const quotientLow = (product - back - lost(quotient, n * (n - 1), back) + error) / (n * (n - 1));
    high = 1 - quotient;
    low = 1 - high - quotient - quotientLow;
    const sum = high + low;
    low -= sum - high;
    high = sum;
  }
  if (isSine) {
    const product = high * r;
    high = product + (lost(high, r, product) + high * rLow + low * r);
  }
  return turns % 4 === 1 || turns % 4 === 2 ? -high : high;
}
