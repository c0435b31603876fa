"""The phase plane: where the greedy policy leads from every place of the map."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from distinguo.controller import Controller
from distinguo.representations.planes import Pair
from distinguo.runs.run import Run
from distinguo.tasks.task import observe, transition
from distinguo.views.drawing.colours import INK
from distinguo.views.drawing.figures import explain_marks
from distinguo.views.kinds.places import Place, places_of, plane_picture, trail_of, world_of
from distinguo.views.pictures import PartitionPicture
from distinguo.views.plots import colours_of, draw, draw_trail, drawn, marks_of

ACROSS, UPWARDS = 18, 14  #: arrows
BEGUN = (
    (0.25, 0.25),
    (0.75, 0.75),
    (0.25, 0.75),
    (0.75, 0.25),
    (0.5, 0.5),
)  #: where trials begin, in the frame
OWN_STARTS = 5  #: trials from the task's own starts, where others cannot be set
STEPS = 120  #: of each trial


class Arrow(NamedTuple):
    """Where one greedy step leads from a place of the picture."""

    at: Pair
    by: Pair  #: how far, in the units of the axes


class PhasePicture(NamedTuple):
    """A map with the flow of the greedy policy over it.

    >>> import distinguo
    >>> picture = phase_picture(distinguo.learn("puck", seed=1))
    >>> len(picture.arrows) == ACROSS * UPWARDS, len(picture.trails)
    (True, 5)
    """

    partition: PartitionPicture
    arrows: tuple[Arrow, ...]  #: none where the task cannot be put into a state of one's choice
    trails: tuple[tuple[Pair, ...], ...]  #: the ways of greedy trials


def phase_picture(run: Run) -> PhasePicture:
    """Compute the phase plane of a run; in more than two dimensions its slice, and ways as they are seen in it."""
    picture = plane_picture(run)
    world, controller = world_of(run), run.controller
    places = places_of(run, picture, ACROSS, UPWARDS)
    arrows = tuple(_arrow(world, controller, picture, place) for place in places)
    note = picture.note
    if picture.plane.held:
        note = f"{note}; trials leave the slice"
    return PhasePicture(picture._replace(note=note), arrows, _trails(run, picture, bool(arrows)))


def _arrow(world: Any, controller: Controller, picture: PartitionPicture, place: Place) -> Arrow:
    after, _, _ = transition(world, place.state, controller.action(place.seen))
    x, y = picture.plane.corner(observe(world, after), 0.0)
    return Arrow(place.at, (x - place.at[0], y - place.at[1]))


def _trails(run: Run, picture: PartitionPicture, settable: bool) -> tuple[tuple[Pair, ...], ...]:
    if not settable or picture.plane.held:
        return tuple(trail_of(run, picture.plane, seed=n, steps=STEPS) for n in range(OWN_STARTS))
    low, size = np.array(picture.low), np.subtract(picture.high, picture.low)
    starts = [tuple((low + np.array(share) * size).tolist()) for share in BEGUN]
    return tuple(trail_of(run, picture.plane, start=s, steps=STEPS) for s in starts)


@draw.register(PhasePicture)
def draw_phase(picture: PhasePicture) -> Figure:
    """Draw the map pale, arrows for single steps, lines for trials with a ring where each begins."""
    shown = picture.partition
    pale = [tuple(0.45 * part + 0.55 for part in colour) for colour in colours_of(shown)]
    plain_map = shown._replace(prototypes=(), primary=())
    figure = drawn(plain_map, pale)  # type: ignore[arg-type]
    axes = figure.axes[0]
    for trail in picture.trails:
        draw_trail(axes, trail)
    if picture.arrows:
        size = np.subtract(shown.high, shown.low)
        by = np.array([arrow.by for arrow in picture.arrows]) / size
        longest = max(float(np.hypot(*by.T).max()), 1e-12)
        by = by * size / longest / ACROSS
        at = np.array([arrow.at for arrow in picture.arrows])
        # fmt: off
        axes.quiver(*at.T, *by.T, color=INK, angles="xy", scale_units="xy", scale=1.0, width=0.003,
                    headwidth=4, alpha=0.75)
        # fmt: on
    axes.set_xlim(shown.low[0], shown.high[0])
    axes.set_ylim(shown.low[1], shown.high[1])
    explain_marks(figure, marks_of(plain_map._replace(trail=((0.0, 0.0),))))
    return figure
