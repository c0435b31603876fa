"""The tasks known by name, with what a learner cannot see from their functions alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from distinguo.checks import checked
from distinguo.errors import DistinguoError, did_you_mean
from distinguo.tasks.puck import EXTREME_SPEED, Puck
from distinguo.tasks.puck_analysis import controllable


class World(NamedTuple):
    """A task and the words for it.

    >>> world("puck", {"beta": 0.2}).task.beta
    0.2
    """

    name: str
    task: Any
    dimensions: tuple[str, ...]  #: the names of the coordinates of a state
    actions: tuple[str, ...]  #: the names of the actions
    low: tuple[float, ...]  #: the extent of the state-space, which scales distances
    high: tuple[float, ...]
    score: str = "length"  #: what a trial is judged by: its "length" or its "return"
    controllable: Callable[[Any, tuple[float, ...]], bool] | None = (
        None  #: whether a state can be held at all
    )

    @property
    def scale(self) -> tuple[float, ...]:
        """Return the width of each coordinate."""
        return tuple(b - a for a, b in zip(self.low, self.high, strict=True))

    def controllable_among(self, states: np.ndarray) -> np.ndarray:
        """Return which rows are not doomed whatever the agent does; all of them where that is not known."""
        if self.controllable is None:
            return np.arange(len(states))
        return np.array(
            [n for n, row in enumerate(states) if self.controllable(self.task, tuple(row))], dtype=int
        )


def _puck(parameters: Mapping[str, Any]) -> World:
    task = checked(Puck, parameters, "task")
    low, high = (-task.wall, -EXTREME_SPEED), (task.wall, EXTREME_SPEED)
    return World("puck", task, ("x", "v"), ("left", "right"), low, high, "length", controllable)


WORLDS = {"puck": _puck}


def world(name: str, parameters: Mapping[str, Any] | None = None) -> World:
    """Return the task of that name, with some of its parameters changed."""
    if name not in WORLDS:
        raise DistinguoError(f"Unknown task '{name}'; {did_you_mean(name, WORLDS)}")
    return WORLDS[name](parameters or {})
