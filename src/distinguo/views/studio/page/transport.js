// The buttons of a run: pause and step while it is learned, and a slider through its history.

import { plain } from "./places.js";

const SPEEDS = [[50, "1 ×"], [500, "10 ×"], [5000, "100 ×"], [null, "full"]];
const LEARNING = ["compiling", "learning", "paused"];

export class Transport {
  constructor(element, { send, onRestart, onLook }) {
    this.element = element;
    this.send = send;
    this.head = null;
    this.moments = [];
    this.isNewest = true; // whether the newest map is shown
    const find = (selector) => element.querySelector(selector);
    [this.toggleButton, this.slider, this.newest] = [find(".toggle"), find(".slider"), find(".newest")];
    [this.pace, this.moment] = [find(".pace select"), find(".moment")];
    this.toggleButton.addEventListener("click", () => this.toggle());
    find(".step").addEventListener("click", () => this.control("step"));
    find(".trial").addEventListener("click", () => this.control("trial"));
    find(".restart").addEventListener("click", onRestart);
    find(".keep").addEventListener("click", () => this.control("keep"));
    for (const [speed, words] of SPEEDS) this.pace.append(new Option(words, speed ?? ""));
    this.pace.addEventListener("change", () => this.sendPlain({ do: "pace", speed: Number(this.pace.value) || null }));
    this.onLook = onLook;
    this.slider.addEventListener("input", () => this.look(Number(this.slider.value)));
    this.newest.addEventListener("click", () => this.look(null));
  }

  /** Messages about a session name it, and no pane. */
  sendPlain(message) {
    if (this.head?.session) this.send({ ...message, session: this.head.session, pane: undefined });
  }

  control(what) {
    this.sendPlain({ do: "control", what });
  }

  toggle() {
    this.control(this.head?.state === "paused" ? "run" : "pause");
  }

  look(moment) {
    this.onLook(moment);
    this.send({ do: "look", moment });
  }

  show({ head, moments, at, follows }) {
    this.head = head;
    const isOurs = Boolean(head.session);
    this.element.querySelector(".tools").hidden = !isOurs;
    if (isOurs) {
      const goesOn = LEARNING.includes(head.state);
      this.toggleButton.textContent = head.state === "paused" ? "Go on" : "Pause";
      this.toggleButton.setAttribute("aria-pressed", String(head.state === "paused"));
      for (const button of [this.toggleButton, ...this.element.querySelectorAll(".step, .trial")]) button.disabled = !goesOn;
      if (document.activeElement !== this.pace) this.pace.value = String(head.speed ?? "");
      const keep = this.element.querySelector(".keep");
      keep.disabled = head.state !== "finished" || Boolean(head.kept);
      keep.textContent = head.kept ? `Kept as ${head.kept}` : "Keep this run";
    }
    if (moments) this.moments = moments;
    this.slider.max = String(Math.max(0, this.moments.length - 1));
    this.slider.disabled = this.moments.length < 2;
    if (at === undefined) return;
    if (follows || document.activeElement !== this.slider) this.slider.value = String(at);
    this.newest.setAttribute("aria-pressed", String(follows));
    this.isNewest = follows || at === this.moments.length - 1;
    this.showMoment(at);
  }

  showMoment(at) {
    const [trial, steps, regions] = this.moments[at] ?? [0, 0, 0];
    this.words = `trial ${plain(trial)}, ${plain(steps)} steps, ${regions} region${regions === 1 ? "" : "s"}`;
    this.moment.textContent = this.words;
    this.slider.setAttribute("aria-valuetext", this.words);
  }
}
