"""Planes through a space, and which one to show of a partition that has more than two dimensions.

The two coordinates in which the regions differ most vary in the plane; all others are held where the *median
prototype* has them, the one that is nearest to all others taken together. It was really observed, which cannot be
said of the middle of each coordinate for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from distinguo.representations.boxes import Boxes
from distinguo.representations.categories import Categories
from distinguo.representations.partition import prototypes_of
from distinguo.representations.voronoi import Voronoi

Pair = tuple[float, float]
MOST_COMPARED = 1000  #: prototypes, in search of the median one


class Plane(NamedTuple):
    """A plane through a space: the coordinates that vary in it, and a state that has all others.

    A space of one dimension has one coordinate that varies; its plane is a strip from 0 to 1.

    >>> Plane((0, 2), (5.0, 6.0, 7.0)).state(0.5, -0.5)
    (0.5, 6.0, -0.5)
    """

    axes: tuple[int, ...]
    at: tuple[float, ...]

    def state(self, x: float, y: float) -> tuple[float, ...]:
        """Return the state at a place of the plane."""
        varying = dict(zip(self.axes, (x, y), strict=False))
        return tuple(varying.get(i, c) for i, c in enumerate(self.at))

    @property
    def held(self) -> list[int]:
        """Return the coordinates that are the same all over the plane."""
        return [i for i in range(len(self.at)) if i not in self.axes]

    def corner(self, extreme: Sequence[float], beside: float) -> Pair:
        """Return the coordinates of the plane of an extreme state; ``beside`` is the edge of a strip."""
        x, y = (*(float(extreme[i]) for i in self.axes), beside)[:2]
        return x, y


@singledispatch
def main_plane(partition: Any) -> Plane | None:
    """Return the plane that shows most of a partition, if the partition knows of one.

    >>> from distinguo.representations.voronoi import voronoi
    >>> main_plane(voronoi([[0.0, 0.0, 1.0], [0.1, 5.0, 2.0], [0.2, 9.0, 4.0]], [1.0, 10.0, 10.0]))
    Plane(axes=(1, 2), at=(0.1, 5.0, 2.0))
    """
    return None


@main_plane.register(Voronoi)
def _(partition: Voronoi) -> Plane:
    rows = partition.prototypes[partition.primaries]
    some = _some(rows)

    def distances(row: np.ndarray) -> np.ndarray:
        return np.sqrt((((some - row) * partition.weight) ** 2).sum(axis=1))

    return Plane(_two_of((rows / partition.scale).std(axis=0)), _median(some, distances))


@main_plane.register(Categories)
def _(partition: Categories) -> Plane:
    rows = partition.prototypes[partition.primaries]
    kinds, some = [len(np.unique(column)) for column in rows.T], _some(rows)
    return Plane(_two_of(kinds), _median(some, lambda row: (some != row).sum(axis=1)))


@main_plane.register(Boxes)
def _(partition: Boxes) -> Plane:
    cuts = [int((partition.axis == i).sum()) for i in range(len(partition.low))]
    return Plane(_two_of(cuts), tuple(((partition.low + partition.high) / 2).tolist()))


def _two_of(spread: Sequence[float] | np.ndarray) -> tuple[int, ...]:
    """Return the two coordinates of largest spread in their order; of equal ones the first."""
    return tuple(sorted(np.argsort(-np.array(spread, dtype=float), kind="stable")[:2].tolist()))


def _median(rows: np.ndarray, distances: Callable[[np.ndarray], np.ndarray]) -> tuple[float, ...]:
    return tuple(rows[int(np.argmin([distances(row).sum() for row in rows]))].tolist())


def _some(rows: np.ndarray) -> np.ndarray:
    """Return rows to find the median one among: all, of very many some of every age."""
    return rows[:: -(-len(rows) // MOST_COMPARED)]


@singledispatch
def landmarks(partition: Any) -> np.ndarray:
    """Return rows of states that a picture of the partition should have room for; usually its prototypes, if any."""
    prototypes = prototypes_of(partition)
    return np.empty(0) if prototypes is None else prototypes.points


@landmarks.register(Boxes)
def _(partition: Boxes) -> np.ndarray:
    return np.array([partition.low, partition.high])


def learned_extent(
    provenance: dict[str, Any], low: Sequence[float], high: Sequence[float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the extent that a representation was learned in, or else the task's, which may be infinite.

    >>> learned_extent({"extent": [[-1.0], [2.0]]}, [-np.inf], [np.inf])
    ((-1.0,), (2.0,))
    """
    try:
        corners = np.array(provenance.get("extent"), dtype=float)
    except (TypeError, ValueError):  # a file may say anything
        corners = np.empty(0)
    if corners.shape != (2, len(low)) or not np.isfinite(corners).all() or (corners[0] > corners[1]).any():
        corners = np.array([low, high], dtype=float)
    lower, upper = corners.tolist()
    return tuple(lower), tuple(upper)
