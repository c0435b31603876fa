"""A kd-tree with room to grow: boxes that are halved, one at a time.

While it grows, a leaf keeps its number: the lower half of a halved box has the old one, the upper half the next free
one. :func:`finished` returns an ordinary partition into boxes with the same numbers.

A box is always halved in the middle, so every edge is a whole number of halvings of the extent: the edges of
neighbours are exactly the same numbers and can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from distinguo.representations.boxes import Boxes
from distinguo.representations.partition import region
from distinguo.seam import implements, part


class GrowingBoxes(NamedTuple):
    """A tree of cuts with room to grow; node 0 is the root, leaf 0 exists from the beginning.

    >>> tree = growing_boxes([0.0, 0.0], [1.0, 2.0], room=4)
    >>> int(halve(tree, 0, 1)), int(halve(tree, 1, 0))
    (1, 2)
    >>> [region(tree, s) for s in [(0.9, 0.9), (0.4, 1.0), (0.5, 1.0), (7.0, -7.0)]]
    [0, 1, 2, 0]
    """

    axis: np.ndarray  #: (2 room,) the coordinate that a node cuts; -1 at a leaf
    cut: np.ndarray  #: (2 room,) where it is cut
    below: np.ndarray  #: (2 room,) the child on the low side; at a leaf its number
    above: np.ndarray  #: (2 room,) the child on the high side
    node: np.ndarray  #: (room,) the node of each leaf
    least: np.ndarray  #: (room, dimensions) the lower end of each leaf
    most: np.ndarray  #: (room, dimensions) its upper end
    size: np.ndarray  #: (1,) number of leaves
    low: np.ndarray  #: (dimensions,) the extent; the outermost boxes reach beyond it
    high: np.ndarray  #: (dimensions,)


@implements(region, GrowingBoxes)
def leaf_at(tree: GrowingBoxes, s: tuple[float, ...]) -> int:
    """Walk down the cuts to the leaf that holds ``s``."""
    node = 0
    while tree.axis[node] >= 0:
        node = tree.below[node] if s[tree.axis[node]] < tree.cut[node] else tree.above[node]
    return int(tree.below[node])


@part
def halve(tree: GrowingBoxes, leaf: int, axis: int) -> int:
    """Halve a leaf across a coordinate and return the number of the upper half; there must be room for it."""
    new = tree.size[0]
    node, lower, upper = tree.node[leaf], 2 * new - 1, 2 * new
    middle = 0.5 * (tree.least[leaf, axis] + tree.most[leaf, axis])
    tree.axis[node], tree.cut[node], tree.below[node], tree.above[node] = axis, middle, lower, upper
    tree.axis[lower], tree.below[lower], tree.node[leaf] = -1, leaf, lower
    tree.axis[upper], tree.below[upper], tree.node[new] = -1, new, upper
    for i in range(tree.least.shape[1]):
        tree.least[new, i] = tree.least[leaf, i]
        tree.most[new, i] = tree.most[leaf, i]
    tree.most[leaf, axis] = middle
    tree.least[new, axis] = middle
    tree.size[0] = new + 1
    return new


@part
def shared_face(tree: GrowingBoxes, j: int, k: int) -> int:
    """Return the coordinate across which leaf ``k`` lies directly above leaf ``j``; -1 if they share no such face.

    >>> tree = growing_boxes([0.0, 0.0], [1.0, 1.0], room=2)
    >>> _ = halve(tree, 0, 1)
    >>> shared_face(tree, 0, 1), shared_face(tree, 1, 0)
    (1, -1)
    """
    face = -1
    for i in range(tree.least.shape[1]):
        if tree.most[j, i] == tree.least[k, i]:
            if face >= 0:  # they meet in an edge or a corner
                return -1
            face = i
        elif tree.most[j, i] < tree.least[k, i] or tree.most[k, i] <= tree.least[j, i]:
            return -1
    return face


@part
def share_of_width(tree: GrowingBoxes, leaf: int, axis: int) -> float:
    """Return the width of a leaf as a share of the extent."""
    return (tree.most[leaf, axis] - tree.least[leaf, axis]) / (tree.high[axis] - tree.low[axis])


def growing_boxes(low: Sequence[float], high: Sequence[float], room: int) -> GrowingBoxes:
    """Return a tree of a single leaf, with room for ``room`` leaves."""
    ends = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
    return GrowingBoxes(
        axis=np.full(2 * room, -1),
        cut=np.zeros(2 * room),
        below=np.zeros(2 * room, dtype=np.int64),
        above=np.zeros(2 * room, dtype=np.int64),
        node=np.zeros(room, dtype=np.int64),
        least=np.tile(ends[0], (room, 1)),
        most=np.tile(ends[1], (room, 1)),
        size=np.ones(1, dtype=np.int64),
        low=ends[0],
        high=ends[1],
    )


def halve_evenly(tree: GrowingBoxes, leaves: int) -> None:
    """Halve all leaves across one coordinate after the other, as long as there are at most ``leaves``.

    >>> tree = growing_boxes([0.0, 0.0], [1.0, 1.0], room=16)
    >>> halve_evenly(tree, 15)
    >>> int(tree.size[0]), (tree.most - tree.least)[0].tolist()
    (8, [0.25, 0.5])
    """
    axis = 0
    while 2 * tree.size[0] <= leaves:
        for leaf in range(int(tree.size[0])):
            halve(tree, leaf, axis)
        axis = (axis + 1) % len(tree.low)


def with_leaf_room(tree: GrowingBoxes, room: int) -> GrowingBoxes:
    """Return a copy with room for more leaves."""
    larger = growing_boxes(tree.low.tolist(), tree.high.tolist(), room)
    for old, new in zip(tree, larger, strict=True):
        new[: min(len(old), len(new))] = old[: len(new)]
    return larger


def finished(tree: GrowingBoxes) -> Boxes:
    """Return the tree as an ordinary partition, without room to grow; leaves keep their numbers."""
    nodes = 2 * int(tree.size[0]) - 1
    axis, cut, below, above = (
        column[:nodes].copy() for column in (tree.axis, tree.cut, tree.below, tree.above)
    )
    return Boxes(axis, cut, below, above, tree.low.copy(), tree.high.copy())


def check_tree(tree: GrowingBoxes, room: int, dimensions: int) -> None:
    """Raise ``ValueError`` if a tree from a file could make compiled code leave its arrays."""
    like = growing_boxes([0.0] * dimensions, [1.0] * dimensions, room)
    for name, array in tree._asdict().items():
        expected = getattr(like, name)
        if array.dtype != expected.dtype or array.shape != expected.shape or not array.flags.c_contiguous:
            raise ValueError(f"{name} of the tree has an unexpected shape or type")
    leaves = int(tree.size[0])
    if not 1 <= leaves <= room:
        raise ValueError("the tree has more leaves than there is room for")
    places = np.arange(2 * leaves - 1)
    axis, below, above = (column[: len(places)] for column in (tree.axis, tree.below, tree.above))
    cuts = axis >= 0
    children = np.concatenate([below[cuts], above[cuts]])
    later = (below[cuts] > places[cuts]).all() and (above[cuts] > places[cuts]).all()
    if not later or sorted(children.tolist()) != places[1:].tolist() or (axis >= dimensions).any():
        raise ValueError("the nodes of the tree are inconsistent")
    numbered = sorted(below[~cuts].tolist()) == list(range(leaves))
    if not numbered or (tree.node[below[~cuts]] != places[~cuts]).any():
        raise ValueError("the leaves of the tree are inconsistent")
