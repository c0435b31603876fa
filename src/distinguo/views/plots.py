"""Pictures as pixels, with matplotlib; nothing here changes matplotlib's global state."""

from __future__ import annotations

import io
import textwrap
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from distinguo.runs.files import write_atomically
from distinguo.views.colours import Colour, greys, hue_of, ink_on, palest, shaded, shades_of
from distinguo.views.labels import Word
from distinguo.views.pictures import Cell, PartitionPicture

WIDTH, HEIGHT, STRIP = 7.2, 5.4, 2.4  #: inches
LEGEND, MARK = 100, 9  #: letters in a line of the legend, and the room that a mark takes
NOTE = 95  #: letters in a line of the note
TICKS = 16  #: words along an axis that are all written


def draw_partition(picture: PartitionPicture) -> Figure:
    """Draw a partition: hue for the action, shade for the value, dots for the prototypes."""
    is_strip = picture.ticks == (None, ())
    figure = Figure(figsize=(WIDTH, STRIP if is_strip else HEIGHT), layout="constrained")
    axes = figure.add_subplot()
    colours = _colours(picture)
    _fill(axes, picture, colours)
    for (x, y), stands in zip(picture.prototypes, picture.primary, strict=True):
        axes.plot(x, y, "o", color="black", markersize=4, fillstyle="full" if stands else "none")
    _write(axes, picture, colours)
    _frame(axes, picture)
    _title(figure, picture)
    if picture.actions:
        _explain(figure, picture)
    return figure


def _colours(picture: PartitionPicture) -> list[Colour]:
    if not picture.actions:
        return [(1.0, 1.0, 1.0)] * len(picture.cells)
    shades = shades_of([cell.value for cell in picture.cells])
    pale = palest(len(picture.actions))

    def colour(cell: Cell) -> Colour:
        return shaded(hue_of(cell.action), pale + (1.0 - pale) * float(shades(cell.value)))

    return [colour(cell) for cell in picture.cells]


def _fill(axes: Axes, picture: PartitionPicture, colours: list[Colour]) -> None:
    shown = [(cell.outline, c) for cell, c in zip(picture.cells, colours, strict=True) if cell.outline]
    edge, width = ("white", 0.8) if picture.actions else ("black", 0.5)
    collection = PolyCollection(
        [outline for outline, _ in shown],
        facecolors=[colour for _, colour in shown],
        edgecolors=edge,
        linewidths=width,
    )
    axes.add_collection(collection)


def _write(axes: Axes, picture: PartitionPicture, colours: list[Colour]) -> None:
    """Write the words, small enough for their squares."""
    if not picture.words:
        return
    longest = max(len(word.text) for word in picture.words)
    tiles = (picture.high[0] - picture.low[0]) if picture.ticks == ((), ()) else 12.0
    size = min(10.0, 380.0 / tiles / (0.7 * max(longest, 2)))
    for word in picture.words:
        _word(axes, word, size, ink_on(colours[word.cell]))


def _word(axes: Axes, word: Word, size: float, ink: str) -> None:
    axes.text(word.x, word.y, plain(word.text), ha="center", va="center", fontsize=size, color=ink)


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
    shades = shades_of([cell.value for cell in picture.cells])
    bar = ScalarMappable(shades, greys(len(picture.actions)))
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


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, whole or not at all."""
    buffer = io.BytesIO()
    FigureCanvasAgg(figure)
    figure.savefig(buffer, format="png", dpi=100)
    write_atomically(path, buffer.getvalue())
