"""Which regions border on each other, as far as that can be told.

In the plane it is known: cells are cut out of the extent, and whoever lies across an edge is a neighbour. In a space
of more dimensions cells are too many-sided to cut; there only those pairs are told for which the middle between two
prototypes lies on the border of their cells and near to nobody else. They are neighbours for certain, they join all
regions together, and there may be others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from distinguo.representations.categories import Categories
from distinguo.representations.declare import capability
from distinguo.representations.geometry import shared_edges, voronoi_cells
from distinguo.representations.planes import Plane
from distinguo.representations.prototypes import in_use
from distinguo.representations.voronoi import Voronoi

#: A shared border is longer than this part of the extent; shorter ones come from rounding at corners.
SHORTEST = 1e-9
MOST_JOINED = 1000  #: prototypes in space; the pairs of more would take minutes

PLANE = "Joined: regions that share a border within the extent of the observations."
SPACE = "Joined: regions that touch midway between two of their prototypes; others may touch elsewhere."
UNJOINED = "Not joined: too many prototypes to tell which regions touch."
LABELS = "Not joined: the coordinates are labels, so no region lies beside another."

UNKNOWN = "Not joined: the partition does not say which regions touch."

Pairs = set[tuple[int, int]]
Neighbours = tuple[str, list[tuple[int, int]]]


@singledispatch
def neighbours(partition: Any, low: Sequence[float], high: Sequence[float]) -> Neighbours:
    """Return in words by which rule regions are joined, and the pairs that are, each once.

    ``low`` and ``high`` are the extent of the observations; they may be infinite, or empty where it is unknown.

    >>> from distinguo.representations.voronoi import voronoi
    >>> neighbours(voronoi([[0.0], [2.0], [1.0]], [1.0]), (), ())[1]
    [(0, 2), (1, 2)]
    """
    return UNKNOWN, []


@neighbours.register(Categories)
def _(partition: Categories, low: Sequence[float], high: Sequence[float]) -> Neighbours:
    return LABELS, []


@neighbours.register(Voronoi)
def _(partition: Voronoi, low: Sequence[float], high: Sequence[float]) -> Neighbours:
    dimensions = len(partition.weight)
    if dimensions > 2 and partition.size[0] > MOST_JOINED:
        return UNJOINED, []
    pairs = {
        _ordered(*partition.primary[[p, o]].tolist()) for p, o in touching_prototypes(partition, low, high)
    }
    return (SPACE if dimensions > 2 else PLANE), sorted((j, k) for j, k in pairs if j != k)


def _ordered(j: int, k: int) -> tuple[int, int]:
    return min(j, k), max(j, k)


def touching_prototypes(partition: Voronoi, low: Sequence[float], high: Sequence[float]) -> Pairs:
    """Return the pairs of prototypes whose cells border on each other: in space only certain ones."""
    if len(partition.weight) == 2:
        return _in_the_plane(partition, low, high)
    return certain(in_use(partition).points * partition.weight)


def _in_the_plane(partition: Voronoi, low: Sequence[float], high: Sequence[float]) -> Pairs:
    lower, upper = _frame(partition, low, high)
    sides = (np.subtract(upper, lower) * partition.weight).tolist()
    cells = voronoi_cells(partition, Plane((0, 1), (0.0, 0.0)), lower, upper)
    return shared_edges(cells, SHORTEST * max(sides))


def _frame(
    partition: Voronoi, low: Sequence[float], high: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Return the corners of the extent with all prototypes in it; what is infinite gets wider by a scale."""
    corners = [corner for corner in (low, high) if len(corner)]
    rows = np.vstack([*corners, in_use(partition).points])
    spans = [
        _span(column, width) for column, width in zip(rows.T.tolist(), partition.scale.tolist(), strict=True)
    ]
    return [a for a, _ in spans], [b for _, b in spans]


def _span(values: Sequence[float], width: float) -> tuple[float, float]:
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite), max(finite)
    return (
        low - width if low == high or -math.inf in values else low,
        high + width if low == high or math.inf in values else high,
    )


def certain(points: np.ndarray) -> Pairs:
    """Return the pairs with nobody else within the ball that has both on its rim (a *Gabriel graph*).

    On a line these are all neighbours.

    >>> sorted(certain(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [9.0, 0.0, 0.0]])))
    [(0, 1), (1, 2)]
    """
    pairs: Pairs = set()
    for p, here in enumerate(points[:-1]):
        others = points[p + 1 :]
        middles = (others + here) / 2
        rims = ((others - here) ** 2).sum(axis=1) / 4
        alone = [
            (((points - middle) ** 2).sum(axis=1) <= rim * (1 + SHORTEST)).sum() == 2
            for middle, rim in zip(middles, rims, strict=True)
        ]
        pairs |= {(p, p + 1 + int(o)) for o in np.flatnonzero(alone)}
    return pairs


capability("neighbours", neighbours)
