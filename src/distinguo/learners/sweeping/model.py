"""The model of a task, swept by priority, and the optimistic values that drive exploration."""

from __future__ import annotations

import math
from typing import Any, Protocol

from distinguo.learners.sweeping.memory import NOTHING, SweepingMemory, SweepingSettings
from distinguo.references import by_reference
from distinguo.seam import kernel, part

# The model of the task: its states, and the observed outcomes of each state and action.


_PRIME, _MASK = 1_000_003, 2**31 - 1
SAME = 1e-9  #: rewards with a smaller relative difference are equal


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
    """Return the number of the state with the observation ``s``; a new one gets the next number."""
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
    """Add a transition to the model; return whether that changed a fact about the whole task."""
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
    """Whether a pair was seen before, with another outcome or reward."""
    n, e = memory.tries[j, a], memory.first_edge[j, a]
    if n == 0:
        return False
    mean = memory.gained[j, a] / n
    other = memory.edge_to[e] != k or memory.edge_ends[e] != ends
    return other or abs(r - mean) > SAME * max(abs(r), abs(mean))


@part
def edge_of(memory: SweepingMemory, j: int, a: int, k: int, ends: bool) -> int:
    """Return the edge from a pair to an outcome; a new one if it was never seen."""
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


# The queue of states that wait for a back-up, the most urgent first: a heap in which a state has one place.


class WaitingStates(Protocol):
    """A memory with a queue: the arrays of a heap, by place and by state, and the number of waiting states."""

    @property
    def queue(self) -> Any:
        """Return the state in each place of the heap."""

    @property
    def place(self) -> Any:
        """Return the place of each state, -1 for one that does not wait."""

    @property
    def urgency(self) -> Any:
        """Return the priority of each state that waits."""

    @property
    def counters(self) -> Any:
        """Return the record that counts, under ``waiting``, how many wait."""


@part
def enqueue(memory: WaitingStates, j: int, urgency: float) -> None:
    """Let state ``j`` wait; a waiting state never becomes less urgent."""
    if memory.place[j] == NOTHING:
        memory.place[j] = memory.counters["waiting"][0]
        memory.queue[memory.place[j]] = j
        memory.counters["waiting"][0] += 1
        memory.urgency[j] = urgency
    memory.urgency[j] = max(memory.urgency[j], urgency)
    _rise(memory, memory.place[j])


@part
def most_urgent(memory: WaitingStates) -> int:
    """Take the most urgent state out of the queue; there must be one."""
    first = memory.queue[0]
    memory.counters["waiting"][0] -= 1
    last = memory.queue[memory.counters["waiting"][0]]
    memory.place[first] = NOTHING
    if last != first:
        memory.queue[0], memory.place[last] = last, 0
        _sink(memory, 0)
    return first


@part
def _rise(memory: WaitingStates, place: int) -> None:
    while place > 0 and _before(memory, place, (place - 1) // 2):
        _swap(memory, place, (place - 1) // 2)
        place = (place - 1) // 2


@part
def _sink(memory: WaitingStates, place: int) -> None:
    while True:
        first = place
        for child in (2 * place + 1, 2 * place + 2):
            if child < memory.counters["waiting"][0] and _before(memory, child, first):
                first = child
        if first == place:
            return
        _swap(memory, place, first)
        place = first


@part
def _before(memory: WaitingStates, one: int, other: int) -> bool:
    """Whether the state in one place comes before another; of equals, the state seen first does."""
    j, k = memory.queue[one], memory.queue[other]
    if memory.urgency[j] == memory.urgency[k]:
        return j < k
    return memory.urgency[j] > memory.urgency[k]


@part
def _swap(memory: WaitingStates, one: int, other: int) -> None:
    j, k = memory.queue[one], memory.queue[other]
    memory.queue[one], memory.queue[other] = k, j
    memory.place[j], memory.place[k] = other, one


# Optimism drives exploration: the unknown counts as better than anything known.
#
# Each pair of state and action has an *upper value*. A pair that was never tried has the optimistic value. In a
# stochastic task, a pair that was tried counts a few imagined outcomes of the optimistic value beside those it had,
# so optimism fades with experience. Upper values are kept up to date by prioritized sweeping: a state whose upper
# value changed queues the states that lead to it, by how much theirs may change.


@part
def spread(memory: SweepingMemory) -> float:
    """The range of rewards; 1 while all are equal."""
    difference = memory.amounts["best"][0] - memory.amounts["worst"][0]
    return difference if difference > 0.0 else 1.0


@part
def optimistic_value(memory: SweepingMemory) -> float:
    """The value of an untried pair: more than anything known."""
    amounts = memory.amounts
    return max(0.0, amounts["best"][0], amounts["greatest"][0]) + spread(memory)


@part
def upper_value(memory: SweepingMemory, settings: SweepingSettings, j: int, a: int) -> float:
    """The highest plausible value of a pair."""
    n = memory.tries[j, a]
    if n == 0:
        return optimistic_value(memory)
    known = expected(memory, memory.highest, j, a, memory.amounts["gamma"][0])
    imagined = settings.doubt if memory.counters["chance"][0] == 1 else 0.0
    return (n * known + imagined * optimistic_value(memory)) / (n + imagined)


@kernel
def back_up_upper_values(memory: SweepingMemory, settings: SweepingSettings, j: int) -> float:
    """Update the upper values of a state; return the change of the highest."""
    before, highest = memory.highest[j], upper_value(memory, settings, j, 0)
    for a in range(memory.hope.shape[1]):
        memory.hope[j, a] = upper_value(memory, settings, j, a)
        highest = max(highest, memory.hope[j, a])
    memory.highest[j] = highest
    return abs(highest - before)


@part
def sweep_upper_values(memory: SweepingMemory, settings: SweepingSettings, most: int) -> None:
    """Back up at most ``most`` queued states, the most urgent first."""
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
    """Queue every state: the optimistic value, or the trust in experience, has changed."""
    for j in range(memory.counters["states"][0]):
        enqueue(memory, j, spread(memory))


@kernel
def queue_all_again(memory: SweepingMemory) -> None:
    """Update all upper values after the optimistic value has grown."""
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
