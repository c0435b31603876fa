// What lies on a map, from below: cells, borders and numbers of regions (the ground); prototypes, the way of a trial,
// the states that were asked about, the present state and the cursor (what moves).

import { bordersOf, centreOf, isInside } from "./borders.js";
import { cellColours, glyphOf, inkOn } from "./colours.js";

const MOST_OUTLINED = 2000; // cells that have a border of their own
const MOST_NUMBERED = 400; // areas that get their number
const NUMBERS = '600 12px system-ui, -apple-system, "Segoe UI", sans-serif';

/** What is computed once per picture: colours, borders, and where the numbers go. */
export function groundOf(picture, base) {
  const { segments, areas } = bordersOf(picture);
  const colours = cellColours(picture, base);
  return { picture, base, colours, segments, labels: labelsOf(picture, areas, colours) };
}

/** Draw the cells, the borders of their regions, and the numbers. */
export function drawGround(ctx, frame, ground) {
  ctx.save();
  frame.clip(ctx);
  ground.picture.cells.forEach((cell, index) => fillCell(ctx, frame, cell, ground.colours[index]));
  if (ground.picture.cells.length <= MOST_OUTLINED) drawBorders(ctx, frame, ground);
  const dots = ground.picture.prototypes.map((point) => frame.place(point));
  for (const label of ground.labels) writeLabel(ctx, frame, label, dots);
  ctx.restore();
}

function trace(ctx, frame, outline) {
  ctx.beginPath();
  for (const point of outline) ctx.lineTo(...frame.place(point));
  ctx.closePath();
}

function fillCell(ctx, frame, cell, colour) {
  if (!cell.outline.length) return;
  trace(ctx, frame, cell.outline);
  ctx.fillStyle = ctx.strokeStyle = colour;
  ctx.lineWidth = 0.8; // closes the seam that smoothing leaves between two cells of one colour
  ctx.fill();
  ctx.stroke();
}

function drawBorders(ctx, frame, ground) {
  ctx.beginPath();
  for (const [from, to] of ground.segments) {
    ctx.moveTo(...frame.place(from));
    ctx.lineTo(...frame.place(to));
  }
  ctx.strokeStyle = ground.picture.actions.length ? ground.base : "#555555";
  ctx.lineWidth = 2;
  ctx.lineCap = "round";
  ctx.stroke();
}

/** One number for every area of a region, in the middle of its largest cell; or the labels that the picture has. */
function labelsOf(picture, areas, colours) {
  if (picture.labels?.length) return picture.labels.map((label) => givenLabel(picture, label, colours));
  const largest = new Map();
  picture.cells.forEach((cell, index) => {
    if (!cell.outline.length) return;
    const { area, centre } = centreOf(cell.outline);
    const size = Math.abs(area);
    if (size > (largest.get(areas[index])?.size ?? 0)) largest.set(areas[index], { size, centre, index });
  });
  if (largest.size > MOST_NUMBERED) return [];
  return [...largest.values()].map(({ centre, index }) => {
    const cell = picture.cells[index];
    return { at: centre, outline: cell.outline, text: signOf(picture, cell), colour: colours[index] };
  });
}

function signOf(picture, cell) {
  const glyph = cell.action < 0 ? "=" : glyphOf(picture.actions[cell.action]);
  return picture.actions.length ? `${cell.region} ${glyph}` : String(cell.region);
}

function givenLabel(picture, label, colours) {
  const at = [label.x, label.y];
  const index = picture.cells.findIndex((cell) => cell.outline.length && isInside(cell.outline, at));
  const cell = picture.cells[index];
  const glyph = cell && cell.action >= 0 ? glyphOf(picture.actions[cell.action]) : "";
  return { at, outline: cell?.outline ?? [], text: `${label.text} ${glyph}`.trim(), colour: colours[index] ?? "rgb(255,255,255)" };
}

