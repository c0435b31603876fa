// The system as a reader would see it, to be taken, moved and thrown; by keyboard it is a slider.

import { fitted, onChange, placeOf } from "../../src/distinguo/views/studio/page/view/canvas.js";
import { sceneFor } from "../../src/distinguo/views/studio/page/view/scenes.js";
import { lakeScene } from "./ice.js";
import { written } from "./reasons.js";
import { WORDS } from "./words.js";

const FLICK = 120; // milliseconds of a throw
const KEYS = { ArrowLeft: [-1, 0], ArrowDown: [0, -1], ArrowRight: [1, 0], ArrowUp: [0, 1] };

export class SceneView {
  /** Handlers get states: onDrag while the system is in hand, onRelease when it is let go. */
  constructor(canvas, { onDrag, onRelease }) {
    this.canvas = canvas;
    this.handlers = { onDrag, onRelease };
    this.state = [0, 0];
    this.ways = [];
    this.action = -1;
    this.path = null;
    canvas.tabIndex = 0;
    canvas.style.touchAction = "pan-y"; // a finger can still scroll the page
    canvas.setAttribute("role", "slider");
    onChange(canvas, () => this.redraw());
    canvas.addEventListener("pointerdown", (event) => this.take(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.letGo(event));
    canvas.addEventListener("pointercancel", () => { this.path = null; });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  /** Show another task. */
  show(task) {
    this.task = task;
    this.scene = task.labels ? lakeScene : sceneFor(task.name);
    this.path = null;
    this.canvas.setAttribute("aria-label", WORDS[task.key].scene);
    this.canvas.setAttribute("aria-valuemin", String(task.labels ? 0 : task.low[0]));
    this.canvas.setAttribute("aria-valuemax", String(task.labels ? 15 : task.high[0]));
  }

  /** Draw a state, the action there, and for labels the way that is preferred from each. */
  draw(state, action, ways) {
    this.state = [...state];
    this.action = action;
    this.ways = ways;
    this.redraw();
  }

  redraw() {
    if (!this.scene) return;
    const { ctx, width, height } = fitted(this.canvas);
    this.scene.draw(ctx, width, height, this.state, this.action, this.ways);
    const words = WORDS[this.task.key].place(this.state, written);
    if (this.words === words) return;
    this.words = words;
    this.canvas.setAttribute("aria-valuenow", this.state[0].toFixed(this.task.labels ? 0 : 2));
    this.canvas.setAttribute("aria-valuetext", words);
  }

  /** The state, at rest, that a pointer means. */
  stateAt(event) {
    const { clientWidth, clientHeight } = this.canvas;
    return this.scene.stateAt(placeOf(this.canvas, event), this.state, clientWidth, clientHeight);
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
    const s = this.stateAt(event);
    this.path.push([event.timeStamp, s[0]]);
    this.handlers.onDrag(s);
  }

  /** Let go: what is still being moved is thrown. */
  letGo(event) {
    if (!this.path) return;
    const [x, rest] = this.stateAt(event);
    const recent = this.path.filter(([time]) => event.timeStamp - time < FLICK);
    this.path = null;
    const [time, from] = recent[0] ?? [event.timeStamp, x];
    const seconds = (event.timeStamp - time) / 1000;
    this.handlers.onRelease([x, seconds > 0.02 && !this.task.labels ? this.thrown((x - from) / seconds) : rest]);
  }

  /** A velocity per second as the task counts it. */
  thrown(velocity) {
    const { high, key } = this.task;
    const v = key === "car" ? velocity / WORDS.car.pace : velocity;
    return Math.min(high[1], Math.max(-high[1], v));
  }

  key(event) {
    const way = KEYS[event.key];
    if (way) this.handlers.onDrag(this.moved(way));
    else if (event.key === "Enter" || event.key === " ") this.handlers.onRelease([this.state[0], 0]);
    else return;
    event.preventDefault();
  }

  /** The state, at rest, one step of a key further. */
  moved([across, up]) {
    const { task, state: [x] } = this;
    if (task.labels) {
      const [column, row] = task.pointOf([x]);
      return task.stateAt([column + across, row + up]);
    }
    const middle = (task.low[0] + task.high[0]) / 2;
    const half = 0.99 * (task.high[0] - middle);
    const step = (task.high[0] - task.low[0]) / 48;
    return [Math.min(middle + half, Math.max(middle - half, x + step * (across + up))), 0];
  }
}
