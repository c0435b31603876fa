"""The queue of states that wait for a back-up, the most urgent first: a heap in which a state has one place."""

from __future__ import annotations

from typing import Any, Protocol

from distinguo.learners.sweeping.memory import NOTHING
from distinguo.seam import part


class WaitingStates(Protocol):
    """What holds a queue: the arrays of a heap, by place and by state, and a count of those that wait."""

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
    """Let state ``j`` wait; one that waits already becomes no less urgent."""
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
    """Tell whether what stands in one place should come before another; of equals, the state seen first."""
    j, k = memory.queue[one], memory.queue[other]
    if memory.urgency[j] == memory.urgency[k]:
        return j < k
    return memory.urgency[j] > memory.urgency[k]


@part
def _swap(memory: WaitingStates, one: int, other: int) -> None:
    j, k = memory.queue[one], memory.queue[other]
    memory.queue[one], memory.queue[other] = k, j
    memory.place[j], memory.place[k] = other, one
