// A map of regions on a canvas, to be looked at, pointed at and dragged on, by pointer or keyboard.
//
// The picture is the plain value of views/studio/documents.py: {title, axes, low, high, cells: [{outline, region, action,
// value}], prototypes, primary, actions, note, labels}, and, if there are any: trail (the way of a trial), marks (states
// that were asked about), now (the present state), glow ({region: strength}, regions that have just changed) and ticks.

import { isInside } from "./borders.js";
import { fitted, onChange, placeOf } from "./canvas.js";
import { theme } from "./colours.js";
import { Frame } from "./frame.js";
import {
  drawCursor, drawGlow, drawGround, drawMarks, drawNow, drawPrototypes, drawTrail, groundOf,
} from "./layers.js";

const FAR = 5; // pixels after which a press is a drag
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const NOTHING = () => {};

export class MapView {
  /**
   * Handlers get states [x, y]: onPick after a click or Enter, onDrag while a pointer is dragged, onRelease when it is
   * let go (or for Shift and Enter), onCancel when a drag leads nowhere, onCursor when the keyboard's cursor moves and
   * onHover when a pointer does, both with the cell below (onHover gets nothing when the pointer leaves).
   */
  constructor(canvas, {
    onPick = NOTHING, onDrag = NOTHING, onRelease = NOTHING, onCancel = NOTHING, onCursor = NOTHING, onHover = NOTHING,
  } = {}) {
    this.canvas = canvas;
    this.handlers = { onPick, onDrag, onRelease, onCancel, onCursor, onHover };
    this.picture = null;
    this.cursor = null;
    this.press = null;
    this.ground = null;
    this.layer = document.createElement("canvas");
    this.drawn = "";
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-roledescription", "map of regions");
    canvas.style.touchAction = "none";
    this.listen();
  }

  listen() {
    const { canvas } = this;
    onChange(canvas, () => this.redraw());
    canvas.addEventListener("pointerdown", (event) => this.pressed(event));
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    canvas.addEventListener("pointerup", (event) => this.released(event));
    canvas.addEventListener("pointercancel", () => this.cancelled());
    canvas.addEventListener("pointerleave", () => this.handlers.onHover(null));
    canvas.addEventListener("keydown", (event) => this.key(event));
    for (const event of ["focus", "blur"]) canvas.addEventListener(event, () => this.redraw());
  }

  /** Draw a picture; cells that are the same array as last time are not drawn anew. */
  draw(picture) {
    this.picture = picture;
    this.redraw();
  }

  redraw() {
    if (!this.picture || !this.canvas.isConnected) return;
    const { ctx, width, height, ratio } = fitted(this.canvas);
    const colours = theme(this.canvas);
    const frame = (this.frame = new Frame(this.picture, width, height));
    this.label();
    ctx.drawImage(this.groundLayer(frame, colours, width, height, ratio), 0, 0, width, height);
    ctx.save();
    frame.clip(ctx);
    drawGlow(ctx, frame, this.picture, colours);
    drawTrail(ctx, frame, this.picture.trail, colours);
    drawPrototypes(ctx, frame, this.picture, colours);
    drawNow(ctx, frame, this.picture.now, colours);
    drawMarks(ctx, frame, this.picture.marks, colours);
    if (this.cursor && document.activeElement === this.canvas) drawCursor(ctx, frame, this.cursor, colours);
    ctx.restore();
  }

  /** What does not move, drawn once and kept. */
  groundLayer(frame, colours, width, height, ratio) {
    const { picture } = this;
    const base = colours["map-base"];
    const isOld = this.ground?.picture.cells === picture.cells && this.ground.base === base;
    const drawn = [width, height, ratio, Object.values(colours), picture.axes, picture.low, picture.high].join();
    if (isOld && drawn === this.drawn) return this.layer;
    if (!isOld) this.ground = groundOf(picture, base);
    this.drawn = drawn;
    [this.layer.width, this.layer.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const ctx = this.layer.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawGround(ctx, frame, this.ground);
    frame.drawAxes(ctx, colours);
    return this.layer;
  }

  label() {
    const regions = new Set(this.picture.cells.map((cell) => cell.region)).size;
    const words = `${this.picture.title || "Map"}: ${regions} region${regions === 1 ? "" : "s"} over `
      + `${this.picture.axes.filter(Boolean).join(" and ")}. Arrow keys move a cursor, Enter asks about a state, `
      + "Shift and Enter puts the system there.";
    if (this.canvas.getAttribute("aria-label") !== words) this.canvas.setAttribute("aria-label", words);
  }

  /** The cell below a state, if there is one. */
  cellAt(point) {
    return this.picture?.cells.find((cell) => cell.outline.length && isInside(cell.outline, point));
  }

  pressed(event) {
    const place = placeOf(this.canvas, event);
    if (!this.frame?.has(place) || event.button > 0) return;
    this.press = { place, isDrag: false };
    try {
      this.canvas.setPointerCapture(event.pointerId);
    } catch {
      // the pointer is gone already
    }
  }

  moved(event) {
    const place = placeOf(this.canvas, event);
    if (!this.press) {
      this.hovered(place);
      return;
    }
    const [dx, dy] = [place[0] - this.press.place[0], place[1] - this.press.place[1]];
    this.press.isDrag ||= Math.hypot(dx, dy) > FAR;
    if (this.press.isDrag) this.handlers.onDrag(this.frame.state(place));
  }

  hovered(place) {
    const point = this.frame?.has(place) ? this.frame.state(place) : null;
    this.handlers.onHover(point, point && this.cellAt(point));
  }

  cancelled() {
    if (this.press?.isDrag) this.handlers.onCancel();
    this.press = null;
  }

  released(event) {
    if (!this.press) return;
    const { isDrag } = this.press;
    this.press = null;
    const point = this.frame.state(placeOf(this.canvas, event));
    if (isDrag) this.handlers.onRelease(point);
    else this.handlers.onPick(point);
  }

  key(event) {
    if (!this.picture || event.ctrlKey || event.metaKey || event.altKey) return;
    const { low, high } = this.picture;
    this.cursor ??= low.map((end, i) => (end + high[i]) / 2);
    const way = KEYS[event.key];
    if (way) {
      const share = event.shiftKey ? 1 / 200 : 1 / 40;
      this.cursor = this.cursor.map((at, i) => clamp(at + way[i] * share * (high[i] - low[i]), low[i], high[i]));
      this.handlers.onCursor(this.cursor, this.cellAt(this.cursor));
    } else if (event.key === "Enter" || event.key === " ") {
      if (event.shiftKey) this.handlers.onRelease([...this.cursor]);
      else this.handlers.onPick([...this.cursor]);
    } else return;
    event.preventDefault();
    this.redraw();
  }
}

function clamp(number, low, high) {
  return Math.min(high, Math.max(low, number));
}
