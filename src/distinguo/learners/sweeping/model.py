"""The model of the task: which states there are, and what was seen to follow each state and action."""

from __future__ import annotations

import math
from typing import Any

from distinguo.learners.sweeping.memory import NOTHING, SweepingMemory
from distinguo.references import by_reference
from distinguo.seam import kernel, part

_PRIME, _MASK = 1_000_003, 2**31 - 1
SAME = 1e-9  #: rewards that differ by less, for their size, are the same


@part
def slot_of(memory: SweepingMemory, s: Any) -> int:
    """Return the slot of the hash table that holds ``s``, or where it should be."""
    code = 0
    for i in range(len(s)):
        code = (code * _PRIME + int(s[i])) & _MASK
    slot = code % len(memory.slots)
    while memory.slots[slot] != NOTHING and not _is_state(memory, memory.slots[slot], s):
        slot = (slot + 1) % len(memory.slots)
    return slot


@part
def _is_state(memory: SweepingMemory, j: int, s: Any) -> bool:
    for i in range(len(s)):
        if memory.seen[j, i] != s[i]:
            return False
    return True


@part
def state_at(memory: SweepingMemory, s: Any) -> int:
    """Return the number of the state that looks like ``s``; one that was never seen gets the next number."""
    slot = slot_of(memory, s)
    if memory.slots[slot] == NOTHING:
        j = memory.counters["states"][0]
        for i in range(len(s)):
            memory.seen[j, i] = s[i]
        memory.slots[slot] = j
        memory.counters["states"][0] = j + 1
    return memory.slots[slot]


@kernel
def fill_slots(memory: SweepingMemory) -> None:
    """Find a slot for every state, in a table that is empty."""
    memory = by_reference(memory)
    for j in range(memory.counters["states"][0]):
        memory.slots[slot_of(memory, memory.seen[j])] = j


@part
def take_down(memory: SweepingMemory, j: int, a: int, r: float, k: int, ends: bool) -> bool:
    """Add a transition to the model; tell whether that changed what the whole task is thought to be like."""
    amounts, counters = memory.amounts, memory.counters
    news = r > amounts["best"][0] or r < amounts["worst"][0]
    amounts["best"][0] = max(r, amounts["best"][0])
    amounts["worst"][0] = min(r, amounts["worst"][0])
    by_chance = _differs(memory, j, a, r, k, ends)
    if by_chance and counters["chance"][0] == 0:
        counters["chance"][0] = 1
        news = True
    memory.edge_count[edge_of(memory, j, a, k, ends)] += 1
    memory.tries[j, a] += 1
    memory.gained[j, a] += r
    counters["experience"][0] += 1
    return news


@part
def _differs(memory: SweepingMemory, j: int, a: int, r: float, k: int, ends: bool) -> bool:
    """Tell whether a pair was seen before, with another outcome or reward."""
    n, e = memory.tries[j, a], memory.first_edge[j, a]
    if n == 0:
        return False
    mean = memory.gained[j, a] / n
    other = memory.edge_to[e] != k or memory.edge_ends[e] != ends
    return other or abs(r - mean) > SAME * max(abs(r), abs(mean))


@part
def edge_of(memory: SweepingMemory, j: int, a: int, k: int, ends: bool) -> int:
    """Return the edge from a pair to an outcome, a new one if it was never seen."""
    e = memory.first_edge[j, a]
    while e != NOTHING:
        if memory.edge_to[e] == k and memory.edge_ends[e] == ends:
            return e
        e = memory.edge_next[e]
    return _add_edge(memory, j, a, k, ends)


@part
def _add_edge(memory: SweepingMemory, j: int, a: int, k: int, ends: bool) -> int:
    e = memory.counters["edges"][0]
    memory.counters["edges"][0] = e + 1
    memory.edge_pair[e] = j * memory.tries.shape[1] + a
    memory.edge_to[e], memory.edge_ends[e] = k, ends
    memory.edge_next[e], memory.first_edge[j, a] = memory.first_edge[j, a], e
    memory.edge_way[e], memory.first_way[k] = memory.first_way[k], e
    return e


@part
def expected(memory: SweepingMemory, values: Any, j: int, a: int, gamma: float) -> float:
    """Return the mean reward of a pair that was tried, plus the mean value of the states that it led to."""
    total, e = 0.0, memory.first_edge[j, a]
    while e != NOTHING:
        if not memory.edge_ends[e]:
            total += memory.edge_count[e] * values[memory.edge_to[e]]
        e = memory.edge_next[e]
    return (memory.gained[j, a] + gamma * total) / memory.tries[j, a]


@part
def uncertainty(memory: SweepingMemory, values: Any, j: int, a: int) -> float:
    """Return the standard error of the mean value of the states that a pair led to."""
    n, mean, square = memory.tries[j, a], 0.0, 0.0
    e = memory.first_edge[j, a]
    while e != NOTHING:
        value = 0.0 if memory.edge_ends[e] else values[memory.edge_to[e]]
        mean += memory.edge_count[e] * value / n
        square += memory.edge_count[e] * value * value / n
        e = memory.edge_next[e]
    return math.sqrt(max(square - mean * mean, 0.0) / n)
