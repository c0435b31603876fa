"""Pictures as pixels, with matplotlib, whose global state is left unchanged."""

from __future__ import annotations

import io
import math
import textwrap
import threading
from collections.abc import Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from distinguo.errors import DistinguoError, did_you_mean, visible
from distinguo.representations.geometry import Pair
from distinguo.tasks.grids import CLIFF_FIELD, HOLE_FIELD
from distinguo.views.areas import MOST_JOINED, Label, Segment
from distinguo.views.pictures import PartitionPicture, ValuePicture
from distinguo.writing import write_atomically

# Figures as wide as a printed column, so that they can be read on screen and on paper.


WIDTH, HEIGHT, STRIP = 3.5, 3.0, 1.7  #: inches; a column of print is as wide
FULL = 7.2  #: inches; a page
SMALL, MIDDLE, LARGE = 7.0, 7.5, 8.5  #: sizes of letters, in points
LEGEND, PATCH = 62, 5  #: letters in a line of the legend, and the letters' worth that a mark takes
NOTE = 58  #: letters in a line of the note
TITLE = 44  #: letters in a line of the title


def new_figure(height: float = HEIGHT, width: float = WIDTH) -> Figure:
    """Return an empty figure, by default as wide as a printed column."""
    return Figure(figsize=(width, height), layout="constrained")


def dress(axes: Axes, across: str, upwards: str) -> None:
    """Label the axes in sizes that can be read in print."""
    axes.set_xlabel(plain(across), fontsize=MIDDLE, color=INK)
    axes.set_ylabel(plain(upwards), fontsize=MIDDLE, color=INK)
    axes.tick_params(labelsize=SMALL, width=0.6, length=2.5, color=INK, labelcolor=INK)
    axes.xaxis.get_offset_text().set_fontsize(SMALL)
    axes.yaxis.get_offset_text().set_fontsize(SMALL)
    for spine in axes.spines.values():
        spine.set(linewidth=0.6, color=INK)


def entitle(figure: Figure, title: str, note: str = "") -> None:
    """Write the title above a figure, and the note between title and figure."""
    figure.suptitle(plain(textwrap.fill(title, TITLE)), fontsize=LARGE, color=INK)
    if note:
        figure.axes[0].set_title(plain(textwrap.fill(note, NOTE)), fontsize=SMALL, color=INK)


def explain_marks(figure: Figure, marks: Sequence[tuple[str, Any]]) -> None:
    """Add a legend below a figure, where it hides nothing."""
    names = [plain(textwrap.shorten(name, LEGEND - PATCH, placeholder=" …")) for name, _ in marks]
    figure.legend(
        [mark for _, mark in marks],
        names,
        loc="outside lower center",
        ncols=_columns(names),
        fontsize=SMALL,
        frameon=False,
        labelcolor=INK,
        handletextpad=0.4,
        columnspacing=0.8,
        handlelength=1.0,
    )


def add_bar(figure: Figure, scale: ScalarMappable, label: str) -> None:
    """Add a bar of colours beside the first panel of a figure."""
    bar = figure.colorbar(scale, ax=figure.axes[0], pad=0.02, aspect=28)
    bar.set_label(label, fontsize=MIDDLE, color=INK)
    bar.ax.tick_params(labelsize=SMALL, width=0.6, length=2.5, color=INK, labelcolor=INK)
    bar.ax.yaxis.get_offset_text().set_fontsize(SMALL)
    bar.outline.set(linewidth=0.6, edgecolor=INK)


