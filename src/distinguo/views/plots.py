"""Pictures as pixels, with matplotlib, whose global state is left unchanged."""

from __future__ import annotations

import io
import math
import textwrap
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import singledispatch
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from distinguo.errors import DistinguoError, did_you_mean, shown, visible
from distinguo.progress import displayed
from distinguo.representations.geometry import Pair
from distinguo.views.areas import MOST_JOINED, Label, Segment
from distinguo.views.colours import (
    CURRENT,
    END_COLOURS,
    HATCHING,
    INK,
    MARK,
    PRINT,
    PRINTED,
    UNDECIDED,
    Colour,
    colours_named,
    greys,
    hatch_of,
    hue_of,
    ink_on,
    palest,
    shaded,
    shades_of,
    value_colours,
)
from distinguo.views.pictures import MOST_NAMES, AmountField, PartitionPicture, ValuePicture
from distinguo.writing import write_atomically

# Figures as wide as a printed column, so that they can be read on screen and on paper.


WIDTH, HEIGHT, STRIP = 3.5, 3.0, 1.7  #: inches; a column of print is as wide
FULL = 7.2  #: inches; a page
SMALL, MIDDLE, LARGE = 7.0, 7.5, 8.5  #: sizes of letters, in points
LEGEND, PATCH = 62, 5  #: letters in a line of the legend, and the letters' worth that a mark takes
NOTE = 58  #: letters in a line of the note
TITLE = 44  #: letters in a line of the title
NUMBER, VALUE = "number of a region", "state value V (expected return)"  #: words of legends


def new_figure(height: float = HEIGHT, width: float = WIDTH) -> Figure:
    """Return an empty figure, of a given size unless ``drawn_as_asked`` says otherwise."""
    asked = _asked.get()
    if isinstance(asked, Axes):
        return FrameOfFigure(asked)
    return ShownFigure(figsize=asked or (width, height), layout="constrained")


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


def patch(colour: str, hatch: str = "") -> Any:
    """Return a square of a colour, for a legend; in print it is hatched instead."""
    if CURRENT.get() == PRINT and hatch:
        return Patch(facecolor="white", edgecolor=MARK, hatch=hatch, linewidth=0.5)
    return Line2D([], [], linestyle="", marker="s", markersize=6, color=colour)


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
    asked = _asked.get()
    if isinstance(asked, Axes):
        raise DistinguoError(
            "This view returns a figure of its own, which cannot be drawn into ax=…; leave ax out, or let the view "
            "return a picture."
        )
    if type(picture) is Figure and picture.canvas.manager is None:
        picture.__class__ = ShownFigure  # nobody else shows it
    if asked is not None:
        picture.set_size_inches(*asked)
    return picture


@draw.register(ValuePicture)
def draw_values(picture: ValuePicture) -> Figure:
    """Draw a partition with a colour for the state value of each region."""
    shown = picture.partition
    if CURRENT.get() == PRINT:
        shown = shown._replace(actions=())  # no hatches
    values = [cell.value for cell in shown.cells]
    scale = shades_of(values)
    figure = drawn(shown, [value_colours(share) for share in np.asarray(scale(values)).tolist()])
    add_bar(figure, ScalarMappable(scale, colours_named("viridis")), VALUE)
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
    notes = [picture.note, "" if picture.amounts is None else picture.amounts.note]
    entitle(figure, picture.title, "; ".join(note for note in notes if note))
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
    if picture.amounts is not None:
        draw_amounts(axes, picture.amounts)
    if picture.trail:
        draw_trail(axes, picture.trail)
    _frame(axes, picture)


LAWFUL = 0.45  #: the share of the hue of a law, so that lines on it can be read
LINES, EVERY = (
    9,
    5,
)  #: lines of equal amounts from the least to the greatest; places of the grid between arrows


