// What is to be learned: the task, the seed and the settings; a slider that nobody touched is left to the task.

const SLIDERS = {
  epsilon: { value: (raw) => Number((10 ** raw).toPrecision(2)), words: (value) => `ε = ${value}` },
  gamma: { value: (raw) => Number((1 - 10 ** -raw).toPrecision(4)), words: (value) => `γ = ${value}` },
  regions: { value: (raw) => Number(raw), words: (value) => `at most ${value}` },
};
const OTHERS = { epsilon: ["regions"], gamma: ["regions"], regions: ["epsilon", "gamma"] };

export class LearnForm {
  /** Handlers: onLearn(wish, pane), onTouch() when a setting was moved, say(words). */
  constructor(form, { onLearn, onTouch, say }) {
    this.form = form;
    this.own = new Set();
    this.say = say;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      onLearn(this.wish, 0);
    });
    form.querySelector("#beside").addEventListener("click", () => {
      if (form.reportValidity()) onLearn(this.wish, 1);
    });
    for (const name of Object.keys(SLIDERS)) {
      form.elements[name].addEventListener("input", () => this.moved(name));
      form.elements[name].addEventListener("change", () => onTouch());
    }
    form.querySelector("#suited").addEventListener("click", () => {
      this.own.clear();
      this.show();
      onTouch();
    });
    for (const chip of form.querySelectorAll("[data-task]")) {
      chip.addEventListener("click", () => this.choose(chip.dataset.task));
    }
    form.elements.task.addEventListener("input", () => this.show());
    this.show();
  }

  choose(task) {
    this.form.elements.task.value = task;
    this.show();
  }

  /** A budget of regions is a setting of another learner than ε and γ are: the one takes the others back. */
  moved(name) {
    const lost = OTHERS[name].filter((other) => this.own.delete(other));
    this.own.add(name);
    if (lost.length) this.say(`${lost.join(" and ")}: as suits the task again, as ${name} is another learner's setting.`);
    this.show();
  }

  show() {
    for (const [name, { value, words }] of Object.entries(SLIDERS)) {
      const output = this.form.querySelector(`#${name}-out`);
      const isOwn = this.own.has(name);
      output.textContent = isOwn ? words(value(this.form.elements[name].value)) : "as suits";
      output.classList.toggle("is-own", isOwn);
      this.form.elements[name].setAttribute("aria-valuetext", output.textContent);
    }
    for (const chip of this.form.querySelectorAll("[data-task]")) {
      chip.setAttribute("aria-pressed", String(chip.dataset.task === this.form.elements.task.value));
    }
  }

  get settings() {
    return Object.fromEntries([...this.own].map((name) => [name, SLIDERS[name].value(this.form.elements[name].value)]));
  }

  get speed() {
    return Number(this.form.elements.speed.value) || null;
  }

  get wish() {
    const { task, seed } = this.form.elements;
    return { task: task.value.trim(), seed: Number(seed.value), speed: this.speed, ...this.settings };
  }
}
