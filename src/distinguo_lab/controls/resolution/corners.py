"""Values at the corners of boxes, and between them: Kuhn's triangulation of every leaf of a kd-tree.

A box of d dimensions is the union of d! simplices, one for each order of its coordinates. Sorting the coordinates of
a state, the greatest first, finds its simplex, whose d + 1 corners lie on a way from the lowest corner of the box to
the highest; between them a value is linear. Where leaves of different size meet, the value may jump, as in the paper.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from distinguo.representations.partition import region
from distinguo.seam import part
from distinguo.tasks.task import Observation
from distinguo_lab.growing_boxes import GrowingBoxes


class Corners(NamedTuple):
    """The corners of all leaves, each once."""

    tree: GrowingBoxes
    points: np.ndarray  #: (corners, dimensions)
    of_leaf: (
        np.ndarray
    )  #: (leaves, 2^dimensions) of a leaf; bit i of the column says whether it is high in coordinate i


def corners_of(tree: GrowingBoxes) -> Corners:
    """Collect the corners of the leaves; corners that leaves share are the very same numbers.

    >>> from distinguo_lab.growing_boxes import growing_boxes, halve
    >>> tree = growing_boxes([0.0, 0.0], [1.0, 1.0], room=2)
    >>> _ = halve(tree, 0, 0)
    >>> corners_of(tree).points[:, 0].tolist()
    [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]
    """
    leaves, dimensions = int(tree.size[0]), len(tree.low)
    high = (np.arange(2**dimensions)[:, None] >> np.arange(dimensions)) & 1
    ends = np.where(high[None], tree.most[:leaves, None], tree.least[:leaves, None])
    points, place = np.unique(ends.reshape(-1, dimensions), axis=0, return_inverse=True)
    return Corners(tree, points, np.ascontiguousarray(place.reshape(leaves, -1)))


@part
def height_in_leaf(tree: GrowingBoxes, leaf: int, s: Observation, axis: int) -> float:
    """Return how far up a leaf a state lies in a coordinate, from 0 to 1; beyond the extent, at its end."""
    least, most = tree.least[leaf, axis], tree.most[leaf, axis]
    return min(max((s[axis] - least) / (most - least), 0.0), 1.0)


@part
def highest_left(tree: GrowingBoxes, leaf: int, s: Observation, passed: int) -> int:
    """Return the coordinate in which a state lies highest, of those whose bit is not in ``passed`` yet."""
    best, most = -1, -1.0
    for axis in range(len(tree.low)):
        height = height_in_leaf(tree, leaf, s, axis)
        if not (passed >> axis) & 1 and height > most:
            best, most = axis, height
    return best


@part
def weigh_corners(corners: Corners, s: Observation, places: np.ndarray, weights: np.ndarray) -> None:
    """Write down the corners of the simplex that holds ``s``, and its barycentric coordinates."""
    tree = corners.tree
    leaf = region(tree, s)
    passed, before = 0, 1.0
    for step in range(len(tree.low)):
        axis = highest_left(tree, leaf, s, passed)
        height = height_in_leaf(tree, leaf, s, axis)
        places[step], weights[step] = corners.of_leaf[leaf, passed], before - height
        passed, before = passed | (1 << axis), height
    places[len(tree.low)], weights[len(tree.low)] = corners.of_leaf[leaf, passed], before


@part
def interpolated(corners: Corners, values: np.ndarray, s: Observation) -> float:
    """Return the value of a state between the corners of its simplex.

    >>> from distinguo_lab.growing_boxes import growing_boxes
    >>> square = corners_of(growing_boxes([0.0, 0.0], [2.0, 2.0], room=1))
    >>> float(interpolated(square, 10.0 * square.points[:, 0] + square.points[:, 1], (0.5, 1.5)))
    6.5
    """
    tree = corners.tree
    leaf = region(tree, s)
    passed, before, value = 0, 1.0, 0.0
    for _ in range(len(tree.low)):
        axis = highest_left(tree, leaf, s, passed)
        height = height_in_leaf(tree, leaf, s, axis)
        value += (before - height) * values[corners.of_leaf[leaf, passed]]
        passed, before = passed | (1 << axis), height
    return value + before * values[corners.of_leaf[leaf, passed]]
