"""Local models of what actions do: displacements that are linear in the state, by least squares, for each node.

Every step is added to the sums of all nodes that contain its state. The model of a cell is that of the smallest node
around it in which every action was tried often enough. The slopes are shared by the actions: what they differ in is
a displacement of their own, which is all that the choice of an action depends on.
"""

from __future__ import annotations

import numpy as np

from distinguo.seam import part
from distinguo_lab.learners.partigame.memory import NOTHING, PartiMemory

RIDGE = 1e-6  #: added to the diagonal, so that there is one solution even where a coordinate never varies


@part
def set_features(memory: PartiMemory, place: np.ndarray, a: int) -> None:
    """Write down the features of a state and an action: the scaled observation, and which action it is."""
    dimensions = len(place)
    memory.features[:] = 0.0
    for i in range(dimensions):
        memory.features[i] = place[i]
    memory.features[dimensions + a] = 1.0


@part
def learn_models(memory: PartiMemory, place: np.ndarray, a: int, moved: np.ndarray) -> None:
    """Add a step to the sums of all nodes that contain its beginning; ``moved`` is the scaled displacement."""
    set_features(memory, place, a)
    features, node = memory.features, 0
    while True:
        for i in range(len(features)):
            if features[i] != 0.0:
                for j in range(len(features)):
                    memory.squares[node, i, j] += features[i] * features[j]
                for j in range(len(moved)):
                    memory.products[node, i, j] += features[i] * moved[j]
        if memory.axis[node] < 0:
            return
        low_side = place[memory.axis[node]] < memory.cut[node]
        node = memory.below[node] if low_side else memory.above[node]


@part
def tries_of(memory: PartiMemory, node: int, a: int) -> float:
    """How often an action was tried in a node."""
    own = memory.low.shape[1] + a
    return float(memory.squares[node, own, own])


@part
def least_tried(memory: PartiMemory, node: int) -> int:
    """The action that was tried least in a node, of equal ones the first."""
    least = 0
    for a in range(len(memory.features) - memory.low.shape[1]):
        if tries_of(memory, node, a) < tries_of(memory, node, least):
            least = a
    return least


@part
def modelled_node(memory: PartiMemory, cell: int, enough: int) -> int:
    """The smallest node around a cell in which every action was tried enough, ``NOTHING`` without any."""
    node = memory.node[cell]
    while node != NOTHING and tries_of(memory, node, least_tried(memory, node)) < enough:
        node = memory.parent[node]
    return int(node)


@part
def fit_draft(memory: PartiMemory, cell: int, enough: int) -> bool:
    """Draft the model of a cell: the one that it has, else one that is solved for; False if there is none yet."""
    node = NOTHING if memory.has_model[cell] else modelled_node(memory, cell, enough)
    if node == NOTHING and not memory.has_model[cell]:
        return False
    size, dimensions = memory.draft.shape
    for i in range(size):
        for j in range(dimensions):
            memory.draft[i, j] = memory.models[cell, i, j] if node == NOTHING else memory.products[node, i, j]
    if node != NOTHING:
        for i in range(size):
            for j in range(size):
                memory.system[i, j] = memory.squares[node, i, j]
            memory.system[i, i] += RIDGE
        solve_in_place(memory.system, memory.draft)
    return True


@part
def keep_model(memory: PartiMemory, cell: int, enough: int) -> bool:
    """Give a cell its model, which stays the same until the cell is split; False if there is none yet."""
    if memory.has_model[cell]:
        return True
    if not fit_draft(memory, cell, enough):
        return False
    for i in range(memory.draft.shape[0]):
        for j in range(memory.draft.shape[1]):
            memory.models[cell, i, j] = memory.draft[i, j]
    memory.has_model[cell] = True
    return True


@part
def solve_in_place(system: np.ndarray, right: np.ndarray) -> None:
    """Solve a positive definite system for several right sides, which become the solutions."""
    size, columns = right.shape
    for i in range(size):
        for k in range(i + 1, size):
            factor = system[k, i] / system[i, i]
            for j in range(i, size):
                system[k, j] -= factor * system[i, j]
            for j in range(columns):
                right[k, j] -= factor * right[i, j]
    for i in range(size - 1, -1, -1):
        for j in range(columns):
            total = right[i, j]
            for k in range(i + 1, size):
                total -= system[i, k] * right[k, j]
            right[i, j] = total / system[i, i]


@part
def distance_after(
    memory: PartiMemory, weights: np.ndarray, place: np.ndarray, a: int, neighbour: int
) -> float:
    """The squared distance to the centre of a cell at which a model expects to be after an action."""
    dimensions, total = len(place), 0.0
    for j in range(dimensions):
        expected = place[j] + weights[dimensions + a, j]
        for i in range(dimensions):
            expected += place[i] * weights[i, j]
        gap = expected - (memory.low[neighbour, j] + memory.high[neighbour, j]) / 2.0
        total += gap * gap
    return total


@part
def action_towards(memory: PartiMemory, weights: np.ndarray, place: np.ndarray, neighbour: int) -> int:
    """The action after which a model expects to be closest to the centre of a cell."""
    best, least = 0, np.inf
    for a in range(len(memory.features) - len(place)):
        distance = distance_after(memory, weights, place, a, neighbour)
        if distance < least:
            best, least = a, distance
    return best
