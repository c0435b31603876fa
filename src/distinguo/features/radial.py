"""Radial basis functions: bell curves whose centres lie on a grid.

``f_i(s) = exp(-1/2 sum_k ((s_k - c_ik) / w_k)^2)``, or divided by the sum over all centres when normalised. On a
grid the exponential is a product of one factor per coordinate, so that ten by ten centres cost twenty
exponentials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from distinguo.features.extent import check_number, checked_box, checked_counts, checked_width, product
from distinguo.features.feature import activate, are_memberships, coordinates_of, count_features, room_needed
from distinguo.seam import implements, part


class RadialBases(NamedTuple):
    """Bell curves on a grid of centres; beyond the grid a state is seen as the nearest one within it.

    >>> three = radial_bases([3], low=[0.0], high=[1.0])
    >>> active, strengths = np.zeros(6, dtype=np.int64), np.zeros(6)
    >>> activate(three, (0.5,), active, strengths), strengths[:3].round(3).tolist()
    (3, [0.607, 1.0, 0.607])
    """

    low: np.ndarray  #: (dimensions,) the lowest centre
    high: np.ndarray  #: (dimensions,) the highest one
    counts: np.ndarray  #: (dimensions,) centres along each coordinate
    width: np.ndarray  #: (dimensions,) of the bell: its standard deviation
    normalised: bool = False  #: whether strengths add up to 1


def radial_bases(
    counts: Sequence[int],
    low: Sequence[float],
    high: Sequence[float],
    *,
    width: float = 1.0,
    normalised: bool = False,
) -> RadialBases:
    """Put ``counts[i]`` centres along each coordinate, at equal distances from ``low`` to ``high``.

    ``width`` is that of a bell in distances between centres. A single centre lies in the middle of the extent, which
    then takes the place of the distance.
    """
    lower, upper = checked_box("Radial basis functions", low, high)
    number = checked_counts("Radial basis functions", counts, len(lower))
    check_number("Radial basis functions", product(number))
    pitch = (upper - lower) / np.maximum(number - 1, 1)
    single = number == 1
    middle = (lower + upper) / 2
    return RadialBases(
        np.where(single, middle, lower),
        np.where(single, middle, upper),
        number,
        pitch * checked_width(width),
        bool(normalised),
    )


@implements(activate, RadialBases)
def bells_at(features: RadialBases, s: tuple[float, ...], active: np.ndarray, strengths: np.ndarray) -> int:
    """Multiply the factors of the coordinates, in row-major order of the centres."""
    count = 1
    strengths[0] = 1.0
    spare = len(strengths) - 1  # the factors of one coordinate are kept at the far end of the row
    for i in range(len(s)):
        own = int(features.counts[i])
        for k in range(own):
            strengths[spare - k] = _factor(features, s[i], i, k)
        for back in range(count):
            j = count - 1 - back
            so_far = strengths[j]
            for k in range(own):
                strengths[j * own + own - 1 - k] = so_far * strengths[spare - (own - 1 - k)]
        count *= own
    for j in range(count):
        active[j] = j
    if features.normalised:
        total = 0.0
        for j in range(count):
            total += strengths[j]
        for j in range(count):
            strengths[j] /= total
    return count


@part
def _factor(features: RadialBases, x: float, i: int, k: int) -> float:
    """Return what one coordinate gives to the bells whose centre is the k-th along it."""
    low, high = features.low[i], features.high[i]
    pitch = (high - low) / max(features.counts[i] - 1, 1)
    seen = min(max(x, low), high) if features.counts[i] > 1 else x
    away = (seen - (low + k * pitch)) / features.width[i]
    return math.exp(-0.5 * away * away)


@implements(are_memberships, RadialBases)
def _(features: RadialBases) -> bool:
    return True


@count_features.register(RadialBases)
def _(features: RadialBases) -> int:
    return product(features.counts)


@room_needed.register(RadialBases)
def _(features: RadialBases) -> int:
    return product(features.counts) + int(features.counts.max())


@coordinates_of.register(RadialBases)
def _(features: RadialBases) -> int:
    return len(features.low)
