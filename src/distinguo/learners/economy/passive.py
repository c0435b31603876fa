"""The non-active form (section 5.4), for tasks whose state cannot be set: no mini-trials.

"Adopt a more stringent test for surprising states (using reliable_prototype() instead of reliable_source()); then
immediately add any state thus selected as a new prototype"; consolidation removes what proves unneeded. A region's
own action values take the place of profiles.
"""

from __future__ import annotations

from typing import Any

from distinguo.learners.economy.abstraction import add_state, join_compatible, merge_timer, reduce_reliability
from distinguo.learners.economy.memory import STATE, Memory
from distinguo.learners.economy.reasons import SPLIT, Log, record
from distinguo.learners.economy.values import current_epsilon, reliable_prototype
from distinguo.representation.partition import nearest
from distinguo.representation.prototypes import is_at
from distinguo.seam import part
from distinguo.settings import LearnerSettings
from distinguo.tasks.task import State, observe


@part
def split_by_surprise(
    task: Any,
    memory: Memory,
    settings: LearnerSettings,
    log: Log,
    s: State,
    j: int,
    a: int,
    q_new: float,
    surprise: bool,
) -> None:
    """Make a surprising state of a reliable region a region of its own, which begins with the same values."""
    partition = memory.partition
    if not (surprise and reliable_prototype(memory, j, settings.min_updates)):
        return
    if partition.size[0] >= len(memory.q) or is_at(
        partition, nearest(partition, observe(task, s)), observe(task, s)
    ):
        return
    p = add_state(task, memory, s)
    for b in range(memory.q.shape[1]):
        memory.q[p, b] = memory.q[j, b]
        memory.updates[p, b] = settings.new_updates
        memory.q1[STATE, b] = q_new if b == a else memory.q[j, b]
    memory.investigated[p] = True
    reduce_reliability(memory, settings, j)
    record(log, memory, SPLIT, j, p, memory.q[j], memory.q1[STATE], current_epsilon(memory, settings))


@part
def consolidate_by_values(memory: Memory, settings: LearnerSettings, log: Log) -> None:
    """Merge regions whose own action values are compatible, at every ``merge_interval``-th trial."""
    if not merge_timer(memory, settings):
        return
    for p in range(memory.partition.size[0]):
        for a in range(memory.q.shape[1]):
            memory.q1[p, a] = memory.q[p, a]
            memory.reliable[p, a] = memory.updates[p, a] >= settings.min_updates
            memory.error[p, a] = 0.0
    join_compatible(memory, settings, log)
