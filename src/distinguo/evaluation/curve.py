"""Learning curves: what one run measured, and the average of several on common checkpoints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Curve(NamedTuple):
    """One run of the tester: a measurement at the end of some trials.

    >>> Curve([0, 700, 1200], [20.0, 90.0, 5e6], [0.0, 0.5, 1.0]).at([500, 1000]).tolist()
    [90.0, 5000000.0]
    """

    training_steps: list[int]  #: learning steps before each measurement
    scores: list[float]  #: the median over the batch
    survival: list[float]  #: the share of the controllable starts that reached the cap

    def add(self, steps: int, score: float, survival: float) -> None:
        """Add the measurement after so many training steps."""
        self.training_steps.append(steps)
        self.scores.append(score)
        self.survival.append(survival)

    def at(self, checkpoints: list[int]) -> np.ndarray:
        """Return the score at each checkpoint: of the first measurement after at least so many steps."""
        return np.array(self.scores)[self._places(checkpoints)]

    def survival_at(self, checkpoints: list[int]) -> np.ndarray:
        """Return the survival at each checkpoint, of the same measurements."""
        return np.array(self.survival)[self._places(checkpoints)]

    def _places(self, checkpoints: list[int]) -> np.ndarray:
        places = np.searchsorted(self.training_steps, checkpoints)
        return np.minimum(places, len(self.training_steps) - 1)


def checkpoints(steps: int, every: int) -> list[int]:
    """Return the training steps at which runs are compared.

    >>> checkpoints(10, 4)
    [0, 4, 8, 10]
    """
    return sorted({*range(0, steps, every), steps})
