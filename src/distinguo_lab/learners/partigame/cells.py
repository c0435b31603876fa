"""The cells: where a point is, how a cell is split, and which cells are neighbours."""

from __future__ import annotations

import numpy as np

from distinguo.seam import part
from distinguo_lab.learners.partigame.memory import NOTHING, PartiMemory


@part
def cell_at(memory: PartiMemory, place: np.ndarray) -> int:
    """The cell of a scaled observation; the outermost cells reach beyond the extent."""
    node = 0
    while memory.axis[node] >= 0:
        low_side = place[memory.axis[node]] < memory.cut[node]
        node = memory.below[node] if low_side else memory.above[node]
    return int(memory.below[node])


@part
def split_at(memory: PartiMemory, cell: int, axis: int, cut: float) -> int:
    """Cut a cell; the lower part keeps its number. Return that of the upper part."""
    counters = memory.counters
    upper, node, child = counters["cells"][0], memory.node[cell], counters["nodes"][0]
    counters["cells"][0] += 1
    counters["nodes"][0] += 2
    memory.axis[node], memory.cut[node] = axis, cut
    memory.below[node], memory.above[node] = child, child + 1
    for half in range(2):
        memory.axis[child + half] = NOTHING
        memory.parent[child + half] = node
    memory.below[child], memory.below[child + 1] = cell, upper
    memory.node[cell], memory.node[upper] = child, child + 1
    for i in range(memory.low.shape[1]):
        memory.low[upper, i] = memory.low[cell, i]
        memory.high[upper, i] = memory.high[cell, i]
    memory.has_model[cell], memory.has_model[upper] = False, False
    memory.high[cell, axis] = cut
    memory.low[upper, axis] = cut
    return int(upper)


@part
def longest_axis(memory: PartiMemory, cell: int) -> int:
    """The coordinate that a cell is widest in, of equal ones the first."""
    longest = 0
    for i in range(memory.low.shape[1]):
        width = memory.high[cell, i] - memory.low[cell, i]
        if width > memory.high[cell, longest] - memory.low[cell, longest]:
            longest = i
    return longest


@part
def can_be_split(memory: PartiMemory, cell: int, finest: float) -> bool:
    """Whether both halves of a cell would be wide enough; that of the goal is never split."""
    axis = longest_axis(memory, cell)
    width = memory.high[cell, axis] - memory.low[cell, axis]
    return bool(cell != memory.counters["goal"][0] and width >= 2.0 * finest)


@part
def are_neighbours(memory: PartiMemory, one: int, other: int) -> bool:
    """Whether two cells share a part of a face: they touch along one coordinate and overlap along the others."""
    touching = 0
    for i in range(memory.low.shape[1]):
        least = max(memory.low[one, i], memory.low[other, i])
        most = min(memory.high[one, i], memory.high[other, i])
        if least > most:
            return False
        touching += least == most
    return bool(touching == 1)


@part
def list_neighbours(memory: PartiMemory) -> bool:
    """List the aims of all cells anew; False if there are more than there is room for, of which some are left out."""
    cells, aims = memory.counters["cells"][0], 0
    for one in range(cells):
        memory.first_aim[one] = aims
        for other in range(cells):
            if other != one and are_neighbours(memory, one, other):
                if aims == len(memory.aimed_at):
                    memory.first_aim[one + 1 : cells + 1] = aims
                    return False
                memory.aimed_at[aims] = other
                aims += 1
    memory.first_aim[cells] = aims
    return True


@part
def distance_squared(memory: PartiMemory, cell: int, place: np.ndarray) -> float:
    """The squared distance of a scaled observation to the centre of a cell."""
    total = 0.0
    for i in range(len(place)):
        gap = place[i] - (memory.low[cell, i] + memory.high[cell, i]) / 2.0
        total += gap * gap
    return total


@part
def halve_cell(memory: PartiMemory, level: int, take_upper: bool) -> None:
    """Halve the part between ``lower`` and ``upper``, along each coordinate in turn."""
    axis = level % len(memory.lower)
    middle = (memory.lower[axis] + memory.upper[axis]) / 2.0
    if take_upper:
        memory.lower[axis] = middle
    else:
        memory.upper[axis] = middle


@part
def whole_cell(memory: PartiMemory, cell: int) -> None:
    """Let ``lower`` and ``upper`` be the corners of a cell."""
    for i in range(len(memory.lower)):
        memory.lower[i] = memory.low[cell, i]
        memory.upper[i] = memory.high[cell, i]


@part
def set_centre(memory: PartiMemory) -> None:
    """Let ``centre`` be half-way between ``lower`` and ``upper``."""
    for i in range(len(memory.lower)):
        memory.centre[i] = (memory.lower[i] + memory.upper[i]) / 2.0


@part
def find_part(memory: PartiMemory, cell: int, place: np.ndarray, fineness: int) -> None:
    """Find the part of a cell that a scaled observation is in, after so many halvings, and its centre."""
    whole_cell(memory, cell)
    for level in range(fineness):
        axis = level % len(memory.lower)
        halve_cell(memory, level, place[axis] >= (memory.lower[axis] + memory.upper[axis]) / 2.0)
    set_centre(memory)


@part
def numbered_part(memory: PartiMemory, cell: int, number: int) -> int:
    """Find a part by its number, and its centre; return how many halvings it took.

    The whole cell is number 1; the halves of number n are 2n and, for the upper one, 2n + 1.
    """
    whole_cell(memory, cell)
    depth = 0
    while number >> (depth + 1):
        depth += 1
    for level in range(depth):
        halve_cell(memory, level, bool((number >> (depth - 1 - level)) & 1))
    set_centre(memory)
    return depth
