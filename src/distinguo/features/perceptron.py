"""A perceptron: a weighted sum of the scaled coordinates and a bias, and of threshold units if there are any.

Without units it is the plain linear function of the state. Units are Rosenblatt's association layer: each responds
with 1 on one side of a plane through the states, with 0 on the other, and is not learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from distinguo.errors import whole_number
from distinguo.features.extent import checked_box
from distinguo.features.feature import MOST_FEATURES, activate, coordinates_of, count_features
from distinguo.seam import implements


class Perceptron(NamedTuple):
    """Feature 0 is the bias, always 1; then the coordinates, from -1 to 1 over the extent; then the units.

    >>> linear = perceptron(low=[0.0, 0.0], high=[1.0, 4.0])
    >>> active, strengths = np.zeros(3, dtype=np.int64), np.zeros(3)
    >>> activate(linear, (1.0, 1.0), active, strengths), strengths.tolist()
    (3, [1.0, 1.0, -0.5])
    """

    middle: np.ndarray  #: (dimensions,) of the extent
    half: np.ndarray  #: (dimensions,) half its width
    normals: np.ndarray  #: (units, dimensions) of the planes of the units, in scaled coordinates
    thresholds: np.ndarray  #: (units,) where along its normal a plane lies


def perceptron(low: Sequence[float], high: Sequence[float], units: int = 0, seed: int = 0) -> Perceptron:
    """Make a perceptron over the box from ``low`` to ``high``, with so many threshold units.

    The plane of a unit has a direction drawn at random and goes through a state drawn at random from the box, both
    in scaled coordinates: the sources leave the wiring of the association layer to chance.
    """
    lower, upper = checked_box("Perceptrons", low, high)
    count = whole_number("The number of units", units, 0, MOST_FEATURES)
    rng = np.random.default_rng(whole_number("The seed", seed))
    directions = rng.normal(size=(count, len(lower)))
    normals = directions / np.sqrt((directions**2).sum(axis=1, keepdims=True))
    through = rng.uniform(-1.0, 1.0, (count, len(lower)))
    return Perceptron((lower + upper) / 2, (upper - lower) / 2, normals, (normals * through).sum(axis=1))


@implements(activate, Perceptron)
def units_at(features: Perceptron, s: tuple[float, ...], active: np.ndarray, strengths: np.ndarray) -> int:
    """Scale the coordinates and ask every unit on which side of its plane they lie."""
    dimensions, units = len(features.middle), len(features.thresholds)
    strengths[0] = 1.0
    for i in range(dimensions):
        strengths[1 + i] = (s[i] - features.middle[i]) / features.half[i]
    for u in range(units):
        along = 0.0
        for i in range(dimensions):
            along += features.normals[u, i] * strengths[1 + i]
        strengths[1 + dimensions + u] = 1.0 if along >= features.thresholds[u] else 0.0
    count = 1 + dimensions + units
    for n in range(count):
        active[n] = n
    return count


@count_features.register(Perceptron)
def _(features: Perceptron) -> int:
    return 1 + len(features.middle) + len(features.thresholds)


@coordinates_of.register(Perceptron)
def _(features: Perceptron) -> int:
    return len(features.middle)
