// Why a state belongs to its region, and why two states are told apart: plain sentences, and the figures behind them.

import { BEST, POLICY, VALUE, incompatibility, mergingEpsilon, preferred, stake, stateValue } from "../learning/criteria.js";
import { WORDS } from "./words.js";

/** A number as one reads it. */
export function written(number, digits = 2) {
  const text = number.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/** A state in words. */
export function placeOf(s, task) {
  return WORDS[task.key].place(s, written);
}

const RULES = [
  [POLICY, "different actions look good (Eq. 3)"],
  [VALUE, "the states are worth different amounts (Eq. 4)"],
  [BEST, "the best action differs (Eq. 6)"],
];
const THEN = [
  [POLICY, "different actions looked good there (Eq. 3)"],
  [VALUE, "the states were worth different amounts (Eq. 4)"],
  [BEST, "the best action differed (Eq. 6)"],
];

function inWords(rules, words) {
  const broken = words.filter(([bit]) => rules & bit).map(([, text]) => text);
  return broken.length > 1 ? `${broken.slice(0, -1).join(", ")} and ${broken.at(-1)}` : broken.join("");
}

function pushes(q, tolerance, task) {
  const good = preferred(q, tolerance).flatMap((is, a) => (is ? [WORDS[task.key].acts[a]] : []));
  return good.length === 1 ? good[0] : `${good.slice(0, -1).join(", ")} or ${good.at(-1)}, they are tied`;
}

/** What is known of one state: its region, its profile, and how its region came about. */
export function aboutState(stage, s) {
  const { learner, memory } = stage;
  const p = memory.nearest(s);
  const j = memory.primary[p];
  return { s, prototype: p, primary: j, region: memory.primaries().indexOf(j), now: learner.lookAhead(s), q: memory.q[j] };
}

/** When a prototype got a region of its own last. */
function birthOf(reasons, p) {
  return reasons.findLast((reason) => reason.event !== "merge" && reason.prototypes[1] === p) ?? null;
}

/** A prototype, the one that it was split from, and so on to the first. */
function lineOf(reasons, p) {
  const line = [p];
  for (let birth = birthOf(reasons, p); birth && !line.includes(birth.prototypes[0]); birth = birthOf(reasons, line.at(-1))) {
    line.push(birth.prototypes[0]);
  }
  return line;
}

/** The split by which the families of two prototypes parted, or null. */
export function partingOf(reasons, p, other) {
  const [one, two] = [lineOf(reasons, p), lineOf(reasons, other)];
  const shared = one.find((ancestor) => two.includes(ancestor));
  if (shared === undefined || p === other) return null;
  const heads = [one, two].filter((line) => line[0] !== shared).map((line) => line[line.indexOf(shared) - 1]);
  const births = heads.map((head) => ({ head, birth: birthOf(reasons, head) }));
  births.sort((a, b) => a.birth.step - b.birth.step || reasons.indexOf(a.birth) - reasons.indexOf(b.birth));
  const { head, birth } = births[0]; // the other still belonged to the shared one then
  const [older, younger] = birth.profiles;
  return { ...birth, profiles: one.includes(head) ? [younger, older] : [older, younger] };
}

function originOf(stage, { primary }) {
  const birth = birthOf(stage.learner.reasons, primary);
  const number = (p) => stage.memory.primaries().indexOf(stage.memory.primary[p]);
  if (!birth) return "This region has been there from the beginning.";
  const verb = birth.event === "split" ? "was born" : "was set apart again";
  const parent = number(birth.prototypes[0]);
  return `Its region ${verb} in trial ${birth.trial}, out of what is now region ${parent}, because `
    + `${inWords(birth.rules, THEN)}: keeping them together would have cost up to ${written(birth.regret)} of reward per visit.`;
}

function profileIn(name, { now }, epsilon, task) {
  const worth = now.q1.map((value, a) => `${WORDS[task.key].doing[a]} ${a ? "" : "is worth "}${written(value, 3)}`);
  const cost = Math.max(...now.q1) - Math.min(...now.q1);
  const words = `Looking ahead from ${name}, ${worth.slice(0, -1).join(", ")} and ${worth.at(-1)}: `
    + (cost <= epsilon ? "any will do." : `the wrong choice costs ${now.q1.length > 2 ? "up to " : ""}${written(cost, 3)}.`);
  const doubt = " The learner would not rely on this yet: it has seen too little of where that leads.";
  return now.reliable.every(Boolean) ? words : words + doubt;
}

/** Why a state is in its region. */
export function explainOne(stage, s) {
  const about = aboutState(stage, s);
  const delta = stage.settings.delta;
  return {
    states: [about],
    sentences: [
      `A (${placeOf(s, stage.task)}) belongs to region ${about.region}: ${pushes(about.q, delta, stage.task)}. It is worth ${written(stateValue(about.q), 3)}.`,
      profileIn("A", about, stage.settings.epsilon, stage.task),
      originOf(stage, about),
    ],
    then: null,
    regret: null,
    epsilon: null,
  };
}

function verdict(one, two, rules, epsilon) {
  const same = one.primary === two.primary;
  if (same && !rules) return `Not told apart: A and B are both in region ${one.region}, and no difference between them costs more than ε = ${epsilon}.`;
  if (same) {
    return `Not told apart yet: A and B are both in region ${one.region}, although ${inWords(rules, RULES)}. `
      + "The learner splits a region only when it is surprised there.";
  }
  if (!rules) {
    return `Told apart: A is in region ${one.region}, B in region ${two.region}; but by what is known now, no difference `
      + `between these two states costs more than ε = ${epsilon}.`;
  }
  return `Told apart: A is in region ${one.region}, B in region ${two.region}, because ${inWords(rules, RULES)}.`;
}

/** Why two states are told apart, or are not. */
export function explainTwo(stage, s1, s2) {
  const [one, two] = [aboutState(stage, s1), aboutState(stage, s2)];
  const { epsilon } = stage.settings;
  const [q1, q2] = [one.now.q1, two.now.q1];
  const rules = incompatibility(q1, q2, epsilon, epsilon);
  const regret = stake(q1, q2);
  const merging = mergingEpsilon(q1, q2);
  const then = partingOf(stage.learner.reasons, one.primary, two.primary);
  const sentences = [
    verdict(one, two, rules, epsilon),
    `Were they treated as one state, up to ${written(regret, 3)} of reward would be lost on a visit.`,
    profileIn("A", one, epsilon, stage.task),
    profileIn("B", two, epsilon, stage.task),
  ];
  if (one.primary !== two.primary) {
    sentences.push(then
      ? `Their families parted in trial ${then.trial}: ${inWords(then.rules, THEN)}, with ${written(then.regret, 3)} of reward at stake.`
      : "Their regions were two from the beginning.");
  }
  sentences.push(merging === Infinity
    ? "No ε would make them one: what is best for A is not best for B."
    : `They would be one region at ε = ${written(merging, 4)}.`);
  return { states: [one, two], sentences, rules, then, regret, epsilon: merging };
}
