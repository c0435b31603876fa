// Regions that have just been born, or changed their minds, glow for a moment.

const SECONDS = 1.2;

export class Glow {
  constructor() {
    this.known = null;
    this.since = new Map();
  }

  /** Take note of a new picture. */
  note(picture) {
    const now = new Map(picture.cells.map((cell) => [cell.region, cell.action]));
    if (this.known) {
      for (const [region, action] of now) {
        if (this.known.get(region) !== action) this.since.set(region, 0);
      }
    }
    this.known = now;
  }

  forget() {
    this.known = null;
    this.since.clear();
  }

  /** Let time pass; tell whether anything glows. */
  advance(seconds) {
    for (const [region, age] of this.since) {
      if (age + seconds > SECONDS) this.since.delete(region);
      else this.since.set(region, age + seconds);
    }
    return this.since.size > 0;
  }

  /** The strength of each region, as map.js takes it. */
  get strengths() {
    return Object.fromEntries([...this.since].map(([region, age]) => [region, 1 - age / SECONDS]));
  }
}
