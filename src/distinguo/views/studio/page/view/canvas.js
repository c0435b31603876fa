// What all canvases share: sharp pixels on every screen, and round numbers along an axis.

/** Size a canvas for the screen, wipe it, and return what to draw with: a context in CSS pixels, width and height. */
export function fitted(canvas) {
  const ratio = globalThis.devicePixelRatio || 1;
  const width = canvas.clientWidth || 300;
  const height = canvas.clientHeight || 150;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across;
    canvas.height = down;
  }
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  return { ctx, width, height, ratio };
}

/** Call a function when a canvas changes its size, or the reader changes between light and dark. */
export function onChange(canvas, redraw) {
  new ResizeObserver(redraw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

/** Where a pointer is on a canvas, in CSS pixels. */
export function placeOf(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** About as many round numbers between two ends. */
export function ticksBetween(low, high, about = 5) {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const power = 10 ** Math.floor(Math.log10(span / about));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => span / n <= about + 0.5);
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * span; n += 1) ticks.push(n * step);
  return ticks;
}

/** A number in few letters: 1.5, 12k, 3M. */
export function shortly(number) {
  const size = Math.abs(number);
  if (size >= 1e6) return `${trimmed(number / 1e6)}M`;
  if (size >= 1e4) return `${trimmed(number / 1e3)}k`;
  return trimmed(number);
}

function trimmed(number) {
  return String(Number(number.toPrecision(3))).replace("-", "−");
}

export const FONT = '12px system-ui, -apple-system, "Segoe UI", sans-serif';
