// Why a state belongs to its region, and why two states are kept apart: plain sentences, and the figures behind them.
// Each sentence names its source: then, the learned values, or a look-ahead now.

import { BEST, POLICY, VALUE, incompatibility, incrementalRegret, mergingEpsilon, stake, stateValue } from "../learning/criteria.js";
import { NOTHING, amount, amounts, preference, tiedBest, withoutNoise } from "./choices.js";
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

const THEN = [
  [POLICY, "the actions that were good enough differed (Eq. 3)"],
  [VALUE, "they were not worth the same (Eq. 4)"],
  [BEST, "their sets of best actions differed (Eq. 6)"],
];

function inWords(rules) {
  const broken = THEN.filter(([bit]) => rules & bit).map(([, text]) => text);
  return broken.length > 1 ? `${broken.slice(0, -1).join(", ")} and ${broken.at(-1)}` : broken.join("");
}

/** What is known of one state: its region, its profile, and how its region came about. */
export function aboutState(stage, s) {
  const { learner, memory } = stage;
  const p = memory.nearest(s);
  const j = memory.primary[p];
  const { q1, ...rest } = learner.lookAhead(s);
  return { s, prototype: p, primary: j, region: memory.primaries().indexOf(j), now: { ...rest, q1: withoutNoise(q1) }, q: memory.q[j] };
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
  return `Its region ${verb} in trial ${birth.trial}, out of what is now region ${parent}: then, `
    + `${inWords(birth.rules)}; ${amount(birth.regret)} of reward was at stake.`;
}

/** What the map does in a state, by its source, and what a look-ahead says now. */
function preferenceIn(about, { settings, task }) {
  const { doing } = WORDS[task.key];
  const [chosen, best] = [tiedBest(about.q, settings.delta), tiedBest(about.now.q1)];
  const tied = settings.delta > 0 && chosen.length > 1 ? `, within δ = ${amount(settings.delta)}` : "";
  if (chosen.join() === best.join()) return `by the learned values and now, ${preference(doing, chosen)}${tied}`;
  return `by the learned values, ${preference(doing, chosen)}${tied}; now, ${preference(doing, best)}`;
}

function doubtOf(...states) {
  const sure = states.every(({ now }) => now.reliable.every(Boolean));
  return sure ? [] : ["The learner would not rely on this look-ahead yet: it has seen too little of where that leads."];
}

/** Why a state is in its region. */
export function explainOne(stage, s) {
  const about = aboutState(stage, s);
  const loss = incrementalRegret(about.q, about.now.q1, stage.settings.delta);
  return {
    states: [about],
    sentences: [
      ...endOf("A", s, stage.task),
      `A (${placeOf(s, stage.task)}) lies in region ${about.region}: ${preferenceIn(about, stage)}.`,
      `It is worth ${amount(stateValue(about.q))} by the learned values. Now, what the map does here loses `
        + `${loss < NOTHING ? "nothing" : `${amount(loss)} of reward`}.`,
      originOf(stage, about),
      ...doubtOf(about),
    ],
    then: null,
    regret: null,
    epsilon: null,
  };
}

/** Why two regions are kept apart, by what a look-ahead from the two states says now. */
function apart(q1, q2, rules, then, { settings, task }) {
  const { doing } = WORDS[task.key];
  const losses = [incrementalRegret(q2, q1, 0), incrementalRegret(q1, q2, 0)];
  const values = [stateValue(q1), stateValue(q2)];
  const most = Math.max(...losses);
  if (rules & BEST && (!(rules & VALUE) || most >= Math.abs(values[0] - values[1]))) {
    const [at, other, q, lost] = losses[0] >= losses[1] ? ["A", "B", q2, q1] : ["B", "A", q1, q2];
    const good = tiedBest(q);
    const wrong = good.length > 1 ? doing[good.reduce((a, b) => (lost[b] < lost[a] ? b : a))] : "it";
    return `Kept apart now: ${preference(doing, good)} in ${other}, but in ${at} ${wrong} loses ${amount(most)} of reward.`;
  }
  if (rules & VALUE) {
    const [own, others] = amounts(...values);
    return `Kept apart now: they are not worth the same, A ${own} and B ${others}; one value for both would be wrong by ${amount(Math.abs(values[0] - values[1]))}.`;
  }
  if (rules & POLICY) return goodInOneOnly([q1, q2], doing, settings.epsilon);
  const cost = stake(q1, q2);
  const price = cost < NOTHING ? "nothing" : `at most ${amount(cost)} of reward per visit`;
  return `Kept apart because ${then ? "a difference was found earlier" : "their families were two from the beginning"}; now, merging them would cost ${price}.`;
}

