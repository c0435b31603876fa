"""Optimism that drives exploration: what is unknown counts as better than anything known.

Each pair of state and action has an *upper value*. A pair that was never tried has the optimistic value. In a
stochastic task, a pair that was tried counts a few imagined outcomes of the optimistic value beside those it had, so
optimism fades with experience. Upper values are kept up to date by prioritized sweeping: a state whose upper value
changed queues the states that lead to it, by how much theirs may change.
"""

from __future__ import annotations

from typing import Any

from distinguo.learners.sweeping.memory import NOTHING, SweepingMemory
from distinguo.learners.sweeping.model import expected, state_at, take_down
from distinguo.learners.sweeping.queue import enqueue, most_urgent
from distinguo.learners.sweeping.settings import SweepingSettings
from distinguo.references import by_reference
from distinguo.seam import kernel, part


@part
def spread(memory: SweepingMemory) -> float:
    """By how much rewards differ; 1 as long as they do not."""
    difference = memory.amounts["best"][0] - memory.amounts["worst"][0]
    return difference if difference > 0.0 else 1.0


@part
def optimistic_value(memory: SweepingMemory) -> float:
    """The value of what was never tried: more than anything known."""
    amounts = memory.amounts
    return max(0.0, amounts["best"][0], amounts["greatest"][0]) + spread(memory)


@part
def upper_value(memory: SweepingMemory, settings: SweepingSettings, j: int, a: int) -> float:
    """What a pair may be worth at best."""
    n = memory.tries[j, a]
    if n == 0:
        return optimistic_value(memory)
    known = expected(memory, memory.highest, j, a, memory.amounts["gamma"][0])
    imagined = settings.doubt if memory.counters["chance"][0] == 1 else 0.0
    return (n * known + imagined * optimistic_value(memory)) / (n + imagined)


@kernel
def back_up_upper_values(memory: SweepingMemory, settings: SweepingSettings, j: int) -> float:
    """Bring the upper values of a state up to date; by how much the highest changed."""
    before, highest = memory.highest[j], upper_value(memory, settings, j, 0)
    for a in range(memory.hope.shape[1]):
        memory.hope[j, a] = upper_value(memory, settings, j, a)
        highest = max(highest, memory.hope[j, a])
    memory.highest[j] = highest
    return abs(highest - before)


@part
def sweep_upper_values(memory: SweepingMemory, settings: SweepingSettings, most: int) -> None:
    """Back up so many of the queued states, the most urgent first."""
    for _ in range(most):
        if memory.counters["waiting"][0] == 0:
            return
        j = most_urgent(memory)
        queue_predecessors(memory, settings, j, back_up_upper_values(memory, settings, j))


@part
def queue_predecessors(memory: SweepingMemory, settings: SweepingSettings, k: int, change: float) -> None:
    """Queue the states that lead to ``k``, whose upper value changed, if theirs may change enough."""
    least = settings.precision * spread(memory)
    e = memory.first_way[k]
    while change > least and e != NOTHING:
        pair = memory.edge_pair[e]
        j, a = pair // memory.tries.shape[1], pair % memory.tries.shape[1]
        urgency = memory.amounts["gamma"][0] * change * memory.edge_count[e] / memory.tries[j, a]
        if urgency > least and not memory.edge_ends[e]:
            enqueue(memory, j, urgency)
        e = memory.edge_way[e]


@part
def queue_all(memory: SweepingMemory) -> None:
    """Queue every state: the optimistic value, or how far to trust experience, has changed."""
    for j in range(memory.counters["states"][0]):
        enqueue(memory, j, spread(memory))


@kernel
def queue_all_again(memory: SweepingMemory) -> None:
    """Let all upper values be brought up to date with a greater optimistic value."""
    memory = by_reference(memory)
    queue_all(memory)


@kernel
def state_number(memory: SweepingMemory, s: Any) -> int:
    """The number of a state; a new one has the optimistic value."""
    memory = by_reference(memory)
    before = memory.counters["states"][0]
    j = state_at(memory, s)
    if j == before:
        memory.highest[j] = optimistic_value(memory)
        for a in range(memory.hope.shape[1]):
            memory.hope[j, a] = memory.highest[j]
    return j


@kernel
def learn_transition(
    memory: SweepingMemory, settings: SweepingSettings, j: int, a: int, r: float, k: int, ends: bool
) -> None:
    """Learn from one step, and sweep."""
    memory = by_reference(memory)
    if take_down(memory, j, a, r, k, ends):
        queue_all(memory)
    enqueue(memory, j, spread(memory))
    sweep_upper_values(memory, settings, settings.sweeps)
