"""A queue of cells by cost, the least first: a heap in arrays."""

from __future__ import annotations

from distinguo.seam import part
from distinguo_lab.learners.partigame.memory import PartiMemory


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
