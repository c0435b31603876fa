"""What kinds of features share: the box of states that they are laid over, and its checks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from distinguo.errors import DistinguoError, attempt, shown, whole_number
from distinguo.features.feature import MOST_FEATURES


def checked_box(what: str, low: Any, high: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the two corners of a box as arrays, or say what is wrong with them.

    >>> checked_box("Tiles", [0], [0])
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Tiles need a finite low and a higher end for each coordinate, got [0] and [0].
    """
    ends = [attempt(np.array, end, np.float64, otherwise=np.zeros(0)) for end in (low, high)]
    alike = ends[0].ndim == 1 and ends[0].shape == ends[1].shape and len(ends[0]) > 0
    if not alike or not np.isfinite(ends).all() or not (ends[0] < ends[1]).all():
        raise DistinguoError(
            f"{what} need a finite low and a higher end for each coordinate, got {shown(low)} and {shown(high)}."
        )
    return ends[0], ends[1]


def checked_counts(what: str, counts: Any, dimensions: int) -> np.ndarray:
    """Return one whole number from 1 per coordinate, or say what is wrong with them."""
    given = list(counts) if isinstance(counts, Sequence | np.ndarray) and not isinstance(counts, str) else []
    if len(given) != dimensions:
        raise DistinguoError(f"{what} need {dimensions} counts, one per coordinate, got {shown(counts)}.")
    return np.array([whole_number(f"A count of {what.lower()}", n, 1, MOST_FEATURES) for n in given])


def checked_width(width: Any) -> float:
    """Return the width of a bell in distances between centres, or say what is wrong with it."""
    if isinstance(width, bool) or not isinstance(width, Real) or not 0.01 <= float(width) <= 100.0:
        raise DistinguoError(
            "The width of radial basis functions is a number from 0.01 to 100, in distances between centres, got "
            f"{shown(width)}."
        )
    return float(width)


def check_number(what: str, features: int) -> None:
    """Refuse more features than anybody could learn the weights of."""
    if features > MOST_FEATURES:
        raise DistinguoError(
            f"{what} may have {MOST_FEATURES:,} features at most, got {features:,}; take fewer."
        )


def product(counts: np.ndarray) -> int:
    """Return the product of counts as a number that cannot overflow."""
    return math.prod(counts.tolist())