def _columns(names: list[str]) -> int:
    """Return the number of legend columns that fit below a picture.

    >>> _columns(["left", "right"]), _columns(["a long name"] * 12)
    (2, 3)
    """
    if sum(len(name) + PATCH for name in names) <= LEGEND:
        return len(names)
    return max(1, LEGEND // (max(map(len, names)) + PATCH))


def broken_line(segments: Sequence[Segment]) -> tuple[list[float], list[float]]:
    """Return segments as one line with gaps.

    >>> broken_line([((0.0, 1.0), (2.0, 3.0))])
    ([0.0, 2.0, nan], [1.0, 3.0, nan])
    """
    xs = [x for a, b in segments for x in (a[0], b[0], math.nan)]
    ys = [y for a, b in segments for y in (a[1], b[1], math.nan)]
    return xs, ys


def plain(text: str) -> str:
    r"""Escape text so that matplotlib does not read it as a formula, and can draw every letter of it.

    >>> plain("$x"), plain("runs/caf\udce9")
    ('\\$x', 'runs/caf\\udce9')
    """
    return visible(text).replace("$", r"\$")


def patch(colour: str) -> Line2D:
    """Return a square of a colour, for a legend."""
    return Line2D([], [], linestyle="", marker="s", markersize=6, color=colour)


# The colours of pictures: a hue for each action, a shade for each value, and the ink that can be read on them.


#: One hue per action: Okabe and Ito's colours, safe for colour-blind readers, and some of Paul Tol's.
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
INK = "#1a1b1e"  #: of axes and words around a picture; a page may replace it by its own
MARK = "#000000"  #: of marks on a picture, whose background is the same in light and dark pages
UNDECIDED = "#777777"  #: for regions without a preferred action
PALEST, PALEST_OF_MANY = 0.3, 0.65  #: shares of the hue at the lowest value
FEW = 4  #: hues that stay distinguishable when pale

Colour = tuple[float, float, float]


END_COLOURS = {
    HOLE_FIELD: "#27415c",
    CLIFF_FIELD: "#27415c",
}  #: colours of fields where trials end; others are white


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


def darkened(hue: str) -> Colour:
    """Return a hue that stands out on itself.

    >>> darkened("#ffffff")
    (0.45, 0.45, 0.45)
    """
    red, green, blue = (0.45 * part for part in to_rgb(hue))
    return red, green, blue


def palest(actions: int) -> float:
    """Return the share of the hue for the least valuable state; many hues must stay strong."""
    return PALEST if actions <= FEW else PALEST_OF_MANY


def shades_of(values: Sequence[float]) -> Normalize:
    """Return the scale of the shades; it ignores differences in the last digits."""
    highest = max(values)
    least = 0.01 * max(1.0, abs(highest))
    return Normalize(highest - max(highest - min(values), least), highest)


def greys(actions: int) -> LinearSegmentedColormap:
    """Return the shades alone, for the colour bar."""
    ends = [shaded(UNDECIDED, palest(actions)), shaded(UNDECIDED, 1.0)]
    return LinearSegmentedColormap.from_list("shades", ends)


def value_colours(share: float) -> Colour:
    """Return the colour of a value between the least (0) and the greatest (1), whatever the action."""
    red, green, blue, _ = colormaps["viridis"](share)
    return red, green, blue


def ink_on(colour: Colour) -> str:
    """Return the colour of text that can be read on a background.

    >>> ink_on((1.0, 1.0, 0.9)), ink_on((0.2, 0.1, 0.5))
    ('black', 'white')
    """
    red, green, blue = colour
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "white"


MOST_SQUARES_ACROSS = 6  #: of categories, in a figure one column wide
TICKS = 16  #: words along an axis that are all written
DPI = 220
#: File formats, each with metadata that omits the date: the same picture gives the same bytes.
FORMATS: dict[str, dict[str, Any]] = {
    ".png": {"metadata": {"Software": "distinguo"}},
    ".svg": {"metadata": {"Date": None}},
    ".pdf": {"metadata": {"CreationDate": None}},
}
#: Ids within a file depend on its content alone, and text stays text.
_SAVING = {"svg.hashsalt": "distinguo", "svg.fonttype": "none", "pdf.fonttype": 42}
_ONE_AT_A_TIME = threading.Lock()


@singledispatch
def draw(picture: Any) -> Figure:
    """Draw a picture, by its class; a figure is returned as it is."""
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
    """Draw cells, prototypes and the path of a trial into a frame, without labels."""
    _fill(axes, picture, colours)
    for style, stands in (("full", True), ("none", False)):
        marks = [
            m for m, primary in zip(picture.prototypes, picture.primary, strict=True) if primary == stands
        ]
        xs, ys = zip(*marks, strict=True) if marks else ((), ())
        axes.plot(xs, ys, "o", color=MARK, markersize=2.5, markeredgewidth=0.7, fillstyle=style, ls="none")
    draw_arrows(axes, picture)
    if picture.trail:
        draw_trail(axes, picture.trail)
    _frame(axes, picture)


def _size(picture: PartitionPicture) -> Pair:
    """Return the height and the width of a figure: as wide as a column, or as a page if labels need it."""
    if picture.ticks == (None, ()):
        return STRIP, WIDTH
    many = picture.ticks == ((), ()) and picture.high[0] - picture.low[0] > MOST_SQUARES_ACROSS
    return (FULL, FULL) if many else (HEIGHT, WIDTH)


def draw_trail(axes: Axes, trail: Sequence[Pair], colour: str = MARK) -> None:
    """Draw the path of a trial, with a ring at its start."""
    xs, ys = zip(*trail, strict=True)
    axes.plot(xs, ys, "-", color=colour, linewidth=0.7, alpha=0.85)
    axes.plot(xs[:1], ys[:1], "o", color=colour, markersize=4, fillstyle="none", markeredgewidth=0.9)


def colours_of(picture: PartitionPicture) -> list[Colour]:
    """Return the colour of each cell: hue for the action, shade for the value."""
    if not picture.actions:
        return [(1.0, 1.0, 1.0)] * len(picture.cells)
    values = [cell.value for cell in picture.cells]
    pale, shades = palest(len(picture.actions)), np.asarray(shades_of(values)(values)).tolist()
    colours = [
        shaded(hue_of(cell.action), pale + (1.0 - pale) * shade)
        for cell, shade in zip(picture.cells, shades, strict=True)
    ]
    return with_ends(picture, colours)


def with_ends(picture: PartitionPicture, colours: list[Colour]) -> list[Colour]:
    """Replace the colours of fields where trials end."""
    for n, letter in picture.ends:
        colours[n] = to_rgb(END_COLOURS.get(letter, "white"))
    return colours


def draw_arrows(axes: Axes, picture: PartitionPicture) -> None:
    """Draw the actions on a grid."""
    if picture.arrows:
        at, by = (np.array(side) for side in zip(*picture.arrows, strict=True))
        axes.quiver(
            *at.T,
            *by.T,
            color=MARK,
            pivot="mid",
            angles="xy",
            scale_units="xy",
            scale=2.6,
            width=0.006,
            zorder=2,
        )


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
    """Write the labels; those of squares in letters small enough to fit."""
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
            named = [n for n, word in enumerate(words) if word]
            some = named[:: max(1, -(-len(named) // TICKS))]
            axis.set_ticks(some, [plain(words[n]) for n in some])


def marks_of(picture: PartitionPicture) -> list[tuple[str, Any]]:
    """Return the entries of a partition's legend."""
    marks: list[tuple[str, Any]] = [(name, patch(hue_of(a))) for a, name in enumerate(picture.actions)]
    if any(cell.action < 0 and n not in dict(picture.ends) for n, cell in enumerate(picture.cells)):
        marks.append(("tied", patch(hue_of(-1))))
    if any(picture.primary):
        marks.append(("prototype", _dot("full")))
    if not all(picture.primary):
        marks.append(("merged", _dot("none")))
    if picture.labels and picture.ticks != ((), ()) and not picture.arrows:
        marks.append(("region", Line2D([], [], ls="", marker="$5$", color=INK, markersize=4.5)))
    if picture.trail:
        marks.append(("greedy trial", Line2D([], [], color=INK, linewidth=0.8)))
    return marks


def add_shades(figure: Figure, picture: PartitionPicture) -> None:
    """Add the colour bar of the values; a map without values has none."""
    values = [cell.value for cell in picture.cells]
    if len(values) == 1 or min(values) < max(values):
        add_bar(figure, ScalarMappable(shades_of(values), greys(len(picture.actions))), "state value V")


def _dot(fill: str) -> Line2D:
    return Line2D([], [], ls="", marker="o", color=INK, markersize=3, markeredgewidth=0.7, fillstyle=fill)  # type: ignore[arg-type]


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF, by the suffix of its name, whole or not at all."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise DistinguoError(f"A picture cannot be written as '{path}'; {did_you_mean(suffix, FORMATS)}")
    write_atomically(path, rendered(figure, suffix))


def rendered(figure: Figure, suffix: str = ".png", dpi: int = DPI, transparent: bool = False) -> bytes:
    """Return the bytes of a figure's file."""
    buffer = io.BytesIO()
    FigureCanvasAgg(figure)
    with _ONE_AT_A_TIME, mpl.rc_context(_SAVING):  # type: ignore[arg-type]
        figure.savefig(
            buffer, format=suffix.removeprefix("."), dpi=dpi, transparent=transparent, **FORMATS[suffix]
        )
    return buffer.getvalue()


# Several partitions side by side.


ACROSS = 4  #: partitions in a row
ROW = 1.75  #: inches; the height of a row


def draw_gallery(pictures: Sequence[PartitionPicture]) -> Figure:
    """Draw partitions of one space in rows, each under its title, with one legend for all.

    >>> import distinguo
    >>> from distinguo.views.pictures import partition_picture
    >>> picture = partition_picture(distinguo.learn("puck", seed=1))
    >>> len(draw_gallery([picture, picture]).axes)
    2
    """
    columns = min(ACROSS, len(pictures))
    rows = -(-len(pictures) // columns)
    figure = new_figure(0.4 + ROW * rows, FULL)
    shown = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel().tolist()
    for axes, picture in zip(shown, pictures, strict=False):
        paint(axes, picture, colours_of(picture))
        axes.set_title(plain(picture.title), fontsize=SMALL, color=INK)
        axes.label_outer()
    for place in range(len(pictures), len(shown)):
        shown[place].remove()
        shown[place - columns].tick_params(labelbottom=True)  # there is nothing below it
    explain_marks(figure, list(_marks(pictures).items()))
    return figure


def _marks(pictures: Sequence[PartitionPicture]) -> dict[str, Any]:
    """Return the entries of the common legend: every mark of any picture once, without numbers of regions."""
    marks = {name: mark for picture in pictures for name, mark in marks_of(picture)}
    return {name: mark for name, mark in marks.items() if name != "region"}
