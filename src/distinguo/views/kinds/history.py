"""The map on the way: small maps of a run, one for every change of the number of its regions."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from distinguo.errors import DistinguoError
from distinguo.runs.run import Run
from distinguo.runs.written.history import Frame
from distinguo.views.drawing.colours import INK
from distinguo.views.drawing.figures import FULL, SMALL, broken_line, entitle, new_figure
from distinguo.views.pictures import PartitionPicture, representation_picture
from distinguo.views.plots import colours_of

MOST_FRAMES, ACROSS = 8, 4


def frames_of(history: Sequence[Frame]) -> list[Frame]:
    """Return the frames that had another number of regions than the one before; of many, some of every age.

    >>> import distinguo
    >>> [frame.trial for frame in frames_of(distinguo.learn("puck", seed=1).history)]
    [1, 6, 11, 17]
    """
    changed: list[Frame] = []
    last: Frame | None = None
    for frame in history:
        if not changed or frame.representation.regions != changed[-1].representation.regions:
            changed.append(frame)
        last = frame
    if last is not None:
        changed[-1] = last  # as it stayed
    if len(changed) <= MOST_FRAMES:
        return changed
    places = [round(n * (len(changed) - 1) / (MOST_FRAMES - 1)) for n in range(MOST_FRAMES)]
    return [changed[n] for n in places]


def frame_pictures(run: Run) -> list[PartitionPicture]:
    """Return the maps on the way, each titled by its trial."""
    spec, pictures = run.configuration.spec, []
    for frame in frames_of(run.history):
        count = frame.representation.regions
        title = f"trial {frame.trial:,}: {count} region{'' if count == 1 else 's'}"
        pictures.append(representation_picture(frame.representation, spec, title, frame.controller))
    return pictures


def history_figure(run: Run) -> Figure:
    """Draw the maps on the way beside each other."""
    pictures = frame_pictures(run)
    if not pictures:
        raise DistinguoError("This run has no history to show; learn it again to have one.")
    rows = -(-len(pictures) // ACROSS)
    figure = new_figure(0.5 + 1.5 * rows, FULL)
    panels = figure.subplots(rows, ACROSS, squeeze=False).ravel()
    for panel in panels:
        panel.set_axis_off()
    for panel, picture in zip(panels, pictures, strict=False):
        shown = [
            (c.outline, colour)
            for c, colour in zip(picture.cells, colours_of(picture), strict=True)
            if c.outline
        ]
        filled = PolyCollection([o for o, _ in shown], facecolors=[c for _, c in shown], edgecolors="face")
        filled.set_linewidth(0.3)
        panel.add_collection(filled)
        panel.plot(*broken_line(picture.borders), "-", color="white", linewidth=0.7)
        panel.set_xlim(picture.low[0], picture.high[0])
        panel.set_ylim(picture.low[1], picture.high[1])
        panel.set_title(picture.title, fontsize=SMALL, color=INK)
    entitle(figure, f"{run.configuration.spec.name}, seed {run.configuration.seed}: the map on the way")
    return figure
