"""Which actions can a greedy policy take somewhere in a cell? Ties, and what rounding may decide, count as all.

A cell is a hexagon of states, its centre and three half edges; of a parallelogram the third is nothing. A set of
actions is a number whose bit ``a`` stands for action ``a``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.enclosure import SLACK, Pair
from distinguo.proof.grid import Grid, cell_box, state
from distinguo.representation.boxes import Boxes
from distinguo.representation.voronoi import Voronoi
from distinguo.seam import generic, implements, part

#: A prototype is out of question only if another is nearer everywhere by this share of the squared distances. In
#: floating point they are off by 1e-15 of themselves (docs/proof.md, "Rounding").
MARGIN = 1e-10
MOST_ACTIONS = 30


def action_bits(controller: Controller) -> np.ndarray:
    """Return the set of preferred actions of every region, one bit for each action.

    >>> action_bits(Controller(None, np.array([[0.0, -1.0], [0.5, 0.5]]))).tolist()
    [1, 3]
    """
    q = controller.q
    if not np.isfinite(q).all() or q.shape[1] > MOST_ACTIONS:
        raise DistinguoError(
            f"A proof needs finite action values and at most {MOST_ACTIONS} actions, got {q.shape[1]} actions."
        )
    return (controller.action_sets * (1 << np.arange(q.shape[1]))).sum(axis=1).astype(np.int64)


@generic
def possible(
    partition: Any,
    sets: np.ndarray,
    centre: Pair,
    first: Pair,
    second: Pair,
    third: Pair,
    seen: np.ndarray,
    stack: np.ndarray,
) -> int:
    """Return the actions that can be chosen in a cell; marks the regions that it may touch in ``seen``.

    ``sets`` holds the actions of every region, ``stack`` is room for as many numbers as the partition has nodes.

    >>> from distinguo.representation.voronoi import voronoi
    >>> two = voronoi([[1.0, 0.0], [-1.0, 0.0]], [1.0, 1.0])
    >>> sets, seen, stack = np.array([1, 2]), np.zeros(2, dtype=bool), np.zeros(2, dtype=int)
    >>> [possible(two, sets, (x, 0.0), (0.1, 0.0), (0.0, 0.1), (0.0, 0.0), seen, stack) for x in (0.2, 0.05, -0.1001)]
    [1, 3, 2]
    """
    raise NotImplementedError


def room(partition: Any) -> np.ndarray:
    """Return the stack that ``possible`` needs.

    >>> from distinguo.representation.boxes import grid
    >>> len(room(grid([2, 2], [0, 0], [1, 1])))
    8
    """
    if isinstance(partition, Boxes):
        return np.zeros(len(partition.axis) + 1, dtype=np.int64)
    if isinstance(partition, Voronoi):
        return np.zeros(1, dtype=np.int64)
    raise DistinguoError(f"Only Voronoi and box partitions can be proven, not a {type(partition).__name__}.")


@part
def _squared_distance(partition: Voronoi, p: int, s: Pair) -> float:
    d0 = (s[0] - partition.prototypes[p, 0]) * partition.weight[0]
    d1 = (s[1] - partition.prototypes[p, 1]) * partition.weight[1]
    return d0 * d0 + d1 * d1


@part
def _reach(partition: Voronoi, p: int, k: int, edge: Pair) -> float:
    """Return by how much the difference of the squared distances to ``p`` and ``k`` changes along an edge."""
    g0 = (partition.prototypes[p, 0] - partition.prototypes[k, 0]) * partition.weight[0] * partition.weight[0]
    g1 = (partition.prototypes[p, 1] - partition.prototypes[k, 1]) * partition.weight[1] * partition.weight[1]
    return 2.0 * abs(g0 * edge[0] + g1 * edge[1])


@part
def _size(partition: Voronoi, edge: Pair) -> float:
    d0, d1 = edge[0] * partition.weight[0], edge[1] * partition.weight[1]
    return d0 * d0 + d1 * d1


@implements(possible, Voronoi)
def nearest_somewhere(
    partition: Voronoi,
    sets: np.ndarray,
    centre: Pair,
    first: Pair,
    second: Pair,
    third: Pair,
    seen: np.ndarray,
    stack: np.ndarray,
) -> int:
    """Exclude every prototype that the one nearest to the centre beats at all corners.

    The difference of two squared distances is affine, so its least value over the cell is at a corner.
    """
    k = 0
    least = np.inf
    for p in range(partition.size[0]):
        d = _squared_distance(partition, p, centre)
        if d < least:
            k, least = p, d
    one, two, three = _size(partition, first), _size(partition, second), _size(partition, third)
    size = 1.0 + 9.0 * (one + two + three)
    # nobody farther from the centre than the nearest by a diameter can be nearest in the cell: no need to look closer
    near = math.sqrt(least) + 2.0 * (math.sqrt(one) + math.sqrt(two) + math.sqrt(three))
    enough = near * near * (1.0 + 4.0 * MARGIN) + 4.0 * MARGIN * size
    found = 0
    for p in range(partition.size[0]):
        d = _squared_distance(partition, p, centre)
        if d > enough:
            continue
        edges = _reach(partition, p, k, first) + _reach(partition, p, k, second)
        lead = d - least - edges - _reach(partition, p, k, third)
        if p == k or not lead > MARGIN * (size + d):
            seen[partition.primary[p]] = True
            found |= sets[partition.primary[p]]
    return int(found)


@implements(possible, Boxes)
def overlapping(
    partition: Boxes,
    sets: np.ndarray,
    centre: Pair,
    first: Pair,
    second: Pair,
    third: Pair,
    seen: np.ndarray,
    stack: np.ndarray,
) -> int:
    """Walk down both sides of every cut that the bounds of the cell reach."""
    found = 0
    depth = 1
    stack[0] = 0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        axis = partition.axis[node]
        if axis < 0:
            seen[partition.below[node]] = True
            found |= sets[partition.below[node]]
            continue
        middle, half = (
            (centre[0], abs(first[0]) + abs(second[0]) + abs(third[0]))
            if axis == 0
            else (centre[1], abs(first[1]) + abs(second[1]) + abs(third[1]))
        )
        cut = partition.cut[node]
        half += MARGIN * (1.0 + abs(middle) + abs(cut))
        if middle - half < cut:
            stack[depth] = partition.below[node]
            depth += 1
        if middle + half >= cut:
            stack[depth] = partition.above[node]
            depth += 1
    return int(found)


@part
def possible_in_block(
    grid: Grid,
    partition: Any,
    sets: np.ndarray,
    i: int,
    j: int,
    rows: int,
    columns: int,
    seen: np.ndarray,
    stack: np.ndarray,
) -> int:
    """Return the possible actions of a block of cells."""
    low, high = cell_box(grid, i, j, rows, columns)
    y, z = 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1])
    wide = 1.0 + 4.0 * SLACK  # against the rounding of the edges
    first = state(grid.matrix, (0.5 * wide * (high[0] - low[0]), 0.0))
    second = state(grid.matrix, (0.0, 0.5 * wide * (high[1] - low[1])))
    return possible(partition, sets, state(grid.matrix, (y, z)), first, second, (0.0, 0.0), seen, stack)
