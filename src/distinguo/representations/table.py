"""Box partitions as a table: the same regions as the tree of cuts, found without branches.

The cuts of each coordinate, sorted, make a grid that refines every box; the place of a state in it is the number of
cuts at or below each coordinate. Trees of many cuts, or in many dimensions, have no table of reasonable size and stay
trees.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from distinguo.representations.boxes import Boxes, leaf_of
from distinguo.representations.partition import count_regions, region
from distinguo.seam import implements

LARGEST_TABLE = 1_000_000
MOST_CUTS = 128  #: per coordinate; beyond that a walk down the tree is quicker


class BoxTable(NamedTuple):
    """The cuts of each coordinate and the region of each place between them.

    >>> from distinguo.representations.boxes import grid
    >>> four = grid([2, 2], low=[-1.0, -1.0], high=[1.0, 1.0])
    >>> table = tabulated(four)
    >>> [region(table, s) == region(four, s) for s in [(0.0, 0.0), (-0.5, 3.0), (0.5, -0.1)]]
    [True, True, True]
    """

    cuts: np.ndarray  #: (dimensions, most) sorted; filled up with NaN
    strides: np.ndarray  #: (dimensions,) of the table
    regions: np.ndarray  #: the region of each place, flattened


@singledispatch
def for_lookup(partition: Any) -> Any:
    """Return the quickest form of a partition that has the very same regions; usually itself."""
    return partition


@for_lookup.register(Boxes)
def tabulated(partition: Boxes) -> Boxes | BoxTable:
    """Return the partition as a table, or as it is if the table would be too large."""
    dimensions = len(partition.low)
    cuts = [np.unique(partition.cut[partition.axis == i]) for i in range(dimensions)]
    shape = [len(c) + 1 for c in cuts]
    if max(shape) > MOST_CUTS + 1 or np.prod(shape, dtype=np.float64) > LARGEST_TABLE:
        return partition
    padded = np.full((dimensions, max(max(shape) - 1, 1)), np.nan)  # no number is at or above it
    for i, c in enumerate(cuts):
        padded[i, : len(c)] = c
    corners = [np.concatenate([[-np.inf], c]) for c in cuts]  # the lowest state of each place
    regions = np.array([leaf_of(partition, s) for s in _product(corners)], dtype=np.int64)
    strides = np.cumprod([1, *shape[:0:-1]])[::-1].astype(np.int64)
    return BoxTable(padded, np.ascontiguousarray(strides), regions)


def _product(corners: list[np.ndarray]) -> list[tuple[float, ...]]:
    grids = np.meshgrid(*corners, indexing="ij")
    return list(map(tuple, np.stack([g.ravel() for g in grids], axis=1).tolist()))


@implements(region, BoxTable)
def region_between_cuts(partition: BoxTable, s: tuple[float, ...]) -> int:
    """Count the cuts at or below each coordinate."""
    place = 0
    for i in range(len(s)):
        count = 0
        for k in range(partition.cuts.shape[1]):
            count += s[i] >= partition.cuts[i, k]
        place += count * partition.strides[i]
    return int(partition.regions[place])


@count_regions.register(BoxTable)
def _(partition: BoxTable) -> int:
    return int(partition.regions.max()) + 1
