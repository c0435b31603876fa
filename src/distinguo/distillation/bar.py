"""The mean return that a map has to keep, and whether trials say that it does.

Where it is a share of what the teacher gains, both are compared start by start: some starts are harder than others
for both of them, and a map that does exactly what its teacher does should not be lost in that noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from distinguo.tasks.spec import Hold, TaskSpec

ASSURANCE = 2.5  #: standard errors of new trials by which a map should be above what is to be kept

Gains = Callable[[Sequence[int]], np.ndarray]  #: from the numbers of starts to what is gained from each


class Bar(NamedTuple):
    """A mean return to keep; with a teacher, relative to what it gains."""

    value: float
    teacher: Gains | None = None
    mean: float = 0.0  #: what the teacher gains on average

    def compared(self, returns: np.ndarray, starts: Sequence[int]) -> np.ndarray:
        """Return returns without what the teacher gains more, or less, from the same starts than on average.

        >>> hard = Bar(-95.0, lambda starts: np.array([-100.0, -200.0]), -150.0)
        >>> hard.compared(np.array([-100.0, -200.0]), [1, 2]).tolist()
        [-150.0, -150.0]
        """
        return returns if self.teacher is None else returns - self.teacher(starts) + self.mean

    def is_reached(self, compared: np.ndarray, count: int | None = None) -> bool:
        """Tell whether trials are so far above it that as many new ones, or so many, would be at it, too."""
        return float(compared.mean()) >= aim(compared, self.value, count)


def aim(returns: np.ndarray, bar: float, count: int | None = None) -> float:
    """Return what the mean of trials should be, so that the mean of as many new ones will be at the bar, too.

    >>> round(aim(np.array([190.0, 230.0] * 50), 200.0), 1)
    205.0
    """
    return bar + ASSURANCE * float(np.std(returns)) / math.sqrt(count or len(returns))


def remembered(gains: Gains) -> Gains:
    """Return a function that asks for what is gained from a start only once."""
    known: dict[int, float] = {}

    def gained(starts: Sequence[int]) -> np.ndarray:
        new = [n for n in dict.fromkeys(starts) if n not in known]
        if new:
            known.update(zip(new, gains(new).tolist(), strict=True))
        return np.array([known[n] for n in starts])

    return gained


def threshold_of(spec: TaskSpec, cap: int) -> float | None:
    """Return the mean return that solves a task; of one that should never end, the steps that count as held."""
    return float(cap) if isinstance(spec.goal, Hold) else spec.threshold


def bar_of(
    spec: TaskSpec, returns: np.ndarray, keep: float | None, share: float, cap: int
) -> tuple[float, tuple[str, ...]]:
    """Return the mean return that is to be kept, and a sentence if the teacher does not solve its task.

    >>> from distinguo.tasks.catalog import task_spec
    >>> bar_of(task_spec("CartPole-v1"), np.array([480.0, 490.0]), None, 0.95, 500)
    (475.0, ())
    >>> bar_of(task_spec("CartPole-v1"), np.array([100.0, 100.0]), None, 0.95, 500)[0]
    95.0
    """
    mean = float(returns.mean())
    threshold = threshold_of(spec, cap)
    notes: tuple[str, ...] = ()
    if threshold is not None and mean < threshold:
        notes = (
            f"The teacher does not solve {spec.name} itself: it gains {mean:.4g} on average in {len(returns)} "
            f"trials, and {threshold:.4g} is asked for; a better one makes a better map.",
        )
    if keep is not None:
        return float(keep), notes or _of_keep(keep, mean, len(returns))
    if threshold is not None and mean >= threshold:
        return threshold, notes
    return mean - (1.0 - share) * abs(mean), notes


def _of_keep(keep: float, mean: float, trials: int) -> tuple[str, ...]:
    if keep <= mean:
        return ()
    return (
        f"{keep:.4g} is to be kept, more than the {mean:.4g} that the teacher gains on average in {trials} trials; "
        "a map rarely gains more than its teacher.",
    )
