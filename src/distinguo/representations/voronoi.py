"""Nearest-neighbour partitions (section 3 of the paper).

Every state belongs to its nearest prototype. Merged prototypes make up one region, and a *primary* prototype stands
for it. Distances are Euclidean after each coordinate is multiplied by its weight, the inverse of its scale
(docs/readings.md, "Metric"). If prototypes are equally near, the oldest wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from distinguo.errors import DistinguoError, attempt, shown
from distinguo.representations.partition import State, by_prototypes, nearest, numbered, region
from distinguo.seam import implements, part


@by_prototypes
class Voronoi(NamedTuple):
    """A Voronoi partition.

    >>> two = voronoi([[1.0, 0.0], [-1.0, 0.0]], scale=[1.0, 1.0])
    >>> region(two, (0.3, 5.0)), region(two, (-0.3, 5.0)), region(two, (0.0, 0.0))
    (0, 1, 0)
    """

    prototypes: np.ndarray  #: (prototypes, dimensions)
    regions: np.ndarray  #: (prototypes,) the region of each: 0, 1, 2, …
    primaries: np.ndarray  #: (regions,) the primary prototype of each region
    scale: np.ndarray  #: (dimensions,) the width of each coordinate
    weight: np.ndarray  #: (dimensions,) 1 / scale, as a product is cheaper than a quotient


def voronoi(
    prototypes: ArrayLike, scale: ArrayLike, primary: Sequence[int] | np.ndarray | None = None
) -> Voronoi:
    """Build a partition from prototypes, the width of each coordinate and, for compound regions, their primaries.

    ``primary`` names the primary prototype of each prototype, itself if it stands for a region. Regions are numbered
    in the order of their primaries.

    >>> region(voronoi([[0.0], [1.0], [2.0]], scale=[1.0], primary=[0, 0, 2]), (1.9,))
    1
    >>> voronoi([[0.0, 1.0]], [1.0])
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Prototypes should be rows of finite numbers, and their scale a width above 0 ...
    """
    points = attempt(np.array, prototypes, np.float64, otherwise=np.zeros(0))
    widths = attempt(np.array, scale, np.float64, otherwise=np.zeros(0))
    if points.ndim != 2 or not points.size or widths.shape != points.shape[1:] or not _usable(points, widths):
        raise DistinguoError(
            "Prototypes should be rows of finite numbers, and their scale a width above 0 for each coordinate, got "
            f"{shown(prototypes)} and {shown(scale)}."
        )
    return Voronoi(points, *numbered(len(points), primary), widths, 1.0 / widths)


def _usable(points: np.ndarray, widths: np.ndarray) -> bool:
    return bool(np.isfinite(points).all() and np.isfinite(widths).all() and (widths > 0).all())


@implements(nearest, Voronoi)
def nearest_prototype(partition: Voronoi, s: State) -> int:
    """Return the index of the prototype nearest to ``s``."""
    return nearest_of(partition.prototypes, len(partition.prototypes), partition.weight, s)


@part
def nearest_of(prototypes: np.ndarray, count: int, weight: np.ndarray, s: State) -> int:
    """Return the row nearest to ``s`` among the first ``count``; the first of equally near ones."""
    best = 0
    best_distance = np.inf
    for p in range(count):
        distance = 0.0
        for i in range(len(s)):
            d = (s[i] - prototypes[p, i]) * weight[i]
            distance += d * d
        if distance < best_distance:
            best = p
            best_distance = distance
    return best


@implements(region, Voronoi)
def region_of(partition: Voronoi, s: State) -> int:
    """Return the region of the prototype nearest to ``s``."""
    return int(
        partition.regions[nearest_of(partition.prototypes, len(partition.prototypes), partition.weight, s)]
    )
