// The first minute: five things to see or to do, ticked off as they happen.

const STEPS = ["fall", "born", "held", "drag", "why"];

export class Guide {
  constructor(list) {
    this.items = new Map(STEPS.map((step) => [step, list.querySelector(`[data-step="${step}"]`)]));
  }

  /** Begin anew, with these words for every step. */
  begin(words) {
    this.done = new Set();
    for (const [step, item] of this.items) {
      item.querySelector("b").textContent = words[step][0];
      item.querySelector("div").lastChild.textContent = ` ${words[step][1]}`;
    }
    this.show();
  }

  /** Tick a step off; doing it twice changes nothing. */
  tick(step) {
    if (this.done.has(step)) return;
    this.done.add(step);
    this.show();
  }

  show() {
    const next = STEPS.find((step) => !this.done.has(step));
    for (const [step, item] of this.items) {
      item.classList.toggle("done", this.done.has(step));
      item.classList.toggle("next", step === next);
      if (step === next) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
      item.querySelector(".tick").textContent = this.done.has(step) ? "✓" : String(STEPS.indexOf(step) + 1);
    }
  }
}
