"""The ε at which two states would be merged: Definition 9 read as a question about ε, answered to the last bit.

An action is preferred from some ε on and stays so, and so are values that are close enough. Between two such points
nothing changes, so the least ε is one of them; each is found by halving the numbers there are between two floats.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import partial

import numpy as np

from distinguo.criteria import compatible, state_value

EQUAL, HALF = (
    1.0,
    0.5,
)  #: delta as a share of epsilon: that of Figure 6, and the greatest for which Eq. 5 holds


def merging_epsilon(q1: np.ndarray, q2: np.ndarray, share: float = EQUAL) -> float | None:
    """Return the least ε at which two profiles are compatible with ``delta = share * epsilon``; None if at no ε.

    Figure 6 takes delta = ε: then Eq. 6 wants the same best actions, and no ε can make up for different ones. With
    delta = ε/2 Eq. 5 takes its place, and some ε always does.

    >>> left, right = np.array([-0.1, -0.9]), np.array([-0.8, -0.2])
    >>> merging_epsilon(left, right), round(merging_epsilon(left, right, HALF), 3)
    (None, 1.6)
    >>> round(merging_epsilon(left, np.array([-0.4, -0.9])), 3)
    0.3
    """
    for epsilon in sorted(_turning_points(q1, q2, share)):
        if compatible(q1, q2, epsilon, share * epsilon):
            return epsilon
    return None


def _turning_points(q1: np.ndarray, q2: np.ndarray, share: float) -> set[float]:
    """Return the values of ε at which a rule of Definition 9 may begin or cease to hold."""
    apart = abs(state_value(q1) - state_value(q2))
    points = {_least(lambda epsilon: apart <= share * epsilon)}
    for q in (q1, q2):
        for value in q.tolist():
            for factor in {1.0, share}:
                points.add(_least(partial(_is_preferred, value, state_value(q), factor)))
    return {point for point in points if math.isfinite(point)}


def _is_preferred(value: float, best: float, factor: float, epsilon: float) -> bool:
    """Definition 7, of numbers: many are tried."""
    return value >= best - factor * epsilon


def _least(holds: Callable[[float], bool]) -> float:
    """Return the least number from 0 for which something holds that holds for all greater ones."""
    low, high = -1, _place(math.inf)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(_number(middle)) else (middle, high)
    return _number(high)


def _place(number: float) -> int:
    """Return which of the numbers from 0 on this is: floats from 0 are ordered as their bits are."""
    place: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return place


def _number(place: int) -> float:
    number: float = struct.unpack("<d", struct.pack("<q", place))[0]
    return number
