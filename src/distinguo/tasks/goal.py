"""What a task asks for, and what a batch of trials shows of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Hold(NamedTuple):
    """Trials should never end; they are judged by their length.

    >>> Hold().scores(np.array([10, 500]), np.array([-1.0, 0.0])).tolist()
    [10, 500]
    """

    name: str = "length"
    #: A proof that a trial never ends decides it, and trials may start anywhere in the middle of the space.
    is_proven_by_lengths: bool = True

    def scores(self, lengths: np.ndarray, returns: np.ndarray) -> np.ndarray:
        """Return what each trial is judged by."""
        return lengths

    def reached(self, ended: np.ndarray, returns: np.ndarray) -> np.ndarray:
        """Return which trials did what is asked for."""
        return ~ended


class MeanReturn(NamedTuple):
    """The mean return of trials should reach a threshold, where one is known.

    >>> MeanReturn(475.0).reached(np.array([True, False]), np.array([100.0, 500.0])).tolist()
    [False, True]
    """

    threshold: float | None = None
    name: str = "return"
    is_proven_by_lengths: bool = False

    def scores(self, lengths: np.ndarray, returns: np.ndarray) -> np.ndarray:
        """Return what each trial is judged by."""
        return returns

    def reached(self, ended: np.ndarray, returns: np.ndarray) -> np.ndarray:
        """Return which trials did what is asked for; without a threshold, those that were still running."""
        return ~ended if self.threshold is None else returns >= self.threshold


Goal = Hold | MeanReturn
