// The generation stage (section 3.4): trials until the task is solved, as in runs/stage.py.

import { FAILED, OPEN, PASSED, question } from "./confirmation.js";
import { CAPPED, Learner, RUNNING, TERMINAL, choose } from "./learner.js";
import { Pcg64 } from "./pcg64.js";
import { STARTS, settingsOf, usualFor } from "./settings.js";
import { TASKS } from "./tasks.js";

export const [BETWEEN, TRIAL, CONFIRMING, DONE] = ["between trials", "trial", "confirming", "done"];

/** The n-th number of 1, 1, 2, 1, 1, 2, 4, …: how long the n-th attempt may be. */
function luby(n) {
  let power = 1;
  while (power <= n) power *= 2;
  return n === power - 1 ? power / 2 : luby(n - (power / 2 - 1));
}

/** The stage of a choice: a task with a threshold is judged by its mean return, one without by how long it is held. */
export function stageOf(choice) {
  return TASKS[choice.task].threshold === null ? new HoldStage(choice) : new ReturnStage(choice);
}

class Stage {
  constructor(choice) {
    this.task = TASKS[choice.task];
    this.settings = settingsOf(choice);
    this.rng = new Pcg64(choice.seed);
    const first = this.task.start(new Pcg64(choice.seed)); // the same as that of the first trial
    this.learner = new Learner(this.task, this.settings, this.rng, STARTS[choice.task][choice.start], first);
    this.phase = BETWEEN;
    this.solved = false;
    this.held = 0; // steps of the trial of a confirmation so far
    this.trials = []; // {length, ended, regions, prototypes, steps, gained}
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
    if (this.isSpent()) this.endStage();
    else if (this.attemptIsOver()) this.endAttempt();
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
    return (trials > since && this.memory.size >= prototypes) || trials - since >= restart * luby(attempt + 1);
  }

  /** Begin from scratch. */
  restart() {
    this.learner.fresh(this.task.start(this.rng));
    this.countAttempt();
    this.restarts.push(this.learner.counts.trials);
    this.phase = BETWEEN;
  }

  countAttempt() {
    const { counts } = this.learner;
    counts.attempt += 1;
    counts.since = counts.trials;
  }

  advanceTrial(steps, visit) {
    const { learner } = this;
    const before = learner.counts.length;
    const ended = learner.advance(steps, visit);
    const taken = learner.counts.length - before;
    if (ended !== RUNNING) this.afterTrial(ended);
    return taken;
  }

  /** Follow the greedy policy for at most so many steps; return those taken, their rewards, and whether it ended. */
  follow(most, visit) {
    const { learner, settings, memory, task } = this;
    let [ended, taken, gained] = [false, 0, 0];
    const before = this.rng.state.join();
    while (!ended && taken < most) {
      learner.action = choose(memory.q[memory.region(learner.now)], settings.delta, this.rng);
      const terminal = task.transition(learner.now, learner.action);
      gained += task.reward(learner.now, terminal);
      taken += 1;
      ended = terminal || Boolean(task.stops?.(learner.now));
      if (visit) visit(learner.now);
    }
    this.held += taken;
    this.tied ||= this.rng.state.join() !== before; // only a choice among tied actions is random
    return { ended, taken, gained };
  }

