"""Pictures as pixels, with matplotlib, whose global state stays as it was once a file is written."""

from __future__ import annotations

import io
import threading
from collections.abc import Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from distinguo.errors import DistinguoError, did_you_mean
from distinguo.representations.planes import Pair
from distinguo.views.areas import MOST_JOINED, Label
from distinguo.views.drawing.colours import (
    INK,
    MARK,
    Colour,
    greys,
    hue_of,
    ink_on,
    palest,
    shaded,
    shades_of,
    value_colours,
)
from distinguo.views.drawing.figures import (
    FULL,
    HEIGHT,
    MIDDLE,
    SMALL,
    STRIP,
    WIDTH,
    add_bar,
    broken_line,
    dress,
    entitle,
    explain_marks,
    new_figure,
    patch,
    plain,
)
from distinguo.views.pictures import PartitionPicture, ValuePicture
from distinguo.writing.atomic import write_atomically

MOST_SQUARES_ACROSS = 6  #: of categories, in a column
TICKS = 16  #: words along an axis that are all written
DPI = 220
#: What a figure can be written as, and how to leave the date out: the same picture gives the same bytes.
FORMATS: dict[str, dict[str, Any]] = {
    ".png": {},
    ".svg": {"metadata": {"Date": None}},
    ".pdf": {"metadata": {"CreationDate": None}},
}
#: Names within a file come from its content alone, and letters stay letters.
_SAVING = {"svg.hashsalt": "distinguo", "svg.fonttype": "none", "pdf.fonttype": 42}
_ONE_AT_A_TIME = threading.Lock()


@singledispatch
def draw(picture: Any) -> Figure:
    """Draw a picture, by the class of its value; a figure is taken as it is."""
    raise DistinguoError(
        f"A {type(picture).__name__} is not a picture; a view returns one of ours, such as a PartitionPicture or a "
        "SeriesPicture, or a figure of matplotlib."
    )


@draw.register(Figure)
def _(picture: Figure) -> Figure:
    return picture


@draw.register(ValuePicture)
def draw_values(picture: ValuePicture) -> Figure:
    """Draw a partition with a colour for the state value of each region."""
    shown = picture.partition
    values = [cell.value for cell in shown.cells]
    scale = shades_of(values)
    figure = drawn(shown, [value_colours(share) for share in np.asarray(scale(values)).tolist()])
    add_bar(figure, ScalarMappable(scale, "viridis"), "state value V")
    return figure


@draw.register(PartitionPicture)
def draw_partition(picture: PartitionPicture) -> Figure:
    """Draw a partition: hue for the action, shade for the value, dots for the prototypes, a number in each area."""
    figure = drawn(picture, colours_of(picture))
    if picture.actions:
        explain_marks(figure, marks_of(picture))
        add_shades(figure, picture)
    return figure


def drawn(picture: PartitionPicture, colours: list[Colour]) -> Figure:
    """Draw a partition in given colours, one for each cell, without a legend."""
    figure = new_figure(*_size(picture))
    axes = figure.add_subplot()
    paint(axes, picture, colours)
    _write(axes, picture, colours)
    entitle(figure, picture.title, picture.note)
    return figure


def paint(axes: Axes, picture: PartitionPicture, colours: list[Colour]) -> None:
    """Draw cells, prototypes and the way of a trial into a frame, without words inside."""
    _fill(axes, picture, colours)
    for style, stands in (("full", True), ("none", False)):
        marks = [
            m for m, primary in zip(picture.prototypes, picture.primary, strict=True) if primary == stands
        ]
        xs, ys = zip(*marks, strict=True) if marks else ((), ())
        axes.plot(xs, ys, "o", color=MARK, markersize=2.5, markeredgewidth=0.7, fillstyle=style, ls="none")
    if picture.trail:
        draw_trail(axes, picture.trail)
    _frame(axes, picture)


def _size(picture: PartitionPicture) -> Pair:
    """Return the height and the width of a figure: a column, or a page for squares that need it for their letters."""
    if picture.ticks == (None, ()):
        return STRIP, WIDTH
    many = picture.ticks == ((), ()) and picture.high[0] - picture.low[0] > MOST_SQUARES_ACROSS
    return (FULL, FULL) if many else (HEIGHT, WIDTH)


def draw_trail(axes: Axes, trail: Sequence[Pair], colour: str = MARK) -> None:
    """Draw the way of a trial, with a ring where it began."""
    xs, ys = zip(*trail, strict=True)
    axes.plot(xs, ys, "-", color=colour, linewidth=0.7, alpha=0.85)
    axes.plot(xs[:1], ys[:1], "o", color=colour, markersize=4, fillstyle="none", markeredgewidth=0.9)


