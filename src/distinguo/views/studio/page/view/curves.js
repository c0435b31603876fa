// Curves on a canvas: one or more series with their intervals, and a reading below the pointer.

import { FONT, fitted, onChange, placeOf, shortly, ticksBetween } from "./canvas.js";
import { lineHues, theme } from "./colours.js";

const LEFT = 46;
const BELOW = 38;
const ABOVE = 22;
const RIGHT = 18;

export class CurveView {
  constructor(canvas) {
    this.canvas = canvas;
    this.chart = null;
    this.pointer = null;
    canvas.setAttribute("role", "img");
    onChange(canvas, () => this.redraw());
    canvas.addEventListener("pointermove", (event) => this.point(placeOf(canvas, event)));
    canvas.addEventListener("pointerleave", () => this.point(null));
  }

  /**
   * Draw {series: [{name, x, y, low?, high?}], axes: [x, y], log?}; low and high are the ends of an interval around y,
   * and log shows y by its order of magnitude.
   */
  draw(chart) {
    this.chart = chart;
    this.redraw();
  }

  point(place) {
    this.pointer = place;
    this.redraw();
  }

  redraw() {
    if (!this.chart || !this.canvas.isConnected) return;
    const { ctx, width, height } = fitted(this.canvas);
    const colours = theme(this.canvas);
    const scale = (this.scale = scaleOf(this.chart, width, height));
    ctx.font = FONT;
    drawAxes(ctx, this.chart, scale, colours);
    ctx.save();
    ctx.beginPath();
    ctx.rect(scale.left - 5, scale.top - 5, scale.width + 10, scale.height + 10);
    ctx.clip();
    const hues = lineHues(colours.paper);
    this.chart.series.forEach((one, n) => drawSeries(ctx, one, scale, hues[n % hues.length]));
    ctx.restore();
    drawLegend(ctx, this.chart, scale, colours, this.readings(), hues);
    this.label();
  }

  /** The last point of every series that is not right of the pointer; without a pointer the last of all. */
  readings() {
    const until = this.pointer ? this.scale.number(this.pointer[0]) : Infinity;
    return this.chart.series.map(({ x, y }) => {
      const at = lastUpTo(x, until);
      return at < 0 ? null : { x: x[at], y: y[at] };
    });
  }

  label() {
    const [across, up] = this.chart.axes;
    const words = this.chart.series.map(({ name, x, y }) =>
      x.length ? `${name}: ${shortly(y.at(-1))} at ${across} ${shortly(x.at(-1))}` : `${name}: nothing yet`);
    const label = `${up || "values"} over ${across}. ${words.join("; ")}`;
    if (this.canvas.getAttribute("aria-label") !== label) this.canvas.setAttribute("aria-label", label);
  }
}

/** The index of the last entry of an ascending list that is at most a number, or -1. */
function lastUpTo(numbers, most) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= most) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function endsOf(lists) {
  let [low, high] = [Infinity, -Infinity];
  for (const list of lists) {
    for (const number of list ?? []) {
      if (number < low) low = number;
      if (number > high) high = number;
    }
  }
  return low <= high ? [low, high] : [0, 1];
}

function scaleOf({ series, log = false }, width, height) {
  const [x0, x1] = endsOf(series.map((one) => one.x));
  let [y0, y1] = endsOf(series.flatMap((one) => [one.y, one.low, one.high]));
  if (log) [y0, y1] = [Math.max(1, y0), Math.max(10, y1)];
  else if (y0 > 0 && y0 < 0.5 * y1) y0 = 0; // counts begin at nothing
  if (y0 === y1) [y0, y1] = [y0 - 0.5, y1 + 0.5];
  const f = log ? (y) => Math.log10(Math.max(y, y0)) : (y) => y;
  const box = { left: LEFT, top: ABOVE, width: Math.max(10, width - LEFT - RIGHT), height: Math.max(10, height - ABOVE - BELOW) };
  const span = x1 > x0 ? x1 - x0 : 1;
  return {
    ...box, x0, x1: x0 + span, y0, y1, log,
    place: (x, y) => [
      box.left + ((x - x0) / span) * box.width,
      box.top + (1 - (f(y) - f(y0)) / (f(y1) - f(y0))) * box.height,
    ],
    number: (across) => x0 + ((across - box.left) / box.width) * span,
  };
}

function upright(scale) {
  if (!scale.log) return ticksBetween(scale.y0, scale.y1, Math.max(2, Math.floor(scale.height / 36)));
  const powers = [];
  for (let power = 1; power <= scale.y1 * 1.0001; power *= 10) if (power >= scale.y0 * 0.9999) powers.push(power);
  return powers;
}

function drawAxes(ctx, { axes }, scale, colours) {
  const bottom = scale.top + scale.height;
  ctx.fillStyle = colours.muted;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  for (const y of upright(scale)) {
    const [, down] = scale.place(scale.x0, y);
    ctx.fillText(shortly(y), scale.left - 7, down);
    ctx.globalAlpha = 0.6;
    ctx.fillStyle = colours.line;
    ctx.fillRect(scale.left, Math.round(down), scale.width, 1);
    ctx.globalAlpha = 1;
    ctx.fillStyle = colours.muted;
  }
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (const x of ticksBetween(scale.x0, scale.x1, Math.max(2, Math.floor(scale.width / 45)))) {
    ctx.fillText(shortly(x), scale.place(x, scale.y0)[0], bottom + 5);
  }
  ctx.fillText(axes[0], scale.left + scale.width / 2, bottom + 20);
  if (!axes[1]) return;
  ctx.save();
  ctx.translate(4, scale.top + scale.height / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.fillText(axes[1], 0, 0);
  ctx.restore();
}

function drawSeries(ctx, { x, y, low, high }, scale, hue) {
  if (low && high && x.length > 1) {
    ctx.beginPath();
    x.forEach((at, i) => ctx.lineTo(...scale.place(at, high[i])));
    for (let i = x.length - 1; i >= 0; i -= 1) ctx.lineTo(...scale.place(x[i], low[i]));
    ctx.fillStyle = hue;
    ctx.globalAlpha = 0.2;
    ctx.fill();
    ctx.globalAlpha = 1;
  }
  ctx.beginPath();
  x.forEach((at, i) => ctx.lineTo(...scale.place(at, y[i])));
  ctx.strokeStyle = ctx.fillStyle = hue;
  ctx.lineWidth = 2;
  ctx.lineJoin = "round";
  ctx.stroke();
  if (!x.length) return;
  ctx.beginPath();
  ctx.arc(...scale.place(x.at(-1), y.at(-1)), 3.5, 0, 2 * Math.PI);
  ctx.fill();
}

function drawLegend(ctx, { series }, scale, colours, readings, hues) {
  let across = scale.left;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  series.forEach((one, n) => {
    const read = readings[n];
    const words = read ? `${one.name}: ${shortly(read.y)}` : one.name;
    ctx.fillStyle = hues[n % hues.length];
    ctx.fillRect(across, 5, 10, 10);
    ctx.fillStyle = colours.ink;
    ctx.fillText(words, across + 15, 10);
    across += ctx.measureText(words).width + 34;
  });
}
