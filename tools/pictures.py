"""The pictures of the documents, each drawn from a run that is learned for it.

    python -m tools.pictures              # all of them
    python -m tools.pictures map trials   # some

writes docs/images/NAME.png. The pages give, beside each picture, the command by which a reader sees the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from matplotlib.figure import Figure

import distinguo as dg
from distinguo.comparison.compare import compare
from distinguo.controls import PAPER_SEEDS, build_representation
from distinguo.presets import tester_preset
from distinguo.runs.run import Run
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.puck.analysis import PuckMap, analyse
from distinguo.tasks.puck.puck import Puck
from distinguo.views.curves import curves_figure
from distinguo.views.pictures import representation_picture
from distinguo.views.plots import draw_partition, save_figure
from distinguo_lab.paper.report import draw_hill, draw_map

FOLDER = Path(__file__).parents[1] / "docs" / "images"
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
