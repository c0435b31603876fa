// The frozen lake as a reader would see it: ice, holes, the goal, the walker, and the preferred way on every field.

import { hueOf, shaded, theme } from "../../src/distinguo/views/studio/page/view/colours.js";
import { FIELDS, LAKE } from "../learning/lake.js";

const SIDE = 4;
const WAYS = [[-1, 0], [0, 1], [1, 0], [0, -1]]; // left, down, right, up
const [ICE, WATER] = ["#56b4e9", "#0072b2"];

/** The length of a field's edge, and where the lake begins. */
function layout(width, height) {
  const edge = Math.min(width, height) / SIDE;
  return { edge, left: (width - SIDE * edge) / 2, top: (height - SIDE * edge) / 2 };
}

function arrow(ctx, [x, y], [dx, dy], size, colour) {
  const [tip, back] = [[x + dx * size, y + dy * size], [x - dx * size, y - dy * size]];
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = Math.max(2, size / 3.5);
  ctx.lineCap = "round";
  ctx.beginPath();
  ctx.moveTo(...back);
  ctx.lineTo(x + dx * size * 0.4, y + dy * size * 0.4);
  ctx.stroke();
  ctx.beginPath();
  ctx.moveTo(...tip);
  for (const side of [-1, 1]) ctx.lineTo(x + dx * size * 0.2 + side * dy * size * 0.7, y + dy * size * 0.2 + side * dx * size * 0.7);
  ctx.fill();
}

function drawField(ctx, kind, [x, y], edge, colours) {
  ctx.fillStyle = shaded(ICE, kind === "S" ? 0.35 : 0.18, colours["map-base"]);
  ctx.fillRect(x + 1, y + 1, edge - 2, edge - 2);
  if (kind === "H") {
    ctx.beginPath();
    ctx.ellipse(x + edge / 2, y + edge / 2, 0.36 * edge, 0.3 * edge, 0, 0, 2 * Math.PI);
    ctx.fillStyle = shaded(WATER, 0.75, "#000000");
    ctx.fill();
  } else if (kind === "G") {
    ctx.fillStyle = colours.ink;
    ctx.fillRect(x + 0.36 * edge, y + 0.2 * edge, 2.5, 0.6 * edge);
    ctx.fillStyle = hueOf(5);
    ctx.fillRect(x + 0.36 * edge + 2, y + 0.2 * edge, 0.34 * edge, 0.24 * edge);
  }
}

export const lakeScene = {
  /** ways has the preferred action on every field, -1 where several are tied. */
  draw(ctx, width, height, [field], action, ways) {
    const colours = theme(ctx.canvas);
    const { edge, left, top } = layout(width, height);
    const place = (n) => [left + (n % SIDE) * edge, top + Math.floor(n / SIDE) * edge];
    [...FIELDS].forEach((kind, n) => {
      const [x, y] = place(n);
      drawField(ctx, kind, [x, y], edge, colours);
      if (ways[n] >= 0 && !"HG".includes(kind)) arrow(ctx, [x + edge / 2, y + edge / 2], WAYS[ways[n]], 0.22 * edge, hueOf(ways[n], LAKE.actions));
    });
    const [x, y] = place(field).map((at) => at + edge / 2);
    ctx.beginPath();
    ctx.arc(x, y, 0.2 * edge, 0, 2 * Math.PI);
    ctx.fillStyle = colours.ink;
    ctx.fill();
    ctx.strokeStyle = colours.paper;
    ctx.lineWidth = 2;
    ctx.stroke();
    if (action >= 0) arrow(ctx, [x, y], WAYS[action], 0.12 * edge, colours.paper);
  },

  stateAt([across, down], _state, width, height) {
    const { edge, left, top } = layout(width, height);
    return LAKE.stateAt([(across - left) / edge - 0.5, SIDE - 0.5 - (down - top) / edge]);
  },
};
