// The systems as a reader would see them: drawn from a state, and put into a state by pointing.
//
// A scene draws on a context in CSS pixels; stateAt returns the state, at rest, that a point of the canvas means, and
// stateOf the state behind an observation, where the two differ.

import { hueOf, theme } from "./colours.js";

/** The scene of a task by its name, or null if there is none. */
export function sceneFor(taskName) {
  return SCENES[taskName] ?? null;
}

const clamp = (number, low, high) => Math.min(high, Math.max(low, number));

/** An angle between -pi and pi. */
const wrapped = (angle) => Math.atan2(Math.sin(angle), Math.cos(angle));

function line(ctx, points, colour, width) {
  ctx.beginPath();
  for (const point of points) ctx.lineTo(...point);
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.lineCap = ctx.lineJoin = "round";
  ctx.stroke();
}

function disc(ctx, [x, y], radius, fill, edge) {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.fillStyle = fill;
  ctx.fill();
  if (!edge) return;
  ctx.strokeStyle = edge;
  ctx.lineWidth = 2;
  ctx.stroke();
}

/** An arrow along x for a push; no length, no arrow. */
function push(ctx, [x, y], length, colour) {
  if (!length) return;
  const way = Math.sign(length);
  line(ctx, [[x, y], [x + length - way * 7, y]], colour, 4);
  ctx.beginPath();
  ctx.moveTo(x + length, y);
  ctx.lineTo(x + length - way * 11, y - 7);
  ctx.lineTo(x + length - way * 11, y + 7);
  ctx.closePath();
  ctx.fillStyle = colour;
  ctx.fill();
}

/** Ground below a curve from the left to the right end of the scene. */
function ground(ctx, width, height, heightAt, colours) {
  const points = Array.from({ length: 81 }, (_, i) => heightAt(i / 80));
  ctx.beginPath();
  ctx.moveTo(0, height);
  for (const point of points) ctx.lineTo(...point);
  ctx.lineTo(width, height);
  ctx.closePath();
  ctx.fillStyle = colours.line;
  ctx.fill();
  line(ctx, points, colours.muted, 2);
}

// ---- the puck -------------------------------------------------------------------------------------------------------

const WALL = 2.4;
const HILL = 0.3; // y = -0.3 x^2
const WALL_WIDTH = 10;
const ROUND = 10; // the puck: its middle is at a wall's place when its rim touches that wall

const puck = {
  /** Pixels of the puck's place; the hill is as steep as it is drawn. */
  place(x, width, height) {
    const room = width - 2 * WALL_WIDTH - 2 * ROUND;
    const scale = Math.min(room / (2 * WALL), (height * 0.62) / (HILL * WALL * WALL));
    return [width / 2 + x * scale, height * 0.3 + HILL * x * x * scale, scale];
  },

  draw(ctx, width, height, [x, v], action) {
    const colours = theme(ctx.canvas);
    const [left, foot, scale] = puck.place(-WALL, width, height);
    const over = 1.5 * WALL;
    ground(ctx, width, height, (share) => puck.place((2 * share - 1) * over, width, height).slice(0, 2), colours);
    ctx.fillStyle = colours.muted;
    const top = foot - 0.62 * scale * WALL;
    for (const at of [left - ROUND - WALL_WIDTH, width - left + ROUND]) ctx.fillRect(at, top, WALL_WIDTH, height);
    const [px, py] = puck.place(clamp(x, -WALL, WALL), width, height);
    const slope = Math.atan(2 * HILL * x);
    const centre = [px, py - ROUND / Math.cos(slope)];
    if (action >= 0) push(ctx, [px, centre[1] - ROUND - 12], action === 1 ? 42 : -42, hueOf(action));
    if (Math.abs(v) > 0.02) {
      const along = 0.3 * v * scale;
      line(ctx, [centre, [px + along, centre[1] + along * Math.tan(slope)]], colours.muted, 2);
    }
    disc(ctx, centre, ROUND, colours.ink, colours.paper);
  },

  stateAt([across], _state, width, height) {
    const [middle, , scale] = puck.place(0, width, height);
    return [clamp((across - middle) / scale, -0.999 * WALL, 0.999 * WALL), 0];
  },
};

