"""The game against the worst case: the outcomes of aims, their costs, and the cells that are too large.

An adversary picks the worst of an aim's observed outcomes. An aim that was never tried is assumed to lead where it
points. A cell *loses* if the adversary can keep it from the goal forever.
"""

from __future__ import annotations

import numpy as np

from distinguo.seam import part
from distinguo_lab.learners.partigame.memory import NOTHING, PartiMemory


@part
def worst_case(memory: PartiMemory, aim: int, by_steps: bool) -> float:
    """The cost to the goal of an aim, whatever the adversary does."""
    outcome = memory.first_outcome[aim]
    if outcome == NOTHING:
        return 1.0 + memory.cost[memory.aimed_at[aim]]
    worst = 0.0
    while outcome != NOTHING:
        own = float(memory.steps[outcome]) if by_steps else 1.0
        worst = max(worst, own + memory.cost[memory.result[outcome]])
        outcome = memory.next_outcome[outcome]
    return worst


@part
def solve_game(memory: PartiMemory, by_steps: bool) -> None:
    """Find the least cost to the goal that no adversary can exceed, for every cell; infinite for those that lose.

    Cells are settled in the order of their costs, from the goal on: an aim counts as soon as all its outcomes are
    settled, and the one settled last is the worst.
    """
    cells, goal = memory.counters["cells"][0], memory.counters["goal"][0]
    for cell in range(cells):
        memory.cost[cell] = np.inf
    for aim in range(memory.first_aim[cells]):
        memory.unsettled[aim] = count_outcomes(memory, aim)
    list_by_result(memory)
    memory.counters["waiting"][0] = 0
    push_cell(memory, goal, 0.0)
    while memory.counters["waiting"][0] > 0:
        cost, cell = memory.queue[0], memory.queued[0]
        pop_cell(memory)
        if not np.isfinite(memory.cost[cell]):
            memory.cost[cell] = cost
            settle_aims_into(memory, cell, by_steps)


@part
def count_outcomes(memory: PartiMemory, aim: int) -> int:
    """The number of an aim's outcomes."""
    count, outcome = 0, memory.first_outcome[aim]
    while outcome != NOTHING:
        count += 1
        outcome = memory.next_outcome[outcome]
    return count


@part
def list_by_result(memory: PartiMemory) -> None:
    """List the outcomes of each cell that they led to."""
    for cell in range(memory.counters["cells"][0]):
        memory.first_into[cell] = NOTHING
    for outcome in range(memory.counters["outcomes"][0]):
        result = memory.result[outcome]
        memory.next_into[outcome] = memory.first_into[result]
        memory.first_into[result] = outcome


@part
def settle_aims_into(memory: PartiMemory, cell: int, by_steps: bool) -> None:
    """Count the aims whose last outcome was settled with this cell, and untried aims at it."""
    outcome = memory.first_into[cell]
    while outcome != NOTHING:
        aim = aim_between(memory, memory.source[outcome], memory.target[outcome])
        memory.unsettled[aim] -= 1
        if memory.unsettled[aim] == 0:
            push_cell(memory, memory.source[outcome], worst_case(memory, aim, by_steps))
        outcome = memory.next_into[outcome]
    for n in range(memory.first_aim[cell], memory.first_aim[cell + 1]):
        other = memory.aimed_at[n]
        aim = aim_between(memory, other, cell)
        if aim != NOTHING and memory.first_outcome[aim] == NOTHING:
            push_cell(memory, other, worst_case(memory, aim, by_steps))


@part
def best_aim(memory: PartiMemory, cell: int, by_steps: bool) -> int:
    """The neighbour to aim at: the least worst case, the nearest centre of tied ones, or ``NOTHING``."""
    best, least, gap = NOTHING, np.inf, np.inf
    for i in range(memory.low.shape[1]):
        memory.centre[i] = (memory.low[cell, i] + memory.high[cell, i]) / 2.0
    for aim in range(memory.first_aim[cell], memory.first_aim[cell + 1]):
        cost, other = worst_case(memory, aim, by_steps), memory.aimed_at[aim]
        distance = distance_squared(memory, other, memory.centre)
        if best == NOTHING or cost < least or (cost == least and distance < gap):
            best, least, gap = other, cost, distance
    return int(best)


