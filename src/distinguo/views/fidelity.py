"""How closely a distilled map follows its teacher: where they disagree, and which actions it takes instead."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from distinguo.distillation.fidelity import read_fidelity
from distinguo.errors import DistinguoError, visible
from distinguo.representations.geometry import Pair
from distinguo.runs.folder import FIDELITY
from distinguo.runs.run import Run
from distinguo.views.colours import HUES, INK, MARK
from distinguo.views.pictures import PartitionPicture
from distinguo.views.places import plane_picture
from distinguo.views.plots import FULL, SMALL, colours_of, draw, dress, entitle, new_figure, paint

HEIGHT = 3.0  #: inches
BINS = 40  #: of the histogram, if only one coordinate is observed
LONG_NAME = 5  #: letters; longer names of actions would overlap


class FidelityPicture(NamedTuple):
    """A map with states of its trials, marked by whether the teacher would have done the same."""

    title: str
    partition: PartitionPicture | None  #: None if only one coordinate is observed
    dimension: str  #: the name of that coordinate
    agreed: tuple[Pair, ...]  #: places in the plane of the map; with one coordinate, the second number is 0
    disagreed: tuple[Pair, ...]
    actions: tuple[str, ...]
    shares: tuple[tuple[float, ...], ...]  #: a row per action of the teacher: the shares of the map's actions
    note: str


def fidelity_picture(run: Run) -> FidelityPicture:
    """Compute the picture from the folder of a distilled run."""
    if run.path is None or not (run.path / FIDELITY).is_file():
        raise DistinguoError(
            "This run has no fidelity: it was not distilled, or has no folder; see distinguo distil."
        )
    known, dimensions = read_fidelity(run.path / FIDELITY), run.configuration.spec.dimensions
    names = tuple(map(visible, known["actions"])) or run.configuration.spec.actions
    if any(len(row) != len(dimensions) for row in known["seen"][:1]) or len(known["confusion"]) != len(names):
        raise DistinguoError(f"{run.path / FIDELITY} is of another task than its run; take a whole copy.")
    picture = plane_picture(run) if len(dimensions) > 1 else None
    places = [(row[0], 0.0) if picture is None else picture.plane.corner(row, 0.5) for row in known["seen"]]
    marked = list(zip(places, known["agreed"], strict=True))
    counts = np.array(known["confusion"], dtype=float)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return FidelityPicture(
        f"{run.summary['teacher']}: where the map does otherwise",
        picture,
        dimensions[0],
        tuple(place for place, same in marked if same),
        tuple(place for place, same in marked if not same),
        names,
        tuple(tuple(row) for row in shares.tolist()),
        _note(known),
    )


def _note(known: dict[str, Any]) -> str:
    words = f"agree in {known['agreement_on_map_states']:.1%} of the map's states"
    if known["regret_of_disagreements"] is None:
        return words
    cost, free = known["regret_of_disagreements"], known["free_disagreements"]
    return f"{words}; a disagreement costs {cost:.3g}, and {free:.0%} cost next to nothing"


@draw.register(FidelityPicture)
def draw_fidelity(picture: FidelityPicture) -> Figure:
    """Draw the map with the states beside the table of actions."""
    figure = new_figure(HEIGHT, FULL)
    left, right = figure.subplots(1, 2, width_ratios=[3, 2])
    if picture.partition is None:
        _draw_line(left, picture)
    else:
        _draw_plane(left, picture, picture.partition)
    marks = [Line2D([], [], marker="o", ls="", ms=3, color=c) for c in (INK, HUES[5])]
    left.legend(marks, ["same action", "other action"], fontsize=SMALL, loc="best")
    _draw_shares(right, picture)
    entitle(figure, picture.title, picture.note)
    return figure


def _draw_plane(axes: Axes, picture: FidelityPicture, partition: PartitionPicture) -> None:
    plain = partition._replace(labels=(), prototypes=(), primary=(), note="")
    paint(axes, plain, [_pale(colour) for colour in colours_of(partition)])
    for places, colour, size in ((picture.agreed, INK, 1.5), (picture.disagreed, HUES[5], 4.0)):
        if places:
            across, up = zip(*places, strict=True)
            axes.scatter(across, up, s=size, color=colour, linewidths=0, rasterized=True)


def _draw_line(axes: Axes, picture: FidelityPicture) -> None:
    """Draw a histogram of the states along the only coordinate."""
    sides = [[x for x, _ in places] for places in (picture.agreed, picture.disagreed)]
    axes.hist(sides, bins=BINS, stacked=True, color=[INK, HUES[5]])
    dress(axes, picture.dimension, "states")


def _pale(colour: Any) -> Any:
    return tuple(1.0 - 0.35 * (1.0 - part) for part in colour[:3])


def _draw_shares(axes: Axes, picture: FidelityPicture) -> None:
    shares = np.array(picture.shares)
    axes.imshow(shares, cmap="Greys", vmin=0.0, vmax=1.3)
    for (n, m), share in np.ndenumerate(shares):
        axes.text(
            m,
            n,
            f"{share:.0%}",
            ha="center",
            va="center",
            fontsize=SMALL,
            color=MARK if share < 0.6 else "white",
        )
    names = picture.actions[: len(shares)]
    axes.set_xticks(range(len(shares)), names, fontsize=SMALL)
    if max(map(len, names)) > LONG_NAME:
        for text in axes.get_xticklabels():
            text.set(rotation=35, ha="right")
    axes.set_yticks(range(len(shares)), names, fontsize=SMALL)
    dress(axes, "the map does", "the teacher says")
    axes.grid(False)
