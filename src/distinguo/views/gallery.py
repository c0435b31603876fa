"""Several partitions side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from distinguo.views.drawing.colours import INK
from distinguo.views.drawing.figures import FULL, SMALL, explain_marks, new_figure, plain
from distinguo.views.pictures import PartitionPicture
from distinguo.views.plots import colours_of, marks_of, paint

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
    """Return what the legend explains: every mark of any of them, once; regions have no numbers here."""
    marks = {name: mark for picture in pictures for name, mark in marks_of(picture)}
    return {name: mark for name, mark in marks.items() if name != "region"}
