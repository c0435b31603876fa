"""The preliminary series (section 3.4): which states does the task visit, and where do trials start?

"A preliminary series of experiments yielded a set of extreme values for the state-space coordinates; the tester's
training trials were started at states from the central third of this observed state-space, and its test trials …
the central quarter."
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from distinguo.seam import at_speed, is_compiled, kernel
from distinguo.tasks.spec import LENGTH, TaskSpec
from distinguo.tasks.task import actions, observe, seeded, start, transition, truncated

SERIES_TRIALS = 200  #: trials of the series
SERIES_CAP = 10_000  #: steps after which one is stopped
#: The same if the series only scales distances, and the steps after which no further trial begins.
SHORT_TRIALS, SHORT_CAP, SHORT_STEPS = 30, 200, 1_000
HARDLY = 1e-3  #: the weight of a coordinate that does not matter, beside one that does
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

    def without(self, left_out: Sequence[int]) -> Extent:
        """Return the extent with the widths of some coordinates so large that they hardly count in a distance.

        >>> Extent((0.0, 0.0), (1.0, 2.0)).without([1]).widths
        (1.0, 2000.0)
        """
        widths, high = self.widths, list(self.high)
        for i in left_out:
            high[i] = self.low[i] + widths[i] / HARDLY
        return Extent(self.low, tuple(high))

    def central(self, share: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the middle 1/``share`` of each coordinate."""
        low, high = np.array(self.low), np.array(self.high)
        middle, half = (low + high) / 2, (high - low) / (2 * share)
        return middle - half, middle + half

    def draw(self, rng: np.random.Generator, share: int, count: int) -> np.ndarray:
        """Draw states uniformly from the middle 1/``share`` of the extent."""
        low, high = self.central(share)
        return rng.uniform(low, high, (count, len(low)))


def observed_extent(task: Any, seed: int = 0, trials: int = SERIES_TRIALS, cap: int = SERIES_CAP) -> Extent:
    """Run the preliminary series: trials that repeat each action in turn, and trials of random actions.

    >>> from distinguo.tasks.puck.puck import Puck
    >>> extent = observed_extent(Puck())
    >>> [round(v, 1) for v in (*extent.low, *extent.high)]
    [-2.4, -5.5, 2.4, 5.5]
    """
    return _series(task, seed, trials, cap).extent


def task_extent(spec: TaskSpec, seed: int) -> Extent:
    """Return the extent of a task's observations: all bounds by experience, or only the infinite ones.

    Where trials start as the task says, the tester needs the extent only to draw and to scale, so a short series is
    enough.
    """
    task = seeded(spec.task, seed)
    if spec.score == LENGTH and is_compiled(task):
        return observed_extent(task, seed)
    return Extent(spec.low, spec.high) if spec.bounded else preliminary_series(task, spec, seed).extent


class Preliminaries(NamedTuple):
    """The findings of a short series of trials before learning begins."""

    extent: Extent
    reward: float  #: the mean reward of a step
    steps: int
    left_out: tuple[int, ...] = ()  #: coordinates that do not matter


def preliminary_series(task: Any, spec: TaskSpec, seed: int, budget: int | None = None) -> Preliminaries:
    """Find the extent of coordinates whose bounds are infinite; bounds that are known stay as they are.

    It takes no more steps than ``budget``.
    """
    series = _series(task, seed, SHORT_TRIALS, spec.cap(SHORT_CAP), SHORT_STEPS, budget)
    return series._replace(extent=completed(spec, *series.extent))


def completed(spec: TaskSpec, low: Sequence[float], high: Sequence[float]) -> Extent:
    """Return the extent of a task, with what was observed where its bounds are infinite.

    >>> from distinguo.tasks.catalog import task_spec
    >>> completed(task_spec("CartPole-v1"), (0, -1, 0, -2), (0, 1, 0, 2)).high[1:4:2]
    (1, 2)
    """
    known = [
        math.isfinite(a) and math.isfinite(b) and a < b for a, b in zip(spec.low, spec.high, strict=True)
    ]
    return Extent(
        tuple(a if k else b for k, a, b in zip(known, spec.low, low, strict=True)),
        tuple(a if k else b for k, a, b in zip(known, spec.high, high, strict=True)),
    )


def _series(
    task: Any, seed: int, trials: int, cap: int, most: float = math.inf, budget: int | None = None
) -> Preliminaries:
    """Run trials until there are enough trials or enough steps; never exceed the budget of steps."""
    rng = np.random.default_rng(seed)
    first = np.array(observe(task, start(task, rng)))
    low, high = first.copy(), first.copy()
    kinds = actions(task) + 1  # the last kind is random
    steps, gained = 0, 0.0
    for number in range(trials):
        cap = cap if budget is None else min(cap, budget - steps)
        length, rewards = at_speed(_watch, task)(task, rng, number % kinds, cap, low, high)
        steps, gained = steps + length, gained + rewards
        if steps >= most or steps == budget:
            break
    return Preliminaries(Extent(tuple(low.tolist()), tuple(high.tolist())), gained / steps, steps)


@kernel
def _watch(
    task: Any, rng: np.random.Generator, kind: int, cap: int, low: np.ndarray, high: np.ndarray
) -> tuple[int, float]:
    """Run a trial and widen the extremes by every state that is not terminal; return its length and return."""
    s = start(task, rng)
    gained = 0.0
    for length in range(cap):
        seen = observe(task, s)
        for i in range(len(seen)):
            low[i] = min(low[i], seen[i])
            high[i] = max(high[i], seen[i])
        a = kind if kind < actions(task) else int(rng.random() * actions(task))
        s, r, terminal = transition(task, s, a)
        gained += r
        if terminal or truncated(task, s):
            return length + 1, gained
    return cap, gained
