// The generation stage (section 3.4): trials until the puck is held, as in runs/stage.py with the rules of runs/goals.py.

import { CAPPED, Learner, RUNNING, choose } from "./learner.js";
import { Pcg64 } from "./pcg64.js";
import { START, transition } from "./puck.js";
import { STARTS, USUAL, settingsOf } from "./settings.js";

export const [BETWEEN, TRIAL, CONFIRMING, DONE] = ["between trials", "trial", "confirming", "done"];

/** The n-th number of 1, 1, 2, 1, 1, 2, 4, …: how long the n-th attempt may be. */
function luby(n) {
  let power = 1;
  while (power <= n) power *= 2;
  return n === power - 1 ? power / 2 : luby(n - (power / 2 - 1));
}

export class Stage {
  constructor(choice) {
    this.settings = settingsOf(choice);
    this.rng = new Pcg64(choice.seed);
    this.learner = new Learner(this.settings, this.rng, STARTS[choice.start]);
    this.phase = BETWEEN;
    this.solved = false;
    this.held = 0; // steps of the confirmation so far
    this.trials = []; // {length, ended, regions, prototypes, steps}
    this.restarts = [];
  }

  get memory() {
    return this.learner.memory;
  }

  get regions() {
    return this.memory.primaries().length;
  }

  /** Work for at most so many steps; return those taken. One call never goes beyond one phase of one trial. */
  work(steps, visit) {
    if (this.phase === BETWEEN) return this.betweenTrials();
    if (this.phase === TRIAL) return this.advanceTrial(steps, visit);
    if (this.phase === CONFIRMING) return this.confirm(steps, visit);
    return 0;
  }

  betweenTrials() {
    if (this.isSpent()) this.phase = DONE;
    else if (this.attemptIsOver()) this.restart();
    else {
      this.learner.begin();
      this.phase = TRIAL;
    }
    return 0;
  }

  isSpent() {
    const { trials, restart, prototypes } = this.settings;
    return this.learner.counts.trials >= trials || (restart === 0 && this.memory.size >= prototypes);
  }

  attemptIsOver() {
    const { restart, prototypes } = this.settings;
    const { trials, since, attempt } = this.learner.counts;
    if (restart === 0) return false;
    return this.memory.size >= prototypes || trials - since >= restart * luby(attempt + 1);
  }

  /** Begin from scratch. */
  restart() {
    const { counts } = this.learner;
    this.learner.fresh();
    counts.attempt += 1;
    counts.since = counts.trials;
    this.restarts.push(counts.trials);
  }

  advanceTrial(steps, visit) {
    const { learner } = this;
    const before = learner.counts.length;
    const ended = learner.advance(steps, visit);
    const taken = learner.counts.length - before;
    if (ended === CAPPED) { // it looks like success: does the frozen policy hold?
      this.phase = CONFIRMING;
      this.held = 0;
      [learner.now[0], learner.now[1]] = START;
    } else if (ended !== RUNNING) {
      learner.settle();
      this.endTrial("wall");
    }
    return taken;
  }

  /** Follow the greedy policy; a fall sends the learner back to work. */
  confirm(steps, visit) {
    const { learner, settings, memory } = this;
    const most = Math.min(steps, settings.hold - this.held);
    let fell = false;
    let taken = 0;
    while (!fell && taken < most) {
      learner.action = choose(memory.q[memory.region(learner.now)], settings.delta, this.rng);
      fell = transition(learner.now, learner.action);
      taken += 1;
      if (visit) visit(learner.now);
    }
    this.held += taken;
    if (fell) {
      learner.settle();
      this.endTrial("cap");
    } else if (this.held >= settings.hold) {
      this.endTrial("cap");
      this.solved = true;
      this.phase = DONE;
    }
    return taken;
  }

  endTrial(ended) {
    const { counts } = this.learner;
    this.trials.push({
      length: counts.length,
      ended,
      regions: this.regions,
      prototypes: this.memory.size,
      steps: counts.trialSteps + counts.investigationSteps,
    });
    this.phase = BETWEEN;
  }

  /** Everything that a run of the Python package can be compared with. */
  trace() {
    const { memory, learner } = this;
    const rows = memory.primaries();
    return {
      solved: this.solved,
      trials: this.trials,
      prototypes: memory.x.map((_, p) => memory.state(p)),
      primary: [...memory.primary],
      q: rows.map((p) => [...memory.q[p]]),
      updates: rows.map((p) => [...memory.updates[p]]),
      reasons: learner.reasons,
      investigation_steps: learner.counts.investigationSteps,
      attempts: learner.counts.attempt + 1,
    };
  }
}

/** Learn to the end at once; choices that are not made are the usual ones, and changes are settings by name. */
export function learnt(choice, changes = {}) {
  const stage = new Stage({ ...USUAL, ...choice });
  Object.assign(stage.settings, changes);
  while (stage.phase !== DONE) stage.work(1e6);
  return stage;
}
