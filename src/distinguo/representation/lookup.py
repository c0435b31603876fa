"""Many observations to their regions at once, compiled where the partition is."""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.representation.partition import region
from distinguo.seam import at_speed, kernel


def regions_of(partition: Any, rows: np.ndarray) -> np.ndarray:
    """Return the region of every row.

    >>> from distinguo.representation.voronoi import voronoi
    >>> regions_of(voronoi([[0.0, 0.0], [1.0, 1.0]], [1.0, 1.0]), np.array([[0.9, 0.8], [0.1, 0.2]]))
    array([1, 0])
    """
    found = np.empty(len(rows), dtype=np.int64)
    at_speed(_find, partition)(partition, rows, found)
    return found


@kernel
def _find(partition: Any, rows: np.ndarray, found: np.ndarray) -> None:
    for n in range(len(rows)):
        found[n] = region(partition, rows[n])


def numbering(partition: Any) -> np.ndarray:
    """Return the number of the region that a partition calls ``j``: 0, 1, 2, … without gaps.

    Partitions by nearest prototype call a region by its primary prototype; those of boxes number theirs densely.

    >>> from distinguo.representation.voronoi import voronoi
    >>> merged = voronoi([[0.0], [1.0], [2.0]], [1.0])
    >>> merged.primary[1] = 0
    >>> numbering(merged)
    array([ 0, -1,  1])
    """
    if hasattr(partition, "primary"):
        own = partition.primary[: partition.size[0]] == np.arange(partition.size[0])
        return np.where(own, np.cumsum(own) - 1, -1)
    leaves = (partition.axis < 0).sum() if hasattr(partition, "axis") else partition.regions
    return np.arange(int(leaves))