def colours_of(picture: PartitionPicture) -> list[Colour]:
    """Return the colour of each cell: hue for the action, shade for the value."""
    if not picture.actions:
        return [(1.0, 1.0, 1.0)] * len(picture.cells)
    values = [cell.value for cell in picture.cells]
    pale, shades = palest(len(picture.actions)), np.asarray(shades_of(values)(values)).tolist()
    return [
        shaded(hue_of(cell.action), pale + (1.0 - pale) * shade)
        for cell, shade in zip(picture.cells, shades, strict=True)
    ]


def _fill(axes: Axes, picture: PartitionPicture, colours: list[Colour]) -> None:
    """Fill the cells; an edge of their own colour closes the gaps between those of one region."""
    shown = [(cell.outline, c) for cell, c in zip(picture.cells, colours, strict=True) if cell.outline]
    collection = PolyCollection(
        [outline for outline, _ in shown],
        facecolors=[colour for _, colour in shown],
        edgecolors="face",
        linewidths=0.2 if len(shown) > MOST_JOINED else 0.4,
    )
    axes.add_collection(collection)
    if picture.borders:
        xs, ys = broken_line(picture.borders)
        axes.plot(xs, ys, "-", color="white" if picture.actions else MARK, linewidth=0.9, zorder=1.5)


def _write(axes: Axes, picture: PartitionPicture, colours: list[Colour]) -> None:
    """Write the labels; those of tiles small enough for their squares."""
    if not picture.labels:
        return
    size = MIDDLE
    if picture.ticks == ((), ()):
        longest = max(len(line) for label in picture.labels for line in label.text.splitlines())
        tiles = max(picture.high[0] - picture.low[0], picture.high[1] - picture.low[1])
        width = 72.0 * 0.8 * min(_size(picture))
        size = min(MIDDLE, width / tiles / (0.62 * max(longest, 3)))
    for label in picture.labels:
        _label(axes, label, size, ink_on(colours[label.cell]))


def _label(axes: Axes, label: Label, size: float, ink: str) -> None:
    words, place = plain(label.text), (label.x, label.y)
    if not label.beside:
        axes.annotate(words, place, ha="center", va="center", fontsize=size, color=ink)
        return
    right, up = (np.array(axes.transData.transform(place)) < axes.transAxes.transform((0.5, 0.5))).tolist()
    axes.annotate(
        words,
        place,
        (9 if right else -9, 9 if up else -9),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=SMALL,
        color=MARK,
        bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
        arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": MARK, "shrinkA": 0, "shrinkB": 0},
    )


def _frame(axes: Axes, picture: PartitionPicture) -> None:
    axes.set_xlim(picture.low[0], picture.high[0])
    axes.set_ylim(picture.low[1], picture.high[1])
    dress(axes, *picture.axes)
    if picture.ticks == ((), ()):
        axes.set_aspect("equal")
    for axis, words in zip((axes.xaxis, axes.yaxis), picture.ticks, strict=True):
        if words is not None:
            some = range(0, len(words), -(-len(words) // TICKS) if words else 1)
            axis.set_ticks(list(some), [plain(words[n]) for n in some])


def marks_of(picture: PartitionPicture) -> list[tuple[str, Any]]:
    """Return what the legend of a partition explains."""
    marks: list[tuple[str, Any]] = [(name, patch(hue_of(a))) for a, name in enumerate(picture.actions)]
    if any(cell.action < 0 for cell in picture.cells):
        marks.append(("tied", patch(hue_of(-1))))
    if any(picture.primary):
        marks.append(("prototype", _dot("full")))
    if not all(picture.primary):
        marks.append(("merged", _dot("none")))
    if picture.labels and picture.ticks != ((), ()):
        marks.append(("region", Line2D([], [], ls="", marker="$5$", color=INK, markersize=4.5)))
    if picture.trail:
        marks.append(("greedy trial", Line2D([], [], color=INK, linewidth=0.8)))
    return marks


def add_shades(figure: Figure, picture: PartitionPicture) -> None:
    """Add the bar of shades; a map that only controls has no values to show."""
    values = [cell.value for cell in picture.cells]
    if len(values) == 1 or min(values) < max(values):
        add_bar(figure, ScalarMappable(shades_of(values), greys(len(picture.actions))), "state value V")


def _dot(fill: str) -> Line2D:
    return Line2D([], [], ls="", marker="o", color=INK, markersize=3, markeredgewidth=0.7, fillstyle=fill)  # type: ignore[arg-type]


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF, as its name says, whole or not at all."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise DistinguoError(f"A picture cannot be written as '{path}'; {did_you_mean(suffix, FORMATS)}")
    write_atomically(path, rendered(figure, suffix))


def rendered(figure: Figure, suffix: str = ".png", dpi: int = DPI, transparent: bool = False) -> bytes:
    """Return the content of the file of a figure."""
    buffer = io.BytesIO()
    FigureCanvasAgg(figure)
    with _ONE_AT_A_TIME, mpl.rc_context(_SAVING):  # type: ignore[arg-type]
        figure.savefig(
            buffer, format=suffix.removeprefix("."), dpi=dpi, transparent=transparent, **FORMATS[suffix]
        )
    return buffer.getvalue()
