"""The pictures of the documents, each drawn from a run that is learned for it.

    python -m tools.pictures              # all of them
    python -m tools.pictures map trials   # some

writes docs/images/NAME.png. The pages give, beside each picture, the command by which a reader sees the same.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from matplotlib.figure import Figure

import distinguo as dg
from distinguo.comparison.compare import compare
from distinguo.controls import PAPER_SEEDS, build_representation
from distinguo.exports.tables import labelled
from distinguo.exports.write import render
from distinguo.presets import tester_preset
from distinguo.runs.run import Run
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.puck.analysis import PuckMap, analyse
from distinguo.tasks.puck.puck import Puck
from distinguo.views.colours import HUES, INK, hue_of
from distinguo.views.curves import curves_figure
from distinguo.views.pictures import representation_picture
from distinguo.views.plots import (
    MIDDLE,
    SMALL,
    draw_partition,
    dress,
    explain_marks,
    new_figure,
    patch,
    plain,
    save_figure,
)
from distinguo_lab.paper.report import draw_hill, draw_map

FOLDER = Path(__file__).parents[1] / "docs" / "images"
SHAPE = (5.2, 3.25)  #: inches of the pictures in the README
SEED = 700000  #: of the runs with the paper's constants: the first of those that the README counts


@cache
def learned() -> Run:
    """Return the run of the tutorial."""
    return dg.learn("puck", seed=1)


@cache
def analysed() -> PuckMap:
    """Return which states of the puck are controllable, and which are critical."""
    return analyse(Puck())


@cache
def from_scratch() -> Run:
    """Return a run with the paper's constants, from nothing."""
    return dg.learn("puck", seed=SEED, preset="paper")


def why() -> Figure:
    """Draw two states on the map, and what each action is worth in them."""
    states = ((0.2, 0.8), (-0.2, -0.8))
    answer, actions = dg.explain(learned(), *states), learned().configuration.spec.actions
    assert answer.distinction is not None
    figure = new_figure(*reversed(SHAPE))
    plane, bars = figure.subplots(1, 2, width_ratios=(3, 2))
    learned().plot(ax=plane)
    figure.axes[-1].remove()  # the bar of values
    plane.get_legend().remove()
    plane.set_title("here (+) and there (×)", fontsize=MIDDLE, color=INK)
    for (x, v), mark in zip(states, "Px", strict=True):
        plane.plot(x, v, mark, color="white", markeredgecolor="black", markersize=8)
    rows = [
        (f"{action} {'there' if n else 'here'}", a, round(float(profile.values[a]), 3) + 0.0)
        for n, profile in enumerate(answer.distinction.profiles)
        for a, action in enumerate(actions)
    ]
    for row, (name, a, worth) in enumerate(rows):
        bars.barh(row, worth, color=hue_of(a), height=0.6)
        bars.annotate(f"{name}: {worth:g} ", (0.02, row), va="center", fontsize=SMALL, color=INK)
    bars.set(xlim=(-1, 1.1), ylim=(3.6, -0.6), yticks=(), xticks=(-1, -0.5, 0))
    dress(bars, "expected reward", "")
    bars.set_title("what each push is worth", fontsize=MIDDLE, color=INK)
    return figure


def header() -> Figure:
    """Draw the part of an exported header that decides, as an editor would show it."""
    text = str(render(labelled(learned()), "c"))
    shown = "\n\n".join(
        text[text.index(f"/* {words}") :].split("\n\n")[0]
        for words in ("The squared distance", "The action to take")
    )
    figure = new_figure(*reversed(SHAPE))
    figure.set_layout_engine("none")
    figure.text(
        0.03, 0.5, plain(shown), family="monospace", fontsize=6, va="center", color=INK, linespacing=1.6
    )
    return figure


