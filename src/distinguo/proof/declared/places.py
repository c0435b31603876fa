"""The places of partitions, prototypes or leaves of a tree, in sets of observations, and the actions taken there."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from distinguo.proof.number.form import Form, Unreadable
from distinguo.representations.boxes import Boxes
from distinguo.representations.voronoi import Voronoi

MARGIN = 1e-10  #: a prototype is excluded only if another is nearer by this share of the squared distances
ROOM = 1e-14  #: of the numbers that are compared: their rounding
States = tuple[Form, ...]


@singledispatch
def places_in(partition: Any, seen: States) -> Any:
    """The places of a partition (prototypes or leaves) in some sets of observations.

    A kind of partition can be followed if its class is registered here: the answer says which places each set may
    touch (``near``), and by which numbers, not above 0, a place is limited (``limits``).
    """
    raise Unreadable(f"acts by a {type(partition).__name__}, which cannot be followed")


@singledispatch
def rows_of_places(partition: Any) -> np.ndarray:
    """The region of each place of a partition."""
    return np.asarray(partition.regions)


@rows_of_places.register
def _(partition: Boxes) -> np.ndarray:
    return np.asarray(partition.below[partition.axis < 0])


Limit = tuple[
    np.ndarray, np.ndarray, np.ndarray
]  #: in the centre, for each column, and what is unknown of it


class _Prototypes:
    """Prototypes in some sets of observations: a place is where no other is nearer."""

    def __init__(self, prototypes: np.ndarray, weight: np.ndarray, seen: States) -> None:
        self.prototypes, self.weight = prototypes, weight
        centre = np.stack([form.centre for form in seen])
        self.gradient = np.stack([form.gradient for form in seen])
        self.rest = np.stack([form.radius for form in seen])
        self.far = np.stack([((centre - p[:, None]) ** 2 * weight[:, None]).sum(axis=0) for p in prototypes])
        reach = np.abs(self.gradient).sum(axis=1) + self.rest
        self.size = 1.0 + (weight[:, None] * reach**2).sum(axis=0)
        self.near = self._near()

    def limits(self, p: int, rows: np.ndarray) -> Iterator[Limit]:
        """By how much a prototype is farther than each that may be the nearest."""
        for q in range(len(self.near)):
            if p != q and self.near[q, rows].any():
                yield self._lead(p, q, rows)

    def _lead(self, p: int, q: int, rows: np.ndarray) -> Limit:
        """By how much, squared, a prototype is farther than another."""
        factors = 2.0 * (self.prototypes[q] - self.prototypes[p]) * self.weight
        slope = np.tensordot(factors, self.gradient[:, :, rows], axes=1).T
        size = (self.size + self.far[p] + self.far[q])[rows]
        return (self.far[p] - self.far[q])[rows], slope, np.abs(factors) @ self.rest[:, rows] + MARGIN * size

    def _near(self) -> np.ndarray:
        near = np.ones(self.far.shape, dtype=bool)
        best = self.far.argmin(axis=0)
        for q in np.unique(best):
            rows = np.flatnonzero(best == q)
            for p in range(len(near)):
                if p != q:
                    lead, slope, radius = self._lead(p, int(q), rows)
                    near[p, rows] = ~(lead - np.abs(slope).sum(axis=1) > radius)
        return near


class _Leaves:
    """The leaves of a tree of boxes in some sets of observations: a place is limited by the cuts above it."""

    def __init__(self, tree: Boxes, seen: States) -> None:
        self.seen = seen
        todo: list[tuple[int, list[tuple[int, float, float]]]] = [(0, [])]
        found: dict[int, list[tuple[int, float, float]]] = {}
        while todo:
            node, above = todo.pop()
            axis, cut = int(tree.axis[node]), float(tree.cut[node])
            if axis < 0:
                found[node] = above
            else:
                todo += [(int(tree.below[node]), [*above, (axis, cut, 1.0)])]
                todo += [(int(tree.above[node]), [*above, (axis, cut, -1.0)])]
        self.cuts = [
            found[node] for node in sorted(found)
        ]  # of each leaf: a coordinate, a cut, and 1 if below
        self.near = np.ones((len(self.cuts), len(seen[0].centre)), dtype=bool)
        for leaf, cuts in enumerate(self.cuts):
            for axis, cut, sign in cuts:
                self.near[leaf] &= (seen[axis].low <= cut) if sign > 0.0 else (seen[axis].high >= cut)

    def limits(self, leaf: int, rows: np.ndarray) -> Iterator[Limit]:
        """How far beyond each cut a set lies."""
        for axis, cut, sign in self.cuts[leaf]:
            form = self.seen[axis]
            off = form.radius[rows] + ROOM * form.size[rows]
            yield sign * (form.centre[rows] - cut), sign * form.gradient[:, rows].T, off


@places_in.register
def _(partition: Voronoi, seen: States) -> _Prototypes:
    return _Prototypes(partition.prototypes, partition.weight**2, seen)


@places_in.register
def _(partition: Boxes, seen: States) -> _Leaves:
    return _Leaves(partition, seen)


def actions_near(near: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Which actions (rows) may be taken in each piece (columns)."""
    return np.asarray((sets.T[:, :, None] & near[None, :, :]).any(axis=1))


