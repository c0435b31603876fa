// What moves: learning in slices between two frames, a puck that was let go, and the way behind it.

import { choose } from "../learning/learner.js";
import { BETWEEN, CONFIRMING, DONE, stageOf } from "../learning/stage.js";
import { WORDS } from "./words.js";

/** How much faster than the task's own pace, and the rest after a trial (in seconds) in which a new region can be seen. */
export const SPEEDS = [
  { times: 1, rest: 0.8 },
  { times: 5, rest: 0.45 },
  { times: 20, rest: 0.15 },
  { times: 200, rest: 0 },
  { times: Infinity, rest: 0 },
];
const SLICE = 8; // milliseconds of learning in a frame: the page stays at 60 frames a second
const LONG = 300; // steps after which a trial is shown ever faster
const WAY = 400; // states of the way that are shown
const PATIENCE = 1500; // steps that a puck that was let go is followed

export const [PAUSED, LEARNING, HELD, FREE] = ["paused", "learning", "held", "free"];

export class Player {
  constructor(choice) {
    this.speed = 1;
    this.restart(choice);
  }

  /** Begin from scratch, with these settings. */
  restart(choice) {
    this.stage = stageOf(choice);
    this.pace = WORDS[choice.task].pace;
    this.maps = []; // the map after every trial
    this.mode = PAUSED;
    this.way = [];
    this.due = 0;
    this.resting = 0;
    this.stopAt = Infinity; // trials after which to pause
    this.free = null; // the puck in the reader's hand, or let go: {s, action, steps, fell, gained}
    this.visit = (s) => this.pass(s);
  }

  get isOver() {
    return this.stage.phase === DONE;
  }

  /** The state and the action to be drawn. */
  get shown() {
    if (this.free) return { s: this.free.s, action: this.free.action };
    const { learner, phase } = this.stage;
    return { s: learner.now, action: phase === BETWEEN || phase === DONE ? -1 : learner.action };
  }

  pass(s) {
    this.way.push([s[0], s[1]]);
    if (this.way.length > 2 * WAY) this.way.splice(0, WAY);
  }

  get trail() {
    return this.way.slice(-WAY);
  }

  learn() {
    if (this.isOver) return;
    this.letGoOf();
    this.mode = LEARNING;
    this.stopAt = Infinity;
  }

  pause() {
    if (this.mode === LEARNING) this.mode = PAUSED;
  }

  letGoOf() {
    if (this.free) this.way = [];
    this.free = null;
  }

  /** Learn for exactly one step of a trial. */
  step() {
    this.letGoOf();
    this.mode = PAUSED;
    while (!this.isOver && !this.work(1));
  }

  /** Learn to the end of the running trial, or of the next one, as fast as it can. */
  trial() {
    this.learn();
    this.stopAt = this.stage.trials.length + 1;
  }

  work(steps) {
    const { stage } = this;
    const [before, phase] = [stage.trials.length, stage.phase];
    if (phase === BETWEEN) this.way = [];
    const taken = stage.work(steps, this.visit);
    if (stage.phase === CONFIRMING && (phase !== CONFIRMING || stage.held === 0)) this.way = []; // it begins again
    if (stage.trials.length > before) {
      this.resting = SPEEDS[this.speed].rest;
      this.maps.push(stage.memory.copy());
    }
    return taken;
  }

  /** Go on by so many seconds; tell whether anything changed. */
  frame(seconds) {
    if (this.mode === LEARNING) return this.learnFor(seconds);
    if (this.mode === FREE) return this.follow(seconds);
    return false;
  }

  learnFor(seconds) {
    this.resting -= seconds;
    if (this.resting > 0) return true;
    const rate = this.stopAt === Infinity ? this.pace * SPEEDS[this.speed].times : Infinity;
    this.due = rate === Infinity ? 1e9 : this.due + seconds * rate * this.haste();
    const end = performance.now() + SLICE;
    while (this.due >= 1 && this.goesOn && performance.now() < end) {
      this.due -= this.work(Math.min(Math.floor(this.due), 2000));
    }
    if (this.resting > 0 || performance.now() >= end) this.due = 0; // what there was no time for is not made up
    if (this.isOver || this.stage.trials.length >= this.stopAt) this.mode = PAUSED;
    return true;
  }

  get goesOn() {
    return !this.isOver && this.resting <= 0 && this.stage.trials.length < this.stopAt;
  }

  /** A trial that does not end is shown faster and faster. */
  haste() {
    const { stage } = this;
    const length = stage.phase === CONFIRMING ? stage.held + stage.settings.cap : stage.learner.counts.length;
    return 1 + Math.max(0, length / LONG - 1) ** 2;
  }

  /** Take the puck in hand and put it somewhere. */
  hold(s) {
    if (this.mode !== HELD) this.way = [];
    this.mode = HELD;
    this.free = { s: [...s], action: -1, steps: 0, fell: false, gained: 0 };
  }

  /** Let the puck go: it follows what was learned so far. */
  release(s) {
    this.hold(s);
    this.free.fell = Boolean(this.stage.task.isEnd?.(s));
    this.mode = this.free.fell ? PAUSED : FREE;
    this.due = 0;
    this.pass(s);
  }

  follow(seconds) {
    const { memory, settings, task } = this.stage;
    const { free } = this;
    const most = Math.min(PATIENCE, task.limit);
    this.due += Math.min(seconds, 0.1) * this.pace;
    while (this.due >= 1 && !free.fell && free.steps < most) {
      this.due -= 1;
      free.action = choose(memory.q[memory.region(free.s)], settings.delta, Math);
      free.fell = task.transition(free.s, free.action);
      free.gained += task.reward(free.s, free.fell);
      free.steps += 1;
      this.pass(free.s);
    }
    if (free.fell || free.steps >= most) this.mode = PAUSED;
    return true;
  }
}
