// The paper's learner: trials and the stack at their ends (Figures 1-4), as in learners/economy/trials.py.

import { updateRepresentation } from "./abstraction.js";
import { adequate, prefers, stateValue } from "./criteria.js";
import { Memory } from "./memory.js";

export const [RUNNING, TERMINAL, CAPPED] = [0, 1, 2];

/** Any preferred action, each as likely; a single one costs no random number. */
export function choose(q, delta, rng) {
  let ties = 0;
  for (let a = 0; a < q.length; a += 1) if (prefers(q, a, delta)) ties += 1;
  let remaining = ties > 1 ? Math.floor(rng.random() * ties) : 0;
  for (let a = 0; a < q.length; a += 1) {
    if (prefers(q, a, delta)) {
      if (remaining === 0) return a;
      remaining -= 1;
    }
  }
  return 0;
}

export class Learner {
  /** first is a state that a trial may begin with. */
  constructor(task, settings, rng, prototypes, first) {
    this.task = task;
    this.settings = settings;
    this.rng = rng;
    this.prototypes = prototypes;
    this.now = [...first];
    this.before = [...first];
    this.seen = task.actions.map(() => 0); // one profile, made once: it is needed at every step
    this.action = -1;
    this.counts = { trials: 0, trialSteps: 0, investigationSteps: 0, length: 0, gained: 0, attempt: 0, since: 0 };
    this.reasons = [];
    this.fresh(first);
  }

  /** Begin from scratch; the reasons so far are those of regions that are no more. */
  fresh(first) {
    this.memory = new Memory(this.task, this.prototypes ? { points: this.prototypes } : { states: [first] });
    this.reasons = [];
  }

  /** Put the system where a trial begins. */
  goToStart() {
    [this.now[0], this.now[1]] = this.task.start(this.rng);
  }

  /** Begin a trial. */
  begin() {
    this.goToStart();
    this.counts.trials += 1;
    this.counts.length = 0;
    this.counts.gained = 0;
    this.action = this.nextAction(this.memory.region(this.now));
  }

  /** Drive the running trial for at most so many steps; a visitor sees every state on the way. */
  advance(steps, visit) {
    const { task, memory, now, before, counts } = this;
    const last = Math.min(this.cap, counts.length + steps);
    let j = memory.region(now);
    while (counts.length < last) {
      [before[0], before[1]] = now;
      const terminal = task.transition(now, this.action);
      const r = task.reward(now, terminal);
      const k = memory.region(now);
      counts.length += 1;
      counts.trialSteps += 1;
      counts.gained += r;
      if (visit) visit(now);
      this.action = this.getAction(before, j, this.action, r, k, terminal);
      if (terminal) return TERMINAL;
      if (task.stops?.(now)) return CAPPED;
      j = k;
    }
    return counts.length >= this.cap ? CAPPED : RUNNING;
  }

  /** The steps after which a trial is stopped. */
  get cap() {
    return Math.min(this.settings.cap, this.task.limit);
  }

  /** Figure 1: learn from a transition from s in region j to region k, and choose the next action. */
  getAction(s, j, a, r, k, terminal) {
    const { memory, settings } = this;
    const qNew = terminal ? r : r + settings.gamma * stateValue(memory.q[k]);
    const reliable = terminal || memory.reliableSource(k, settings.min_updates);
    if (reliable) {
      memory.q[j][a] = (1 - settings.alpha) * memory.q[j][a] + settings.alpha * qNew;
      memory.updates[j][a] += 1;
    }
    const surprise = this.surprising(j, a, qNew) && (reliable || !settings.surprise_reliable);
    if (surprise || !memory.investigated[j] || this.rng.random() < settings.coin) memory.push(s, j);
    return terminal ? -1 : this.nextAction(k);
  }

  /** Whether a transition shows that its state is not adequate (section 3.1). */
  surprising(j, a, q1) {
    const { settings } = this;
    const q = this.memory.q[j];
    if (settings.surprise_by_transition) return !(Math.abs(q1 - q[a]) <= settings.epsilon);
    const { seen } = this;
    for (let b = 0; b < q.length; b += 1) seen[b] = b === a ? q1 : q[b];
    return !adequate(q, seen, settings.epsilon, settings.delta);
  }

  nextAction(j) {
    const { settings, rng } = this;
    if (settings.explore > 0 && rng.random() < settings.explore) return Math.floor(rng.random() * this.task.actions.length);
    return choose(this.memory.q[j], settings.delta, rng);
  }

  /** Figure 2: investigate the surprising states of a trial, the latest first. */
  settle() {
    const { memory } = this;
    memory.sessions += 1;
    for (let s = memory.pop(); s !== null; s = memory.pop()) {
      const j = memory.region(s);
      if (this.feTimer()) updateRepresentation(this, s, j);
      else this.applyProfile(j, this.investigate(s));
    }
  }

  feTimer() {
    const { memory, settings } = this;
    memory.feCalls += 1;
    return (settings.fe_counts_trials ? memory.sessions : memory.feCalls) % settings.fe_interval === 0;
  }

  /** Figure 3: the action profile of a state, and which of its entries are reliable. */
  investigate(s) {
    const { memory } = this;
    const j = memory.region(s);
    const profile = this.lookAhead(s);
    this.counts.investigationSteps += profile.steps;
    memory.investigated[j] = true;
    return profile;
  }

  /** The same for a reader who asks: nothing is remembered. */
  lookAhead(s) {
    const j = this.memory.region(s);
    const trials = this.task.actions.map((_, a) => this.miniTrial(s, j, a));
    return {
      q1: trials.map((trial) => trial.q1),
      reliable: trials.map((trial) => trial.reliable),
      steps: trials.reduce((sum, trial) => sum + trial.steps, 0),
    };
  }

  /** Repeat an action from s until region j is left. */
  miniTrial(s, j, a) {
    const { task, memory, settings } = this;
    const at = [...s];
    let [k, gained, discount, steps, terminal] = [j, 0, 1, 0, false];
    do {
      terminal = task.transition(at, a);
      k = memory.region(at);
      gained += discount * task.reward(at, terminal);
      discount *= settings.gamma;
      steps += 1;
    } while (k === j && steps < settings.max_steps && !terminal && !task.stops?.(at));
    const reliable = memory.reliableSource(k, settings.min_updates);
    if (terminal) return { q1: gained, reliable: reliable || settings.terminal_reliable, steps };
    const future = settings.discount_steps ? discount : settings.gamma;
    return { q1: gained + future * stateValue(memory.q[k]), reliable, steps };
  }

  /** Update the values of region j by the reliable entries of a profile (Figures 2 and 4). */
  applyProfile(j, { q1, reliable }) {
    const { memory, settings } = this;
    for (let a = 0; a < q1.length; a += 1) {
      if (!reliable[a]) continue;
      memory.updates[j][a] += 1;
      const rate = 1 / Math.min(memory.updates[j][a], settings.enough_samples);
      memory.q[j][a] += rate * (q1[a] - memory.q[j][a]);
    }
  }
}
