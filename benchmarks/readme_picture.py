"""Draw what the README begins with: the regions of the puck being born, trial by trial, each with its reason.

python benchmarks/readme_picture.py

Everything comes from one run: the maps from its history, the ways of the puck from the policy of each map, the
reasons from its log. A second picture, for the documents, shows the last map over the critical states.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from PIL import Image

import distinguo as dg
from distinguo.runs.run import Run
from distinguo.tasks.puck.puck import Puck
from distinguo.views.colours import hue_of, ink_on, shaded
from distinguo.views.pictures import PartitionPicture, partition_picture

IMAGES = Path(__file__).parent.parent / "docs" / "images"
DPI = 84
STEPS, STRIDE = 96, 8  #: of the way that is shown of a map, and between two frames
MILLISECONDS, AT_REST = 70, 1_300  #: that a frame is seen, and the last one of a map with a new region
PALE = 0.72
INK = "#1a1b1e"


def main() -> None:
    """Learn one run, draw its last map as a picture and its history as a film."""
    run = dg.learn("puck", seed=1)
    frames: list[tuple[Image.Image, int]] = []
    for number, frame in enumerate(run.history):
        then = run._replace(representation=frame.representation, q=frame.q)
        is_last = number == len(run.history) - 1
        caption = words_of(run, frame.trial, is_last)
        frames += chapter(then, f"trial {frame.trial}", caption, is_last)
    first, *others = [image for image, _ in frames]
    first.save(
        IMAGES / "puck.gif",
        save_all=True,
        append_images=others,
        duration=[seen for _, seen in frames],
        loop=0,
        optimize=True,
    )
    dg.show(run, "critical", IMAGES / "puck.png")


def words_of(run: Run, trial: int, is_last: bool) -> str:
    """Say what happened in a trial, by the log."""
    if is_last:
        return f"Solved: {run.representation.regions} regions, and the puck never falls again."
    if trial == 1:
        return "It begins by treating all states alike."
    born = [entry for entry in run.reasons if entry["trial"] == trial and entry["event"] == "split"]
    if not born:
        return ""
    regret, rules = born[0]["regret"], born[0]["rules"]
    return f"A region is born: to ignore the difference would cost {regret:.2f} of reward ({rules[0]})."


def chapter(run: Run, title: str, caption: str, is_last: bool) -> list[tuple[Image.Image, int]]:
    """Return the frames of one map: the puck under its policy, then the caption for a while."""
    way = run.rollout(steps=STEPS * 3 if is_last else STEPS).observations
    steps = [*range(0, len(way), STRIDE), len(way) - 1]
    if not caption:
        steps = steps[-1:]
    frames = [(_pixels(drawn(run, title, caption, way, step)), MILLISECONDS) for step in steps]
    rest = 3 * AT_REST if is_last else AT_REST if caption else 3 * MILLISECONDS
    return [*frames[:-1], (frames[-1][0], rest)]


def drawn(run: Run, title: str, caption: str, way: np.ndarray, step: int) -> Figure:
    """Draw the hill with the puck beside the map with the way of the puck so far."""
    figure = Figure((9.0, 3.9))
    FigureCanvasAgg(figure)
    step = min(step, len(way) - 1)
    action = run.controller.action(tuple(way[step]))
    _hill(figure.add_axes((0.02, 0.16, 0.42, 0.72)), float(way[step, 0]), action)
    axes = figure.add_axes((0.53, 0.2, 0.45, 0.72))
    _map(axes, partition_picture(run))
    axes.plot(*way[: step + 1].T, "-", color=INK, linewidth=1.2)
    axes.plot(*way[step], "o", color="white", markeredgecolor=INK, markersize=8, clip_on=False)
    figure.text(0.02, 0.93, title, fontsize=12, weight="bold", color=INK)
    figure.text(0.02, 0.04, caption, fontsize=11.5, color=INK)
    return figure


def _hill(axes: Axes, x: float, action: int) -> None:
    puck = Puck()
    xs = np.linspace(-puck.wall, puck.wall, 80)
    axes.fill_between(xs, -puck.beta * xs**2, -2.0, color="#d7dbe4")
    axes.plot(xs, -puck.beta * xs**2, color="#5b6472", linewidth=2)
    for wall in (-puck.wall, puck.wall):
        axes.plot([wall, wall], [-2.0, -0.6], color="#5b6472", linewidth=5)
    x = float(np.clip(x, -puck.wall, puck.wall))
    y, ahead = -puck.beta * x**2 + 0.13, 0.75 if action == 1 else -0.75
    style = {"arrowstyle": "-|>", "color": hue_of(action), "linewidth": 3, "mutation_scale": 18}
    axes.annotate("", (x + ahead, y + 0.28), (x, y + 0.28), arrowprops=style)
    axes.add_patch(Circle((x, y), 0.13, color=INK))
    axes.set_xlim(-2.7, 2.7)
    axes.set_ylim(-2.0, 0.8)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _map(axes: Axes, picture: PartitionPicture) -> None:
    colours = [shaded(hue_of(cell.action), PALE) for cell in picture.cells]
    outlines: Any = [cell.outline for cell in picture.cells]
    axes.add_collection(PolyCollection(outlines, facecolors=colours, edgecolors="face"))
    for border in picture.borders:
        axes.plot(*zip(*border, strict=True), color="white", linewidth=1.5)
    for label in picture.labels:
        ink = ink_on(colours[label.cell])
        axes.text(label.x, label.y, label.text, ha="center", va="center", fontsize=11, color=ink)
    if picture.prototypes:
        axes.plot(*zip(*picture.prototypes, strict=True), "o", color=INK, markersize=3.5)
    axes.set_xlim(picture.low[0], picture.high[0])
    axes.set_ylim(picture.low[1], picture.high[1])
    axes.set_xlabel("position x (m)", fontsize=10)
    axes.set_ylabel("velocity v (m/s)", fontsize=10)
    axes.tick_params(labelsize=9)


def _pixels(figure: Figure) -> Image.Image:
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=DPI)
    return Image.open(buffer).convert("RGB").quantize(64, dither=Image.Dither.NONE)


if __name__ == "__main__":
    main()
