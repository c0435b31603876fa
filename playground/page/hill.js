// The hill with its puck, which can be taken, moved and thrown; by keyboard it is a slider.

import { fitted, onChange, placeOf } from "../../src/distinguo/views/studio/page/view/canvas.js";
import { sceneFor } from "../../src/distinguo/views/studio/page/view/scenes.js";
import { HIGH } from "../learning/puck.js";
import { written } from "./reasons.js";

const FLICK = 120; // milliseconds of a throw
const SCENE = sceneFor("puck");

export class HillView {
  /** Handlers get states [x, v]: onDrag while the puck is in hand, onRelease when it is let go. */
  constructor(canvas, { onDrag, onRelease }) {
    this.canvas = canvas;
    this.handlers = { onDrag, onRelease };
    this.state = [0, 0];
    this.action = -1;
    this.path = null;
    canvas.tabIndex = 0;
    canvas.style.touchAction = "pan-y"; // a finger can still scroll the page
    canvas.setAttribute("role", "slider");
    canvas.setAttribute("aria-label", "The puck on the hill. Arrow keys move it, Enter lets it go.");
    canvas.setAttribute("aria-valuemin", String(-HIGH[0]));
    canvas.setAttribute("aria-valuemax", String(HIGH[0]));
    onChange(canvas, () => this.redraw());
    canvas.addEventListener("pointerdown", (event) => this.take(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.letGo(event));
    canvas.addEventListener("pointercancel", () => { this.path = null; });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  draw(state, action) {
    this.state = [...state];
    this.action = action;
    this.redraw();
  }

  redraw() {
    const { ctx, width, height } = fitted(this.canvas);
    SCENE.draw(ctx, width, height, this.state, this.action);
    const words = `x = ${written(this.state[0], 1)} m, v = ${written(this.state[1], 1)} m/s`;
    if (this.words === words) return;
    this.words = words;
    this.canvas.setAttribute("aria-valuenow", this.state[0].toFixed(2));
    this.canvas.setAttribute("aria-valuetext", words);
  }

  /** The position that a pointer means. */
  positionAt(event) {
    const { clientWidth, clientHeight } = this.canvas;
    return SCENE.stateAt(placeOf(this.canvas, event), this.state, clientWidth, clientHeight)[0];
  }

  take(event) {
    if (event.button > 0) return;
    try {
      this.canvas.setPointerCapture(event.pointerId);
    } catch {
      // the pointer is gone already
    }
    this.path = [];
  }

  move(event) {
    if (!this.path) return;
    const x = this.positionAt(event);
    this.path.push([event.timeStamp, x]);
    this.handlers.onDrag([x, 0]);
  }

  /** Let go: a puck that is still being moved is thrown. */
  letGo(event) {
    if (!this.path) return;
    const x = this.positionAt(event);
    const recent = this.path.filter(([time]) => event.timeStamp - time < FLICK);
    this.path = null;
    const [time, from] = recent[0] ?? [event.timeStamp, x];
    const seconds = (event.timeStamp - time) / 1000;
    const v = seconds > 0.02 ? (x - from) / seconds : 0;
    this.handlers.onRelease([x, Math.min(HIGH[1], Math.max(-HIGH[1], v))]);
  }

  key(event) {
    const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    const edge = 0.99 * HIGH[0];
    if (way) this.handlers.onDrag([Math.min(edge, Math.max(-edge, this.state[0] + 0.1 * way)), 0]);
    else if (event.key === "Enter" || event.key === " ") this.handlers.onRelease([this.state[0], 0]);
    else return;
    event.preventDefault();
  }
}
