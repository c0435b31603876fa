// The settings of a run: the presets of src/distinguo/presets.py, and those of the paper's learner that these tasks use.

import { TASKS } from "./tasks.js";

/** The settings of the table "stage"; all others are the learner's. */
const IN_STAGE = ["cap", "hold", "trials", "prototypes", "restart", "confirm", "confirm_steps", "confidence"];

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
  confirm: 2000,
  confirm_steps: 70000,
  confidence: 0.95,
};

/** What other tasks than the puck need beyond "fast", as found by trying (tests/playground/traces.py learns with them). */
export const SUITED = {
  car: { gamma: 0.93, epsilon: 8, alpha: 0.3, min_updates: 0, max_steps: 1, merge_interval: 0, trials: 1000, restart: 200 },
  lake: { gamma: 0.9, explore: 0.1, coin: 0.1, max_steps: 1, min_updates: 1 },
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

/** The presets of each task: the puck's are the package's; for the others, "fast" with what these tasks need. */
export const PRESETS_OF = {
  puck: PRESETS,
  car: { default: { ...FAST, ...SUITED.car } },
  lake: { default: { ...FAST, ...SUITED.lake } },
};

/** Where learning may begin, the usual first: with one prototype where trials begin (null), or with given points. */
export const STARTS = {
  puck: { scratch: null, seeds: [[0.268, 0.62], [-0.268, -0.62]] },
  car: { points: [-0.75, 0.15].flatMap((x) => [-0.0525, -0.0175, 0.0175, 0.0525].map((v) => [x, v])), scratch: null },
  lake: { scratch: null },
};

/** What a reader chooses: epsilon and gamma are the preset's unless they are given. */
export const USUAL = Object.freeze({
  task: "puck", preset: "default", seed: 1n, start: "scratch", epsilon: null, gamma: null, compare: null,
});

/** The usual choice for a task. */
export function usualFor(task) {
  return { ...USUAL, task, start: Object.keys(STARTS[task])[0] };
}

/** The settings that a choice means. */
export function settingsOf({ task, preset, epsilon, gamma }) {
  const settings = { ...PRESETS_OF[task][preset] };
  if (epsilon !== null) settings.epsilon = epsilon;
  if (gamma !== null) settings.gamma = gamma;
  return settings;
}

const oneOf = (known) => (word) => (Object.hasOwn(known, word) ? word : undefined);
const listed = (known) => Object.keys(known).join(", ").replace(/, (?=[^,]*$)/, " or ");
const ABOVE_0 = (word) => numberIn(word, (n) => n > 0 && n <= 100);

/** For everything that a link carries: how it is read for a task, and what it should be. */
const READERS = {
  task: () => [oneOf(TASKS), listed(TASKS)],
  preset: (task) => [oneOf(PRESETS_OF[task]), listed(PRESETS_OF[task])],
  seed: () => [
    (word) => (/^\d{1,19}$/.test(word) && BigInt(word) < 2n ** 63n ? BigInt(word) : undefined),
    "a whole number from 0 to 2^63 − 1",
  ],
  start: (task) => [oneOf(STARTS[task]), listed(STARTS[task])],
  epsilon: () => [ABOVE_0, "a number above 0 and at most 100"],
  gamma: () => [(word) => numberIn(word, (n) => n > 0 && n < 1), "a number between 0 and 1"],
  compare: () => [(word) => twoOf(word.split(",").map((one) => ABOVE_0(one.trim()))), "two values of epsilon, such as 0.02,0.5"],
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
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const named = words.get("task");
  const choice = usualFor(Object.hasOwn(TASKS, named ?? "") ? named : USUAL.task);
  const problems = [];
  for (const [name, word] of words) {
    if (!Object.hasOwn(READERS, name)) {
      problems.push(`it knows no “${short(name)}”`);
      continue;
    }
    const [read, wish] = READERS[name](choice.task);
    const value = read(word);
    if (value === undefined) problems.push(`${name} should be ${wish}, not “${short(word)}”`);
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
  const usual = { ...usualFor(choice.task), task: USUAL.task };
  for (const name of Object.keys(usual)) {
    if (choice[name] !== null && choice[name] !== usual[name]) words.set(name, String(choice[name]));
  }
  return words.toString();
}

/** The command that learns the same thing on one's own machine. */
export function commandOf(choice) {
  const { name, parameters = [] } = TASKS[choice.task];
  const suited = { ...SUITED[choice.task] };
  const parts = [`distinguo learn ${name}`, `--seed ${choice.seed}`];
  if (choice.task !== "puck") parts.push("--learner economy --preset fast");
  else if (choice.preset !== "default") parts.push(`--preset ${choice.preset}`);
  if (choice.start === "seeds") parts.push("--from seeds");
  if (choice.start === "points") parts.push(`--from='${STARTS[choice.task].points.join(";")}'`);
  for (const given of ["epsilon", "gamma"]) if (choice[given] !== null) suited[given] = choice[given];
  const table = (setting) => (IN_STAGE.includes(setting) ? "stage" : "learner");
  const changes = Object.entries(suited).map(([setting, value]) => `${table(setting)}.${setting}=${value}`);
  return [...parts, ...[...parameters, ...changes].map((change) => `--set ${change}`)].join(" ");
}
