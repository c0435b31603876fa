"""Nearest-neighbour partitions (section 3 of the paper).

Every state belongs to its nearest prototype; prototypes that were merged share a *primary* prototype, and a
region is named by the index of its primary. Distances are Euclidean after each coordinate is multiplied by its
weight, the inverse of its scale (docs/readings.md, "Metric"). Of equally near prototypes the oldest wins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from distinguo.errors import DistinguoError, attempt, shown
from distinguo.representations.partition import nearest, region
from distinguo.representations.prototypes import by_prototypes, room_for
from distinguo.seam import implements, part


@by_prototypes
class Voronoi(NamedTuple):
    """A Voronoi partition with room to grow.

    >>> two = voronoi([[1.0, 0.0], [-1.0, 0.0]], scale=[1.0, 1.0])
    >>> region(two, (0.3, 5.0)), region(two, (-0.3, 5.0)), region(two, (0.0, 0.0))
    (0, 1, 0)
    """

    prototypes: np.ndarray  #: (room, dimensions); the first ``size[0]`` rows count
    primary: np.ndarray  #: (room,) the primary prototype of each prototype
    size: np.ndarray  #: (1,) how many prototypes there are
    scale: np.ndarray  #: (dimensions,) the width of each coordinate
    weight: np.ndarray  #: (dimensions,) 1 / scale, as a product is cheaper than a quotient


def voronoi(prototypes: ArrayLike, scale: ArrayLike, room: int = 0) -> Voronoi:
    """Build a partition of simple regions, with room for at least ``room`` prototypes.

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
    return Voronoi(*room_for(points, room), widths, 1.0 / widths)


def _usable(points: np.ndarray, widths: np.ndarray) -> bool:
    return bool(np.isfinite(points).all() and np.isfinite(widths).all() and (widths > 0).all())


@implements(nearest, Voronoi)
@part
def nearest_prototype(partition: Voronoi, s: tuple[float, ...]) -> int:
    """Return the index of the prototype nearest to ``s``."""
    best = 0
    best_distance = np.inf
    for p in range(partition.size[0]):
        distance = 0.0
        for i in range(len(s)):
            d = (s[i] - partition.prototypes[p, i]) * partition.weight[i]
            distance += d * d
        if distance < best_distance:
            best = p
            best_distance = distance
    return best


@implements(region, Voronoi)
def region_of(partition: Voronoi, s: tuple[float, ...]) -> int:
    """Return the primary prototype that stands for ``s``."""
    return int(partition.primary[nearest_prototype(partition, s)])
