"""The description of a task: names, bounds, score and goal, which its functions alone do not say."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

#: The greatest absolute reward and coordinate that a task may give: their sums and squares are finite.
LARGEST = 1e100


class Hold(NamedTuple):
    """Trials should never end; they are judged by their length.

    >>> Hold().score(np.array([10, 400, 500]), np.array([-1.0, -1.0, 0.0]))
    400.0
    """

    name: str = "length"
    #: A proof that a trial never ends decides it; trials may start anywhere in the middle of the space.
    is_proven_by_lengths: bool = True
    can_be_solved: bool = True  #: whether the task says what solves it
    score_name: str = "median length"  #: what a batch of trials is judged by

    def score(self, lengths: np.ndarray, returns: np.ndarray) -> float:
        """The score of a batch of trials: the median, as some starts are doomed."""
        return float(np.median(lengths))

    def reached(self, ended: np.ndarray, returns: np.ndarray) -> np.ndarray:
        """Which trials reached the goal."""
        return ~ended

    def is_claimed(self, stopped: bool, gained: float) -> bool:
        """Whether a single trial looks like a success: it had to be stopped."""
        return stopped


class MeanReturn(NamedTuple):
    """The mean return of trials should reach a threshold, where one is known.

    >>> MeanReturn(475.0).reached(np.array([True, False]), np.array([100.0, 500.0])).tolist()
    [False, True]
    """

    threshold: float | None = None
    name: str = "return"
    is_proven_by_lengths: bool = False
    score_name: str = "mean return"

    def score(self, lengths: np.ndarray, returns: np.ndarray) -> float:
        """The score of a batch of trials: the mean return, as the threshold is one."""
        return float(np.mean(returns))

    def reached(self, ended: np.ndarray, returns: np.ndarray) -> np.ndarray:
        """Which trials reached the threshold; without one, those that were still running."""
        return ~ended if self.threshold is None else returns >= self.threshold

    @property
    def can_be_solved(self) -> bool:
        """Whether there is a threshold."""
        return self.threshold is not None

    def is_claimed(self, stopped: bool, gained: float) -> bool:
        """Whether a single trial looks like a success: its return reaches the threshold."""
        return self.threshold is not None and gained >= self.threshold


Goal = Hold | MeanReturn


CONTINUOUS, CATEGORIES = "continuous", "categories"
LENGTH, RETURN = "length", "return"
#: Whether the same action in the same state may lead to different ones: never, now and then, or usually.
Stochastic = Literal["no", "some", "strong"]
Parameters = Mapping[str, Any]


class Amounts(NamedTuple):
    """A box of amounts: the actions of a task that takes any numbers within it.

    >>> from distinguo.tasks.amounts import amounts
    >>> amounts(-2.0, 2.0).names, amounts((-1.0, 0.0), (1.0, 5.0)).names
    (('u',), ('u0', 'u1'))
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    names: tuple[str, ...]
    single: bool = False  #: whether ``transition`` takes a number; else it takes a tuple


class TaskSpec(NamedTuple):
    """A task by name.

    >>> from distinguo.tasks.catalog import task_spec
    >>> task_spec("puck", {"beta": 0.2}).task.beta
    0.2
    """

    name: str
    task: Any
    dimensions: tuple[str, ...]  #: the names of the coordinates of an observation
    actions: tuple[str, ...]  #: the names of the actions, or of the amounts
    low: tuple[float, ...]  #: the extent of the observations, which scales distances
    high: tuple[float, ...]  #: infinite where only experience shows it
    score: str = LENGTH  #: what a trial is judged by: its "length" or its "return"
    controllable: Callable[[Any, tuple[float, ...]], bool] | None = (
        None  #: whether a state can be held at all
    )
    kind: str = CONTINUOUS  #: whether coordinates are numbers ("continuous") or exact "categories"
    threshold: float | None = None  #: the mean return that solves the task
    limit: int | None = None  #: the time limit of its trials
    parameters: Parameters = {}  # noqa: RUF012 #: the parameters that were given, by name
    stochastic: Stochastic = "no"  #: how much noise there is in its transitions
    restorable: bool = True  #: whether any earlier state can be restored, as look-ahead needs it
    interpreted: bool = False  #: whether it is Gymnasium's own environment, run as plain Python
    portable: bool = True  #: whether another process can make it again from its name and parameters
    note: str = ""  #: a note for the user on how it runs
    units: tuple[str, ...] = ()  #: of the coordinates of an observation, "" for none; empty if unknown
    amounts: Amounts | None = (
        None  #: the box of its actions, if they are amounts; laws decide them (tasks/amounts)
    )

    @property
    def goal(self) -> Goal:
        """The goal of the task."""
        return Hold() if self.score == LENGTH else MeanReturn(self.threshold)

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the names of the coordinates with their units.

        >>> from distinguo.tasks.catalog import task_spec
        >>> task_spec("puck").axes
        ('x (m)', 'v (m/s)')
        """
        units = self.units or ("",) * len(self.dimensions)
        return tuple(f"{n} ({u})" if u else n for n, u in zip(self.dimensions, units, strict=True))

    @property
    def scale(self) -> tuple[float, ...]:
        """Return the width of each coordinate."""
        return tuple(b - a for a, b in zip(self.low, self.high, strict=True))

    @property
    def bounded(self) -> bool:
        """Whether the extent of the observations is known beforehand."""
        return self.kind == CATEGORIES or all(math.isfinite(w) and w > 0.0 for w in self.scale)

    def cap(self, steps: int) -> int:
        """Return the steps after which a trial is stopped: these, or the task's time limit if it is shorter."""
        return steps if self.limit is None else min(steps, self.limit)

    def controllable_among(self, states: np.ndarray) -> np.ndarray:
        """Which rows of states are not doomed; all of them where that is unknown."""
        if self.controllable is None:
            return np.arange(len(states))
        return np.array(
            [n for n, row in enumerate(states) if self.controllable(self.task, tuple(row))], dtype=int
        )
