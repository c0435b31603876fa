// The state abstraction module: split, detach and consolidate (Figures 5 and 6), as in learners/economy/abstraction.py.

import { incompatibility, stake } from "./criteria.js";

/** Figure 6: whether two states are surely incompatible. */
function shouldSplit({ epsilon }, one, other) {
  const known = one.reliable.every(Boolean) && other.reliable.every(Boolean);
  return known && incompatibility(one.q1, other.q1, epsilon, epsilon) !== 0;
}

function record(learner, event, first, second, one, other) {
  const { memory, counts, settings } = learner;
  learner.reasons.push({
    event,
    trial: counts.trials,
    step: counts.trialSteps + counts.investigationSteps,
    prototypes: [first, second],
    states: [memory.state(first), memory.state(second)],
    profiles: [[...one.q1], [...other.q1]],
    rules: incompatibility(one.q1, other.q1, settings.epsilon, settings.epsilon),
    regret: stake(one.q1, other.q1),
  });
}

/** Figure 5: refine region j if the surprising state s does not belong with its prototype. */
export function updateRepresentation(learner, s, j) {
  const { memory, settings } = learner;
  const state = learner.investigate(s);
  const primary = learner.investigate(memory.states[j]);
  learner.applyProfile(j, primary);
  const separable = !memory.isAt(j, s) && memory.reliablePrototype(j, settings.min_updates);
  if (separable && shouldSplit(settings, state, primary)) {
    memory.updates[j] = memory.updates[j].map((count) => Math.min(count, settings.reduced_updates));
    split(learner, s, j, state, primary);
  } else {
    learner.applyProfile(j, state);
  }
  memory.mergeCalls += 1;
  if (settings.merge_interval > 0 && memory.mergeCalls % settings.merge_interval === 0) consolidate(learner);
}

/** Separate s from prototype j: add it, or give it to its nearest prototype p2, or both. */
function split(learner, s, j, state, primary) {
  const { memory, settings } = learner;
  const p2 = memory.nearest(s);
  if (p2 === j) {
    addPrototype(learner, s, j, state, primary);
    return;
  }
  const second = learner.investigate(memory.states[p2]);
  const partWays = shouldSplit(settings, primary, second);
  const added = !partWays || shouldSplit(settings, state, second);
  if (added && memory.isAt(p2, s)) { // it has a prototype: detach that
    detachPrototype(learner, j, p2, primary, state);
    return;
  }
  if (added) addPrototype(learner, s, j, state, primary);
  if (partWays) {
    detachPrototype(learner, j, p2, primary, second);
    if (!added) learner.applyProfile(p2, state);
  }
}

/** Make s the prototype of a new region, split from region j. */
function addPrototype(learner, s, j, state, primary) {
  const p = learner.memory.add(s);
  adoptProfile(learner, p, state);
  record(learner, "split", j, p, primary, state);
}

/** Give prototype p of region j a region of its own again. */
function detachPrototype(learner, j, p, primary, own) {
  learner.memory.primary[p] = p;
  adoptProfile(learner, p, own);
  record(learner, "detach", j, p, primary, own);
}

function adoptProfile({ memory, settings }, p, { q1 }) {
  memory.q[p] = [...q1];
  memory.updates[p] = q1.map(() => settings.new_updates);
  memory.investigated[p] = settings.new_investigated;
}

/** Merge regions whose primary prototypes are compatible; all profiles are taken before anything changes. */
function consolidate(learner) {
  const { memory, settings } = learner;
  for (let p = 0; p < memory.size; p += 1) {
    if (memory.primary[p] === p || settings.review_merged) {
      memory.profiles[p] = learner.investigate(memory.states[p]);
    }
  }
  if (settings.review_merged) partIncompatible(learner);
  joinCompatible(learner);
}

/** Detach every prototype that no longer belongs with its primary. */
function partIncompatible(learner) {
  const { memory, settings } = learner;
  for (let p = 0; p < memory.size; p += 1) {
    const j = memory.primary[p];
    const [one, own] = [memory.profiles[j], memory.profiles[p]];
    if (j !== p && shouldSplit(settings, one, own)) detachPrototype(learner, j, p, one, own);
  }
}

/** Merge every region that is compatible with an earlier one. */
function joinCompatible(learner) {
  const { memory } = learner;
  for (let k = 1; k < memory.size; k += 1) {
    const j = partner(learner, k);
    if (j < 0) continue;
    memory.merge(j, k);
    record(learner, "merge", j, k, memory.profiles[j], memory.profiles[k]);
  }
}

/** The region that k should join, or -1. */
function partner({ memory, settings }, k) {
  if (!mayMerge(memory, k)) return -1;
  for (let i = 0; i < k; i += 1) {
    const j = settings.merge_into_youngest ? k - 1 - i : i;
    if (mayMerge(memory, j) && !shouldSplit(settings, memory.profiles[j], memory.profiles[k])) return j;
  }
  return -1;
}

function mayMerge(memory, p) {
  return memory.primary[p] === p && memory.profiles[p].reliable.every(Boolean);
}
