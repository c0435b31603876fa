"""Partitions of exact categories, for observations that are labels and not amounts.

A state is as far from a prototype as there are coordinates in which they differ: category 3 is no nearer to 4 than
to 400. A state of a category that has a prototype belongs to it; all others belong to the oldest of the nearest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from distinguo.representations.partition import has_labels, nearest, region
from distinguo.representations.prototypes import by_prototypes, room_for
from distinguo.seam import implements, part


@by_prototypes
class Categories(NamedTuple):
    """A partition of categories with room to grow; see :class:`Voronoi` for the fields.

    >>> three = categories([[0.0], [7.0], [8.0]])
    >>> region(three, (8.0,)), region(three, (7.0,)), region(three, (6.0,))
    (2, 1, 0)
    """

    prototypes: np.ndarray
    primary: np.ndarray
    size: np.ndarray


def categories(prototypes: ArrayLike, room: int = 0) -> Categories:
    """Build a partition of simple regions, with room for at least ``room`` prototypes."""
    return Categories(*room_for(prototypes, room))


@has_labels.register(Categories)
def _(partition: Categories) -> bool:
    return True


@implements(nearest, Categories)
@part
def nearest_category(partition: Categories, s: tuple[float, ...]) -> int:
    """Return the index of the prototype that differs from ``s`` in the fewest coordinates."""
    best, least = 0, len(s) + 1
    for p in range(partition.size[0]):
        different = 0
        for i in range(len(s)):
            different += s[i] != partition.prototypes[p, i]
        if different < least:
            best, least = p, different
    return best


@implements(region, Categories)
def category_of(partition: Categories, s: tuple[float, ...]) -> int:
    """Return the primary prototype that stands for ``s``."""
    return int(partition.primary[nearest_category(partition, s)])
