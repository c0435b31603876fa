"""Critical states: where one wrong action is the end, whatever is done afterwards (Figure 9 of the paper)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from distinguo.errors import DistinguoError
from distinguo.representations.planes import Pair
from distinguo.runs.run import Run
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import transition
from distinguo.views.drawing.colours import darkened, hue_of
from distinguo.views.drawing.figures import explain_marks
from distinguo.views.kinds.places import Place, places_of, plane_picture, trail_of, world_of
from distinguo.views.pictures import PartitionPicture
from distinguo.views.plots import add_shades, colours_of, draw, drawn, marks_of

ACROSS, UPWARDS = 160, 220  #: places that are looked at


class Critical(NamedTuple):
    """A place where some actions are the end and others are not."""

    at: Pair
    saving: tuple[int, ...]  #: the actions that are not the end


class CriticalPicture(NamedTuple):
    """A map with the way of a greedy trial, over the states where it matters most what is done.

    >>> import distinguo
    >>> picture = critical_picture(distinguo.learn("puck", seed=1), across=24, upwards=40)
    >>> {state.saving for state in picture.states} == {(0,), (1,)}
    True
    """

    partition: PartitionPicture
    states: tuple[Critical, ...]
    pitch: Pair  #: how far apart the places are


def critical_picture(run: Run, across: int = ACROSS, upwards: int = UPWARDS) -> CriticalPicture:
    """Compute the picture: a state that can be held is critical if only some actions lead to such states again.

    It takes a task that says which states can be held, and that can be put into a state of one's choice.
    """
    picture, spec = plane_picture(run), run.configuration.spec
    places = places_of(run, picture, across, upwards) if spec.controllable else []
    if not places:
        raise DistinguoError(
            f"{spec.name} does not say which states can be held, so its critical states are not known; look at the "
            "view 'phase'."
        )
    world = world_of(run)
    states = tuple(state for place in places if (state := _critical(world, spec, place)))
    trail = trail_of(run, picture.plane)
    size = np.subtract(picture.high, picture.low)
    pitch = (float(size[0]) / across, float(size[1]) / upwards)
    return CriticalPicture(picture._replace(trail=trail), states, pitch)


def _critical(world: Any, spec: TaskSpec, place: Place) -> Critical | None:
    holds, count = spec.controllable, len(spec.actions)
    assert holds is not None
    if not holds(world, place.state):
        return None
    saving = []
    for a in range(count):
        after, _, terminal = transition(world, place.state, a)
        if not terminal and holds(world, after):
            saving.append(a)
    return None if len(saving) in (0, count) else Critical(place.at, tuple(saving))


@draw.register(CriticalPicture)
def draw_critical(picture: CriticalPicture) -> Figure:
    """Draw the map, and bands for the critical states in the colour of the action that saves them."""
    shown = picture.partition
    figure = drawn(shown, colours_of(shown))
    axes = figure.axes[0]
    marks = marks_of(shown._replace(prototypes=(), primary=(), labels=()))
    for saving in sorted({state.saving for state in picture.states}):
        places = [state.at for state in picture.states if state.saving == saving]
        xs, ys = _bands(places, picture.pitch)
        colour = darkened(hue_of(saving[0]))
        axes.plot(xs, ys, "-", color=colour, linewidth=1.5, solid_capstyle="projecting", zorder=1.8)
        names = " or ".join(shown.actions[a] for a in saving)
        marks.append((f"only {names} saves", Line2D([], [], color=colour, linewidth=2.0)))
    explain_marks(figure, marks)
    add_shades(figure, shown)
    return figure


def _bands(places: list[Pair], pitch: Pair) -> tuple[list[float], list[float]]:
    """Return places as upright lines with gaps: those above each other are one.

    >>> _bands([(0.0, 0.0), (0.0, 1.0), (0.0, 5.0)], (1.0, 1.0))
    ([0.0, 0.0, nan, 0.0, 0.0, nan], [-0.5, 1.5, nan, 4.5, 5.5, nan])
    """
    xs: list[float] = []
    ys: list[float] = []
    for x, y in sorted(places):
        if xs and xs[-2] == x and y - pitch[1] / 2 - ys[-2] < pitch[1] / 4:
            ys[-2] = y + pitch[1] / 2
        else:
            xs += [x, x, float("nan")]
            ys += [y - pitch[1] / 2, y + pitch[1] / 2, float("nan")]
    return xs, ys