// ---- the cart with its pole -----------------------------------------------------------------------------------------

const TRACK = 2.4;
const POLE = 1; // twice the half length

const cartPole = {
  place(x, width, height) {
    const scale = Math.min(width / (2.4 * TRACK), (0.62 * height) / POLE);
    return [width / 2 + x * scale, 0.8 * height, scale];
  },

  draw(ctx, width, height, [x, , angle], action) {
    const colours = theme(ctx.canvas);
    const [px, py, scale] = cartPole.place(x, width, height);
    const [cart, tall] = [Math.max(44, 0.4 * scale), Math.max(20, 0.18 * scale)];
    line(ctx, [[0, py + tall / 2], [width, py + tall / 2]], colours.muted, 2);
    for (const end of [-TRACK, TRACK]) {
      const [at] = cartPole.place(end, width, height);
      line(ctx, [[at, py - tall], [at, py + tall / 2]], colours.line, 3);
    }
    ctx.fillStyle = colours.ink;
    ctx.fillRect(px - cart / 2, py - tall / 2, cart, tall);
    const joint = [px, py - tall / 2];
    const tip = [joint[0] + POLE * scale * Math.sin(angle), joint[1] - POLE * scale * Math.cos(angle)];
    line(ctx, [joint, tip], hueOf(1), Math.max(6, 0.05 * scale));
    disc(ctx, joint, 5, colours.paper, colours.ink);
    if (action >= 0) push(ctx, [px + (action === 1 ? cart / 2 + 4 : -cart / 2 - 4), py], action === 1 ? 40 : -40, hueOf(action));
  },

  stateAt([across, down], state, width, height) {
    const [px, py, scale] = cartPole.place(state[0], width, height);
    const joint = py - Math.max(20, 0.18 * scale) / 2;
    if (down > joint) return [clamp((across - width / 2) / scale, -0.999 * TRACK, 0.999 * TRACK), 0, state[2], 0];
    return [state[0], 0, clamp(Math.atan2(across - px, joint - down), -0.209, 0.209), 0];
  },
};

// ---- the car in the valley ------------------------------------------------------------------------------------------

const [VALLEY, TOP, FLAG] = [-1.2, 0.6, 0.5];

const mountainCar = {
  place(x, width, height) {
    const share = (x - VALLEY) / (TOP - VALLEY);
    return [share * width, height * (0.92 - 0.72 * (0.45 * Math.sin(3 * x) + 0.55))];
  },

  draw(ctx, width, height, [x, v], action) {
    const colours = theme(ctx.canvas);
    ground(ctx, width, height, (share) => mountainCar.place(VALLEY + share * (TOP - VALLEY), width, height), colours);
    const [fx, fy] = mountainCar.place(FLAG, width, height);
    line(ctx, [[fx, fy], [fx, fy - 34]], colours.ink, 2);
    ctx.fillStyle = hueOf(5);
    ctx.fillRect(fx, fy - 34, 16, 11);
    const [px, py] = mountainCar.place(x, width, height);
    const [qx, qy] = mountainCar.place(x + 0.01, width, height);
    ctx.save();
    ctx.translate(px, py);
    ctx.rotate(Math.atan2(qy - py, qx - px));
    ctx.fillStyle = colours.ink;
    ctx.fillRect(-18, -20, 36, 12);
    for (const wheel of [-11, 11]) disc(ctx, [wheel, -6], 6, colours.muted, colours.paper);
    if (action >= 0) push(ctx, [0, -32], [-40, 0, 40][action], hueOf([0, 2, 1][action]));
    if (Math.abs(v) > 1e-3) line(ctx, [[0, -14], [v * 700, -14]], colours.paper, 2);
    ctx.restore();
  },

  stateAt([across], _state, width) {
    return [clamp(VALLEY + (across / width) * (TOP - VALLEY), VALLEY, FLAG - 0.001), 0];
  },
};

