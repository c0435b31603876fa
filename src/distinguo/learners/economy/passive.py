"""The non-active form (section 5.4), for tasks whose state cannot be set: no mini-trials.

"Adopt a more stringent test for surprising states (using reliable_prototype() instead of reliable_source()); then
immediately add any state thus selected as a new prototype"; consolidation removes what proves unneeded. A region's
own action values take the place of profiles.
"""

from __future__ import annotations

from distinguo.learners.agent import Agent
from distinguo.learners.economy.abstraction import (
    add_state,
    join_compatible,
    merge_timer,
    reduce_reliability,
)
from distinguo.learners.economy.memory import STATE
from distinguo.learners.economy.reasons import SPLIT, record
from distinguo.learners.economy.values import reliable_prototype
from distinguo.representations.growing import is_at
from distinguo.representations.partition import nearest
from distinguo.seam import part
from distinguo.tasks.task import State, observe


@part
def split_by_surprise(agent: Agent, s: State, j: int, a: int, q_new: float) -> None:
    """Make a surprising state of a reliable region a region of its own, which begins with the same values."""
    memory, settings = agent.memory, agent.settings
    if not may_split(agent, s, j):
        return
    p = add_state(agent, s)
    for b in range(memory.q.shape[1]):
        memory.q[p, b] = memory.q[j, b]
        memory.updates[p, b] = settings.new_updates
        memory.q1[STATE, b] = q_new if b == a else memory.q[j, b]
    memory.investigated[p] = True
    reduce_reliability(memory, settings, j)
    record(agent, SPLIT, j, p, memory.q[j], memory.q1[STATE])


@part
def may_split(agent: Agent, s: State, j: int) -> bool:
    """Tell whether region ``j`` is reliable, and there is room for a prototype at ``s`` and none there yet."""
    memory, seen = agent.memory, observe(agent.task, s)
    if not reliable_prototype(memory, j, agent.settings.min_updates):
        return False
    there_is_room = memory.partition.size[0] < len(memory.q)
    return there_is_room and not is_at(memory.partition, nearest(memory.partition, seen), seen)


@part
def consolidate_by_values(agent: Agent) -> None:
    """Merge regions whose own action values are compatible, at every ``merge_interval``-th trial."""
    memory, settings = agent.memory, agent.settings
    if not merge_timer(memory, settings):
        return
    for p in range(memory.partition.size[0]):
        for a in range(memory.q.shape[1]):
            memory.q1[p, a] = memory.q[p, a]
            memory.reliable[p, a] = memory.updates[p, a] >= settings.min_updates
            memory.error[p, a] = 0.0
    join_compatible(agent)
