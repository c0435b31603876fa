"""Prototypes with room to grow, and regions made of them: what all partitions by nearest prototype share.

Their fields ``prototypes``, ``primary`` and ``size`` mean the same; they differ in what "nearest" means.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from distinguo.representations.partition import (
    Prototypes,
    count_dimensions,
    count_regions,
    count_rows,
    prototypes_of,
    region_numbers,
    trimmed,
)
from distinguo.seam import part

Kind = TypeVar("Kind", bound=type)


def room_for(prototypes: ArrayLike, room: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the fields ``prototypes``, ``primary`` and ``size`` of simple regions, with room for at least so many.

    >>> rows, primary, size = room_for([[0.5]], room=3)
    >>> rows.shape, primary.tolist(), size.tolist()
    ((3, 1), [0, 1, 2], [1])
    """
    points = np.array(prototypes, dtype=np.float64)
    count, dimensions = points.shape
    rows = np.zeros((max(room, count), dimensions))
    rows[:count] = points
    return rows, np.arange(len(rows), dtype=np.int64), np.array([count])


def by_prototypes(kind: Kind) -> Kind:
    """Give a class with the three fields what all partitions by nearest prototype can do."""
    prototypes_of.register(kind, in_use)
    count_regions.register(kind, lambda partition: int(in_use(partition).is_primary.sum()))
    count_rows.register(kind, lambda partition: int(partition.size[0]))
    region_numbers.register(kind, lambda partition: np.flatnonzero(in_use(partition).is_primary))
    trimmed.register(kind, without_room)
    count_dimensions.register(kind, lambda partition: partition.prototypes.shape[1])
    return kind


def in_use(partition: Any) -> Prototypes:
    """Return the prototypes without the room to grow."""
    size = int(partition.size[0])
    return Prototypes(partition.prototypes[:size], partition.primary[:size])


@part
def add(partition: Any, s: tuple[float, ...]) -> int:
    """Add ``s`` as the prototype of a new simple region and return its index."""
    p = partition.size[0]
    for i in range(len(s)):
        partition.prototypes[p, i] = s[i]
    partition.primary[p] = p
    partition.size[0] = p + 1
    return p


@part
def merge(partition: Any, j: int, k: int) -> None:
    """Give region ``k`` to the primary prototype of region ``j``."""
    for p in range(partition.size[0]):
        if partition.primary[p] == k:
            partition.primary[p] = j


@part
def detach(partition: Any, p: int) -> None:
    """Make prototype ``p`` a simple region of its own again."""
    partition.primary[p] = p


@part
def is_at(partition: Any, p: int, s: tuple[float, ...]) -> bool:
    """Tell whether ``s`` is prototype ``p`` itself."""
    for i in range(len(s)):
        if s[i] != partition.prototypes[p, i]:
            return False
    return True


@part
def is_primary(partition: Any, p: int) -> bool:
    """Tell whether prototype ``p`` stands for a region."""
    return partition.primary[p] == p


def grown(partition: Any, room: int) -> Any:
    """Return a copy with room for ``room`` prototypes."""
    points, belongs_to = in_use(partition)
    rows, primary, size = room_for(points, room)
    primary[: len(points)] = belongs_to
    return partition._replace(prototypes=rows, primary=primary, size=size)


def without_room(partition: Any) -> Any:
    """Return a copy without room to grow."""
    points, primary = in_use(partition)
    return partition._replace(prototypes=points.copy(), primary=primary.copy(), size=partition.size.copy())
