// The frame of a map: from states to pixels and back, with axes around it.

import { FONT, shortly, ticksBetween } from "./canvas.js";

const LEFT = 58;
const BELOW = 40;
const MARGIN = 10;

/** How a picture lies on a canvas of this size. */
export class Frame {
  constructor(picture, width, height) {
    this.picture = picture;
    const isStrip = !picture.axes[1];
    this.left = isStrip ? MARGIN : LEFT;
    this.top = MARGIN;
    this.width = Math.max(10, width - this.left - MARGIN);
    this.height = Math.max(10, height - this.top - BELOW);
  }

  /** Where a state is on the canvas. */
  place([x, y]) {
    const { low, high } = this.picture;
    return [
      this.left + ((x - low[0]) / (high[0] - low[0])) * this.width,
      this.top + (1 - (y - low[1]) / (high[1] - low[1])) * this.height,
    ];
  }

  /** The state at a place of the canvas, kept within the frame. */
  state([across, down]) {
    const { low, high } = this.picture;
    const share = [(across - this.left) / this.width, 1 - (down - this.top) / this.height];
    return share.map((part, i) => low[i] + Math.min(1, Math.max(0, part)) * (high[i] - low[i]));
  }

  /** Whether a place of the canvas is within the frame. */
  has([across, down]) {
    const inside = across >= this.left && across <= this.left + this.width;
    return inside && down >= this.top && down <= this.top + this.height;
  }

  /** Let a context draw only within the frame. */
  clip(ctx) {
    ctx.beginPath();
    ctx.rect(this.left, this.top, this.width, this.height);
    ctx.clip();
  }

  /** Draw the axes with their names and numbers. */
  drawAxes(ctx, colours) {
    const { axes, low, high, ticks = [null, null] } = this.picture;
    ctx.font = FONT;
    ctx.fillStyle = colours.muted;
    ctx.strokeStyle = colours.muted;
    ctx.lineWidth = 1;
    ctx.strokeRect(this.left + 0.5, this.top + 0.5, this.width - 1, this.height - 1);
    const bottom = this.top + this.height;
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    for (const [at, word] of marks(ticks[0], low[0], high[0], this.width / 70)) {
      const [x] = this.place([at, low[1]]);
      ctx.fillRect(x, bottom, 1, 4);
      ctx.fillText(word, x, bottom + 7);
    }
    ctx.fillText(axes[0], this.left + this.width / 2, bottom + 23);
    if (axes[1]) this.drawUpright(ctx, marks(ticks[1], low[1], high[1], this.height / 45));
  }

  drawUpright(ctx, upright) {
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    for (const [at, word] of upright) {
      const [, y] = this.place([this.picture.low[0], at]);
      ctx.fillRect(this.left - 4, y, 4, 1);
      ctx.fillText(word, this.left - 7, y);
    }
    ctx.save();
    ctx.translate(11, this.top + this.height / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.textAlign = "center";
    ctx.fillText(this.picture.axes[1], 0, 0);
    ctx.restore();
  }
}

/** The numbers along an axis, or its words, and where they are. */
function marks(words, low, high, about) {
  if (!words) return ticksBetween(low, high, Math.max(2, Math.floor(about))).map((at) => [at, shortly(at)]);
  const every = Math.max(1, Math.ceil(words.length / Math.max(2, about)));
  return words.map((word, at) => [at, word]).filter(([at]) => at % every === 0);
}
