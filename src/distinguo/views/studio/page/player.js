// The system under the greedy policy: trails come from the studio in pieces and are played at the speed of the world.

const PIECE = 60; // steps that are asked for at once
const AHEAD = 30; // steps left when the next piece is asked for
const TRAIL = 240; // observations that are drawn behind the system
const REST = 1400; // milliseconds between the end of a trial and the next
const SLOWEST = 1 / 15; // seconds that a step is shown at most

export class Player {
  /** ask(message) asks for a piece; onEnd({steps, gained}) is called when a trial has ended. */
  constructor(ask, onEnd) {
    this.ask = ask;
    this.onEnd = onEnd;
    this.number = 0;
    this.interval = 1 / 30;
    this.clear();
  }

  clear() {
    this.states = [];
    this.observations = [];
    this.actions = [];
    this.at = 0; // with a fraction between two steps
    this.before = 0; // steps of the trial that were thrown away
    this.gained = 0;
    this.ended = false;
    this.isAsked = false;
    this.rest = 0;
    this.held = null; // a state that the reader holds
  }

  setInterval(seconds) {
    this.interval = Math.min(SLOWEST, seconds || 1 / 30);
  }

  /** Begin a trial: {observation}, {state} or {} for where trials start. */
  begin(from = {}) {
    this.clear();
    this.number += 1;
    this.request(from);
  }

  request(from) {
    this.isAsked = this.ask({ do: "drive", number: this.number, steps: PIECE, ...from });
  }

  /** Take a piece that the studio sent. */
  take(piece) {
    if (piece.number !== this.number || this.held) return;
    const skip = this.states.length ? 1 : 0; // a piece begins where the last one ended
    this.states.push(...piece.states.slice(skip));
    this.observations.push(...piece.observations.slice(skip));
    this.actions.push(...piece.actions);
    this.gained += piece.gained;
    this.ended = piece.ended;
    this.isAsked = false;
  }

  /** No piece will come: try again from the start, after a while. */
  refused() {
    this.isAsked = false;
    this.ended = true;
    this.rest = 2 * REST;
  }

  hold(state) {
    this.held = state;
  }

  /** Move on by some seconds; tell whether there is something new to draw. */
  advance(seconds) {
    if (this.held || !this.states.length) {
      if (!this.states.length && this.ended) this.pause(seconds);
      return Boolean(this.held);
    }
    const last = this.states.length - 1;
    if (this.at >= last && this.ended) {
      this.pause(seconds);
      return false;
    }
    this.at = Math.min(last, this.at + seconds / this.interval);
    if (this.at >= last && this.ended) this.finish();
    else if (!this.ended && !this.isAsked && last - this.at < AHEAD) this.request({ state: this.states[last] });
    this.forget();
    return true;
  }

  finish() {
    this.rest = REST;
    this.onEnd({ steps: this.steps, gained: this.gained });
  }

  pause(seconds) {
    this.rest -= 1000 * seconds;
    if (this.rest <= 0 && !this.isAsked) this.begin();
  }

  /** Throw away what is long past. */
  forget() {
    const old = Math.floor(this.at) - 2 * TRAIL;
    if (old < TRAIL) return;
    for (const list of [this.states, this.observations, this.actions]) list.splice(0, old);
    this.at -= old;
    this.before += old;
  }

  get steps() {
    return this.before + Math.floor(this.at);
  }

  /** The state between two steps; an angle that jumps by a turn does not sweep back. */
  get state() {
    if (this.held) return this.held;
    const i = Math.floor(this.at);
    const [one, two] = [this.states[i], this.states[i + 1]];
    if (!two) return one;
    const share = this.at - i;
    return one.map((a, k) => (Math.abs(two[k] - a) > Math.PI ? two[k] : a + share * (two[k] - a)));
  }

  get observation() {
    return this.observations[Math.floor(this.at)];
  }

  get action() {
    return this.held ? -1 : this.actions[Math.floor(this.at)] ?? this.actions.at(-1) ?? -1;
  }

  get trail() {
    const until = Math.floor(this.at) + 1;
    return this.observations.slice(Math.max(0, until - TRAIL), until);
  }
}
