"""The game against the worst case: what aims were seen to lead to, what they cost, and where cells are too large.

An adversary picks, of all that an aim was seen to lead to, what is worst for us. An aim that was never tried is
thought to lead where it points. A cell *loses* if the adversary can keep it from the goal forever.
"""

from __future__ import annotations

import numpy as np

from distinguo.seam import part
from distinguo_lab.learners.partigame.cells import (
    can_be_split,
    cell_at,
    distance_squared,
    list_neighbours,
    longest_axis,
    split_at,
)
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

    Cells are settled in the order of their costs, from the goal on: an aim counts as soon as all that it may lead to
    is settled, and what was settled last is the worst of it.
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
    """How many outcomes an aim has."""
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
    """Let the aims count whose last outcome was settled with this cell, and those at it that were never tried."""
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
    """The neighbour to aim at: the least worst case, of equal ones the nearest centre, or ``NOTHING``."""
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
    """Note what an aim led to; True if that is news to the adversary."""
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

    What is known of aims from, at or into a cell that is split is forgotten.
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
    """Drop the outcomes that speak of a cell that is marked."""
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
    """Give every outcome to its aim, after the neighbours were listed again."""
    cells = memory.counters["cells"][0]
    memory.first_outcome[: memory.first_aim[cells]] = NOTHING
    kept = 0
    for n in range(memory.counters["outcomes"][0]):
        aim = aim_between(memory, memory.source[n], memory.target[n])
        if aim == NOTHING:  # left out for want of room
            continue
        memory.source[kept], memory.target[kept] = memory.source[n], memory.target[n]
        memory.result[kept], memory.steps[kept] = memory.result[n], memory.steps[n]
        memory.next_outcome[kept] = memory.first_outcome[aim]
        memory.first_outcome[aim] = kept
        kept += 1
    memory.counters["outcomes"][0] = kept


@part
def forget_outcomes(memory: PartiMemory) -> None:
    """Forget what all aims led to; the cells stay."""
    memory.counters["outcomes"][0] = 0
    memory.counters["forgotten"][0] += 1
    link_outcomes(memory)


@part
def make_winnable(memory: PartiMemory, finest: float, by_steps: bool) -> int:
    """Split until the cell of the place does not lose; return that cell. Where nothing can be split, begin anew."""
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
    """Let a cell wait; it may do so more than once, and only its least cost will count."""
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
    """Swap what waits at two places."""
    cost, cell = memory.queue[one], memory.queued[one]
    memory.queue[one], memory.queued[one] = memory.queue[other], memory.queued[other]
    memory.queue[other], memory.queued[other] = cost, cell
