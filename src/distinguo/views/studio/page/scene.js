// The system as one would see it, to be taken hold of and let go.

import { fitted, onChange, placeOf } from "./view/canvas.js";
import { theme } from "./view/colours.js";
import { sceneFor } from "./view/scenes.js";

export class SceneView {
  constructor(canvas, player, onLetGo) {
    this.canvas = canvas;
    this.player = player;
    this.scene = null;
    onChange(canvas, () => this.draw());
    canvas.addEventListener("pointerdown", (event) => this.grab(event));
    canvas.addEventListener("pointermove", (event) => {
      if (this.player.held) this.hold(event);
    });
    for (const kind of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(kind, () => {
        if (!this.player.held) return;
        this.player.begin({ state: this.player.held });
        onLetGo();
      });
    }
  }

  choose(task) {
    this.scene = sceneFor(task);
    this.canvas.setAttribute("aria-label", this.scene
      ? `${task} under the greedy policy. Drag it to let it go from elsewhere, or use the map by keyboard.`
      : `There is no drawing of ${task}; the map shows its way.`);
    this.draw();
  }

  grab(event) {
    if (!this.scene || !this.player.state) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.hold(event);
  }

  hold(event) {
    const { clientWidth, clientHeight } = this.canvas;
    this.player.hold(this.scene.stateAt(placeOf(this.canvas, event), this.player.state, clientWidth, clientHeight));
  }

  /** The state behind an observation. */
  stateOf(observation) {
    return this.scene?.stateOf?.(observation) ?? observation;
  }

  draw() {
    const { ctx, width, height } = fitted(this.canvas);
    const { state, action } = this.player;
    if (this.scene && state) this.scene.draw(ctx, width, height, state, action);
    else {
      ctx.fillStyle = theme(this.canvas).muted;
      ctx.font = "14px system-ui, sans-serif";
      ctx.textAlign = "center";
      ctx.fillText(this.scene ? "" : "No drawing of this task: follow it on the map.", width / 2, height / 2);
    }
  }
}
