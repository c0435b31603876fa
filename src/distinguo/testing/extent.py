"""The preliminary series (section 3.4): which states does the task come through, and where do trials start?

"A preliminary series of experiments yielded a set of extreme values for the state-space coordinates; the tester's
training trials were started at states from the central third of this observed state-space, and its test trials …
the central quarter."
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from distinguo.seam import at_speed, kernel
from distinguo.tasks.task import actions, observe, seeded, start, transition, truncated
from distinguo.tasks.world import LENGTH, World

TRIALS = 200  #: trials of the series
CAP = 10_000  #: steps after which one is stopped
SHORT_TRIALS, SHORT_CAP = 30, 200  #: the same where the series only serves to scale distances
TRAINING, TEST = 3, 4  #: the central third and the central quarter (paper, section 3.4)


class Extent(NamedTuple):
    """The observed extreme values of each coordinate.

    >>> Extent((-3.0, 0.0), (3.0, 4.0)).central(2)
    (array([-1.5,  1. ]), array([1.5, 3. ]))
    """

    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def widths(self) -> tuple[float, ...]:
        """Return the width of each coordinate; 1 for one that never changed."""
        return tuple(b - a if b > a else 1.0 for a, b in zip(self.low, self.high, strict=True))

    def central(self, share: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the middle 1/``share`` of each coordinate."""
        low, high = np.array(self.low), np.array(self.high)
        middle, half = (low + high) / 2, (high - low) / (2 * share)
        return middle - half, middle + half

    def draw(self, rng: np.random.Generator, share: int, count: int) -> np.ndarray:
        """Draw states uniformly from the middle 1/``share`` of the extent."""
        low, high = self.central(share)
        return rng.uniform(low, high, (count, len(low)))


def observed_extent(task: Any, seed: int = 0, trials: int = TRIALS, cap: int = CAP) -> Extent:
    """Run the preliminary series: trials that repeat each action in turn, and trials of random actions.

    >>> from distinguo.tasks.puck import Puck
    >>> extent = observed_extent(Puck())
    >>> [round(v, 1) for v in (*extent.low, *extent.high)]
    [-2.4, -5.5, 2.4, 5.5]
    """
    return _series(task, seed, trials, cap)[0]


def extent_of(world: World, seed: int) -> Extent:
    """Return the extent of a world's observations: all bounds by experience, or only the infinite ones.

    Where trials start as the task says, the tester needs the extent to draw and to scale, and a short series will do.
    """
    task = seeded(world.task, seed)
    if world.score == LENGTH:
        return observed_extent(task, seed)
    return Extent(world.low, world.high) if world.bounded else preliminary_series(task, world, seed)[0]


def preliminary_series(task: Any, world: World, seed: int) -> tuple[Extent, int]:
    """Find the extent of coordinates whose bounds are infinite: the extent, and the steps that it took.

    Bounds that are known stay as they are.
    """
    seen, steps = _series(task, seed, SHORT_TRIALS, world.cap(SHORT_CAP))
    known = [math.isfinite(a) and math.isfinite(b) and a < b for a, b in zip(world.low, world.high, strict=True)]
    low = tuple(a if k else b for k, a, b in zip(known, world.low, seen.low, strict=True))
    high = tuple(a if k else b for k, a, b in zip(known, world.high, seen.high, strict=True))
    return Extent(low, high), steps


def _series(task: Any, seed: int, trials: int, cap: int) -> tuple[Extent, int]:
    rng = np.random.default_rng(seed)
    first = np.array(observe(task, start(task, rng)))
    low, high = first.copy(), first.copy()
    kinds = actions(task) + 1  # the last kind is random
    steps = sum(
        at_speed(_watch, task)(task, rng, number % kinds, cap, low, high) for number in range(trials)
    )
    return Extent(tuple(low.tolist()), tuple(high.tolist())), int(steps)


@kernel
def _watch(
    task: Any, rng: np.random.Generator, kind: int, cap: int, low: np.ndarray, high: np.ndarray
) -> int:
    """Run a trial, widening the extremes by every state that is not terminal; return its length."""
    s = start(task, rng)
    for length in range(cap):
        seen = observe(task, s)
        for i in range(len(seen)):
            low[i] = min(low[i], seen[i])
            high[i] = max(high[i], seen[i])
        a = kind if kind < actions(task) else int(rng.random() * actions(task))
        s, _, terminal = transition(task, s, a)
        if terminal or truncated(task, s):
            return length + 1
    return cap
