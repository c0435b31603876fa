"""Pictures as pixels, with matplotlib; nothing here changes matplotlib's global state."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from distinguo.errors import DistinguoError, did_you_mean
from distinguo.views.pictures import PartitionPicture, ValuePicture
from distinguo.views.slices import Label
from distinguo.writing.atomic import write_atomically

#: One hue per action: Okabe and Ito's colours, which are told apart by colour-blind eyes, and two of Paul Tol's.
HUES = (
    "#0072b2",  # blue
    "#e69f00",  # orange
    "#009e73",  # green
    "#cc79a7",  # pink
    "#56b4e9",  # sky
    "#d55e00",  # vermilion
    "#f0e442",  # yellow
    "#882255",  # wine
    "#999933",  # olive
    "#332288",  # indigo
)
UNDECIDED = "#777777"  #: for regions without a preferred action
MOST_OUTLINED = 2000  #: cells that have an edge of their own
PALEST, PALEST_OF_MANY = 0.3, 0.65  #: shares of the hue at the lowest value
FEW = 4  #: hues that are told apart even when they are pale

Colour = tuple[float, float, float]


def hue_of(action: int) -> str:
    """Return the hue of an action; -1 is undecided."""
    return UNDECIDED if action < 0 else HUES[action % len(HUES)]


def shaded(hue: str, share: float) -> Colour:
    """Return a hue mixed with white.

    >>> shaded("#000000", 0.25)
    (0.75, 0.75, 0.75)
    """
    red, green, blue = (1.0 - share * (1.0 - part) for part in to_rgb(hue))
    return red, green, blue


def palest(actions: int) -> float:
    """Return the share of the hue that the least valuable state gets: many hues must stay strong."""
    return PALEST if actions <= FEW else PALEST_OF_MANY


def shades_of(values: Sequence[float]) -> Normalize:
    """Return the scale of the shades; differences in the last digits are none."""
    highest = max(values)
    least = 0.01 * max(1.0, abs(highest))
    return Normalize(highest - max(highest - min(values), least), highest)


def greys(actions: int) -> LinearSegmentedColormap:
    """Return the shades alone, for the bar beside a picture."""
    ends = [shaded(UNDECIDED, palest(actions)), shaded(UNDECIDED, 1.0)]
    return LinearSegmentedColormap.from_list("shades", ends)


def value_colours(share: float) -> Colour:
    """Return the colour of a value between the least (0) and the greatest (1), whatever is done there."""
    red, green, blue, _ = colormaps["viridis"](share)
    return red, green, blue


def ink_on(colour: Colour) -> str:
    """Return what to write with on a colour.

    >>> ink_on((1.0, 1.0, 0.9)), ink_on((0.2, 0.1, 0.5))
    ('black', 'white')
    """
    red, green, blue = colour
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "white"


WIDTH, HEIGHT, STRIP = 7.2, 5.4, 2.4  #: inches
LEGEND, MARK = 100, 9  #: letters in a line of the legend, and the room that a mark takes
NOTE = 95  #: letters in a line of the note
TICKS = 16  #: words along an axis that are all written
DPI = 100
#: What a figure can be written as, and how to leave the date out: the same picture gives the same bytes.
FORMATS: dict[str, dict[str, Any]] = {
    ".png": {},
    ".svg": {"metadata": {"Date": None}},
    ".pdf": {"metadata": {"CreationDate": None}},
}


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
    figure = _drawn(shown, [value_colours(share) for share in np.asarray(scale(values)).tolist()])
    figure.colorbar(ScalarMappable(scale, "viridis"), ax=figure.axes[0], label="state value V")
    return figure


@draw.register(PartitionPicture)
def draw_partition(picture: PartitionPicture) -> Figure:
    """Draw a partition: hue for the action, shade for the value, dots for the prototypes."""
    figure = _drawn(picture, _colours(picture))
    if picture.actions:
        _explain(figure, picture)
    return figure


def _drawn(picture: PartitionPicture, colours: list[Colour]) -> Figure:
    is_strip = picture.ticks == (None, ())
    figure = Figure(figsize=(WIDTH, STRIP if is_strip else HEIGHT), layout="constrained")
    axes = figure.add_subplot()
    _fill(axes, picture, colours)
    for style, stands in (("full", True), ("none", False)):
        marks = [
            m for m, primary in zip(picture.prototypes, picture.primary, strict=True) if primary == stands
        ]
        xs, ys = zip(*marks, strict=True) if marks else ((), ())
        axes.plot(xs, ys, "o", color="black", markersize=4, fillstyle=style, linestyle="none")
    _write(axes, picture, colours)
    _frame(axes, picture)
    _title(figure, picture)
    return figure


def _colours(picture: PartitionPicture) -> list[Colour]:
    if not picture.actions:
        return [(1.0, 1.0, 1.0)] * len(picture.cells)
    values = [cell.value for cell in picture.cells]
    pale, shades = palest(len(picture.actions)), np.asarray(shades_of(values)(values)).tolist()
    return [
        shaded(hue_of(cell.action), pale + (1.0 - pale) * shade)
        for cell, shade in zip(picture.cells, shades, strict=True)
    ]


def _fill(axes: Axes, picture: PartitionPicture, colours: list[Colour]) -> None:
    shown = [(cell.outline, c) for cell, c in zip(picture.cells, colours, strict=True) if cell.outline]
    edge, width = ("white", 0.8) if picture.actions else ("black", 0.5)
    if len(shown) > MOST_OUTLINED:  # the edges would hide the cells
        edge, width = "face", 0.2
    collection = PolyCollection(
        [outline for outline, _ in shown],
        facecolors=[colour for _, colour in shown],
        edgecolors=edge,
        linewidths=width,
    )
    axes.add_collection(collection)


def _write(axes: Axes, picture: PartitionPicture, colours: list[Colour]) -> None:
    """Write the labels, small enough for their squares."""
    if not picture.labels:
        return
    longest = max(len(label.text) for label in picture.labels)
    tiles = (picture.high[0] - picture.low[0]) if picture.ticks == ((), ()) else 12.0
    size = min(10.0, 380.0 / tiles / (0.7 * max(longest, 2)))
    for label in picture.labels:
        _label(axes, label, size, ink_on(colours[label.cell]))


def _label(axes: Axes, label: Label, size: float, ink: str) -> None:
    axes.text(label.x, label.y, plain(label.text), ha="center", va="center", fontsize=size, color=ink)


def plain(text: str) -> str:
    r"""Return text that is not taken for a formula.

    >>> plain("$x")
    '\\$x'
    """
    return text.replace("$", r"\$")


def _title(figure: Figure, picture: PartitionPicture) -> None:
    if not picture.note:
        figure.axes[0].set_title(plain(picture.title))
        return
    figure.suptitle(plain(picture.title))
    figure.axes[0].set_title(plain(textwrap.fill(picture.note, NOTE)), fontsize=8)


def _frame(axes: Axes, picture: PartitionPicture) -> None:
    axes.set_xlim(picture.low[0], picture.high[0])
    axes.set_ylim(picture.low[1], picture.high[1])
    axes.set_xlabel(plain(picture.axes[0]))
    axes.set_ylabel(plain(picture.axes[1]))
    if picture.ticks == ((), ()):
        axes.set_aspect("equal")
    for axis, words in zip((axes.xaxis, axes.yaxis), picture.ticks, strict=True):
        if words is not None:
            some = range(0, len(words), -(-len(words) // TICKS) if words else 1)
            axis.set_ticks(list(some), [plain(words[n]) for n in some])


def _explain(figure: Figure, picture: PartitionPicture) -> None:
    """Add the legend below the picture, where it hides nothing, and the bar of shades."""
    marks = [(name, _patch(a)) for a, name in enumerate(picture.actions)]
    if any(cell.action < 0 for cell in picture.cells):
        marks.append(("tied", _patch(-1)))
    if any(picture.primary):
        marks.append(("prototype", _dot("full")))
    if not all(picture.primary):
        marks.append(("merged prototype", _dot("none")))
    names = [plain(name) for name, _ in marks]
    handles = [mark for _, mark in marks]
    figure.legend(
        handles, names, loc="outside lower center", ncols=_columns(names), fontsize=9, frameon=False
    )
    values = [cell.value for cell in picture.cells]
    if len(values) == 1 or min(values) < max(values):  # a map that only controls has no values to show
        bar = ScalarMappable(shades_of(values), greys(len(picture.actions)))
        figure.colorbar(bar, ax=figure.axes[0], label="state value V")


def _columns(names: list[str]) -> int:
    """Return how many columns of a legend fit below a picture.

    >>> _columns(["left", "right"]), _columns(["a long name"] * 12)
    (2, 5)
    """
    if sum(len(name) + MARK for name in names) <= LEGEND:
        return len(names)
    return max(1, LEGEND // (max(map(len, names)) + MARK))


def _patch(action: int) -> Line2D:
    return Line2D([], [], linestyle="", marker="s", markersize=9, color=hue_of(action))


def _dot(fill: str) -> Line2D:
    return Line2D([], [], linestyle="", marker="o", color="black", markersize=4, fillstyle=fill)  # type: ignore[arg-type]


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF, as its name says, whole or not at all."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise DistinguoError(f"A picture cannot be written as '{path}'; {did_you_mean(suffix, FORMATS)}")
    write_atomically(path, rendered(figure, suffix))


def rendered(figure: Figure, suffix: str = ".png", dpi: int = DPI) -> bytes:
    """Return the content of the file of a figure."""
    buffer = io.BytesIO()
    FigureCanvasAgg(figure)
    figure.savefig(buffer, format=suffix.removeprefix("."), dpi=dpi, **FORMATS[suffix])
    return buffer.getvalue()
