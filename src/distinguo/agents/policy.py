"""What an agent knows at one moment, as something that answers observations with actions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from distinguo.controller import regions_of
from distinguo.errors import DistinguoError
from distinguo.representation.file import Representation
from distinguo.tasks.gym.spaces import View, view_of
from distinguo.tasks.spec import CATEGORIES, TaskSpec


class Senses(NamedTuple):
    """How observations come in and actions go out.

    >>> from distinguo.tasks.catalog import task_spec
    >>> senses_of(task_spec("puck"))[1:]
    ((2,), 0)
    """

    view: View
    shape: tuple[int, ...]  #: of one observation
    first: int  #: the environment's number of the first action

    def rows(self, observation: Any, name: str) -> tuple[np.ndarray, bool]:
        """Return one or several observations as rows of coordinates, and whether it was one."""
        shape = np.shape(observation)
        if shape == self.shape:
            return np.array([self.view.flatten(observation)]), True
        if shape[1:] != self.shape or not shape:
            many = f"({', '.join(map(str, ('n', *self.shape)))})"
            raise DistinguoError(
                f"An observation of {name} should have shape {self.shape}, or {many} for several, got {shape}."
            )
        rows = [self.view.flatten(one) for one in observation]
        return np.array(rows).reshape(len(rows), len(self.view.names)), False


def senses_of(spec: TaskSpec, shape: tuple[int, ...] | None = None, first: int | None = None) -> Senses:
    """Return the senses of a task; the shape and the first action, where its environment is not at hand."""
    if shape is None and spec.interpreted:
        checked = spec.task.driver.checked_env
        space = checked.env.observation_space
        where = (len(space.spaces),) if isinstance(space, spaces.Tuple) else space.shape
        return Senses(checked.view, where, checked.choices.first)
    shape = (len(spec.dimensions),) if shape is None else shape
    if math.prod(shape) != len(spec.dimensions):
        raise DistinguoError(f"Observations of shape {shape} are none of {spec.name}; take a whole copy.")
    return Senses(view_of(_space(spec, shape), spec.name), shape, first or 0)


def _space(spec: TaskSpec, shape: tuple[int, ...]) -> Any:
    """Return a space of the same observations, in the absence of the environment itself."""
    if spec.kind != CATEGORIES:
        return spaces.Box(-np.inf, np.inf, shape=shape, dtype=np.float64)
    low, high = np.array(spec.low, dtype=np.int64), np.array(spec.high, dtype=np.int64)
    if not shape:
        return spaces.Discrete(int(high[0] - low[0]) + 1, start=int(low[0]))
    return spaces.MultiDiscrete((high - low + 1).reshape(shape), start=low.reshape(shape))


class Policy(NamedTuple):
    """A representation with action values: nothing changes it."""

    representation: Representation
    q: np.ndarray
    updates: np.ndarray

    def act(self, rows: np.ndarray, delta: float, rng: np.random.Generator | None) -> np.ndarray:
        """Return an action for every row: the first of the best, or any within ``delta`` of it at random."""
        values = self.q[regions_of(self.representation.partition, rows)]
        if rng is None:
            return values.argmax(axis=1)
        preferred = values >= values.max(axis=1, keepdims=True) - delta
        return (rng.random(values.shape) * preferred).argmax(axis=1)
