"""Numbers for the regions of a partition."""

from __future__ import annotations

from typing import Any

import numpy as np


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
