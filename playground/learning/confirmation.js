// Is the mean return at the threshold? The sequential test of evaluation/confirmation.py, which explains it: a capital is
// bet, trial by trial, on a mean above a bar just below the threshold, and another on the opposite.

export const [PASSED, FAILED, UNDECIDED, OPEN] = ["passed", "failed", "undecided", "open"];
const STAKES = [1, 0.8, 0.5, 0.3, 0.15];
const SHARES = [0.65, 0.1, 0.1, 0.1, 0.05];
const [FIRST_CLAIM, TOLERANCE, TOP_TOLERANCE, HEADROOM] = [0.8, 0.01, 0.05, 0.05];
const [FEWEST_FINAL, FEWEST_CLAIM, PERFECT, TOO_LONG] = [20, 10, 3, 2];

/** The error of the n-th claim of a run, from 1. */
function spentError(claim, confidence) {
  return (claim === 1 ? FIRST_CLAIM : (1 - FIRST_CLAIM) / (claim * (claim - 1))) * (1 - confidence);
}

/** Bets one unit on a mean above a bar; no return should be below the least. */
class Bet {
  constructor(bar, least) {
    [this.bar, this.least] = [bar, least];
    this.parts = STAKES.map(() => 0); // the logarithm of one unit at each stake
  }

  take(gained) {
    const gain = (gained - this.bar) / (this.bar - this.least);
    this.parts = this.parts.map((part, n) => part + (gain < -1 ? -Infinity : Math.log1p(STAKES[n] * gain)));
  }

  /** The logarithm of the capital. */
  get capital() {
    return this.parts.map((part, n) => part + Math.log(SHARES[n])).reduce(logOfSum);
  }
}

function logOfSum(x, y) {
  if (x === y) return x + Math.LN2;
  return Math.max(x, y) + Math.log1p(Math.exp(-Math.abs(x - y)));
}

/** A test of the trials that follow; its method after takes the return of the next one, and the steps of all so far. */
export function question({ threshold, least, greatest, claim, confidence, steps, most, isClaim }) {
  const floor = least < threshold ? least : threshold - Math.max(Math.abs(threshold), 1);
  const room = threshold - floor;
  const share = greatest > threshold ? TOLERANCE : TOP_TOLERANCE;
  const bar = threshold - share * Math.min(Math.max(Math.abs(threshold), greatest - threshold) || room, room);
  const ceiling = Math.max(greatest, threshold + HEADROOM * room);
  const enough = -Math.log(spentError(claim, confidence));
  const [bet, against] = [new Bet(bar, floor), new Bet(-threshold, -ceiling)];
  const perfect = trialsOfPerfect(new Bet(bar, floor), Math.max(greatest, threshold), enough, most);
  let [count, isUnforeseen] = [0, false];

  /** How many more trials it would take to pass if they were like those so far, at the best of the stakes. */
  function missing() {
    const needed = bet.parts.map((had, n) => (had > 0 ? (enough - had - Math.log(SHARES[n])) / (had / count) : Infinity));
    return Math.max(Math.min(...needed), 0);
  }

  function after(gained, taken) {
    count += 1;
    bet.take(gained);
    against.take(-gained);
    isUnforeseen ||= gained < floor;
    const isEnough = count >= (isClaim ? 2 : FEWEST_FINAL);
    if (bet.capital >= enough) return PASSED;
    if (isEnough && against.capital >= -Math.log(1 - confidence)) return FAILED;
    const limit = Math.max(steps, (PERFECT * perfect * taken) / count);
    if ((isEnough && isUnforeseen) || count >= most || taken >= limit) return UNDECIDED;
    const left = Math.min(count / Math.max(taken / limit, 1e-9), most) - count;
    return isClaim && count >= FEWEST_CLAIM && missing() > TOO_LONG * left ? UNDECIDED : OPEN;
  }

  return { after };
}

/** The trials after which a policy passes that always has the greatest return. */
function trialsOfPerfect(bet, greatest, enough, most) {
  for (let count = 1; count <= most; count += 1) {
    bet.take(greatest);
    if (bet.capital >= enough) return count;
  }
  return most;
}