def rows_of(table: str) -> list[dict[str, str]]:
    """Return the rows of a measured table of the documents."""
    with (FOLDER.parent / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def robustness() -> Figure:
    """Draw the steps of runs until they were solved, failed claims included, from the quickest to the slowest."""
    figure = new_figure()
    axes = figure.add_subplot()
    found = [row for row in rows_of("robustness") if row["plan"] == "robustness-default"]
    tasks = list(dict.fromkeys(row["task"] for row in found))
    for hue, task in zip(HUES, tasks, strict=False):
        runs = [row for row in found if row["task"] == task and row["solved"] == "1"]
        steps = sorted(int(r["environment_steps"]) + int(r["failed_confirmation_steps"]) for r in runs)
        axes.step(steps, range(1, len(steps) + 1), where="post", color=hue, linewidth=1.3)
    axes.set_xscale("log")
    dress(axes, "steps, failed claims included", "runs solved, of 100")
    explain_marks(figure, [(task, patch(hue)) for hue, task in zip(HUES, tasks, strict=False)])
    return figure


def confirmation() -> Figure:
    """Draw how often a policy below the threshold is said to solve its task, by the distribution of returns."""
    found = rows_of("confirmation")
    figure = new_figure(3.4, 5.2)
    axes = figure.add_subplot()
    rates = [100 * float(row["false_solved"]) for row in found]
    over = [100 * float(row["false_solved_upper"]) - rate for row, rate in zip(found, rates, strict=True)]
    places = range(len(found))
    axes.barh(places, rates, xerr=[[0.0] * len(over), over], color=HUES[0], ecolor=INK, error_kw={"lw": 0.8})
    axes.axvline(5.0, color=HUES[5], linestyle="--", linewidth=1.0)
    axes.set_yticks(places, [row["distribution"] for row in found])
    axes.invert_yaxis()
    dress(axes, "% said to be solved; 5 % are allowed", "")
    return figure


def schedulers() -> Figure:
    """Draw the median steps of every scheduler over a learned model, and how many runs were solved."""
    found = [row for row in rows_of("schedulers") if row["part"] == "model"]
    figure = new_figure(2.6, 5.2)
    axes = figure.add_subplot()
    places = range(len(found))
    axes.barh(places, [int(row["environment_steps"]) for row in found], color=HUES[0])
    for n, row in zip(places, found, strict=True):
        words = f" {row['solved']} of {row['seeds']} solved"
        axes.annotate(words, (int(row["environment_steps"]), n), va="center", fontsize=SMALL, color=INK)
    axes.set_yticks(places, [" ".join(filter(None, (row["scheduler"], row["changed"]))) for row in found])
    axes.invert_yaxis()
    axes.margins(x=0.35)
    dress(axes, "median environment steps", "")
    return figure


def control(name: str) -> Figure:
    """Draw a control representation."""
    spec = task_spec("puck")
    return draw_partition(representation_picture(build_representation(name, spec, seed=0), spec, name))


def curves(*names: str) -> Figure:
    """Draw the learning curves of a fresh learner on control representations and on the learned map."""
    chosen = {name: from_scratch() if name == "learned" else name for name in names}
    found = compare(chosen, task="puck", runs=3, cap=200_000, **tester_preset("paper"))
    return curves_figure(found.curves)


PICTURES: dict[str, Callable[[], Figure]] = {
    "map": lambda: dg.show(learned()),
    "values": lambda: dg.show(learned(), view="values"),
    "trials": lambda: dg.show(learned(), view="trials"),
    "phase": lambda: dg.show(learned(), view="phase"),
    "family": lambda: dg.show(learned(), view="family"),
    "labels": lambda: dg.show(
        dg.learn("CliffWalking-v1", seed=1, learner="sweeping", settings={"stage.steps": 5_000}),
        figsize=(6.0, 3.2),
    ),
    "why": why,
    "proof": lambda: dg.show(learned().verify(), figsize=SHAPE),
    "c": header,
    "robustness": robustness,
    "confirmation": confirmation,
    "schedulers": schedulers,
    "hill": lambda: draw_hill(Puck()),
    "controllable": lambda: draw_map(analysed(), critical=False),
    "ideal": lambda: draw_map(analysed(), critical=True),
    "scratch": lambda: dg.show(from_scratch()),
    "seeded": lambda: dg.show(dg.learn("puck", seed=SEED, preset="paper", prototypes=PAPER_SEEDS)),
    "vrdp": lambda: control("vrdp"),
    "vrdp-enhanced": lambda: control("vrdp-enhanced"),
    "controllability": lambda: control("controllability:2e-7"),
    "curves-poor": lambda: curves("vrdp", "controllability:2e-7"),
    "curves-best": lambda: curves("diagonal", "learned", "grid:10x10", "vrdp-enhanced"),
}


def main(wanted: list[str]) -> None:
    """Draw the pictures of these names, or all."""
    for name in wanted or PICTURES:
        save_figure(PICTURES[name](), FOLDER / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
