// One pane: a run, its map, the system under its policy, its history and its curves.

import { glyphOf, hueOf } from "./view/colours.js";
import { CurveView } from "./view/curves.js";
import { MapView } from "./view/map.js";
import { Glow } from "./glow.js";
import { inWords, observationAt, placeIn, plain } from "./places.js";
import { Player } from "./player.js";
import { showReasons } from "./reasons.js";
import { SceneView } from "./scene.js";
import { Transport } from "./transport.js";

const CURVES_EVERY = 0.15; // seconds between two drawings of the curves

export class Pane {
  /** number is 0 or 1; send(message) and say(words) are the page's. */
  constructor(number, { send, say, onClose, onRestart }) {
    this.number = number;
    this.say = say;
    this.send = (message) => send({ pane: number, ...message });
    this.element = document.querySelector("#pane").content.firstElementChild.cloneNode(true);
    this.element.setAttribute("aria-label", `Run ${"AB"[number]}`);
    const find = (selector) => this.element.querySelector(selector);
    this.find = find;
    this.map = new MapView(find(".map canvas"), {
      onPick: (point) => this.ask(point),
      onDrag: (point) => this.drag(point),
      onRelease: (point) => this.letGo(point),
      onCancel: () => this.drop(),
      onCursor: (point, cell) => this.readCursor(point, cell),
    });
    this.lengths = new CurveView(find(".lengths"));
    this.sizes = new CurveView(find(".sizes"));
    this.player = new Player((message) => this.head && this.send(message), (end) => this.trialEnded(end));
    this.scene = new SceneView(find(".scene canvas"), this.player, () => this.showCourse("let go"));
    this.transport = new Transport(this.element, { send: this.send, onRestart, onLook: (moment) => this.turn(moment) });
    this.glow = new Glow();
    find(".again").addEventListener("click", () => this.player.begin());
    find(".away").addEventListener("click", onClose);
    this.reset();
  }

  /** Empty the pane before another run is shown in it. */
  reset() {
    this.head = this.picture = this.trials = null;
    this.isFresh = this.isDue = false;
    this.sinceCurves = 0;
    this.awaited = undefined; // the moment that the reader turned to, until it is shown; null for the newest
    this.forgetTime();
    this.showBusy("");
    this.element.classList.add("is-empty");
  }

  /** Drop what belongs to another time: marks, their answer, the running trial and what glows. */
  forgetTime() {
    this.marks = [];
    this.glow.forget();
    this.drop();
    this.player.clear();
    this.find(".told").replaceChildren(this.hint ??= this.find(".told").firstElementChild);
    this.isDue = true;
  }

  /** The number of regions of the map that is shown. */
  get regions() {
    return this.picture ? new Set(this.picture.cells.map((cell) => cell.region)).size : undefined;
  }

  get isShown() {
    return this.head !== null;
  }

  // ---- what the studio sends ----------------------------------------------------------------------------------------

  show(news) {
    const isNew = !this.head;
    this.head = news.head;
    this.element.classList.remove("is-empty");
    if (news.trials) this.trials = news.trials;
    this.transport.show(news);
    this.showHead();
    if (news.map) this.take(news.map);
    if (isNew) {
      this.scene.choose(news.head.task);
      this.player.setInterval(news.head.interval);
      this.isDue = true;
    }
    if (this.picture && (isNew || !this.player.number || this.arrives(news))) this.player.begin();
    if (news.trials || isNew) this.isFresh = true;
  }

  /** Whether this shows the moment that the reader turned to. */
  arrives({ at, follows }) {
    if (this.awaited === undefined || (this.awaited === null ? !follows : at !== this.awaited)) return false;
    this.awaited = undefined;
    return true;
  }

  take(picture) {
    const before = this.picture;
    this.picture = picture;
    this.glow.note(picture);
    this.isDue = true;
    this.showLegend();
    if (!before) this.player.begin();
    else if (before.title !== picture.title) this.say(`${"AB"[this.number]}: ${picture.title}.`, 2500);
  }

