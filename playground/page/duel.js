// Two learners side by side: the same seed and settings, but for ε.

import { CurveView } from "../../src/distinguo/views/studio/page/view/curves.js";
import { MapView } from "../../src/distinguo/views/studio/page/view/map.js";
import { choiceFrom } from "../learning/settings.js";
import { Pictures, aboutPoint } from "./picture.js";
import { Player, SPEEDS } from "./player.js";
import { WORDS } from "./words.js";

const EVERY = 80; // milliseconds between two drawings
const byId = (id) => document.getElementById(id);

export class Duel {
  /** onChange is called with the two values of ε. */
  constructor({ choice, onChange }) {
    this.onChange = onChange;
    this.sides = [0, 1].map((n) => {
      const map = new MapView(byId(`duel-map-${n}`), {
        onHover: (point) => this.read(n, point),
        onCursor: (point) => this.read(n, point),
      });
      return { map, input: byId(`duel-epsilon-${n}`), words: byId(`duel-words-${n}`), hover: byId(`duel-hover-${n}`), pictures: new Pictures(), player: null };
    });
    this.curves = new CurveView(byId("duel-regions"));
    for (const { input } of this.sides) {
      input.addEventListener("keydown", ({ key }) => { if (key === "Enter") this.begin(); });
    }
    this.drawnAt = -Infinity;
    byId("duel-learn").addEventListener("click", () => this.begin());
    this.take(choice);
    if (choice.compare) this.learn();
  }

  /** Take another choice of the reader's: what was learned by the last one is dropped. */
  take(choice) {
    const isOther = this.choice?.task !== choice.task;
    this.choice = choice;
    for (const [n, side] of this.sides.entries()) {
      if (isOther) side.input.value = String(WORDS[choice.task].duel[n]);
      if (choice.compare) side.input.value = String(choice.compare[n]);
      const { choice: { epsilon } } = choiceFrom(`epsilon=${encodeURIComponent(side.input.value.trim())}`);
      side.player = new Player({ ...choice, epsilon }); // that of the preset if it cannot be read
      side.player.speed = SPEEDS.length - 1;
      side.hover.textContent = "";
    }
    this.isDue = true;
  }

  /** Read both values of ε, and learn with them; a value that cannot be is said. */
  begin() {
    const words = this.sides.map(({ input }) => input.value.trim()).join(",");
    const { choice, problems } = choiceFrom(`compare=${encodeURIComponent(words)}`);
    byId("duel-problem").textContent = problems.length ? `The two values of ε should be above 0 and at most 100, not “${words}”.` : "";
    if (problems.length) return;
    this.onChange(choice.compare);
    this.learn();
  }

  learn() {
    for (const { player } of this.sides) player.learn();
  }

  /** Go on by so many seconds, and draw what has changed. */
  frame(seconds, now) {
    const moved = this.sides.map(({ player }) => player.frame(seconds));
    this.isDue ||= moved.some(Boolean);
    if (!this.isDue || (now - this.drawnAt < EVERY && moved.some(Boolean))) return;
    [this.isDue, this.drawnAt] = [false, now];
    for (const side of this.sides) this.draw(side);
    const series = this.sides.map(({ player: { stage } }) => ({
      name: `ε = ${stage.settings.epsilon}`, x: stage.trials.map((_, n) => n + 1), y: stage.trials.map((trial) => trial.regions),
    }));
    this.curves.draw({ series, axes: ["trial", "regions"] });
  }

  draw({ map, pictures, player: { stage }, words }) {
    map.draw({ ...pictures.of(stage.memory, stage.settings.delta), title: `The map for ε = ${stage.settings.epsilon}` });
    const result = stage.solved ? "solved" : stage.phase === "done" ? "not solved" : stage.trials.length ? "learning" : "not begun";
    const counts = [[stage.trials.length, "trial"], [stage.regions, "region"], [stage.memory.size, "prototype"]];
    const text = `${result}: ${counts.map(([count, word]) => `${count} ${word}${count === 1 ? "" : "s"}`).join(", ")}`;
    if (words.textContent !== text) words.textContent = text;
  }

  read(n, point) {
    const { hover, player: { stage } } = this.sides[n];
    hover.textContent = point ? aboutPoint(stage.memory, stage.settings.delta, point) : "";
  }
}
