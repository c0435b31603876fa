// NumPy's default random numbers, bit for bit: SeedSequence, PCG64 and Generator.random.

const POOL = 4; // words of entropy that a SeedSequence mixes
const [INIT_A, MULT_A, INIT_B, MULT_B] = [0x43b0d7e5, 0x931e8875, 0x8b51f9dd, 0x58f38ded];
const [MIX_LEFT, MIX_RIGHT] = [0xca01f9dd, 0x4973f715];
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;
const WORD = 0xffffffffn;
const ALL = (1n << 128n) - 1n;

/** SeedSequence(seed).generate_state(count), words of 32 bits; the seed is a BigInt from 0. */
export function seedWords(seed, count) {
  const entropy = wordsOf(seed);
  const hash = hasher(INIT_A, MULT_A);
  const pool = Array.from({ length: POOL }, (_, i) => hash(entropy[i] ?? 0));
  for (let from = 0; from < POOL; from += 1) {
    for (let to = 0; to < POOL; to += 1) if (from !== to) pool[to] = mix(pool[to], hash(pool[from]));
  }
  for (const word of entropy.slice(POOL)) {
    for (let to = 0; to < POOL; to += 1) pool[to] = mix(pool[to], hash(word));
  }
  const spread = hasher(INIT_B, MULT_B);
  return Array.from({ length: count }, (_, i) => spread(pool[i % POOL]));
}

function wordsOf(seed) {
  const words = [];
  for (let rest = seed; rest > 0n || !words.length; rest >>= 32n) words.push(Number(rest & WORD));
  return words;
}

/** A hash whose constant changes with every call. */
function hasher(first, multiplier) {
  let constant = first;
  return (word) => {
    const mixed = (word ^ constant) >>> 0;
    constant = Math.imul(constant, multiplier) >>> 0;
    const product = Math.imul(mixed, constant) >>> 0;
    return (product ^ (product >>> 16)) >>> 0;
  };
}

function mix(x, y) {
  const mixed = (Math.imul(MIX_LEFT, x) - Math.imul(MIX_RIGHT, y)) >>> 0;
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

// The state of 128 bits is six limbs of 24: their products, and sums of six, are whole numbers that doubles hold. All
// is written out, as a step of learning takes a number or two.
const LIMBS = 6;
const BASE = 2 ** 24;
const PART = 1 / BASE; // a power of two: a product with it is exact
const [F0, F1, F2, F3, F4, F5] = limbsOf(MULTIPLIER);

function limbsOf(number) {
  return Array.from({ length: LIMBS }, (_, i) => Number((number >> BigInt(24 * i)) & 0xffffffn));
}

export class Pcg64 {
  constructor(seed) {
    const words = seedWords(seed, 8).map(BigInt);
    const long = (i) => (words[i + 1] << 32n) | words[i];
    const initial = (long(0) << 64n) | long(2);
    const increment = ((((long(4) << 64n) | long(6)) << 1n) | 1n) & ALL;
    this.increment = Float64Array.from(limbsOf(increment));
    this.state = Float64Array.from(limbsOf((increment + initial) & ALL));
    this.step();
  }

  /** state = state * multiplier + increment. */
  step() {
    const s = this.state;
    const c = this.increment;
    const [s0, s1, s2, s3, s4, s5] = [s[0], s[1], s[2], s[3], s[4], s[5]];
    let sum = c[0] + s0 * F0;
    let carry = Math.floor(sum * PART);
    s[0] = sum - carry * BASE;
    sum = carry + c[1] + s0 * F1 + s1 * F0;
    carry = Math.floor(sum * PART);
    s[1] = sum - carry * BASE;
    sum = carry + c[2] + s0 * F2 + s1 * F1 + s2 * F0;
    carry = Math.floor(sum * PART);
    s[2] = sum - carry * BASE;
    sum = carry + c[3] + s0 * F3 + s1 * F2 + s2 * F1 + s3 * F0;
    carry = Math.floor(sum * PART);
    s[3] = sum - carry * BASE;
    sum = carry + c[4] + s0 * F4 + s1 * F3 + s2 * F2 + s3 * F1 + s4 * F0;
    carry = Math.floor(sum * PART);
    s[4] = sum - carry * BASE;
    sum = carry + c[5] + s0 * F5 + s1 * F4 + s2 * F3 + s3 * F2 + s4 * F1 + s5 * F0;
    s[5] = sum - Math.floor(sum / 256) * 256; // 5 * 24 + 8 = 128
  }

  /** A number from 0 to 1, without 1: the upper 53 bits of the next word of 64. */
  random() {
    this.step();
    const s = this.state;
    const [s1, s2, s5] = [s[1] | 0, s[2] | 0, s[5] | 0];
    const low = ((s[0] | 0) | (s1 << 24)) ^ ((s2 >>> 16) | ((s[3] | 0) << 8));
    const high = ((s1 >>> 8) | (s2 << 16)) ^ ((s[4] | 0) | (s5 << 24));
    const turns = s5 >>> 2; // the upper 6 bits
    const upper = turns & 32 ? low : high;
    const lower = turns & 32 ? high : low;
    const by = turns & 31;
    const turnedHigh = by ? (upper >>> by) | (lower << (32 - by)) : upper;
    const turnedLow = by ? (lower >>> by) | (upper << (32 - by)) : lower;
    return ((turnedHigh >>> 0) * 2097152 + (turnedLow >>> 11)) / 9007199254740992;
  }
}
