"""Values at the corners of boxes, and between them: Kuhn's triangulation of every leaf of a kd-tree.

A box of d dimensions is the union of d! simplices, one for each order of its coordinates. Sorting the coordinates of
a state, the greatest first, finds its simplex. The d + 1 corners of the simplex lie on a path from the lowest corner
of the box to the highest; between them a value is linear. Between leaves of different size the value may jump, as in
the paper.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.representations.partition import region
from distinguo.seam import at_speed, kernel, part
from distinguo.tasks.task import Observation, State, observe, transition, unpack
from distinguo_lab.growing_boxes import GrowingBoxes


class Corners(NamedTuple):
    """The corners of all leaves, each once."""

    tree: GrowingBoxes
    points: np.ndarray  #: (corners, dimensions)
    of_leaf: (
        np.ndarray
    )  #: (leaves, 2^dimensions) of a leaf; bit i of the column says whether it is high in coordinate i


def corners_of(tree: GrowingBoxes) -> Corners:
    """Collect the corners of the leaves; shared corners have exactly the same numbers.

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
    """Return the position of a state within a leaf in a coordinate, from 0 to 1, clipped to the extent."""
    least, most = tree.least[leaf, axis], tree.most[leaf, axis]
    return min(max((s[axis] - least) / (most - least), 0.0), 1.0)


@part
def highest_left(tree: GrowingBoxes, leaf: int, s: Observation, passed: int) -> int:
    """Return the coordinate in which a state lies highest, of those whose bit is not in ``passed``."""
    best, most = -1, -1.0
    for axis in range(len(tree.low)):
        height = height_in_leaf(tree, leaf, s, axis)
        if not (passed >> axis) & 1 and height > most:
            best, most = axis, height
    return best


@part
def weigh_corners(corners: Corners, s: Observation, places: np.ndarray, weights: np.ndarray) -> None:
    """Write the corners of the simplex that holds ``s``, and its barycentric coordinates."""
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


# The discretized task: where each action leads from each corner, and what the corners are worth.
#
# An action is held from a corner until the trajectory leaves the leaf that it entered. So the corners are the states
# of a Markov chain whose probabilities are barycentric coordinates. Dynamic programming solves it.


LONGEST = 200  #: steps that an action is held, at most
SWEEPS = 5_000  #: of dynamic programming, at most
PRECISION = 1e-6  #: smallest change of a sweep that continues, as a share of the greatest value


class ResolutionPlan(NamedTuple):
    """The corners as states of a Markov chain, and their values."""

    corners: Corners
    gamma: float  #: discount of a step
    next: np.ndarray  #: (corners, actions, dimensions + 1) the corners that an action leads to
    weight: np.ndarray  #: (corners, actions, dimensions + 1) the discounted probabilities; 0 after the end
    gained: np.ndarray  #: (corners, actions) the discounted rewards on the way
    values: np.ndarray  #: (corners,) the value of each
    queries: int  #: transitions computed

    @property
    def q(self) -> np.ndarray:
        """Return the value of every action at every corner."""
        ahead: np.ndarray = (self.weight * self.values[self.next]).sum(axis=2)
        return self.gained + ahead


@part
def held_action(
    task: Any, corners: Corners, gamma: float, s: State, a: int
) -> tuple[State, float, float, int]:
    """Hold an action until the state leaves its leaf; return state, reward, discount (0 at an end), steps."""
    gained, discount, steps = 0.0, 1.0, 0
    leaf, left = -1, False
    while not left and steps < LONGEST:
        s, r, terminal = transition(task, s, a)
        steps += 1
        gained += discount * r
        discount *= gamma
        if terminal:
            return s, gained, 0.0, steps
        here = region(corners.tree, observe(task, s))
        left = leaf >= 0 and here != leaf
        leaf = here
    return s, gained, discount, steps


@kernel
def _fill_model(
    task: Any, corners: Corners, gamma: float, following: np.ndarray, weight: np.ndarray, gained: np.ndarray
) -> int:
    queries = 0
    for c in range(len(corners.points)):
        for a in range(gained.shape[1]):
            s, gained[c, a], discount, steps = held_action(
                task, corners, gamma, unpack(task, corners.points[c]), a
            )
            queries += steps
            weigh_corners(corners, observe(task, s), following[c, a], weight[c, a])
            for k in range(weight.shape[2]):
                weight[c, a, k] *= discount
    return queries


@kernel
def _sweep(next_: np.ndarray, weight: np.ndarray, gained: np.ndarray, values: np.ndarray, sweeps: int) -> int:
    """Back up all corners in turn until nothing changes much; return the number of sweeps."""
    for number in range(sweeps):
        change, greatest = 0.0, 0.0
        for c in range(len(values)):
            best = -np.inf
            for a in range(gained.shape[1]):
                value = gained[c, a]
                for k in range(weight.shape[2]):
                    value += weight[c, a, k] * values[next_[c, a, k]]
                best = max(best, value)
            change = max(change, abs(best - values[c]))
            greatest = max(greatest, abs(best))
            values[c] = best
        if change <= PRECISION * greatest:
            return number + 1
    return sweeps


def plan_on(task: Any, corners: Corners, actions: int, gamma: float) -> ResolutionPlan:
    """Compute where every action leads from every corner, and solve the Markov chain."""
    count, dimensions = corners.points.shape
    following = np.zeros((count, actions, dimensions + 1), dtype=np.int64)
    weight = np.zeros((count, actions, dimensions + 1))
    gained, values = np.zeros((count, actions)), np.zeros(count)
    queries = at_speed(_fill_model, task)(task, corners, gamma, following, weight, gained)
    _sweep(following, weight, gained, values, SWEEPS)
    return ResolutionPlan(corners, gamma, following, weight, gained, values, int(queries))


@part
def best_ahead(task: Any, plan: ResolutionPlan, s: State) -> int:
    """Return the best action, by holding each until the leaf is left; the first of tied ones."""
    best, most = 0, -np.inf
    for a in range(plan.gained.shape[1]):
        s_next, gained, discount, _ = held_action(task, plan.corners, plan.gamma, s, a)
        value = gained + discount * interpolated(plan.corners, plan.values, observe(task, s_next))
        if value > most:
            best, most = a, value
    return best
