"""Partitions into axis-aligned boxes: grids and trees of boxes.

A box partition is a binary tree of cuts. A state goes to the low side of a cut when its coordinate is below it, to
the high side otherwise, until it reaches a leaf; leaves are numbered in the order of a depth-first walk, low side
first. The outermost boxes reach to infinity, so every state has a region.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError, attempt, shown, whole_number
from distinguo.representations.partition import count_dimensions, count_regions, region
from distinguo.seam import implements

MOST_BOXES = 10**6  #: of a grid


class Boxes(NamedTuple):
    """A tree of cuts, one row per node; row 0 is the root.

    >>> four = grid([2, 2], low=[-1.0, -1.0], high=[1.0, 1.0])
    >>> [region(four, s) for s in [(-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (9.0, 9.0)]]
    [0, 1, 2, 3]
    """

    axis: np.ndarray  #: (nodes,) the coordinate that is cut; -1 at a leaf
    cut: np.ndarray  #: (nodes,) where it is cut
    below: np.ndarray  #: (nodes,) the child on the low side; at a leaf its region
    above: np.ndarray  #: (nodes,) the child on the high side
    low: np.ndarray  #: (dimensions,) the nominal extent, for pictures and start boxes
    high: np.ndarray  #: (dimensions,)


Box = tuple[tuple[float, ...], tuple[float, ...]]
#: Where to cut a box: a coordinate and a place, or None to keep it whole.
Cut = Callable[[Box, int], tuple[int, float] | None]


@implements(region, Boxes)
def leaf_of(partition: Boxes, s: tuple[float, ...]) -> int:
    """Walk down the cuts to the leaf that holds ``s``."""
    node = 0
    while partition.axis[node] >= 0:
        node = (
            partition.below[node] if s[partition.axis[node]] < partition.cut[node] else partition.above[node]
        )
    return int(partition.below[node])


def tree(low: Sequence[float], high: Sequence[float], cut: Cut) -> Boxes:
    """Cut the box from ``low`` to ``high`` recursively; ``cut(box, depth)`` says where, or None to stop."""
    rows: list[list[float]] = []
    leaves = 0

    def grow(box: Box, depth: int) -> int:
        nonlocal leaves
        place = len(rows)
        decision = cut(box, depth)
        if decision is None:
            rows.append([-1, 0.0, leaves, 0])
            leaves += 1
            return place
        axis, where = decision
        rows.append([axis, where, 0, 0])
        rows[place][2] = grow((box[0], _with(box[1], axis, where)), depth + 1)
        rows[place][3] = grow((_with(box[0], axis, where), box[1]), depth + 1)
        return place

    grow((tuple(map(float, low)), tuple(map(float, high))), 0)
    axis, where, below, above = (np.array(column) for column in zip(*rows, strict=True))
    return Boxes(
        axis.astype(np.int64),
        where.astype(np.float64),
        below.astype(np.int64),
        above.astype(np.int64),
        np.array(low, dtype=np.float64),
        np.array(high, dtype=np.float64),
    )


def _with(corner: tuple[float, ...], axis: int, value: float) -> tuple[float, ...]:
    return (*corner[:axis], value, *corner[axis + 1 :])


def _are_extents(low: np.ndarray, high: np.ndarray) -> bool:
    return low.ndim == 1 and bool(np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all())


def grid(counts: Sequence[int], low: Sequence[float], high: Sequence[float]) -> Boxes:
    """Cut each coordinate into ``counts[i]`` equal intervals; regions are numbered in row-major order.

    >>> grid([2, 2], low=[0.0, 0.0], high=[1.0])
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: A grid needs a count, a low and a higher end for each coordinate, got ...
    """
    ends = [attempt(np.array, end, np.float64, otherwise=np.zeros(0)) for end in (low, high)]
    if not len(ends[0]) == len(ends[1]) == len(counts) > 0 or not _are_extents(*ends):
        raise DistinguoError(
            "A grid needs a count, a low and a higher end for each coordinate, got "
            f"{shown(counts)}, {shown(low)} and {shown(high)}."
        )
    if math.prod(whole_number("A count of a grid", n, 1, MOST_BOXES) for n in counts) > MOST_BOXES:
        raise DistinguoError(f"A grid has at most {MOST_BOXES:,} boxes, got {shown(counts)}; take fewer.")
    edges = [np.linspace(a, b, n + 1) for a, b, n in zip(low, high, counts, strict=True)]

    def halve(box: Box, depth: int) -> tuple[int, float] | None:
        for axis, edge in enumerate(edges):
            inside = edge[(edge > box[0][axis]) & (edge < box[1][axis])]
            if len(inside):
                return axis, float(inside[len(inside) // 2])
        return None

    return tree(low, high, halve)


@count_dimensions.register(Boxes)
def _(partition: Boxes) -> int:
    return len(partition.low)


@count_regions.register(Boxes)
def count_leaves(partition: Boxes) -> int:
    """Return the number of leaves, each a region."""
    return int((partition.axis < 0).sum())


def leaf_boxes(partition: Boxes) -> list[Box]:
    """Return the box of each region, clipped to the nominal extent, in the order of the regions."""
    whole: Box = (tuple(partition.low.tolist()), tuple(partition.high.tolist()))
    boxes = [whole] * count_leaves(partition)
    todo = [(0, whole)]
    while todo:
        node, box = todo.pop()
        axis, below = int(partition.axis[node]), int(partition.below[node])
        if axis < 0:
            boxes[below] = box
            continue
        where = min(max(float(partition.cut[node]), box[0][axis]), box[1][axis])
        todo.append((below, (box[0], _with(box[1], axis, where))))
        todo.append((int(partition.above[node]), (_with(box[0], axis, where), box[1])))
    return boxes


LARGEST_TABLE = 1_000_000
MOST_CUTS = 128  #: per coordinate; with more, a walk down the tree is quicker


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
    """Return the fastest form of a partition with exactly the same regions; by default itself."""
    return partition


@for_lookup.register(Boxes)
def tabulated(partition: Boxes) -> Boxes | BoxTable:
    """Return the partition as a table, or as it is if the table would be too large."""
    dimensions = len(partition.low)
    cuts = [np.unique(partition.cut[partition.axis == i]) for i in range(dimensions)]
    shape = [len(c) + 1 for c in cuts]
    if max(shape) > MOST_CUTS + 1 or np.prod(shape, dtype=np.float64) > LARGEST_TABLE:
        return partition
    padded = np.full((dimensions, max(max(shape) - 1, 1)), np.nan)  # no number is at or above NaN
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
