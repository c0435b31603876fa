"""Partitions that a learner works on: prototypes with room to grow, regions that are split, merged and detached.

While regions come and go a region is known by the row of its primary prototype, and so are its rows in the learner's
tables. What a learner hands out is :func:`settled`: there regions have their numbers, 0, 1, 2, …
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from distinguo.representations.categories import Categories, categories, most_alike
from distinguo.representations.partition import State, nearest, region
from distinguo.representations.voronoi import Voronoi, nearest_of, voronoi
from distinguo.seam import implements, part

__all__ = [
    "GrowingCategories",
    "GrowingVoronoi",
    "add",
    "detach",
    "growing_categories",
    "growing_voronoi",
    "grown",
    "is_at",
    "is_primary",
    "merge",
    "nearest",
    "primary_rows",
    "region",
    "settled",
]


class GrowingVoronoi(NamedTuple):
    """A Voronoi partition with room to grow.

    >>> two = growing_voronoi([[1.0], [-1.0]], scale=[1.0], room=4)
    >>> merge(two, 1, 0)
    >>> region(two, (0.3,)), region(settled(two), (0.3,))
    (1, 0)
    """

    prototypes: np.ndarray  #: (room, dimensions); the first ``size[0]`` rows count
    primary: np.ndarray  #: (room,) the primary prototype of each prototype
    size: np.ndarray  #: (1,) how many prototypes there are
    scale: np.ndarray  #: (dimensions,) the width of each coordinate
    weight: np.ndarray  #: (dimensions,) 1 / scale


class GrowingCategories(NamedTuple):
    """A partition of categories with room to grow; see :class:`GrowingVoronoi` for the fields."""

    prototypes: np.ndarray
    primary: np.ndarray
    size: np.ndarray


def growing_voronoi(prototypes: ArrayLike, scale: ArrayLike, room: int = 0) -> GrowingVoronoi:
    """Build a partition of simple regions, with room for at least ``room`` prototypes."""
    widths = np.array(scale, dtype=np.float64)
    return GrowingVoronoi(*_room_for(prototypes, room), widths, 1.0 / widths)


def growing_categories(prototypes: ArrayLike, room: int = 0) -> GrowingCategories:
    """Build a partition of simple regions, with room for at least ``room`` prototypes."""
    return GrowingCategories(*_room_for(prototypes, room))


def _room_for(prototypes: ArrayLike, room: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    points = np.array(prototypes, dtype=np.float64)
    count, dimensions = points.shape
    rows = np.zeros((max(room, count), dimensions))
    rows[:count] = points
    return rows, np.arange(len(rows), dtype=np.int64), np.array([count])


@implements(nearest, GrowingVoronoi)
@part
def nearest_growing(partition: GrowingVoronoi, s: State) -> int:
    """Return the index of the prototype nearest to ``s``."""
    return nearest_of(partition.prototypes, partition.size[0], partition.weight, s)


@implements(nearest, GrowingCategories)
@part
def most_alike_growing(partition: GrowingCategories, s: State) -> int:
    """Return the index of the prototype that differs from ``s`` in the fewest coordinates."""
    return most_alike(partition.prototypes, partition.size[0], s)


@implements(region, GrowingVoronoi)
def primary_nearest(partition: GrowingVoronoi, s: State) -> int:
    """Return the primary prototype that stands for ``s``."""
    return int(partition.primary[nearest_growing(partition, s)])


@implements(region, GrowingCategories)
def primary_most_alike(partition: GrowingCategories, s: State) -> int:
    """Return the primary prototype that stands for ``s``."""
    return int(partition.primary[most_alike_growing(partition, s)])


@singledispatch
def settled(partition: Any) -> Any:
    """Return a copy for others, without room to grow: its regions are numbered 0, 1, 2, … in order of primaries."""
    raise NotImplementedError


@settled.register
def _(partition: GrowingVoronoi) -> Voronoi:
    size = int(partition.size[0])
    return voronoi(partition.prototypes[:size], partition.scale, partition.primary[:size])


@settled.register
def _(partition: GrowingCategories) -> Categories:
    size = int(partition.size[0])
    return categories(partition.prototypes[:size], partition.primary[:size])


def primary_rows(partition: Any) -> np.ndarray:
    """Return the rows of the primary prototypes, in the order of the numbers that their regions will have.

    >>> three = growing_categories([[0.0], [1.0], [2.0]], room=8)
    >>> merge(three, 0, 1)
    >>> primary_rows(three).tolist()
    [0, 2]
    """
    size = int(partition.size[0])
    return np.flatnonzero(partition.primary[:size] == np.arange(size))


@part
def add(partition: Any, s: State) -> int:
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
def is_at(partition: Any, p: int, s: State) -> bool:
    """Whether ``s`` is prototype ``p`` itself."""
    for i in range(len(s)):
        if s[i] != partition.prototypes[p, i]:
            return False
    return True


@part
def is_primary(partition: Any, p: int) -> bool:
    """Whether prototype ``p`` stands for a region."""
    return partition.primary[p] == p


def grown(partition: Any, room: int) -> Any:
    """Return a copy with room for ``room`` prototypes."""
    count = int(partition.size[0])
    rows, primary, size = _room_for(partition.prototypes[:count], room)
    primary[:count] = partition.primary[:count]
    return partition._replace(prototypes=rows, primary=primary, size=size)
