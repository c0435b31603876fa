"""Local models of what actions do: displacements that are linear in the state, by least squares, for each node.

Every step is added to the sums of all nodes that contain its state. The model of a cell is that of the smallest node
around it in which every action was tried often enough. The actions share their slopes and differ only in a constant
displacement, on which the choice of an action depends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.representations.boxes import Boxes
from distinguo.seam import kernel, part
from distinguo_lab.learners.partigame.game import best_aim, numbered_part
from distinguo_lab.learners.partigame.memory import NOTHING, PartiMemory, PartiSettings

RIDGE = 1e-6  #: added to the diagonal, so that there is one solution even if a coordinate never varies


@part
def set_features(memory: PartiMemory, place: np.ndarray, a: int) -> None:
    """Write the features of a state and an action: the scaled observation, and the action one-hot."""
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
    """The action that was tried least in a node; the first of tied ones."""
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
    """Draft the model of a cell: its own, or a newly solved one; False if there is none yet."""
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
    """Solve a positive definite system for several right-hand sides, in place."""
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
    """The squared distance to the centre of a cell that a model predicts after an action."""
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
    """The action that leads closest to the centre of a cell, by a model."""
    best, least = 0, np.inf
    for a in range(len(memory.features) - len(place)):
        distance = distance_after(memory, weights, place, a, neighbour)
        if distance < least:
            best, least = a, distance
    return best


# What parti-game acts by, drawn as boxes: in every part of a cell, the action that leads towards the cell's aim.


MIXED = -1  #: marks parts of a cell with several actions
LEAST_GAP = 1e-12  #: least difference in value between the chosen action and the others
CELL_NODE, PART = 0, 1  # what waits to be drawn: a node of the tree of cells, or a part of a cell


class Drawing(NamedTuple):
    """A tree of boxes that is being drawn, with the values of its leaves, and the parts still to draw."""

    axis: np.ndarray
    cut: np.ndarray
    below: np.ndarray
    above: np.ndarray
    q: np.ndarray
    waiting: np.ndarray  #: kind, node or cell, part, node above, whether on its high side
    actions: np.ndarray  #: of the parts of a cell
    aims: np.ndarray  #: of each cell, and whether it has a model
    size: np.ndarray  #: nodes, leaves and rows that wait


def drawn_controller(memory: PartiMemory, settings: PartiSettings) -> Controller:
    """The present policy: a tree of boxes that is as fine as its local controllers are."""
    cells, dimensions = int(memory.counters["cells"][0]), memory.low.shape[1]
    actions, parts = len(memory.features) - dimensions, 1 << settings.fineness
    drawing = _blank(2 * cells * parts, cells * parts, actions, cells, parts)
    draw_cells(memory, settings, drawing)
    nodes, leaves = int(drawing.size[0]), int(drawing.size[1])
    axis, cut, below, above = (
        column[:nodes].copy() for column in (drawing.axis, drawing.cut, drawing.below, drawing.above)
    )
    partition = Boxes(axis, cut, below, above, memory.origin.copy(), memory.origin + memory.width)
    return Controller(partition, drawing.q[:leaves].copy())


def _blank(nodes: int, leaves: int, actions: int, cells: int, parts: int) -> Drawing:
    counts = np.zeros(nodes, dtype=np.int64)
    return Drawing(
        counts,
        np.zeros(nodes),
        counts.copy(),
        counts.copy(),
        np.zeros((leaves, actions)),
        np.zeros((nodes + 1, 5), dtype=np.int64),
        np.zeros(2 * parts, dtype=np.int64),
        np.zeros((cells, 2), dtype=np.int64),
        np.zeros(3, dtype=np.int64),
    )


def cell_boxes(memory: PartiMemory) -> Boxes:
    """The cells as a partition, for other learners; a walk numbers the leaves, low sides first."""
    nodes = int(memory.counters["nodes"][0])
    axis, below = memory.axis[:nodes].copy(), memory.below[:nodes].copy()
    todo, leaves = [0], 0
    while todo:
        node = todo.pop()
        if axis[node] < 0:
            below[node] = leaves
            leaves += 1
        else:
            todo += [int(memory.above[node]), int(memory.below[node])]
    along = np.maximum(axis, 0)
    cut = np.where(axis < 0, 0.0, memory.origin[along] + memory.cut[:nodes] * memory.width[along])
    above = np.where(axis < 0, 0, memory.above[:nodes])
    return Boxes(axis, cut, below, above, memory.origin.copy(), memory.origin + memory.width)


@kernel
def draw_cells(memory: PartiMemory, settings: PartiSettings, drawing: Drawing) -> None:
    """Walk down the tree of cells, low sides first, and further into the parts of a cell where actions differ."""
    highest = highest_cost(memory)
    wait(drawing, CELL_NODE, 0, 0, NOTHING, 0)
    while drawing.size[2] > 0:
        drawing.size[2] -= 1
        row = drawing.waiting[drawing.size[2]]
        kind, which, number, above, is_high = row[0], row[1], row[2], row[3], row[4]
        node = drawing.size[0]
        drawing.size[0] += 1
        if above != NOTHING and is_high == 1:
            drawing.above[above] = node
        elif above != NOTHING:
            drawing.below[above] = node
        if kind == CELL_NODE and memory.axis[which] >= 0:
            draw_cut(memory, drawing, node, memory.axis[which], memory.cut[which])
            wait(drawing, CELL_NODE, memory.above[which], 0, node, 1)
            wait(drawing, CELL_NODE, memory.below[which], 0, node, 0)
            continue
        if kind == CELL_NODE:
            which, number = memory.below[which], 1
            choose_cell_actions(memory, settings, drawing, which)
        draw_part(memory, drawing, node, which, number, highest)


@part
def wait(drawing: Drawing, kind: int, which: int, number: int, above: int, is_high: int) -> None:
    """Queue something to be drawn."""
    row = drawing.waiting[drawing.size[2]]
    row[0], row[1], row[2], row[3], row[4] = kind, which, number, above, is_high
    drawing.size[2] += 1


@part
def draw_cut(memory: PartiMemory, drawing: Drawing, node: int, axis: int, cut: float) -> None:
    """Draw a cut in the units of the observations."""
    drawing.axis[node] = axis
    drawing.cut[node] = memory.origin[axis] + cut * memory.width[axis]


@part
def choose_cell_actions(memory: PartiMemory, settings: PartiSettings, drawing: Drawing, cell: int) -> None:
    """Find the action of every part of a cell, and of larger parts with a single action."""
    parts = len(drawing.actions) // 2
    is_known = fit_draft(memory, cell, settings.enough)
    aim = cell if cell == memory.counters["goal"][0] else best_aim(memory, cell, settings.count_steps)
    drawing.aims[cell, 0], drawing.aims[cell, 1] = aim, is_known
    for number in range(2 * parts - 1, 0, -1):
        if number >= parts:
            numbered_part(memory, cell, number)
            drawing.actions[number] = (
                action_towards(memory, memory.draft, memory.centre, aim) if is_known else 0
            )
        else:
            lower, upper = drawing.actions[2 * number], drawing.actions[2 * number + 1]
            drawing.actions[number] = lower if lower == upper else MIXED


@part
def draw_part(
    memory: PartiMemory, drawing: Drawing, node: int, cell: int, number: int, highest: float
) -> None:
    """Draw a part of a cell: as a leaf if it has one action, otherwise as a cut."""
    depth = numbered_part(memory, cell, number)
    if drawing.actions[number] == MIXED:
        axis = depth % len(memory.lower)
        draw_cut(memory, drawing, node, axis, memory.centre[axis])
        wait(drawing, PART, cell, 2 * number + 1, node, 1)
        wait(drawing, PART, cell, 2 * number, node, 0)
        return
    leaf = drawing.size[1]
    drawing.axis[node], drawing.below[node] = NOTHING, leaf
    drawing.size[1] += 1
    value_leaf(memory, drawing, leaf, cell, drawing.actions[number], min(memory.cost[cell], highest))


@part
def value_leaf(memory: PartiMemory, drawing: Drawing, leaf: int, cell: int, chosen: int, cost: float) -> None:
    """Value the chosen action by the cost of its cell, and the others by how much farther from the aim they lead."""
    for a in range(drawing.q.shape[1]):
        drawing.q[leaf, a] = -cost
        if drawing.aims[cell, 1] and a != chosen:
            own = distance_after(memory, memory.draft, memory.centre, chosen, drawing.aims[cell, 0])
            farther = distance_after(memory, memory.draft, memory.centre, a, drawing.aims[cell, 0]) - own
            drawing.q[leaf, a] -= max(farther, LEAST_GAP)


@part
def highest_cost(memory: PartiMemory) -> float:
    """A cost above that of every cell that does not lose, for those that do."""
    highest = 0.0
    for cell in range(memory.counters["cells"][0]):
        if np.isfinite(memory.cost[cell]):
            highest = max(highest, memory.cost[cell])
    return highest + 1.0
