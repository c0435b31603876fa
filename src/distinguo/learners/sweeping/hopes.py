"""Optimism that drives exploration: what is unknown is hoped to be better than anything known.

A pair that was never tried is worth the *dream*. Where chance is at work, a pair that was tried counts a few imagined
outcomes in the dream beside those it had, so hope fades with experience. Hopes are kept up to date by prioritized
sweeping: a state whose hope changed makes the states that lead to it wait, by how much they may change.
"""

from __future__ import annotations

from typing import Any

from distinguo.learners.sweeping.memory import NOTHING, SweepingMemory
from distinguo.learners.sweeping.model import expected, state_at, take_down
from distinguo.learners.sweeping.queue import enqueue, most_urgent
from distinguo.learners.sweeping.settings import SweepingSettings
from distinguo.seam import kernel, part


@part
def spread(memory: SweepingMemory) -> float:
    """Return by how much rewards differ; 1 as long as they do not."""
    difference = memory.amounts["best"][0] - memory.amounts["worst"][0]
    return difference if difference > 0.0 else 1.0


@part
def dream(memory: SweepingMemory) -> float:
    """Return what the unknown is hoped to be worth: more than anything that is known."""
    amounts = memory.amounts
    return max(0.0, amounts["best"][0], amounts["greatest"][0]) + spread(memory)


@part
def hope_of(memory: SweepingMemory, settings: SweepingSettings, j: int, a: int) -> float:
    """Return what a pair may be worth at best."""
    n = memory.tries[j, a]
    if n == 0:
        return dream(memory)
    known = expected(memory, memory.highest, j, a, memory.amounts["gamma"][0])
    imagined = settings.doubt if memory.counters["chance"][0] == 1 else 0.0
    return (n * known + imagined * dream(memory)) / (n + imagined)


@kernel
def back_up_hope(memory: SweepingMemory, settings: SweepingSettings, j: int) -> float:
    """Bring the hopes of a state up to date; return by how much its highest changed."""
    before, highest = memory.highest[j], hope_of(memory, settings, j, 0)
    for a in range(memory.hope.shape[1]):
        memory.hope[j, a] = hope_of(memory, settings, j, a)
        highest = max(highest, memory.hope[j, a])
    memory.highest[j] = highest
    return abs(highest - before)


@part
def sweep_hopes(memory: SweepingMemory, settings: SweepingSettings, most: int) -> None:
    """Back up so many of the states that wait, the most urgent first."""
    for _ in range(most):
        if memory.counters["waiting"][0] == 0:
            return
        j = most_urgent(memory)
        let_wait_before(memory, settings, j, back_up_hope(memory, settings, j))


@part
def let_wait_before(memory: SweepingMemory, settings: SweepingSettings, k: int, change: float) -> None:
    """Let the states wait that lead to ``k``, whose hope changed, if theirs may change enough."""
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
def let_all_wait(memory: SweepingMemory) -> None:
    """Let every state wait: the dream, or how far to trust experience, has changed."""
    for j in range(memory.counters["states"][0]):
        enqueue(memory, j, spread(memory))


@kernel
def expect_more(memory: SweepingMemory) -> None:
    """Let all hopes be brought up to date with a greater dream."""
    let_all_wait(memory)


@kernel
def recognise(memory: SweepingMemory, s: Any) -> int:
    """Return the number of a state, which is full of hope if it is new."""
    before = memory.counters["states"][0]
    j = state_at(memory, s)
    if j == before:
        memory.highest[j] = dream(memory)
        for a in range(memory.hope.shape[1]):
            memory.hope[j, a] = memory.highest[j]
    return j


@kernel
def learn_transition(
    memory: SweepingMemory, settings: SweepingSettings, j: int, a: int, r: float, k: int, ends: bool
) -> None:
    """Learn from one step, and sweep."""
    if take_down(memory, j, a, r, k, ends):
        let_all_wait(memory)
    enqueue(memory, j, spread(memory))
    sweep_hopes(memory, settings, settings.sweeps)