  showHead() {
    const { name, state, solved, words, notes } = this.head;
    this.find(".name").textContent = name;
    const badge = this.find(".state");
    badge.textContent = state === "finished" ? (solved ? "solved" : "not solved") : state === "growing" ? "live" : state;
    badge.dataset.state = solved ? "solved" : state;
    this.find(".words").textContent = [words || this.progress(), ...notes].join(" ");
    this.showBusy();
  }

  progress() {
    const { trial, length, steps, attempt, confirming } = this.head;
    if (trial === undefined) return "";
    if (confirming) return `Trial ${trial} looks like success: the greedy policy is being confirmed.`;
    return `Trial ${trial}, ${plain(length)} steps so far, ${plain(steps)} in all${attempt > 1 ? `, attempt ${attempt}` : ""}.`;
  }

  /** A bar with what is being done and for how long; the compiler does not say how much is left. */
  showBusy(state = this.head.state) {
    const words = {
      compiling: "Compiling the learner for this machine: up to half a minute the first time, a moment afterwards.",
      finishing: "Solved. Putting a price on every distinction …",
    }[state];
    const busy = this.find(".busy");
    if (this.busyWords === words) return;
    this.busyWords = words;
    clearTimeout(this.busyTimer);
    busy.hidden = true;
    if (!words) return;
    const began = performance.now();
    const tick = () => {
      if (busy.hidden) this.say(words);
      busy.hidden = false;
      busy.querySelector("p").textContent = words;
      busy.querySelector("small").textContent = `${Math.round((performance.now() - began) / 1000)} s so far`;
      this.busyTimer = setTimeout(tick, 1000);
    };
    this.busyTimer = setTimeout(tick, 500);
  }

  showLegend() {
    const { actions, note, cells, primary } = this.picture;
    const isTied = cells.some((cell) => cell.action < 0);
    const hasMerged = primary.some((is) => !is);
    const shown = [...actions, isTied, primary.length, hasMerged].join();
    if (this.legend !== shown) {
      this.legend = shown;
      const names = actions.map((name) => (glyphOf(name) === name ? name : `${glyphOf(name)} ${name}`));
      const items = names.map((name, action) => legendItem(name, "", hueOf(action, actions)));
      if (isTied) items.push(legendItem("undecided", "", hueOf(-1)));
      items.push(legendItem("stronger: higher value", "shades"));
      if (primary.length) items.push(legendItem("prototype", "dot"));
      if (hasMerged) items.push(legendItem("merged", "dot hollow"));
      this.find(".legend").replaceChildren(...items);
    }
    this.find(".note").textContent = note;
  }

  tell(trouble) {
    if (this.player.isAsked) this.player.refused();
    this.showBusy("");
    return trouble;
  }

  reasonCame(answer) {
    showReasons(this.find(".told"), answer);
    this.find(".reasons").scrollTop = 0;
  }

  // ---- what the reader does -----------------------------------------------------------------------------------------

  ask(point) {
    const observation = observationAt(this.picture, point);
    if (!observation) return;
    if (this.marks.length === 2) this.marks = [];
    this.marks.push(observation);
    this.isDue = true;
    if (this.transport.isNewest) {
      this.find(".told").replaceChildren(paragraph("Asking …", "hint"));
      this.send({ do: "explain", observations: this.marks });
    } else this.tellThen();
  }

  /** What an earlier map says of the marked states; reasons are those of the newest map. */
  tellThen() {
    const lines = this.marks.map((mark, n) => {
      const point = placeIn(this.picture, mark);
      return paragraph(`${"AB"[n]}: ${this.aboutPlace(point, point && this.map.cellAt(point))}.`);
    });
    const note = paragraph(`This is the map of ${this.transport.words}. Press Newest to ask why.`, "hint");
    this.find(".told").replaceChildren(...lines, note);
  }

