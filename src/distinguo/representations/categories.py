"""Partitions of exact categories, for observations that are labels and not numbers.

The distance of a state from a prototype is the number of coordinates in which they differ: category 3 is no nearer
to 4 than to 400. A state belongs to the prototype of its own category if there is one, else to the oldest of the
nearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from distinguo.representations.partition import State, by_prototypes, has_labels, nearest, numbered, region
from distinguo.seam import implements, part


@by_prototypes
class Categories(NamedTuple):
    """A partition of categories; see :class:`Voronoi` for the fields.

    >>> three = categories([[0.0], [7.0], [8.0]])
    >>> region(three, (8.0,)), region(three, (7.0,)), region(three, (6.0,))
    (2, 1, 0)
    """

    prototypes: np.ndarray
    regions: np.ndarray
    primaries: np.ndarray


def categories(prototypes: ArrayLike, primary: Sequence[int] | np.ndarray | None = None) -> Categories:
    """Build a partition from prototypes and, for compound regions, the primary prototype of each.

    >>> region(categories([[3.0], [7.0], [8.0]], primary=[0, 1, 1]), (8.0,))
    1
    """
    points = np.array(prototypes, dtype=np.float64)
    return Categories(points, *numbered(len(points), primary))


@has_labels.register(Categories)
def _(partition: Categories) -> bool:
    return True


@implements(nearest, Categories)
def nearest_category(partition: Categories, s: State) -> int:
    """Return the index of the prototype that differs from ``s`` in the fewest coordinates."""
    return most_alike(partition.prototypes, len(partition.prototypes), s)


@part
def most_alike(prototypes: np.ndarray, count: int, s: State) -> int:
    """Return the row of the first ``count`` that differs from ``s`` least; the first if there are several."""
    best, least = 0, len(s) + 1
    for p in range(count):
        different = 0
        for i in range(len(s)):
            different += s[i] != prototypes[p, i]
        if different < least:
            best, least = p, different
    return best


@implements(region, Categories)
def category_of(partition: Categories, s: State) -> int:
    """Return the region of the prototype that is most like ``s``."""
    return int(partition.regions[most_alike(partition.prototypes, len(partition.prototypes), s)])
