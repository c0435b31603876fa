"""Prototypes with room to grow, and regions made of them: what all partitions by nearest prototype share.

Their fields ``prototypes``, ``primary`` and ``size`` mean the same; they differ in what "nearest" means.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.seam import part


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


@part
def count_regions(partition: Any) -> int:
    """Return the number of regions, simple and compound."""
    count = 0
    for p in range(partition.size[0]):
        count += partition.primary[p] == p
    return count


def grown(partition: Any, room: int) -> Any:
    """Return a copy with room for ``room`` prototypes."""
    size = int(partition.size[0])
    rows = np.zeros((max(room, size), partition.prototypes.shape[1]))
    rows[:size] = partition.prototypes[:size]
    primary = np.arange(len(rows), dtype=np.int64)
    primary[:size] = partition.primary[:size]
    return partition._replace(prototypes=rows, primary=primary, size=np.array([size]))


def without_room(partition: Any) -> Any:
    """Return a copy without room to grow."""
    size = int(partition.size[0])
    return partition._replace(
        prototypes=partition.prototypes[:size].copy(),
        primary=partition.primary[:size].copy(),
        size=partition.size.copy(),
    )
