"""Places of a picture as states of the task, and the paths of greedy trials over it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.explanations.investigation import state_behind
from distinguo.representations.geometry import Pair, Plane
from distinguo.runs.rollout import rollout
from distinguo.runs.run import Run
from distinguo.tasks.task import State, seeded
from distinguo.views.pictures import PartitionPicture, partition_picture

STEPS = 300  #: drawn of a trial


class Place(NamedTuple):
    """A place of a picture, what is observed there, and the state of the task behind it."""

    at: Pair
    seen: tuple[float, ...]
    state: State


def plane_picture(run: Run) -> PartitionPicture:
    """Return the map of a run as a background; raise unless two numbers or more are observed."""
    picture = partition_picture(run)
    if len(picture.plane.axes) < 2 or picture.ticks != (None, None):
        raise DistinguoError(
            f"This view needs a task that observes at least two numbers; {run.configuration.spec.name} does not. "
            "Use the view 'partition'."
        )
    return picture


def world_of(run: Run) -> Any:
    """Return the task of a run, started afresh, for trials."""
    return seeded(run.configuration.spec.task, run.configuration.seed)


def places_of(run: Run, picture: PartitionPicture, across: int, upwards: int) -> list[Place]:
    """Return the middles of a grid of places; empty if the task's state cannot be set.

    >>> import distinguo
    >>> run = distinguo.learn("puck", seed=1)
    >>> [round(place.at[0], 3) for place in places_of(run, partition_picture(run), 2, 1)]
    [-1.2, 1.2]
    """
    if not run.configuration.spec.restorable:
        return []
    world, places = world_of(run), []
    for x, y in grid_over(picture.low, picture.high, across, upwards):
        seen = picture.plane.state(x, y)
        state = state_behind(world, seen)
        if state is None:
            return []
        places.append(Place((x, y), seen, tuple(float(value) for value in state)))
    return places


def grid_over(low: Pair, high: Pair, across: int, upwards: int) -> list[Pair]:
    """Return the middles of ``across`` × ``upwards`` equal parts of a frame, row by row from the bottom."""
    xs = low[0] + (np.arange(across) + 0.5) * (high[0] - low[0]) / across
    ys = low[1] + (np.arange(upwards) + 0.5) * (high[1] - low[1]) / upwards
    return [(x, y) for y in ys.tolist() for x in xs.tolist()]


def trail_of(
    run: Run, plane: Plane, start: State | None = None, seed: int = 0, steps: int = STEPS
) -> tuple[Pair, ...]:
    """Return the path of a greedy trial in a plane, including its start.

    >>> import distinguo
    >>> run = distinguo.learn("puck", seed=1)
    >>> trail = trail_of(run, Plane((0, 1), (0.0, 0.0)), start=(1.0, -1.0), steps=2)
    >>> len(trail), trail[0]
    (3, (1.0, -1.0))
    """
    trial = rollout(run, start, steps=steps, seed=seed)
    return tuple(plane.corner(row, 0.5) for row in trial.observations.tolist())
