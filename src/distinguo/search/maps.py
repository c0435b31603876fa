"""A map as a controller: prototypes, an action for each, and the weights of their metric; and its five moves.

Every search in this package makes the same moves: it moves a prototype, stretches a coordinate, changes an action,
adds a prototype or drops one. Each search decides which moves to make, how far and how often. The moves work in
place and in compiled code; :meth:`PrototypeMap.changed` makes them in a copy.

>>> halves = prototype_map([[1.0], [-1.0]], [0, 2], scale=[1.0])
>>> halves.choose(np.array([[0.3], [-0.3]])).tolist()
[0, 2]
>>> halves.changed(drop_prototype, 0).choose(np.array([[0.3], [-0.3]])).tolist()
[2, 2]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from distinguo.controller import Controller
from distinguo.representations.growing import GrowingVoronoi, growing_voronoi, nearest_growing
from distinguo.representations.voronoi import nearest_of, voronoi
from distinguo.seam import kernel, part


class PrototypeMap(NamedTuple):
    """Prototypes with room for more, and an action for each; only the first ``size`` rows count."""

    partition: GrowingVoronoi
    actions: np.ndarray  #: (room,)

    @property
    def size(self) -> int:
        """The number of prototypes."""
        return int(self.partition.size[0])

    @property
    def prototypes(self) -> np.ndarray:
        """The prototypes, a row each."""
        return self.partition.prototypes[: self.size]

    @property
    def scale(self) -> np.ndarray:
        """The width of each coordinate."""
        return self.partition.scale

    def choose(self, seen: np.ndarray) -> np.ndarray:
        """Return the action for every row of observations."""
        taken = np.empty(len(seen), dtype=np.int64)
        rows = np.ascontiguousarray(seen, dtype=np.float64)
        fill_actions(self.prototypes, self.partition.weight, self.actions, rows, taken)
        return taken

    def changed(self, move: Callable[..., None], *how: Any) -> PrototypeMap:
        """Return a copy after a move, without extra room."""
        copy = prototype_map(self.prototypes, self.actions[: self.size], self.scale, self.size + 1)
        move(copy, *how)
        return prototype_map(copy.prototypes, copy.actions[: copy.size], copy.scale)

    def distinct(self) -> PrototypeMap:
        """Return the map without prototypes that equal an earlier one: they are nearest to nothing.

        >>> prototype_map([[0.5], [0.5], [1.0]], [2, 0, 1], [1.0]).distinct().actions.tolist()
        [2, 1]
        """
        first = np.unique(self.prototypes, axis=0, return_index=True)[1]
        return self if len(first) == self.size else self.only(np.sort(first))

    def only(self, rows: Any) -> PrototypeMap:
        """Return the map of some of the prototypes."""
        return prototype_map(self.prototypes[rows], self.actions[rows], self.scale)


def prototype_map(prototypes: ArrayLike, actions: ArrayLike, scale: ArrayLike, room: int = 0) -> PrototypeMap:
    """Make a map from prototypes, an action for each and the width of each coordinate, with room for ``room``."""
    partition = growing_voronoi(prototypes, scale, room)
    rows = np.zeros(len(partition.prototypes), dtype=np.int64)
    rows[: partition.size[0]] = actions
    return PrototypeMap(partition, rows)


def map_of(controller: Controller) -> PrototypeMap:
    """Return the prototypes of a controller with their actions."""
    partition = controller.partition
    return prototype_map(partition.prototypes, controller.greedy[partition.regions], partition.scale)


def controller_of(given: PrototypeMap, actions: int) -> Controller:
    """Return the controller of a map, in a task with ``actions`` actions.

    Prototypes with the same action are one region. The values only mark that action: 1 for it, 0 for the others.

    >>> three = controller_of(prototype_map([[0.0], [1.0], [2.0]], [2, 0, 2], [1.0]), actions=3)
    >>> three.partition.regions.tolist(), three.q.tolist()
    ([0, 1, 0], [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    """
    taken = given.actions[: given.size]
    first = [int(np.flatnonzero(taken == a)[0]) for a in taken]
    partition = voronoi(given.prototypes, given.scale, first)
    return Controller(partition, np.eye(actions)[taken[partition.primaries]])


@part
def action_of(given: PrototypeMap, seen: Any) -> int:
    """Return the action of the nearest prototype."""
    return given.actions[nearest_growing(given.partition, seen)]


@kernel
def fill_actions(
    prototypes: np.ndarray, weight: np.ndarray, actions: np.ndarray, rows: np.ndarray, taken: np.ndarray
) -> None:
    """Write the action of the nearest prototype for every row of observations."""
    for n in range(len(rows)):
        taken[n] = actions[nearest_of(prototypes, len(prototypes), weight, rows[n])]


@part
def copy_map(source: PrototypeMap, target: PrototypeMap) -> None:
    """Copy a map into another one that has room for it."""
    target.partition.size[0] = source.partition.size[0]
    for p in range(source.partition.size[0]):
        target.actions[p] = source.actions[p]
        move_prototype(target, p, source.partition.prototypes[p])
    for i in range(len(source.partition.weight)):
        target.partition.weight[i] = source.partition.weight[i]
        target.partition.scale[i] = source.partition.scale[i]


# ---- the five moves ------------------------------------------------------------------------------------------------


@part
def move_prototype(given: PrototypeMap, p: int, place: Any) -> None:
    """Move prototype ``p`` to a place."""
    for i in range(given.partition.prototypes.shape[1]):
        given.partition.prototypes[p, i] = place[i]


@part
def stretch_weight(given: PrototypeMap, i: int, factor: float) -> None:
    """Multiply the weight of a coordinate."""
    given.partition.weight[i] *= factor
    given.partition.scale[i] = 1.0 / given.partition.weight[i]


@part
def stretch_width(given: PrototypeMap, i: int, factor: float) -> None:
    """Multiply the width of a coordinate: the same move, rounded as searches over widths need it."""
    given.partition.scale[i] *= factor
    given.partition.weight[i] = 1.0 / given.partition.scale[i]


@part
def set_action(given: PrototypeMap, p: int, a: int) -> None:
    """Give prototype ``p`` an action."""
    given.actions[p] = a


@part
def append_prototype(given: PrototypeMap, place: Any, a: int) -> None:
    """Add a prototype with its action."""
    p = given.partition.size[0]
    given.partition.size[0] = p + 1
    given.actions[p] = a
    move_prototype(given, p, place)


@part
def drop_prototype(given: PrototypeMap, p: int) -> None:
    """Drop prototype ``p``; those behind it move up."""
    size = given.partition.size[0] - 1
    given.partition.size[0] = size
    for q in range(p, size):
        given.actions[q] = given.actions[q + 1]
        move_prototype(given, q, given.partition.prototypes[q + 1])


# ---- proposals that several searches make --------------------------------------------------------------------------


def drawn_near(given: PrototypeMap, rows: np.ndarray, place: np.ndarray, share: float) -> PrototypeMap:
    """Move the nearest of some prototypes towards a place, by a share of the distance.

    >>> line = prototype_map([[0.0], [1.0], [4.0]], [0, 1, 1], [1.0])
    >>> drawn_near(line, np.array([1, 2]), np.array([2.0]), 0.5).prototypes.ravel().tolist()
    [0.0, 1.5, 4.0]
    """
    distances = (((given.prototypes[rows] - place) / given.scale) ** 2).sum(axis=1)
    p = int(rows[distances.argmin()])
    here = given.prototypes[p]
    return given.changed(move_prototype, p, here + share * (place - here))
