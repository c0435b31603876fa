"""Pictures as pixels, with matplotlib; nothing here changes matplotlib's global state."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from distinguo.lab.files import write_atomically
from distinguo.views.pictures import Cell, PartitionPicture

#: One map of colours per action, light where a state is worth little and dark where it is worth much: the hue
#: says what to do, the shade how well it is going. The last is for regions without a preferred action.
_HUES = ("Blues", "Oranges", "Greens", "Purples", "Reds")
_UNDECIDED = "Greys"


def draw_partition(picture: PartitionPicture) -> Figure:
    """Draw a partition: hue for the action, shade for the value, dots for the prototypes."""
    figure = Figure(figsize=(7.2, 5.4), layout="constrained")
    axes = figure.add_subplot()
    if picture.actions:
        _fill(figure, picture)
    else:
        outlines = [cell.outline for cell in picture.cells if cell.outline]
        axes.add_collection(PolyCollection(outlines, facecolors="white", edgecolors="black", linewidths=0.5))
    for (x, y), stands in zip(picture.prototypes, picture.primary, strict=True):
        axes.plot(x, y, "o", color="black", markersize=4, fillstyle="full" if stands else "none")
    axes.set_xlim(picture.low[0], picture.high[0])
    axes.set_ylim(picture.low[1], picture.high[1])
    axes.set_xlabel(picture.axes[0])
    axes.set_ylabel(picture.axes[1])
    axes.set_title(picture.title)
    return figure


def _fill(figure: Figure, picture: PartitionPicture) -> None:
    values = [cell.value for cell in picture.cells]
    spread = max(values) - min(values)
    shades = Normalize(
        max(values) - max(spread, 0.01), max(values)
    )  # differences in the last digits are none
    hues = [ScalarMappable(shades, name) for name in (*_hues(len(picture.actions)), _UNDECIDED)]
    outlines = [cell.outline for cell in picture.cells if cell.outline]
    colours = [_colour(cell, hues, shades) for cell in picture.cells if cell.outline]
    figure.axes[0].add_collection(
        PolyCollection(outlines, facecolors=colours, edgecolors="white", linewidths=0.8)
    )
    _legend(figure, picture, hues, shades)


def _hues(count: int) -> list[str]:
    return [_HUES[a % len(_HUES)] for a in range(count)]


def _colour(cell: Cell, hues: list[ScalarMappable], shades: Normalize) -> tuple[float, ...]:
    # keep away from white and black, where hues cannot be told apart
    share = 0.2 + 0.6 * float(shades(cell.value))
    return tuple(hues[cell.action].cmap(share))


def _legend(figure: Figure, picture: PartitionPicture, hues: list[ScalarMappable], shades: Normalize) -> None:
    names = [*picture.actions]
    marks = [_patch(hue) for hue in hues[: len(names)]]
    if any(cell.action < 0 for cell in picture.cells):
        names.append("tied")
        marks.append(_patch(hues[-1]))
    if picture.prototypes:
        names.append("prototype")
        marks.append(Line2D([], [], linestyle="", marker="o", color="black", markersize=4))
    if not all(picture.primary):
        names.append("merged prototype")
        marks.append(Line2D([], [], linestyle="", marker="o", color="black", markersize=4, fillstyle="none"))
    figure.axes[0].legend(marks, names, loc="upper right", framealpha=0.9, fontsize=9)
    figure.colorbar(ScalarMappable(shades, _UNDECIDED), ax=figure.axes[0], label="state value V")


def _patch(hue: ScalarMappable) -> Line2D:
    return Line2D([], [], linestyle="", marker="s", markersize=9, color=hue.cmap(0.6))


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, whole or not at all."""
    buffer = io.BytesIO()
    FigureCanvasAgg(figure)
    figure.savefig(buffer, format="png", dpi=100)
    write_atomically(path, buffer.getvalue())