@part
def aim_between(memory: PartiMemory, cell: int, neighbour: int) -> int:
    """The number of an aim, ``NOTHING`` if the cells are not neighbours."""
    for aim in range(memory.first_aim[cell], memory.first_aim[cell + 1]):
        if memory.aimed_at[aim] == neighbour:
            return aim
    return NOTHING


@part
def note_arrival(memory: PartiMemory, cell: int, neighbour: int, result: int, steps: int) -> bool:
    """Record the outcome of an aim; True if it is new to the adversary."""
    aim = aim_between(memory, cell, neighbour)
    if aim == NOTHING:
        return False
    outcome = memory.first_outcome[aim]
    while outcome != NOTHING:
        if memory.result[outcome] == result:
            is_news = steps > memory.steps[outcome]
            memory.steps[outcome] = max(steps, memory.steps[outcome])
            return bool(is_news)
        outcome = memory.next_outcome[outcome]
    return add_outcome(memory, aim, cell, result, steps)


@part
def add_outcome(memory: PartiMemory, aim: int, cell: int, result: int, steps: int) -> bool:
    """Add an outcome to those of an aim, if there is room for it."""
    outcome = memory.counters["outcomes"][0]
    if outcome == len(memory.source):
        return False
    memory.counters["outcomes"][0] += 1
    memory.source[outcome], memory.target[outcome] = cell, memory.aimed_at[aim]
    memory.result[outcome], memory.steps[outcome] = result, steps
    memory.next_outcome[outcome] = memory.first_outcome[aim]
    memory.first_outcome[aim] = outcome
    return True


@part
def mark_border(memory: PartiMemory, finest: float) -> int:
    """Mark losers with a neighbour that does not lose, and those neighbours; return how many can be split."""
    cells, goal, marked = memory.counters["cells"][0], memory.counters["goal"][0], 0
    memory.is_split[:] = False
    for cell in range(cells):
        if cell == goal or np.isfinite(memory.cost[cell]):
            continue
        for aim in range(memory.first_aim[cell], memory.first_aim[cell + 1]):
            other = memory.aimed_at[aim]
            if np.isfinite(memory.cost[other]):
                memory.is_split[cell] = True
                memory.is_split[other] = True
    for cell in range(cells):
        memory.is_split[cell] = memory.is_split[cell] and can_be_split(memory, cell, finest)
        marked += memory.is_split[cell]
    return marked


@part
def split_border(memory: PartiMemory, finest: float) -> bool:
    """Split the losers that border on winners, and those winners, in half; False if nothing can be split.

    Outcomes of aims from, at or into a split cell are forgotten.
    """
    cells = memory.counters["cells"][0]
    marked = mark_border(memory, finest)
    if marked == 0 or cells + marked > len(memory.low):
        return False
    forget_marked(memory)
    for cell in range(cells):
        if memory.is_split[cell]:
            axis = longest_axis(memory, cell)
            split_at(memory, cell, axis, (memory.low[cell, axis] + memory.high[cell, axis]) / 2.0)
    memory.counters["splits"][0] += 1
    list_neighbours(memory)
    link_outcomes(memory)
    return True


@part
def forget_marked(memory: PartiMemory) -> None:
    """Drop the outcomes that involve a marked cell."""
    kept = 0
    for n in range(memory.counters["outcomes"][0]):
        ends = memory.source[n], memory.target[n], memory.result[n]
        if not (memory.is_split[ends[0]] or memory.is_split[ends[1]] or memory.is_split[ends[2]]):
            memory.source[kept], memory.target[kept], memory.result[kept] = ends
            memory.steps[kept] = memory.steps[n]
            kept += 1
    memory.counters["outcomes"][0] = kept


