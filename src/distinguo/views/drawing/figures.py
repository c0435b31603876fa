"""Figures at the width of a column of print, so that what is read on a screen can be read on paper."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from distinguo.views.areas import Segment
from distinguo.views.drawing.colours import INK

WIDTH, HEIGHT, STRIP = 3.5, 3.0, 1.7  #: inches; a column of print is as wide
FULL = 7.2  #: inches; a page
SMALL, MIDDLE, LARGE = 7.0, 7.5, 8.5  #: sizes of letters, in points
LEGEND, PATCH = 62, 5  #: letters in a line of the legend, and the room that a mark takes
NOTE = 58  #: letters in a line of the note
TITLE = 44  #: letters in a line of the title


def new_figure(height: float = HEIGHT, width: float = WIDTH) -> Figure:
    """Return an empty figure, by default as wide as a column of print."""
    return Figure(figsize=(width, height), layout="constrained")


def dress(axes: Axes, across: str, upwards: str) -> None:
    """Name the axes, and give their letters and lines the sizes that can be read in print."""
    axes.set_xlabel(plain(across), fontsize=MIDDLE, color=INK)
    axes.set_ylabel(plain(upwards), fontsize=MIDDLE, color=INK)
    axes.tick_params(labelsize=SMALL, width=0.6, length=2.5, color=INK, labelcolor=INK)
    axes.xaxis.get_offset_text().set_fontsize(SMALL)
    axes.yaxis.get_offset_text().set_fontsize(SMALL)
    for spine in axes.spines.values():
        spine.set(linewidth=0.6, color=INK)


def entitle(figure: Figure, title: str, note: str = "") -> None:
    """Write the title above a figure, and a note between the two."""
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
    """Return how many columns of a legend fit below a picture.

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
    r"""Return text that is not taken for a formula.

    >>> plain("$x")
    '\\$x'
    """
    return text.replace("$", r"\$")


def patch(colour: str) -> Line2D:
    """Return a square of a colour, for a legend."""
    return Line2D([], [], linestyle="", marker="s", markersize=6, color=colour)
