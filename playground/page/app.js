// The page: a learner, its map, its scene and its curves, and the reader's hands on them.

import { CurveView } from "../../src/distinguo/views/studio/page/view/curves.js";
import { MapView } from "../../src/distinguo/views/studio/page/view/map.js";
import { mergingEpsilon } from "../learning/criteria.js";
import { FIELDS } from "../learning/lake.js";
import { learnt } from "../learning/stage.js";
import { PRESETS_OF } from "../learning/settings.js";
import { Controls } from "./controls.js";
import { Duel } from "./duel.js";
import { Guide } from "./guide.js";
import { Pictures, aboutPoint, pointOf, policyOf, stateOf } from "./picture.js";
import { LEARNING, Player } from "./player.js";
import { SceneView } from "./scene.js";
import { hues, showStatus } from "./status.js";
import { Why } from "./why.js";
import { WORDS } from "./words.js";

const byId = (id) => document.getElementById(id);
const GLOW = 1.2; // seconds that a new region lights up
const OFTEN = 250; // milliseconds between two pictures of a map within a trial
const AT_LEAST = 80; // and where trials end faster than they can be seen
const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

class App {
  constructor() {
    this.controls = new Controls({
      onChoice: (choice) => this.restart(choice),
      onSpeed: (speed) => { this.player.speed = speed; },
    });
    this.player = new Player(this.controls.choice);
    this.guide = new Guide(byId("guide"));
    this.why = new Why(byId("answer"));
    this.pictures = new Pictures();
    this.curves = { lengths: new CurveView(byId("lengths")), regions: new CurveView(byId("regions")) };
    const hands = { onDrag: (s) => this.hold(s), onRelease: (s) => this.release(s) };
    this.scene = new SceneView(byId("hill"), hands);
    this.map = new MapView(byId("map"), {
      onDrag: (point) => this.hold(stateOf(this.task, point)),
      onRelease: (point) => this.release(stateOf(this.task, point)),
      onPick: (point) => this.ask(point),
      onHover: (point) => this.hover(point),
      onCursor: (point) => {
        this.hover(point);
        this.say(byId("hover").textContent);
      },
    });
    this.duel = new Duel({ choice: this.controls.choice, onChange: (compare) => this.compare(compare) });
    this.listen();
    this.showTask();
    this.forget();
    this.last = performance.now();
    requestAnimationFrame((now) => this.frame(now));
  }

  listen() {
    const on = (id, act) => byId(id).addEventListener("click", act);
    on("play", () => (this.player.mode === LEARNING ? this.player.pause() : this.play()));
    on("step", () => this.newest(() => this.player.step()));
    on("trial", () => this.newest(() => this.player.trial()));
    on("restart", () => this.restart(this.controls.choice));
    on("clear", () => this.clear());
    on("newest", () => this.look(null));
    byId("time").addEventListener("input", () => {
      const moment = Number(byId("time").value);
      this.look(moment < this.player.maps.length ? moment : null);
    });
    on("example", () => this.example());
  }

  get task() {
    return this.player.stage.task;
  }

  get words() {
    return WORDS[this.task.key];
  }

  /** Speak of another task. */
  showTask() {
    const { words, task } = this;
    this.scene.show(task);
    this.guide.begin(words.guide);
    byId("lead").textContent = words.lead;
    byId("lengths-title").textContent = words.lengths.title;
    byId("about-state").textContent = words.state;
    byId("about-reward").textContent = words.reward;
    byId("safer").textContent = words.safer;
    byId("hues").replaceWith(hues(task));
    for (const id of ["preset", "start"]) byId(id).closest(".field").hidden = byId(id).disabled;
    this.shownTask = task;
  }

  /** The map that is shown: the newest, or that after an earlier trial. */
  get memory() {
    return this.moment === null ? this.player.stage.memory : this.player.maps[this.moment];
  }

  /** Look at the map after an earlier trial, from 0, or at the newest (null); marks of another time are dropped. */
  look(moment) {
    if (moment === this.moment) return;
    this.moment = moment;
    this.picture = null;
    this.clear();
    this.hover(null);
  }

  newest(act) {
    this.look(null);
    act();
  }

  hover(point) {
    byId("hover").textContent = point ? aboutPoint(this.memory, this.player.stage.settings.delta, point) : "";
  }

  /** Compare two values of ε; the address carries them. */
  compare(compare) {
    this.controls.remember({ compare });
    this.duel.take(this.controls.choice);
  }

  play() {
    this.look(null);
    if (this.player.isOver) this.restart(this.controls.choice);
    this.player.learn();
  }

  restart(choice) {
    const { speed } = this.player;
    this.player.restart(choice);
    this.player.speed = speed;
    this.duel.take(choice);
    this.clear();
    this.hover(null);
    if (this.task !== this.shownTask) this.showTask();
    this.forget();
  }

  /** Forget what was drawn: everything is drawn anew. */
  forget() {
    this.picture = this.moment = null;
    this.drawnTrials = -1;
    this.rows = new Set(this.player.stage.memory.primaries());
    this.glow = new Map();
    this.dirty = true;
  }

  hold(s) {
    this.look(null);
    this.player.hold(s);
    this.dirty = true;
  }

