"""Features of one's own: any function from a state to a vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError, attempt, call_user_code, shown
from distinguo.features.feature import activate, count_features
from distinguo.seam import implements_interpreted


class FunctionFeatures(NamedTuple):
    """A function from a state to the strengths of its features, and how many these are; it runs as plain Python.

    >>> squares = FunctionFeatures(lambda s: [1.0, s[0] ** 2, s[1] ** 2], features=3)
    >>> active, strengths = np.zeros(3, dtype=np.int64), np.zeros(3)
    >>> activate(squares, (2.0, 3.0), active, strengths), strengths.tolist()
    (3, [1.0, 4.0, 9.0])
    """

    function: Callable[[tuple[float, ...]], Any]
    features: int


@implements_interpreted(activate, FunctionFeatures)
def answers_of(
    features: FunctionFeatures, s: tuple[float, ...], active: np.ndarray, strengths: np.ndarray
) -> int:
    """Ask the function, and check its answer."""
    given = call_user_code("The feature function", features.function, s)
    row = attempt(np.asarray, given, np.float64, otherwise=np.zeros((0, 0)))
    if row.shape != (features.features,) or not np.isfinite(row).all():
        raise DistinguoError(
            f"The feature function should give {features.features} finite numbers for every state, but for {s} it "
            f"gave {_words(row, given)}; mend it, or the number of features."
        )
    strengths[:] = row
    active[:] = np.arange(len(row))
    return len(row)


def _words(row: np.ndarray, given: Any) -> str:
    if row.ndim != 1:
        return shown(given)
    if np.isfinite(row).all():
        return f"{len(row)} numbers"
    place = int(np.flatnonzero(~np.isfinite(row))[0])
    return f"{row[place]} as number {place}"


@count_features.register(FunctionFeatures)
def _(features: FunctionFeatures) -> int:
    count = features.features
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise DistinguoError(f"The number of features should be a whole number from 1, got {shown(count)}.")
    return int(count)