/** The same action is best in both, and another is good enough in one of them only (Eq. 3). */
function goodInOneOnly(profiles, doing, epsilon) {
  const lost = profiles.map((q) => q.map((value) => stateValue(q) - value));
  const candidates = [0, 1].flatMap((n) => lost[n].map((loss, a) => ({ n, a, loss })))
    .filter(({ n, a, loss }) => loss > epsilon && lost[1 - n][a] <= epsilon);
  const { n, a, loss } = candidates.reduce((one, two) => (two.loss > one.loss ? two : one));
  const [cost, limit] = amounts(loss, epsilon);
  return `Kept apart now: ${doing[a]} is within ε = ${limit} of the best in ${"BA"[n]}, but in ${"AB"[n]} it loses ${cost} of reward.`;
}

function together(one, two, { settings }) {
  const losses = [one, two].map(({ q, now }) => incrementalRegret(q, now.q1, settings.delta));
  const lost = Math.max(...losses, Math.abs(stateValue(one.now.q1) - stateValue(two.now.q1)));
  const [cost, limit] = amounts(lost, settings.epsilon);
  const words = lost < NOTHING ? "nothing"
    : `at most ${cost} of reward per visit, ${lost <= settings.epsilon ? "within" : "more than"} the ε of ${limit} that may be lost`;
  return `Together in region ${one.region}: no difference between them has mattered so far. Now, treating them alike costs ${words}.`;
}

/** Whether trials end in a state, so that nothing is done there. */
function endOf(name, s, task) {
  return task.isEnd?.(s) ? [`Trials end in ${name}, so nothing is ever done there; the map only guesses.`] : [];
}

/** Why two states are kept apart, or are not. */
export function explainTwo(stage, s1, s2) {
  const [one, two] = [aboutState(stage, s1), aboutState(stage, s2)];
  const { epsilon } = stage.settings;
  const [q1, q2] = [one.now.q1, two.now.q1];
  const rules = incompatibility(q1, q2, epsilon, epsilon);
  const regret = stake(q1, q2);
  const merging = mergingEpsilon(q1, q2);
  const then = partingOf(stage.learner.reasons, one.primary, two.primary);
  const same = one.primary === two.primary;
  const sentences = [
    same ? together(one, two, stage) : apart(q1, q2, rules, then, stage),
    ...endOf("A", s1, stage.task),
    ...endOf("B", s2, stage.task),
    `A is (${placeOf(s1, stage.task)}), in region ${one.region}: ${preferenceIn(one, stage)}.`,
    `B is (${placeOf(s2, stage.task)}), in region ${two.region}: ${preferenceIn(two, stage)}.`,
  ];
  if (!same) {
    sentences.push(then
      ? `Their families parted in trial ${then.trial}: then, ${inWords(then.rules)}; ${amount(then.regret)} of reward was at stake.`
      : "Their families were two from the beginning.");
    const [at, own] = amounts(merging, epsilon);
    const used = rules && merging <= epsilon ? `, though not at the ${own} of this run` : ` (this run: ${own})`;
    sentences.push(merging === Infinity
      ? `Now, no ε would merge them (this run: ${amount(epsilon)}): Eq. 6 merges only states with the same set of best actions.`
      : `Now, these two states would be merged ${merging ? "" : "even "}at ε = ${at}${used}.`);
  }
  return { states: [one, two], sentences: [...sentences, ...doubtOf(one, two)], rules, then, regret, epsilon: merging };
}
