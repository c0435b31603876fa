"""Which actions can a greedy policy take somewhere in a cell? Where actions tie or rounding decides, all count.

A set of actions is a number whose bit ``a`` stands for action ``a``. A kind of partition becomes provable by
implementing two generics for its class (``distinguo.seam.implements``): :func:`possible` and, if its search needs
room, :func:`stack_for`. To be certified it also needs a form in certificates (``question.claim_of``).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.enclosure import SLACK, Grid, Pair, cell_box, state
from distinguo.representations.boxes import Boxes
from distinguo.representations.voronoi import Voronoi
from distinguo.seam import generic, generic_with_default, has_own, implements, part

#: A prototype is excluded only if another is nearer everywhere by this share of the squared distances. In floating
#: point these have a relative error of 1e-15 (docs/proof.md, "Rounding").
MARGIN = 1e-10
MOST_ACTIONS = 30


class Hexagon(NamedTuple):
    """The states around a centre that three half edges span; for a parallelogram the third is zero."""

    centre: Pair
    first: Pair
    second: Pair
    third: Pair


class ActionSets(NamedTuple):
    """The possible actions in every region, and the regions that a proof has reached."""

    partition: Any
    sets: np.ndarray  #: (regions,) the preferred actions of each, a bit for every action
    seen: np.ndarray  #: (regions,) whether a cell of the proof touches it
    stack: np.ndarray  #: room for :func:`possible`


def action_sets_of(controller: Controller) -> ActionSets:
    """The possible actions of a controller, before a proof; raise an error if its partition cannot be proven.

    >>> from distinguo.representations.voronoi import voronoi
    >>> action_sets_of(Controller(voronoi([[1.0], [-1.0]], [1.0]), np.array([[0.0, -1.0], [0.5, 0.5]]))).sets.tolist()
    [1, 3]
    """
    partition = controller.partition
    if not has_own(possible, partition):
        raise DistinguoError(f"A {type(partition).__name__} cannot be proven; {kinds_with(possible)} can.")
    sets = action_bits(controller)
    return ActionSets(partition, sets, np.zeros(len(sets), dtype=np.bool_), stack_for(partition))


def kinds_with(capability: Any) -> str:
    """Name the classes that implement a generic, for an error about one that does not.

    >>> kinds_with(possible)
    'Boxes and Voronoi'
    """
    return " and ".join(sorted(kind.__name__ for kind in capability.registry if kind is not object))


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
def possible(partition: Any, policy: ActionSets, cell: Hexagon) -> int:
    """Return the actions that can be chosen in a cell, and mark the regions that it may touch as seen.

    The partition is the policy's; it comes first because its class selects the implementation.

    >>> from distinguo.representations.voronoi import voronoi
    >>> two = voronoi([[1.0, 0.0], [-1.0, 0.0]], [1.0, 1.0])
    >>> policy = action_sets_of(Controller(two, np.array([[0.0, -1.0], [-1.0, 0.0]])))
    >>> edges = (0.1, 0.0), (0.0, 0.1), (0.0, 0.0)
    >>> [possible(two, policy, Hexagon((x, 0.0), *edges)) for x in (0.2, 0.05, -0.1001)]
    [1, 3, 2]
    """
    raise NotImplementedError


@generic_with_default
def stack_for(partition: Any) -> np.ndarray:
    """Return the room that :func:`possible` needs to search a partition; by default none.

    >>> from distinguo.representations.boxes import grid
    >>> len(stack_for(grid([2, 2], [0, 0], [1, 1])))
    8
    """
    return np.zeros(1, dtype=np.int64)


@implements(stack_for, Boxes)
def one_place_per_node(partition: Boxes) -> np.ndarray:
    """Make room for all nodes of the tree at once."""
    return np.zeros(len(partition.axis) + 1, dtype=np.int64)


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
def nearest_somewhere(partition: Voronoi, policy: ActionSets, cell: Hexagon) -> int:
    """Exclude every prototype that the one nearest to the centre beats at all corners.

    The difference of two squared distances is affine, so its least value over the cell is at a corner.
    """
    k = 0
    least = np.inf
    for p in range(len(partition.prototypes)):
        d = _squared_distance(partition, p, cell.centre)
        if d < least:
            k, least = p, d
    one, two, three = (
        _size(partition, cell.first),
        _size(partition, cell.second),
        _size(partition, cell.third),
    )
    size = 1.0 + 9.0 * (one + two + three)
    # a prototype farther from the centre than the nearest by a diameter is never nearest in the cell
    near = math.sqrt(least) + 2.0 * (math.sqrt(one) + math.sqrt(two) + math.sqrt(three))
    enough = near * near * (1.0 + 4.0 * MARGIN) + 4.0 * MARGIN * size
    chosen = 0
    for p in range(len(partition.prototypes)):
        d = _squared_distance(partition, p, cell.centre)
        if d > enough:
            continue
        edges = _reach(partition, p, k, cell.first) + _reach(partition, p, k, cell.second)
        lead = d - least - edges - _reach(partition, p, k, cell.third)
        if p == k or not lead > MARGIN * (size + d):
            policy.seen[partition.regions[p]] = True
            chosen |= policy.sets[partition.regions[p]]
    return int(chosen)


@implements(possible, Boxes)
def overlapping(partition: Boxes, policy: ActionSets, cell: Hexagon) -> int:
    """Walk down both sides of every cut that the bounds of the cell reach."""
    chosen = 0
    depth = 1
    stack = policy.stack
    stack[0] = 0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        axis = partition.axis[node]
        if axis < 0:
            policy.seen[partition.below[node]] = True
            chosen |= policy.sets[partition.below[node]]
            continue
        middle, half = (
            (cell.centre[0], abs(cell.first[0]) + abs(cell.second[0]) + abs(cell.third[0]))
            if axis == 0
            else (cell.centre[1], abs(cell.first[1]) + abs(cell.second[1]) + abs(cell.third[1]))
        )
        cut = partition.cut[node]
        half += MARGIN * (1.0 + abs(middle) + abs(cut))
        if middle - half < cut:
            stack[depth] = partition.below[node]
            depth += 1
        if middle + half >= cut:
            stack[depth] = partition.above[node]
            depth += 1
    return int(chosen)


@part
def possible_in_block(policy: ActionSets, grid: Grid, i: int, j: int, rows: int, columns: int) -> int:
    """Return the possible actions of a block of cells."""
    low, high = cell_box(grid, i, j, rows, columns)
    y, z = 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1])
    wide = 1.0 + 4.0 * SLACK  # against the rounding of the edges
    first = state(grid.matrix, (0.5 * wide * (high[0] - low[0]), 0.0))
    second = state(grid.matrix, (0.0, 0.5 * wide * (high[1] - low[1])))
    block = Hexagon(state(grid.matrix, (y, z)), first, second, (0.0, 0.0))
    return possible(policy.partition, policy, block)