def can_be_followed(partition: Any) -> bool:
    """Whether the places of a kind of partition are known."""
    return places_in.dispatch(type(partition)) is not places_in.dispatch(object)


@singledispatch
def actions_in(partition: Any, sets: np.ndarray, seen: States) -> np.ndarray:
    """Which actions (rows) may be taken somewhere in each set (columns), by the actions of each region."""
    return actions_near(places_in(partition, seen).near, sets[rows_of_places(partition)])


@actions_in.register
def _(partition: Voronoi, sets: np.ndarray, seen: States) -> np.ndarray:
    return nearest_actions(partition, sets, seen)


def _of_box(gradient: np.ndarray, _: np.ndarray) -> np.ndarray:
    """How far linear functions of the coordinates of cells (coordinates, cells) rise from the middle."""
    return np.asarray(np.abs(gradient).sum(axis=0))


def nearest_actions(
    partition: Voronoi,
    sets: np.ndarray,
    seen: States,
    rise: Callable[[np.ndarray, np.ndarray], np.ndarray] = _of_box,
) -> np.ndarray:
    """The actions of every prototype that may be the nearest one somewhere in a set.

    A prototype is left out if another is nearer everywhere: the one that is nearest to the centre, or any other that
    is not left out. ``rise`` says how far linear functions of the coordinates of some of the sets rise from the
    middle, where a set is smaller than the box of its coordinates.
    """
    prototypes, weight = partition.prototypes, partition.weight**2
    places = zip(weight, seen, prototypes.T, strict=True)
    distances = sum((w * (form.centre - column[:, None]) ** 2 for w, form, column in places), np.zeros(()))
    size = 1.0 + sum((w * form.reach**2 for w, form in zip(weight, seen, strict=True)), np.zeros(()))
    pairs = _Nearness(seen, distances, size, prototypes, weight, rise)
    nearest: np.ndarray = distances.argmin(axis=0)
    count = len(prototypes)
    kept: np.ndarray = np.ones((count, len(nearest)), dtype=bool)
    for q, p in itertools.permutations(range(count), 2):
        cells = np.flatnonzero(nearest == q)
        kept[p, cells] = ~pairs.nearer(q, p, cells)
    several = np.flatnonzero(kept.sum(axis=0) > 2)
    for q, p in itertools.permutations(range(count), 2):
        cells = several[kept[p, several] & kept[q, several] & (nearest[several] != q)]
        kept[p, cells] = ~pairs.nearer(q, p, cells)
    chosen: np.ndarray = np.zeros((sets.shape[1], len(nearest)), dtype=bool)
    for p in range(count):
        chosen = chosen | (kept[p][None, :] & sets[partition.regions[p]][:, None])
    return chosen


class _Nearness(NamedTuple):
    """Sets of observations, and the squared distances of their centres to prototypes."""

    seen: States
    distances: np.ndarray  #: (prototypes, sets)
    size: np.ndarray
    prototypes: np.ndarray
    weight: np.ndarray
    rise: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def nearer(self, q: int, p: int, cells: np.ndarray) -> np.ndarray:
        """In which of some sets one prototype is nearer than another everywhere.

        The difference of two squared distances is affine, so an affine form bounds it well.
        """
        slope = (2.0 * (self.prototypes[q] - self.prototypes[p]) * self.weight).tolist()
        turn = np.zeros((len(self.seen[0].gradient), len(cells)))
        for k, form in zip(slope, self.seen, strict=True):
            turn += k * form.gradient[:, cells]
        reach = self.rise(-turn, cells)
        for k, form in zip(slope, self.seen, strict=True):
            reach += abs(k) * form.radius[cells]
        far, near = self.distances[p][cells], self.distances[q][cells]
        nearer: np.ndarray = far - near - reach > MARGIN * (self.size[cells] + far + near)
        return nearer
