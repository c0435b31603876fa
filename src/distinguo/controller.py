"""A controller: a partition with action values, and the actions that it prefers (Definition 3).

Everything that acts greedily, learners and testers and provers and exports, is one of these. It knows no task; the
functions that join the two, such as :func:`region_at`, are given both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from distinguo.criteria import Vector, preferred, prefers, state_value
from distinguo.errors import DistinguoError
from distinguo.representations.partition import checked_point, region
from distinguo.seam import kernel, part
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
        """Return which actions are preferred for an observation: ``pref_delta``."""
        return preferred(self._values(s), self.delta)

    def _values(self, s: Sequence[float]) -> np.ndarray:
        """Return the action values for an observation, which there have to be."""
        j, shape = self.region(s), np.shape(self.q)
        if len(shape) != 2 or j >= shape[0] or not np.isfinite(self.q[j]).all():
            raise DistinguoError(
                f"A controller needs a row of finite action values for every region, got none for region {j} in an "
                f"array of shape {shape}."
            )
        values: np.ndarray = self.q[j]
        return values

    def action(self, s: Sequence[float]) -> int:
        """Return the preferred action for an observation, of tied ones the first."""
        return int(self.preferred(s).argmax())

    def value(self, s: Sequence[float]) -> float:
        """Return the state value of an observation."""
        return state_value(self._values(s))

    @property
    def action_sets(self) -> np.ndarray:
        """Return which actions are preferred in each region, as rows of booleans."""
        sets = np.zeros(self.q.shape, dtype=np.bool_)
        _fill_action_sets(self.q, self.delta, sets)
        return sets

    @property
    def greedy(self) -> np.ndarray:
        """Return the preferred action of every region, of tied ones the first.

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


@part
def choose(q: Vector, delta: float, rng: np.random.Generator) -> int:
    """Return any action of ``pref_delta``, each as likely; a single one costs no random number."""
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
    """Return the region of a state, which is that of its observation."""
    return region(partition, observe(task, s))