  endTrial(ended) {
    const { counts } = this.learner;
    this.trials.push({
      length: counts.length,
      ended,
      regions: this.regions,
      prototypes: this.memory.size,
      steps: counts.trialSteps + counts.investigationSteps,
      gained: counts.gained,
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
      score: this.score,
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

/** A trial that reaches the cap claims success; then the frozen greedy policy must hold as long as required. */
class HoldStage extends Stage {
  get score() {
    return this.held;
  }

  afterTrial(ended) {
    if (ended === CAPPED) { // it looks like success: does the frozen policy hold?
      [this.phase, this.held] = [CONFIRMING, 0];
      this.learner.goToStart();
    } else {
      this.learner.settle();
      this.endTrial("wall");
    }
  }

  /** Follow the greedy policy; a fall sends the learner back to work. */
  confirm(steps, visit) {
    const { hold } = this.settings;
    const { ended, taken } = this.follow(Math.min(steps, hold - this.held), visit);
    if (ended) {
      this.learner.settle();
      this.endTrial("cap");
    } else if (this.held >= hold) {
      this.endTrial("cap");
      this.solved = true;
      this.phase = DONE;
    }
    return taken;
  }

  endAttempt() {
    this.restart();
  }

  endStage() {
    this.phase = DONE;
  }
}

/** Why greedy trials are run: a good trial claims success; an attempt, or the stage, is over. */
const [CLAIM, ATTEMPT_OVER, STAGE_OVER] = ["claim", "attempt over", "stage over"];
const SAMPLE = 20; // greedy trials that measure an attempt when it is over

/** A trial that reaches the threshold claims success; greedy trials show whether that was luck. */
class ReturnStage extends Stage {
  constructor(choice) {
    super(choice);
    this.score = 0;
    this.claimed = 0; // confirmations so far that could have said "solved"
    [this.least, this.greatest] = [Infinity, -Infinity]; // the extreme returns of all trials
    this.best = null;
  }

  afterTrial(ended) {
    const { learner, task } = this;
    learner.settle();
    const claimed = learner.counts.gained >= task.threshold;
    this.noteReturn(learner.counts.gained);
    this.endTrial(ended === TERMINAL ? "terminal" : "cap");
    if (claimed) this.beginConfirmation(CLAIM);
  }

  noteReturn(gained) {
    this.least = Math.min(this.least, gained);
    this.greatest = Math.max(this.greatest, gained);
  }

  beginConfirmation(purpose) {
    [this.returns, this.tested, this.tied, this.purpose, this.phase] = [[], 0, false, purpose, CONFIRMING];
    this.claimed += purpose === ATTEMPT_OVER ? 0 : 1;
    this.question = question({
      threshold: this.task.threshold, least: this.least, greatest: this.greatest, claim: Math.max(this.claimed, 1),
      confidence: this.settings.confidence, steps: this.settings.confirm_steps, most: this.settings.confirm,
      isClaim: purpose === CLAIM,
    });
    this.beginGreedyTrial();
  }

  beginGreedyTrial() {
    if (this.returns.length) this.noteReturn(this.returns.at(-1));
    this.returns.push(0);
    this.held = 0;
    this.learner.goToStart();
  }

  /** Follow the greedy policy for some steps, and judge it when a trial ends. */
  confirm(steps, visit) {
    const { cap } = this.learner;
    const { ended, taken, gained } = this.follow(Math.min(steps, cap - this.held), visit);
    this.tested += taken;
    this.returns[this.returns.length - 1] += gained;
    if (ended || this.held >= cap) {
      const answer = this.judge();
      if (answer === OPEN) this.beginGreedyTrial();
      else this.conclude(answer);
    }
    return taken;
  }

  /** Judge the trials so far; one is enough where all are the same, a small sample if an attempt is over. */
  judge() {
    if (this.purpose !== ATTEMPT_OVER) {
      const isCertain = this.task.hasOneStart && !this.tied;
      if (isCertain) return Math.min(...this.returns) >= this.task.threshold ? PASSED : FAILED;
      return this.question.after(this.returns.at(-1), this.tested);
    }
    return this.returns.length >= Math.min(this.settings.confirm, SAMPLE) ? FAILED : OPEN;
  }

  conclude(answer) {
    this.score = this.returns.reduce((sum, one) => sum + one, 0) / this.returns.length;
    if (this.purpose === ATTEMPT_OVER) {
      this.keepIfBest();
      this.restart();
    } else if (this.purpose === CLAIM && answer !== PASSED) {
      this.keepIfBest();
      this.phase = BETWEEN;
    } else if (answer === PASSED || !this.turnToBest()) {
      this.solved = answer === PASSED;
      this.phase = DONE;
    }
  }

  keepIfBest() {
    if (this.best && this.best.score >= this.score) return;
    const { memory, reasons, counts } = this.learner;
    this.best = { score: this.score, memory: memory.copy(), reasons, until: counts.trials };
  }

  /** At the end go back to the best map if it beat the last, and measure it again. */
  turnToBest() {
    const { best, learner } = this;
    this.best = null;
    if (!best || best.score <= this.score) return false;
    learner.memory = best.memory;
    learner.reasons = best.reasons.filter((reason) => reason.trial <= best.until);
    this.countAttempt();
    this.beginConfirmation(STAGE_OVER);
    return true;
  }

  endAttempt() {
    this.beginConfirmation(ATTEMPT_OVER);
  }

  endStage() {
    this.beginConfirmation(STAGE_OVER);
  }
}

/** Learn to the end at once; choices that are not made are the usual ones, and changes are settings by name. */
export function learnt(choice, changes = {}) {
  const stage = stageOf({ ...usualFor(choice.task ?? "puck"), ...choice });
  Object.assign(stage.settings, changes);
  while (stage.phase !== DONE) stage.work(1e6);
  return stage;
}