  /** Turn to another moment of the history. */
  turn(moment) {
    this.forgetTime();
    this.awaited = moment;
  }

  /** Take the system in hand: the scene shows the state below the pointer, and the trial stops. */
  drag(point) {
    this.dragged = point;
    this.isDue = true;
    const observation = observationAt(this.picture, point);
    if (observation) this.player.hold(this.scene.stateOf(observation));
    this.find(".course").textContent = `Let go at ${inWords(this.picture.axes.filter(Boolean), point)}`;
  }

  /** Put down what was in hand, where it was. */
  drop() {
    this.dragged = null;
    this.player.hold(null);
  }

  letGo(point) {
    this.drop();
    const observation = observationAt(this.picture, point);
    if (!observation) return;
    this.player.begin({ observation });
    this.showCourse("let go");
    this.say(`Let go at ${inWords(this.head.axes, observation)}.`);
  }

  readCursor(point, cell) {
    this.say(this.aboutPlace(point, cell), 250);
  }

  /** A place of the map in words: the state, its region, what is preferred there and its value. */
  aboutPlace(point, cell) {
    const where = point ? inWords(this.picture.axes.filter(Boolean), point) : "not on this map";
    const action = this.picture.actions[cell?.action] ?? "undecided";
    return cell ? `${where}: region ${cell.region}, ${action}, value ${plain(cell.value)}` : where;
  }

  trialEnded({ steps, gained }) {
    this.showCourse(`ended after ${plain(steps)} steps, return ${plain(gained)}`);
  }

  showCourse(words) {
    this.find(".course").textContent = words;
  }

  // ---- every frame --------------------------------------------------------------------------------------------------

  /** Draw what has changed; tell whether anything has. */
  frame(seconds) {
    if (!this.picture) return false;
    const moved = this.player.advance(seconds);
    const glows = this.glow.advance(seconds);
    const isDrawn = moved || glows || this.isDue;
    if (isDrawn) this.drawMap();
    if (moved || this.isDue) this.scene.draw();
    if (moved && !this.player.held && this.player.steps % 10 === 0) this.showCourse(`step ${plain(this.player.steps)} of a greedy trial`);
    this.isDue = false;
    this.sinceCurves += seconds;
    if (this.isFresh && this.sinceCurves > CURVES_EVERY) this.drawCurves();
    return isDrawn;
  }

  drawMap() {
    const { picture } = this;
    const place = (observation) => placeIn(picture, observation);
    const held = this.player.held?.length === picture.plane?.at.length ? place(this.player.held) : null;
    this.map.draw(Object.assign(picture, {
      glow: this.glow.strengths,
      trail: this.dragged || this.player.held ? [] : this.player.trail.map(place).filter(Boolean),
      now: this.dragged ?? held ?? place(this.player.observation),
      marks: this.marks.map(place).filter(Boolean),
    }));
  }

  drawCurves() {
    [this.isFresh, this.sinceCurves] = [false, 0];
    if (!this.trials) return;
    const { trial, length, gained, regions } = this.trials;
    const byReturn = this.head.goal === "return";
    this.lengths.draw({
      series: [{ name: byReturn ? "return" : "trial length", x: trial, y: byReturn ? gained : length }],
      axes: ["trial", ""], log: !byReturn,
    });
    this.sizes.draw({ series: [{ name: "regions", x: trial, y: regions }], axes: ["trial", ""] });
  }

  redraw() {
    this.isDue = this.isFresh = true;
    this.sinceCurves = Infinity;
  }
}

function legendItem(words, kind, colour = "") {
  const [item, chip] = [document.createElement("span"), document.createElement("i")];
  chip.className = kind;
  if (colour) chip.style.background = colour;
  item.append(chip, words);
  return item;
}

function paragraph(words, kind = "") {
  const made = document.createElement("p");
  made.textContent = words;
  made.className = kind;
  return made;
}