function writeLabel(ctx, frame, { at, outline, text, colour }, dots) {
  ctx.font = NUMBERS;
  const places = outline.map((point) => frame.place(point));
  const across = places.map(([x]) => x);
  const down = places.map(([, y]) => y);
  const [x, y] = frame.place(at);
  const width = ctx.measureText(text).width;
  const covered = dots.some((dot) => Math.abs(dot[0] - x) < width / 2 + 5 && Math.abs(dot[1] - y) < 12);
  const roomy = Math.max(...across) - Math.min(...across) > width + 4;
  if (!roomy || Math.max(...down) - Math.min(...down) < 15) return;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = inkOn(colour);
  ctx.fillText(text, x, covered ? y + 18 : y); // below the dot that it would be hidden by
}

/** Regions that have just changed light up: {region: strength between 0 and 1}. */
export function drawGlow(ctx, frame, picture, colours) {
  for (const cell of picture.cells) {
    const strength = picture.glow?.[cell.region] ?? 0;
    if (strength <= 0 || !cell.outline.length) continue;
    trace(ctx, frame, cell.outline);
    ctx.globalAlpha = 0.75 * strength;
    ctx.fillStyle = colours.paper;
    ctx.fill();
    ctx.globalAlpha = 1;
  }
}

/** Dots for the prototypes: full for those that stand for their region, hollow for merged ones. */
export function drawPrototypes(ctx, frame, picture, colours) {
  picture.prototypes.forEach((point, p) => {
    const [x, y] = frame.place(point);
    disc(ctx, x, y, 3, picture.primary[p] ? colours.ink : colours.paper, picture.primary[p] ? colours.paper : colours.ink);
  });
}

/** The way of a trial, stronger towards its end. */
export function drawTrail(ctx, frame, trail, colours) {
  if (!trail || trail.length < 2) return;
  const places = trail.map((point) => frame.place(point));
  ctx.lineJoin = ctx.lineCap = "round";
  const PARTS = 12;
  const length = Math.ceil((places.length - 1) / PARTS);
  for (const [width, colour] of [[3.5, colours.paper], [1.6, colours.ink]]) {
    ctx.lineWidth = width;
    ctx.strokeStyle = colour;
    for (let n = 0; n * length < places.length - 1; n += 1) {
      ctx.globalAlpha = 0.25 + (0.65 * (n + 1)) / PARTS;
      ctx.beginPath();
      for (const place of places.slice(n * length, (n + 1) * length + 1)) ctx.lineTo(...place);
      ctx.stroke();
    }
  }
  ctx.globalAlpha = 1;
}

/** The states that were asked about, A and B. */
export function drawMarks(ctx, frame, marks, colours) {
  (marks ?? []).forEach((point, n) => {
    const [x, y] = frame.place(point);
    disc(ctx, x, y, 10, colours.accent, "#ffffff");
    ctx.font = NUMBERS;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.fillStyle = inkOnAccent(colours.accent);
    ctx.fillText("AB"[n] ?? String(n + 1), x, y + 0.5);
  });
}

function inkOnAccent(accent) {
  return /^#/.test(accent) && parseInt(accent.slice(3, 5), 16) > 150 ? "#000000" : "#ffffff";
}

/** Where the system is now. */
export function drawNow(ctx, frame, now, colours) {
  if (!now) return;
  disc(ctx, ...frame.place(now), 6, colours.ink, colours.paper);
}

/** The cross of the keyboard's cursor. */
export function drawCursor(ctx, frame, cursor, colours) {
  const [x, y] = frame.place(cursor);
  for (const [width, colour] of [[4, colours.paper], [2, colours.accent]]) {
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.beginPath();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      ctx.moveTo(x + 5 * dx, y + 5 * dy);
      ctx.lineTo(x + 13 * dx, y + 13 * dy);
    }
    ctx.stroke();
  }
}

function disc(ctx, x, y, radius, fill, edge) {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.fillStyle = fill;
  ctx.fill();
  ctx.strokeStyle = edge;
  ctx.lineWidth = 1.5;
  ctx.stroke();
}