// ---- the acrobot ----------------------------------------------------------------------------------------------------

const acrobot = {
  links([one, two], width, height) {
    const length = 0.21 * Math.min(width, height);
    const bar = [width / 2, height / 2];
    const elbow = [bar[0] + length * Math.sin(one), bar[1] + length * Math.cos(one)];
    const tip = [elbow[0] + length * Math.sin(one + two), elbow[1] + length * Math.cos(one + two)];
    return { length, bar, elbow, tip };
  },

  draw(ctx, width, height, state, action) {
    const colours = theme(ctx.canvas);
    const { length, bar, elbow, tip } = acrobot.links(state, width, height);
    ctx.setLineDash([6, 6]);
    line(ctx, [[0, bar[1] - length], [width, bar[1] - length]], colours.muted, 1);
    ctx.setLineDash([]);
    line(ctx, [bar, elbow], hueOf(0), 10);
    line(ctx, [elbow, tip], hueOf(1), 10);
    for (const joint of [bar, elbow]) disc(ctx, joint, 6, colours.paper, colours.ink);
    turn(ctx, elbow, 22, [-1, 0, 1][action] ?? 0, hueOf([0, 2, 1][action] ?? -1));
  },

  /** The state behind an observation, which has the cosine and the sine of each angle. */
  stateOf([cos1, sin1, cos2, sin2, ...turning]) {
    return [Math.atan2(sin1, cos1), Math.atan2(sin2, cos2), ...turning];
  },

  stateAt(point, state, width, height) {
    const { length, bar, elbow } = acrobot.links(state, width, height);
    const [dx, dy] = [point[0] - bar[0], point[1] - bar[1]];
    if (Math.hypot(dx, dy) < 1.15 * length) return [Math.atan2(dx, dy), state[1], 0, 0];
    const direction = Math.atan2(point[0] - elbow[0], point[1] - elbow[1]);
    return [state[0], wrapped(direction - state[0]), 0, 0];
  },
};

/** A bow with a head for a torque from -1 to 1; positive turns against the clock. */
function turn(ctx, [x, y], radius, torque, colour) {
  if (!torque) return;
  const bow = 0.6 + 1.4 * Math.abs(torque);
  const [from, to] = torque > 0 ? [0, -bow] : [Math.PI, Math.PI + bow];
  ctx.beginPath();
  ctx.arc(x, y, radius, from, to, torque > 0);
  ctx.strokeStyle = colour;
  ctx.lineWidth = 4;
  ctx.stroke();
  disc(ctx, [x + radius * Math.cos(to), y + radius * Math.sin(to)], 6, colour);
}

// ---- the pendulum ---------------------------------------------------------------------------------------------------

const STILL = 2; // of the five torques the middle one is none

const pendulum = {
  draw(ctx, width, height, [angle], action) {
    const colours = theme(ctx.canvas);
    const length = 0.38 * Math.min(width, height);
    const pivot = [width / 2, height / 2];
    const tip = [pivot[0] - length * Math.sin(angle), pivot[1] - length * Math.cos(angle)];
    line(ctx, [pivot, tip], hueOf(5), 16);
    disc(ctx, pivot, 6, colours.ink, colours.paper);
    turn(ctx, pivot, 30, action >= 0 ? (action - STILL) / STILL : 0, hueOf([0, 4, 2, 5, 1][action] ?? -1));
  },

  stateOf([cos, sin, turning]) {
    return [Math.atan2(sin, cos), turning];
  },

  stateAt([across, down], _state, width, height) {
    return [Math.atan2(width / 2 - across, height / 2 - down), 0];
  },
};

const SCENES = {
  puck,
  "CartPole-v1": cartPole,
  "MountainCar-v0": mountainCar,
  "Acrobot-v1": acrobot,
  "Pendulum-v1": pendulum,
};
