"""Several partitions side by side."""

from __future__ import annotations

from collections.abc import Sequence

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
    for axes in shown[len(pictures) :]:
        axes.remove()
    marks = [marks for marks in map(marks_of, pictures) if marks]
    explain_marks(figure, [mark for mark in max(marks, key=len, default=[]) if mark[0] != "region"])
    return figure