def draw_amounts(axes: Axes, field: AmountField) -> None:
    """Draw lines of equal amounts in each region, with their numbers; of several amounts, arrows of the first two."""
    if len(field.taken) > 1:
        some = slice(EVERY // 2, None, EVERY)
        ways = [taken[some, some] / half for taken, half in zip(field.taken[:2], field.half, strict=False)]
        axes.quiver(field.xs[some], field.ys[some], *ways, color=MARK, pivot="mid", width=0.004)
        return
    low, high = float(field.taken.min()), float(field.taken.max())
    if not low < high:
        return
    for region in np.unique(field.regions):
        inside = np.where(field.regions == region, field.taken[0], np.nan)
        finite = inside[np.isfinite(inside)]
        levels = np.linspace(low, high, LINES)[1:-1]
        levels = levels[(levels > finite.min()) & (levels < finite.max())]
        if len(levels):
            drawn_lines = axes.contour(
                field.xs, field.ys, inside, levels, colors=MARK, linewidths=0.6, linestyles="solid"
            )
            axes.clabel(drawn_lines, fontsize=6, fmt="%.3g")


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
    if picture.amounts is not None and CURRENT.get() != PRINT:
        return [shaded(hue_of(cell.action, picture.actions), LAWFUL) for cell in picture.cells]
    pale, shades = palest(len(picture.actions)), np.asarray(shades_of(values)(values)).tolist()
    if CURRENT.get() == PRINT:  # hatches for the action, greys for the value
        return with_ends(picture, [shaded(UNDECIDED, PRINTED * shade) for shade in shades])
    colours = [
        shaded(hue_of(cell.action, picture.actions), pale + (1.0 - pale) * shade)
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
    is_print = CURRENT.get() == PRINT
    if is_print and picture.actions:
        _hatch(axes, picture)
    if picture.borders:
        xs, ys = broken_line(picture.borders)
        light = picture.actions and not is_print
        axes.plot(xs, ys, "-", color="white" if light else MARK, linewidth=0.9, zorder=1.5)


def _hatch(axes: Axes, picture: PartitionPicture) -> None:
    """Hatch the cells by their action, so that it can be seen without colours."""
    for action in sorted({cell.action for cell in picture.cells if cell.action >= 0}):
        outlines = [cell.outline for cell in picture.cells if cell.action == action and cell.outline]
        hatched = PolyCollection(outlines, facecolors="none", edgecolors=HATCHING, linewidths=0.0)
        hatched.set_hatch(hatch_of(action, picture.actions))
        axes.add_collection(hatched)


def _write(axes: Axes, picture: PartitionPicture, colours: list[Colour]) -> None:
    """Write the labels; those of squares in letters small enough to fit."""
    if not picture.labels:
        return
    size = MIDDLE
    if picture.ticks == ((), ()):
        longest = max(len(line) for label in picture.labels for line in label.text.splitlines())
        tiles = max(picture.high[0] - picture.low[0], picture.high[1] - picture.low[1])
        width = 72.0 * 1.03 * float(min(axes.bbox.size)) / axes.figure.dpi
        size = min(MIDDLE, width / tiles / (0.62 * max(longest, 3)))
    for label in picture.labels:
        _label(axes, label, size, ink_on(colours[label.cell]))


def _label(axes: Axes, label: Label, size: float, ink: str) -> None:
    words, place = plain(label.text), (label.x, label.y)
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    if not label.beside:
        on_hatches = {"color": MARK, "bbox": box} if CURRENT.get() == PRINT else {"color": ink}
        axes.annotate(words, place, ha="center", va="center", fontsize=size, **on_hatches)
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
        bbox=box,
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
    marks = action_marks(picture.actions)
    if len(marks) > MOST_NAMES:
        marks = [mark for a, mark in enumerate(marks) if a in {cell.action for cell in picture.cells}]
    if any(cell.action < 0 and n not in dict(picture.ends) for n, cell in enumerate(picture.cells)):
        marks.append(("tied", patch(hue_of(-1))))
    if any(picture.primary):
        marks.append(("prototype", _dot("full")))
    if not all(picture.primary):
        marks.append(("merged prototype", _dot("none")))
    if picture.labels and picture.ticks != ((), ()) and not picture.arrows:
        marks.append((NUMBER, Line2D([], [], ls="", marker="$5$", color=INK, markersize=4.5)))
    if picture.trail:
        marks.append(("greedy trial", Line2D([], [], color=INK, linewidth=0.8)))
    return marks


def action_marks(actions: Sequence[str]) -> list[tuple[str, Any]]:
    """Return the entries of the actions in a legend."""
    return [(name, patch(hue_of(a, actions), hatch_of(a, actions))) for a, name in enumerate(actions)]


def add_shades(figure: Figure, picture: PartitionPicture) -> None:
    """Add the colour bar of the values; a map without values has none."""
    values = [cell.value for cell in picture.cells]
    if picture.amounts is not None:
        return
    if len(values) == 1 or min(values) < max(values):
        add_bar(figure, ScalarMappable(shades_of(values), greys(len(picture.actions))), VALUE)


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
    with _ONE_AT_A_TIME, mpl.rc_context(_SAVING), warnings.catch_warnings():  # type: ignore[arg-type]
        warnings.filterwarnings("ignore", "constrained_layout not applied")  # a legend fills a flat picture
        figure.savefig(
            buffer, format=suffix.removeprefix("."), dpi=dpi, transparent=transparent, **FORMATS[suffix]
        )
    return buffer.getvalue()


# A figure that shows itself, in a notebook or a window, and drawing into a frame of the caller's own figure.


INLINE_DPI = 110  #: in a notebook, twice as fine for screens that can show it
SILENT = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")  #: backends of matplotlib without a window
MOST_INCHES = 100.0
_asked: ContextVar[Axes | Pair | None] = ContextVar("asked", default=None)


class ShownFigure(Figure):
    r"""A figure that shows itself at the end of a cell, whether or not pyplot is used there.

    >>> figure = ShownFigure(figsize=(2.0, 1.0))
    >>> image, size = figure._repr_png_()
    >>> image[:4], size
    (b'\x89PNG', {'width': 220, 'height': 110})
    """

    def __repr__(self) -> str:
        return super().__repr__().replace(type(self).__name__, "Figure", 1)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        width, height = self.get_size_inches().tolist()
        image = rendered(self, dpi=2 * INLINE_DPI)
        return image, {"width": round(width * INLINE_DPI), "height": round(height * INLINE_DPI)}

    def show(self, warn: bool = True) -> None:
        """Show the figure: below the cell of a notebook, or in a window, until it is closed."""
        if displayed(self):
            return
        if not has_window():
            raise DistinguoError(
                'There is no display to show the figure on; write it to a file instead, such as savefig("map.png").'
            )
        from matplotlib import pyplot as plt

        window = plt.figure(figsize=tuple(self.get_size_inches()), dpi=self.dpi)
        canvas = window.canvas
        canvas.figure = self
        self.set_canvas(canvas)
        plt.show()


class FrameOfFigure(Figure):
    """The one frame that a picture is drawn into, in place of a figure of its own."""

    _frames: tuple[Axes, ...] = ()  #: none until matplotlib has made an empty figure

    def __init__(self, ax: Axes) -> None:
        super().__init__()
        self._ax, self._frames = ax, (ax,)

    @property  # type: ignore[misc]
    def axes(self) -> list[Axes]:  # type: ignore[override]
        """The frame."""
        return [*self._frames]

    def add_subplot(self, *_: Any, **__: Any) -> Axes:
        """Return the frame."""
        return self._ax

    def subplots(self, nrows: int = 1, ncols: int = 1, **_: Any) -> Any:
        """Return the frame, if one is enough."""
        if nrows * ncols > 1:
            raise DistinguoError(
                f"This view has {nrows * ncols} panels, which do not fit into one ax; leave ax out and use figsize=, "
                "or choose a view with one panel, such as 'partition' or 'values'."
            )
        return np.array([[self._ax]])

    def suptitle(self, t: str, **words: Any) -> Any:
        """Write the title above the frame; a note may take its place."""
        return self._ax.set_title(t, **words)

    def legend(self, *marks: Any, **words: Any) -> Any:
        """Add a legend below the frame."""
        return self._ax.legend(*marks, **{**words, "loc": "upper center", "bbox_to_anchor": (0.5, -0.22)})

    def colorbar(self, mappable: Any, **words: Any) -> Any:  # type: ignore[override]
        """Add a bar of colours beside the frame."""
        return self._ax.get_figure(root=False).colorbar(mappable, **words)  # type: ignore[union-attr]


@contextmanager
def drawn_as_asked(ax: Any, figsize: Any) -> Iterator[None]:
    """Draw into a given frame, or with a given size, within a ``with`` block.

    >>> with drawn_as_asked(None, (2, 1)):
    ...     new_figure().get_size_inches().tolist()
    [2.0, 1.0]
    """
    if ax is not None and figsize is not None:
        raise DistinguoError(
            "Give ax or figsize, not both: the size is that of the figure that ax belongs to."
        )
    if ax is not None and not isinstance(ax, Axes):
        raise DistinguoError(
            f"ax should be one Axes of matplotlib, got {shown(ax)}; take one of plt.subplots()[1]."
        )
    token = _asked.set(ax if figsize is None else _size_in_inches(figsize))
    try:
        yield
    finally:
        _asked.reset(token)


def _size_in_inches(figsize: Any) -> Pair:
    try:
        width, height = (float(side) for side in figsize)
    except (TypeError, ValueError):
        width = height = math.nan
    if not (0.0 < width <= MOST_INCHES and 0.0 < height <= MOST_INCHES):
        raise DistinguoError(
            f"figsize should be a width and a height in inches, above 0 and at most {MOST_INCHES:g}, such as (7, 5), "
            f"got {shown(figsize)}."
        )
    return width, height


def has_window() -> bool:
    """Whether matplotlib can open a window here."""
    backend = mpl.get_backend().lower()  # chooses one: with a window, if there is a display
    return backend not in SILENT and "inline" not in backend


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
    return {name: mark for name, mark in marks.items() if name != NUMBER}
