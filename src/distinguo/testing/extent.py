"""The preliminary series (section 3.4): which states does the task come through, and where do trials start?

"A preliminary series of experiments yielded a set of extreme values for the state-space coordinates; the tester's
training trials were started at states from the central third of this observed state-space, and its test trials …
the central quarter."
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.seam import kernel
from distinguo.tasks.task import actions, start, transition

TRIALS = 200  #: trials of the series
CAP = 10_000  #: steps after which one is stopped
TRAINING, TEST = 3, 4  #: the central third and the central quarter (paper, section 3.4)


class Extent(NamedTuple):
    """The observed extreme values of each coordinate.

    >>> Extent((-3.0, 0.0), (3.0, 4.0)).central(2)
    (array([-1.5,  1. ]), array([1.5, 3. ]))
    """

    low: tuple[float, ...]
    high: tuple[float, ...]

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
    rng = np.random.default_rng(seed)
    first = np.array(start(task, rng))
    low, high = first.copy(), first.copy()
    kinds = actions(task) + 1  # the last kind is random
    for number in range(trials):
        _watch(task, rng, number % kinds, cap, low, high)
    return Extent(tuple(low.tolist()), tuple(high.tolist()))


@kernel
def _watch(
    task: Any, rng: np.random.Generator, kind: int, cap: int, low: np.ndarray, high: np.ndarray
) -> None:
    """Run a trial, widening the extremes by every state that is not terminal."""
    s = start(task, rng)
    for _ in range(cap):
        for i in range(len(s)):
            low[i] = min(low[i], s[i])
            high[i] = max(high[i], s[i])
        a = kind if kind < actions(task) else int(rng.random() * actions(task))
        s, _, terminal = transition(task, s, a)
        if terminal:
            break
