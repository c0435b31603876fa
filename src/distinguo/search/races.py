"""Races on common starts: a map is compared with another one trial by trial, and given up when clearly behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from distinguo.search.maps import PrototypeMap

FEWEST = 5  #: trials before a map may be given up
HOPELESS = 2.0  #: standard errors by which it must be behind
FIRST_LOOKS = (5, 10, 20)  #: trials after which that is checked, where many are run at once


class Candidate(NamedTuple):
    """A map and its returns, one for each start."""

    map: PrototypeMap
    returns: np.ndarray

    @property
    def size(self) -> int:
        """The number of its prototypes."""
        return self.map.size

    @property
    def mean(self) -> float:
        """Its mean return."""
        return float(self.returns.mean())

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return float(self.returns.std(ddof=1) / np.sqrt(len(self.returns)))


class Contender(NamedTuple):
    """A map that races against the returns of another from the same starts; without them, it is run to the end."""

    map: PrototypeMap
    starts: Sequence[int]
    present: np.ndarray | None = None


def judged(
    contender: Contender, run: Callable[[Sequence[int]], np.ndarray], looks: Sequence[int] = FIRST_LOOKS
) -> np.ndarray:
    """Run a map from its starts and return the returns; fewer if it was given up after one of the ``looks``.

    >>> from distinguo.search.maps import prototype_map
    >>> behind = Contender(prototype_map([[0.0]], [0], [1.0]), range(20), np.arange(20.0) + 5.0)
    >>> len(judged(behind, lambda starts: np.array(starts, dtype=float)))
    5
    """
    starts, present, returns = contender.starts, contender.present, np.zeros(0)
    early = [] if present is None else [look for look in looks if look < len(starts)]
    for look in (*early, len(starts)):
        returns = np.concatenate([returns, run(starts[len(returns) : look])])
        if present is not None and look < len(starts) and is_hopeless(returns - present[:look]):
            break
    return returns


def is_hopeless(differences: np.ndarray) -> bool:
    """Whether the trials so far are so much worse that the rest need not be run.

    >>> is_hopeless(np.array([-1.0, -2.0, -1.0, -2.0, -1.0])), is_hopeless(np.array([-1.0, 5.0, -1.0, -2.0, -1.0]))
    (True, False)
    """
    if len(differences) < FEWEST:
        return False
    error = np.std(differences) / np.sqrt(len(differences))
    return bool(np.mean(differences) + HOPELESS * error < 0.0)
