// The settings of a run: the presets of src/distinguo/presets.py, and those of the paper's learner that the puck uses.

/** The preset "fast": the defaults of LearnerSettings and StageSettings. */
const FAST = {
  gamma: 0.99,
  epsilon: 0.1,
  delta: 0,
  alpha: 0.05,
  min_updates: 3,
  enough_samples: 3,
  max_steps: 5,
  coin: 0.00001,
  explore: 0,
  fe_interval: 1,
  fe_counts_trials: true,
  merge_interval: 3,
  reduced_updates: 3,
  new_updates: 0,
  new_investigated: true,
  discount_steps: false,
  terminal_reliable: false,
  surprise_by_transition: false,
  merge_into_youngest: false,
  surprise_reliable: false,
  review_merged: false,
  // when the stage ends
  cap: 500000,
  hold: 500000,
  trials: 300,
  prototypes: 2000,
  restart: 0,
};

export const PRESETS = {
  default: { ...FAST, discount_steps: true, restart: 60 },
  fast: FAST,
  paper: {
    ...FAST,
    gamma: 0.9,
    epsilon: 0.005,
    delta: 0.005,
    alpha: 0.001,
    enough_samples: 100,
    max_steps: 1,
    coin: 0.001,
    fe_interval: 100,
    merge_interval: 100,
    reduced_updates: 1,
    surprise_by_transition: true,
    terminal_reliable: true,
    trials: 3000,
  },
};

/** Where learning may begin: with one prototype on the top, or with the paper's two points. */
export const STARTS = {
  scratch: null,
  seeds: [[0.268, 0.62], [-0.268, -0.62]],
};

/** What a reader chooses. */
export const USUAL = Object.freeze({ preset: "default", seed: 1n, start: "scratch", epsilon: null, gamma: null, compare: null });

/** The settings that a choice means; epsilon and gamma are the preset's unless they are given. */
export function settingsOf({ preset, epsilon, gamma }) {
  const settings = { ...PRESETS[preset] };
  if (epsilon !== null) settings.epsilon = epsilon;
  if (gamma !== null) settings.gamma = gamma;
  return settings;
}

const READERS = {
  preset: (word) => (Object.hasOwn(PRESETS, word) ? word : undefined),
  seed: (word) => (/^\d{1,19}$/.test(word) && BigInt(word) < 2n ** 63n ? BigInt(word) : undefined),
  start: (word) => (Object.hasOwn(STARTS, word) ? word : undefined),
  epsilon: (word) => numberIn(word, (n) => n > 0 && n <= 10),
  gamma: (word) => numberIn(word, (n) => n > 0 && n < 1),
  compare: (word) => twoOf(word.split(",").map((one) => READERS.epsilon(one.trim()))),
};
const WISHES = {
  preset: "default, fast or paper",
  seed: "a whole number from 0 to 2^63 − 1",
  start: "scratch or seeds",
  epsilon: "a number above 0 and at most 10",
  gamma: "a number between 0 and 1",
  compare: "two values of epsilon, such as 0.02,0.5",
};

function numberIn(word, allowed) {
  const number = /^[\d.eE+-]+$/.test(word) ? Number(word) : NaN;
  return allowed(number) ? number : undefined;
}

/** Two numbers, or nothing. */
function twoOf(numbers) {
  return numbers.length === 2 && !numbers.includes(undefined) ? numbers : undefined;
}

/** Read the choice that a link carries after its "#", and say what could not be read. */
export function choiceFrom(hash) {
  const choice = { ...USUAL };
  const problems = [];
  for (const [name, word] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (!Object.hasOwn(READERS, name)) {
      problems.push(`it knows no “${short(name)}”`);
      continue;
    }
    const value = READERS[name](word);
    if (value === undefined) problems.push(`${name} should be ${WISHES[name]}, not “${short(word)}”`);
    else choice[name] = value;
  }
  return { choice, problems };
}

function short(word) {
  return word.length > 24 ? `${word.slice(0, 24)}…` : word;
}

/** The choice as it is carried by a link; what is usual is left out. */
export function hashOf(choice) {
  const words = new URLSearchParams();
  for (const name of Object.keys(USUAL)) {
    if (choice[name] !== null && choice[name] !== USUAL[name]) words.set(name, String(choice[name]));
  }
  return words.toString();
}

/** The command that learns the same thing on one's own machine. */
export function commandOf(choice) {
  const parts = ["distinguo learn puck", `--seed ${choice.seed}`];
  if (choice.preset !== "default") parts.push(`--preset ${choice.preset}`);
  if (choice.start !== "scratch") parts.push(`--from ${choice.start}`);
  for (const name of ["epsilon", "gamma"]) {
    if (choice[name] !== null) parts.push(`--set learner.${name}=${choice[name]}`);
  }
  return parts.join(" ");
}
