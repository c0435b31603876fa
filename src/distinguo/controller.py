"""A controller: a partition with action values, and the actions that it prefers (Definition 3).

Learners, testers, provers and exports all act through one of these, or through features with weights (Definition 1
in general). A controller knows no task; functions that need both, such as :func:`region_at`, take both.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from distinguo.criteria import Vector, preferred, prefers, state_value
from distinguo.errors import DistinguoError
from distinguo.features.feature import (
    Workspace,
    add_up,
    coordinates_of,
    count_features,
    respond,
    strongest,
    workspace,
)
from distinguo.representations.partition import OneHot, checked_point, count_dimensions, region
from distinguo.seam import generic, implements, kernel, part
from distinguo.tasks.task import State, observe

TIED = -1  #: in a policy: several actions are preferred


class Controller(NamedTuple):
    """A partition, the action values of its regions, and how close to the best an action must be to be preferred.

    >>> from distinguo.representations.voronoi import voronoi
    >>> halves = Controller(voronoi([[1.0], [-1.0]], [1.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> halves.region((0.3,)), halves.action((0.3,)), halves.action((-0.3,))
    (0, 0, 1)
    """

    partition: Any
    q: np.ndarray  #: (rows, actions) the action values of each region
    delta: float = 0.0  #: actions this close to the best are tied

    def region(self, s: Sequence[float]) -> int:
        """Return the region of an observation."""
        return int(region(self.partition, checked_point(self.partition, s)))

    def preferred(self, s: Sequence[float]) -> np.ndarray:
        """Which actions are preferred for an observation: ``pref_delta``."""
        return preferred(self._values(s), self.delta)

    def _values(self, s: Sequence[float]) -> np.ndarray:
        """Return the action values for an observation; raise if its region has none."""
        j, shape = self.region(s), np.shape(self.q)
        if len(shape) != 2 or j >= shape[0] or not np.isfinite(self.q[j]).all():
            raise DistinguoError(
                f"A controller needs a row of finite action values for every region, got none for region {j} in an "
                f"array of shape {shape}."
            )
        values: np.ndarray = self.q[j]
        return values

    def action(self, s: Sequence[float]) -> int:
        """Return the preferred action for an observation; the first if several are tied."""
        return int(self.preferred(s).argmax())

    def value(self, s: Sequence[float]) -> float:
        """Return the state value of an observation."""
        return state_value(self._values(s))

    @property
    def action_sets(self) -> np.ndarray:
        """Which actions are preferred in each region, as rows of booleans."""
        sets = np.zeros(self.q.shape, dtype=np.bool_)
        _fill_action_sets(self.q, self.delta, sets)
        return sets

    @property
    def greedy(self) -> np.ndarray:
        """Return the preferred action of every region; the first if several are tied.

        >>> Controller(None, np.array([[0.0, -1.0], [0.5, 0.5], [0.0, 0.1]]), delta=0.2).greedy.tolist()
        [0, 0, 0]
        """
        return self.action_sets.argmax(axis=1)

    @property
    def policy(self) -> np.ndarray:
        """Return the preferred action of every region, ``TIED`` where there are several.

        >>> Controller(None, np.array([[0.0, -1.0], [0.5, 0.5]])).policy.tolist()
        [0, -1]
        """
        sets = self.action_sets
        return np.where(sets.sum(axis=1) == 1, sets.argmax(axis=1), TIED)


@kernel
def _fill_action_sets(q: np.ndarray, delta: float, sets: np.ndarray) -> None:
    for j in range(len(q)):
        for a in range(q.shape[1]):
            sets[j, a] = prefers(q[j], a, delta)


class FeatureController(NamedTuple):
    """Features, a weight for each and every action, and how close to the best an action must be to be preferred.

    >>> from distinguo.features.bases import tiles
    >>> halves = tiles(1, [2], low=[-1.0], high=[1.0])
    >>> mine = FeatureController(halves, np.array([[-1.0, 0.0], [0.0, -1.0], [0.0, 0.0]]))
    >>> mine.q((0.3,)).tolist(), mine.action((0.3,)), mine.action((-0.3,))
    ([0.0, -1.0], 0, 1)
    """

    features: Any
    weights: np.ndarray  #: (features, actions)
    delta: float = 0.0  #: actions this close to the best are tied

    def q(self, s: Sequence[float]) -> np.ndarray:
        """Return the action values of an observation (Definition 1)."""
        check_weights(self)
        work = room_for(self)
        fill_values(self, checked_point(self, s), work)
        return work.q

    def preferred(self, s: Sequence[float]) -> np.ndarray:
        """Which actions are preferred for an observation: ``pref_delta``."""
        return preferred(self.q(s), self.delta)

    def action(self, s: Sequence[float]) -> int:
        """Return the preferred action for an observation; the first if several are tied."""
        return int(self.preferred(s).argmax())

    def value(self, s: Sequence[float]) -> float:
        """Return the state value of an observation."""
        return state_value(self.q(s))


@count_dimensions.register(FeatureController)
def _(controller: FeatureController) -> int | None:
    return coordinates_of(controller.features)


def check_weights(controller: FeatureController) -> None:
    """Raise an error unless there is a row of finite weights for every feature."""
    weights, count = controller.weights, count_features(controller.features)
    shape = np.shape(weights)
    if len(shape) != 2 or shape[0] != count or not shape[1] or not np.isfinite(weights).all():
        raise DistinguoError(
            f"A controller of {count} features needs as many rows of finite weights, one column per action, got an "
            f"array of shape {shape}."
        )


@singledispatch
def running_parts(controller: Any) -> tuple[Any, ...]:
    """The parts of a controller that decide whether kernels run compiled on it."""
    raise DistinguoError(
        "A controller is a Controller (a partition with action values) or a FeatureController (features with "
        f"weights), got a value of the class {type(controller).__name__}."
    )


@running_parts.register(Controller)
def _(controller: Controller) -> tuple[Any, ...]:
    return (controller.partition,)


@running_parts.register(FeatureController)
def _(controller: FeatureController) -> tuple[Any, ...]:
    check_weights(controller)
    return feature_parts(controller.features)


def feature_parts(features: Any) -> tuple[Any, ...]:
    """The parts of features, including a partition within them, that decide whether kernels run compiled."""
    return (features, features.partition) if isinstance(features, OneHot) else (features,)


@singledispatch
def room_for(controller: Any) -> Workspace:
    """Return a workspace for the values of one state."""
    raise NotImplementedError


@room_for.register(Controller)
def _(controller: Controller) -> Workspace:
    return Workspace(
        np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros(controller.q.shape[1])
    )


@room_for.register(FeatureController)
def _(controller: FeatureController) -> Workspace:
    return workspace(controller.features, controller.weights.shape[1])


@generic
def fill_values(controller: Any, s: tuple[float, ...], work: Workspace) -> None:
    """Write the action values of an observation into the workspace, with the region or strengths they come from."""
    raise NotImplementedError


@generic
def group_in(controller: Any, work: Workspace) -> int:
    """Return the region of the observation whose values are in the workspace, or its group by features."""
    raise NotImplementedError


@implements(fill_values, Controller)
def _values_of_region(controller: Controller, s: tuple[float, ...], work: Workspace) -> None:
    j = region(controller.partition, s)
    for a in range(controller.q.shape[1]):
        work.q[a] = controller.q[j, a]
    work.active[0] = j


@implements(group_in, Controller)
def _region_in(controller: Controller, work: Workspace) -> int:
    return int(work.active[0])


@implements(fill_values, FeatureController)
def _weighted_sum(controller: FeatureController, s: tuple[float, ...], work: Workspace) -> None:
    respond(controller.features, s, work)
    add_up(controller.weights, work)


@implements(group_in, FeatureController)
def _strongest_in(controller: FeatureController, work: Workspace) -> int:
    return strongest(controller.features, work)


@part
def choose(q: Vector, delta: float, rng: np.random.Generator) -> int:
    """Draw an action of ``pref_delta``, all equally likely; a single one uses no random number."""
    ties = 0
    for a in range(len(q)):
        ties += prefers(q, a, delta)
    remaining = int(rng.random() * ties) if ties > 1 else 0
    for a in range(len(q)):
        if prefers(q, a, delta):
            if remaining == 0:
                return a
            remaining -= 1
    return 0  # only for values that are not numbers


@part
def region_at(task: Any, partition: Any, s: State) -> int:
    """Return the region of a state: the region of its observation."""
    return region(partition, observe(task, s))
