"""The contract of a partition as a check; our own partitions have to pass it, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from distinguo.errors import DistinguoError, whole_number
from distinguo.representations import partition as partitions
from distinguo.representations.geometry import landmarks
from distinguo.representations.partition import (
    State,
    checked_point,
    count_regions,
    lacking,
    regions_of,
)
from distinguo.seam import is_compiled

MOST_STATES = 10**7  #: in one check
BEYOND = 3.0  #: states are also taken from this many widths around the extent, as a task may go there


def checked_region(partition: Any, s: Any) -> int:
    """Return the region of ``s``, after a check that it has the right number of finite numbers.

    Public as ``distinguo.region``. In kernels and parts nothing is checked.

    >>> from distinguo.representations.voronoi import voronoi
    >>> checked_region(voronoi([[0.0], [1.0]], [1.0]), [0.9])
    1
    """
    known = partitions.region.dispatch(type(partition))  # type: ignore[attr-defined]
    if known is partitions.region.dispatch(object):  # type: ignore[attr-defined]
        raise lacking(partition, "has no regions", "make one with voronoi, grid or FunctionPartition")
    return int(known(partition, checked_point(partition, s)))


@overload(checked_region, jit_options={"nogil": True, "error_model": "numpy"}, strict=False)
def _region_in_kernels(partition: Any, s: Any) -> Any:
    return lambda partition, s: partitions.region(partition, s)


class PartitionCheck(NamedTuple):
    """The result of checking a valid partition."""

    regions: int
    states: int  #: the number of states that were tried
    unreached: tuple[int, ...]  #: regions that none of them fell in


def check_partition(
    partition: Any, low: Sequence[float], high: Sequence[float], *, states: int = 1000, seed: int = 0
) -> PartitionCheck:
    """Try a partition on states in and around an extent, and raise an error if it breaks its contract.

    Every state must have an existing region, always the same one, and compiled code must find the same region as
    Python. Regions that no state fell in are no error; the result names them.

    >>> from distinguo.representations.declare import FunctionPartition
    >>> check_partition(FunctionPartition(lambda s: int(s[0] > 0), regions=3), [-1.0], [1.0])
    PartitionCheck(regions=3, states=1003, unreached=(2,))
    """
    whole_number("states", states, 1, MOST_STATES)
    whole_number("The seed", seed)
    count, name = _count(partition), type(partition).__name__
    rows = _states(partition, *_extent(low, high), states, seed)
    regions = [_region(partition, tuple(row)) for row in rows.tolist()]
    for row, j in zip(rows.tolist(), regions, strict=True):
        if not 0 <= j < count:
            raise DistinguoError(
                f"The partition {name} gave region {j} for {tuple(row)}; allowed are 0 to {count - 1}."
            )
        if _region(partition, tuple(row)) != j:
            raise DistinguoError(
                f"The partition {name} gave another region than {j} for {tuple(row)} when it was asked again; a "
                "region must depend on the state alone."
            )
    if is_compiled(partition):
        _check_compiled(partition, rows, regions)
    return PartitionCheck(count, len(rows), tuple(sorted(set(range(count)) - set(regions))))


def _count(partition: Any) -> int:
    count = count_regions(partition)
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
        raise DistinguoError(
            f"The partition {type(partition).__name__} should have one region or more, got {count!r}."
        )
    return int(count)


def _extent(low: Sequence[float], high: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = np.array(low, dtype=float), np.array(high, dtype=float)
    if lower.shape != upper.shape or not np.isfinite([lower, upper]).all() or (lower > upper).any():
        raise DistinguoError(
            f"A partition is checked between two finite corners, the lower one first, got {low} and {high}."
        )
    return lower, upper


def _states(partition: Any, low: np.ndarray, high: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Return states of the extent, its corners and middle, states around it, and the partition's landmarks."""
    rng, middle, width = np.random.default_rng(seed), (low + high) / 2, high - low
    inside = rng.uniform(low, high, (count - count // 5, len(low)))
    around = middle + BEYOND * width * rng.uniform(-1.0, 1.0, (count // 5, len(low)))
    known = landmarks(partition).reshape(-1, len(low))
    return np.vstack([inside, around, low, middle, high, known])


def _region(partition: Any, s: State) -> int:
    try:
        j = partitions.region(partition, s)
    except DistinguoError:
        raise
    except Exception as error:
        raise DistinguoError(
            f"The partition {type(partition).__name__} has no region for {s}: {type(error).__name__}: {error}."
        ) from error
    if not isinstance(j, int | np.integer) or isinstance(j, bool):
        raise DistinguoError(
            f"The partition {type(partition).__name__} gave {j!r} as the region of {s}; a region is a whole number: "
            "return int(…)."
        )
    return int(j)


def _check_compiled(partition: Any, rows: np.ndarray, regions: list[int]) -> None:
    name = type(partition).__name__
    try:
        compiled = regions_of(partition, rows)
    except Exception as error:  # Numba raises several kinds
        raise DistinguoError(
            f"The partition {name} cannot be compiled ({_reason(error)}); use only what Numba knows, or say "
            "@partition(compiled=False)."
        ) from error
    for row, there, here in zip(rows.tolist(), compiled.tolist(), regions, strict=True):
        if there != here:
            raise DistinguoError(
                f"The partition {name} gave region {there} for {tuple(row)} compiled, but {here} as plain Python; "
                "look for whole numbers that overflow, or say @partition(compiled=False)."
            )


def _reason(error: Exception, most: int = 200) -> str:
    """Return the core of Numba's long message: why the innermost function was rejected."""
    words = " ".join(str(error).rpartition("raised a specific error:")[2].split())
    return words.partition(" raised from ")[0][:most]
