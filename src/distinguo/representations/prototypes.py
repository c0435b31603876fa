"""Regions made of prototypes, and their numbers: what all partitions by nearest prototype share.

Their fields ``prototypes``, ``regions`` and ``primaries`` mean the same; they differ in what "nearest" means.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from distinguo.representations.partition import Prototypes, count_dimensions, count_regions, prototypes_of

Kind = TypeVar("Kind", bound=type)


def numbered(count: int, primary: Sequence[int] | np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the region of each of ``count`` prototypes, and the primary prototype of each region.

    This is the one place where regions get their numbers: 0, 1, 2, … in the order of their primaries. ``primary``
    names the primary prototype of each prototype; without it every prototype is a region of its own.

    >>> regions, primaries = numbered(4, [2, 1, 2, 1])
    >>> regions.tolist(), primaries.tolist()
    ([1, 0, 1, 0], [1, 2])
    """
    rows = np.arange(count)
    belongs_to = rows if primary is None else np.array(primary, dtype=np.int64)
    primaries = np.flatnonzero(belongs_to == rows)
    numbers = np.full(count, -1)
    numbers[primaries] = np.arange(len(primaries))
    return numbers[belongs_to], primaries


def by_prototypes(kind: Kind) -> Kind:
    """Give a class with the three fields what all partitions by nearest prototype can do."""
    prototypes_of.register(kind, _prototypes)
    count_regions.register(kind, lambda partition: len(partition.primaries))
    count_dimensions.register(kind, lambda partition: partition.prototypes.shape[1])
    return kind


def _prototypes(partition: Any) -> Prototypes:
    return Prototypes(partition.prototypes, partition.regions, partition.primaries)
