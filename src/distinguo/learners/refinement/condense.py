"""The race downwards: how few prototypes keep the return.

From a map of any size one prototype after the other is left out, each time the one that costs least on the same
starts; then the others are moved, stretched and given other actions until what was lost is regained or nothing helps
any more. What is found on the way, the best map of every size, is the *dial*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from distinguo.learners.refinement.improvement import Improvement, PrototypeMap

STARTS = 20  #: trials that proposals are judged by
TRIALS = 100  #: new trials that every size is measured by
PATIENCE = 60  #: proposals without a gain before a size is taken as it is


class Notch(NamedTuple):
    """The best map of a size, and the returns of new trials."""

    map: PrototypeMap
    returns: np.ndarray

    @property
    def size(self) -> int:
        """Return its prototypes."""
        return len(self.map.actions)

    @property
    def mean(self) -> float:
        """Return its mean return."""
        return float(self.returns.mean())

    @property
    def error(self) -> float:
        """Return the standard error of the mean."""
        return float(self.returns.std(ddof=1) / np.sqrt(len(self.returns)))


def dial(work: Improvement, smallest: int = 1, watch: Callable[[int], None] | None = None) -> list[Notch]:
    """Return the best map of every size, from that of ``work`` down to the smallest.

    >>> from distinguo.tasks.catalog import task_spec
    >>> rows = np.array([[-0.5, 0.02], [-0.4, 0.03], [-0.5, -0.02]])
    >>> three = PrototypeMap(rows, np.array([2, 2, 0]), np.array([1.8, 0.14]))
    >>> car = Improvement(task_spec("MountainCar-v0"), three, 200, np.random.default_rng(0))
    >>> [(notch.size, notch.mean > -130) for notch in dial(car)]
    [(3, True), (2, True), (1, False)]
    """
    work.trails = work.fresh_trails(STARTS)
    notches = [_measured(work)]
    level = total_of(work)
    while len(work.map.actions) > smallest:
        leave_one_out(work)
        regain(work, level)
        notches.append(_measured(work))
        if watch:
            watch(len(work.map.actions))
    return notches


def total_of(work: Improvement) -> float:
    """Return what the map gains on its starts."""
    return sum(trail.total for trail in work.trails)


def _measured(work: Improvement) -> Notch:
    return Notch(work.map, np.array([trail.total for trail in work.fresh_trails(TRIALS)]))


def leave_one_out(work: Improvement) -> None:
    """Leave the prototype out that costs least."""
    choices = [work.map.without(j) for j in range(len(work.map.actions))]
    trails = [work.rerun_all(choice, work.trails) for choice in choices]
    best = int(np.argmax([sum(trail.total for trail in tried) for tried in trails]))
    work.map, work.trails = choices[best], trails[best]


def regain(work: Improvement, level: float) -> None:
    """Propose changes that add no prototype until as much is gained as before, or nothing helps."""
    idle, size = 0, len(work.map.actions)
    while idle < PATIENCE and total_of(work) < level:
        idle = 0 if work.propose(size) else idle + 1
