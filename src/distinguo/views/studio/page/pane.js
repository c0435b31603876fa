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
      onCursor: (point, cell) => this.readCursor(point, cell),
    });
    this.lengths = new CurveView(find(".lengths"));
    this.sizes = new CurveView(find(".sizes"));
    this.player = new Player((message) => this.head && this.send(message), (end) => this.trialEnded(end));
    this.scene = new SceneView(find(".scene canvas"), this.player, () => this.showCourse("let go"));
    this.transport = new Transport(this.element, { send: this.send, onRestart, onLook: () => this.glow.forget() });
    this.glow = new Glow();
    find(".again").addEventListener("click", () => this.player.begin());
    find(".away").addEventListener("click", onClose);
    this.reset();
  }

  /** Empty the pane before another run is shown in it. */
  reset() {
    this.head = this.picture = this.trials = null;
    this.marks = [];
    this.isFresh = this.isDue = false;
    this.sinceCurves = 0;
    this.glow.forget();
    this.player.clear();
    this.find(".told").replaceChildren(this.hint ??= this.find(".told").firstElementChild);
    this.element.classList.add("is-empty");
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
    if (isNew && this.picture) this.player.begin();
    else if (this.picture && !this.player.number) this.player.begin();
    if (news.trials || isNew) this.isFresh = true;
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

  showBusy() {
    const { state } = this.head;
    const words = {
      compiling: "Compiling the learner for this machine: half a minute the first time, a moment afterwards.",
      finishing: "Solved. Putting a price on every distinction …",
    }[state];
    const busy = this.find(".busy");
    clearTimeout(this.busyTimer);
    if (!words) busy.hidden = true;
    else this.busyTimer = setTimeout(() => {
      busy.hidden = false;
      busy.querySelector("p").textContent = words;
      this.say(words);
    }, 500);
  }

  showLegend() {
    const { actions, note } = this.picture;
    if (this.legend !== actions.join()) {
      this.legend = actions.join();
      this.find(".legend").replaceChildren(...actions.map((name, action) => {
        const item = document.createElement("span");
        const chip = document.createElement("i");
        chip.style.background = hueOf(action);
        item.append(chip, glyphOf(name) === name ? name : `${glyphOf(name)} ${name}`);
        return item;
      }));
    }
    this.find(".note").textContent = note;
  }

  tell(trouble) {
    if (this.player.isAsked) this.player.refused();
    clearTimeout(this.busyTimer);
    this.find(".busy").hidden = true;
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
    const wait = document.createElement("p");
    wait.className = "hint";
    wait.textContent = "Asking …";
    this.find(".told").replaceChildren(wait);
    this.send({ do: "explain", observations: this.marks });
  }

  drag(point) {
    this.dragged = point;
    this.isDue = true;
    this.find(".course").textContent = `Let go at ${inWords(this.picture.axes.filter(Boolean), point)}`;
  }

  letGo(point) {
    this.dragged = null;
    const observation = observationAt(this.picture, point);
    if (!observation) return;
    this.player.begin({ observation });
    this.showCourse("let go");
    this.say(`Let go at ${inWords(this.head.axes, observation)}.`);
  }

  readCursor(point, cell) {
    const where = inWords(this.picture.axes.filter(Boolean), point);
    const action = this.picture.actions[cell?.action] ?? "undecided";
    this.say(cell ? `${where}: region ${cell.region}, ${action}, value ${plain(cell.value)}` : where, 250);
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