  release(s) {
    this.look(null);
    this.player.release(s);
    this.guide.tick("drag");
    this.dirty = true;
  }

  ask(point) {
    this.player.pause();
    if (this.moment !== null) {
      this.why.tellThen(aboutPoint(this.memory, this.player.stage.settings.delta, point), this.moment + 1);
      return;
    }
    this.why.ask(stateOf(this.task, point));
    const found = this.why.answer(this.player.stage);
    if (found.states.length === 2) this.guide.tick("why");
    this.dirty = true;
  }

  /** Ask about two prototypes whose regions parted last. */
  example() {
    this.look(null);
    const { memory, learner } = this.player.stage;
    const parted = learner.reasons.findLast((reason) => {
      const [j, k] = reason.prototypes.map((p) => memory.primary[p]);
      return reason.event !== "merge" && j !== k;
    });
    const pair = parted ? parted.states : memory.primaries().slice(0, 2).map((p) => memory.state(p));
    this.why.clear();
    for (const s of pair) this.ask(pointOf(this.task, s));
  }

  clear() {
    this.why.clear();
    this.dirty = true;
  }

  frame(now) {
    const seconds = Math.min(0.25, (now - this.last) / 1000);
    this.last = now;
    const moved = this.player.frame(seconds);
    this.glowOn(seconds);
    this.duel.frame(seconds, now);
    if (moved || this.dirty || this.glow.size || this.player.mode !== this.drawnMode) this.draw(now);
    requestAnimationFrame((next) => this.frame(next));
  }

  glowOn(seconds) {
    for (const [p, strength] of this.glow) {
      if (strength > seconds / GLOW) this.glow.set(p, strength - seconds / GLOW);
      else this.glow.delete(p);
    }
  }

  draw(now) {
    this.dirty = false;
    this.drawnMode = this.player.mode;
    const { stage } = this.player;
    const isNext = stage.trials.length !== this.drawnTrials;
    const isNew = isNext || stage.learner.counts.trialSteps !== this.drawnSteps || this.player.isOver !== this.drawnOver;
    const isTime = this.player.mode !== LEARNING || now - this.drawnAt > (isNext ? AT_LEAST : OFTEN);
    if (!this.picture || (isTime && isNew)) this.repaint(now);
    const { s, action } = this.player.shown;
    const rows = stage.memory.primaries();
    const glow = Object.fromEntries([...this.glow].map(([p, strength]) => [rows.indexOf(p), strength]));
    const onMap = (states) => states.map((one) => pointOf(this.task, one));
    const present = this.moment === null ? { trail: onMap(this.player.trail), now: onMap([s])[0], glow } : {};
    this.map.draw({ ...this.picture, marks: onMap(this.why.marks), ...present });
    this.scene.draw(s, action, this.ways());
    this.showTime();
    showStatus(this.player, this.glow.size > 0);
    if (!performance.getEntriesByName("first drawing").length) performance.mark("first drawing");
  }

  /** Where the states are labels: what is preferred at each. */
  ways() {
    const { memory, task, player: { stage } } = this;
    return task.labels ? [...FIELDS].map((_, field) => policyOf(memory.q[memory.region([field, 0])], stage.settings.delta)) : [];
  }

  /** Take a new picture of the map; curves change only with the trials. */
  repaint(now) {
    const { stage } = this.player;
    this.drawnAt = now;
    this.drawnSteps = stage.learner.counts.trialSteps;
    this.picture = this.pictures.of(this.memory, stage.settings.delta);
    if (stage.trials.length === this.drawnTrials && this.player.isOver === this.drawnOver) return;
    this.drawnOver = this.player.isOver;
    this.drawnTrials = stage.trials.length;
    const rows = new Set(stage.memory.primaries());
    for (const p of rows) if (!this.rows.has(p)) this.glow.set(p, 1);
    this.rows = rows;
    this.tickTrials(stage);
    const x = stage.trials.map((_, n) => n + 1);
    const chart = (name, y, log) => ({ series: [{ name, x, y }], axes: ["trial", ""], log });
    const { name, of, log } = this.words.lengths;
    this.curves.lengths.draw(chart(name, of(stage.trials), log));
    this.curves.regions.draw(chart("regions", stage.trials.map((trial) => trial.regions)));
    this.why.answer(stage);
  }

  tickTrials(stage) {
    if (stage.trials.length) this.guide.tick("fall");
    if (stage.trials.length && stage.regions > 1) this.guide.tick("born");
    if (this.words.isHeld(stage)) this.guide.tick("held");
  }

  showTime() {
    const { maps } = this.player;
    const shown = this.moment ?? maps.length;
    byId("time").max = String(maps.length);
    byId("time").value = String(shown);
    byId("time").disabled = !maps.length;
    byId("newest").setAttribute("aria-pressed", String(this.moment === null));
    const words = this.moment === null ? "newest" : `after trial ${shown + 1}: ${plural(maps[shown].primaries().length, "region")}`;
    byId("moment").textContent = words;
    byId("time").setAttribute("aria-valuetext", words);
  }

  say(words) {
    byId("spoken").textContent = words;
  }
}

const app = new App();
globalThis.playground = { app, learnt, mergingEpsilon, PRESETS_OF }; // for the console, and for the tests