@part
def link_outcomes(memory: PartiMemory) -> None:
    """Assign every outcome to its aim, after the neighbours were listed again."""
    cells = memory.counters["cells"][0]
    memory.first_outcome[: memory.first_aim[cells]] = NOTHING
    kept = 0
    for n in range(memory.counters["outcomes"][0]):
        aim = aim_between(memory, memory.source[n], memory.target[n])
        if aim == NOTHING:  # there was no room for it
            continue
        memory.source[kept], memory.target[kept] = memory.source[n], memory.target[n]
        memory.result[kept], memory.steps[kept] = memory.result[n], memory.steps[n]
        memory.next_outcome[kept] = memory.first_outcome[aim]
        memory.first_outcome[aim] = kept
        kept += 1
    memory.counters["outcomes"][0] = kept


@part
def forget_outcomes(memory: PartiMemory) -> None:
    """Forget all outcomes; the cells stay."""
    memory.counters["outcomes"][0] = 0
    memory.counters["forgotten"][0] += 1
    link_outcomes(memory)


@part
def make_winnable(memory: PartiMemory, finest: float, by_steps: bool) -> int:
    """Split until the cell of the place does not lose; return it. If nothing can be split, forget all outcomes."""
    from_here = cell_at_place(memory)
    while not np.isfinite(memory.cost[from_here]):
        if not split_border(memory, finest):
            forget_outcomes(memory)
            solve_game(memory, by_steps)
            return cell_at_place(memory)
        solve_game(memory, by_steps)
        from_here = cell_at_place(memory)
    return from_here


@part
def cell_at_place(memory: PartiMemory) -> int:
    """The cell of the latest observation."""
    return cell_at(memory, memory.place)


# ---- the queue of cells by cost, the least first: a heap in arrays ------------------------------------------------


@part
def push_cell(memory: PartiMemory, cell: int, cost: float) -> None:
    """Queue a cell; it may be queued more than once, and only its least cost counts."""
    place = memory.counters["waiting"][0]
    memory.counters["waiting"][0] += 1
    memory.queue[place], memory.queued[place] = cost, cell
    while place > 0 and memory.queue[(place - 1) // 2] > memory.queue[place]:
        swap_places(memory, place, (place - 1) // 2)
        place = (place - 1) // 2


@part
def pop_cell(memory: PartiMemory) -> None:
    """Drop the cell of least cost from the queue."""
    memory.counters["waiting"][0] -= 1
    last, place = memory.counters["waiting"][0], 0
    swap_places(memory, 0, last)
    while True:
        least = place
        for child in (2 * place + 1, 2 * place + 2):
            if child < last and memory.queue[child] < memory.queue[least]:
                least = child
        if least == place:
            return
        swap_places(memory, place, least)
        place = least


@part
def swap_places(memory: PartiMemory, one: int, other: int) -> None:
    """Swap two entries of the queue."""
    cost, cell = memory.queue[one], memory.queued[one]
    memory.queue[one], memory.queued[one] = memory.queue[other], memory.queued[other]
    memory.queue[other], memory.queued[other] = cost, cell


# The cells: where a point is, how a cell is split, and which cells are neighbours.


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
    """The coordinate in which a cell is widest; the first of tied ones."""
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
    """List the aims of all cells again; False if there was not room for all."""
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
    """Set ``lower`` and ``upper`` to the corners of a cell."""
    for i in range(len(memory.lower)):
        memory.lower[i] = memory.low[cell, i]
        memory.upper[i] = memory.high[cell, i]


@part
def set_centre(memory: PartiMemory) -> None:
    """Set ``centre`` to the middle of ``lower`` and ``upper``."""
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
    """Find a part by its number, and its centre; return the number of halvings.

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
