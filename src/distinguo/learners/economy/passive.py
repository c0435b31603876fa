"""The non-active form (section 5.4), for tasks whose state cannot be set: no mini-trials.

"Adopt a more stringent test for surprising states (using reliable_prototype() instead of reliable_source()); then
immediately add any state thus selected as a new prototype"; consolidation removes those that prove unneeded. A
region's own action values replace profiles.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from distinguo.criteria import look_ahead, state_value
from distinguo.learners.agent import NO_ACTION, Agent
from distinguo.learners.economy.figures import (
    add_state,
    back_up,
    join_compatible,
    merge_timer,
    next_action,
    reduce_reliability,
    reliable_prototype,
    reliable_source,
    surprising,
)
from distinguo.learners.economy.memory import SPLIT, STATE, record, widen_values
from distinguo.representations.growing import is_at, nearest
from distinguo.seam import part
from distinguo.settings import LearnerSettings
from distinguo.tasks.world import BEFORE, look

#: The settings of the paper's learner with ``active=false``, as a class of its own.
PassiveSettings: Any = namedtuple("PassiveSettings", list(LearnerSettings._fields))  # type: ignore[misc]


@part
def get_action_passively(
    agent: Agent, s: np.ndarray, j: int, a: int, r: float, k: int, terminal: bool
) -> int:
    """Figure 1 without a stack: a surprising state of a reliable region becomes a region at once."""
    memory, settings = agent.memory, agent.settings
    q_new = r if terminal else look_ahead(r, settings.gamma, state_value(memory.q[k]))
    reliable = terminal or reliable_source(memory, k, settings.min_updates)
    if reliable:
        back_up(memory, j, a, q_new, settings.alpha)
        widen_values(memory, q_new)
    if surprising(memory, settings, j, a, q_new) and (reliable or not settings.surprise_reliable):
        split_by_surprise(agent, s, j, a, q_new)
    return NO_ACTION if terminal else next_action(agent, k)


@part
def split_by_surprise(agent: Agent, s: np.ndarray, j: int, a: int, q_new: float) -> None:
    """Make a surprising state of a reliable region a region of its own, with the same values at first."""
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
def may_split(agent: Agent, s: np.ndarray, j: int) -> bool:
    """Whether region ``j`` is reliable, and there is room for a prototype at ``s`` and none there yet."""
    memory, seen = agent.memory, look(agent.world, s, BEFORE).seen
    if not reliable_prototype(memory, j, agent.settings.min_updates):
        return False
    there_is_room = memory.partition.size[0] < len(memory.q)
    return there_is_room and not is_at(memory.partition, nearest(memory.partition, seen), seen)


@part
def consolidate_by_values(agent: Agent) -> None:
    """At the end of every ``merge_interval``-th trial, merge regions whose own action values are compatible."""
    memory, settings = agent.memory, agent.settings
    memory.counters["sessions"][0] += 1
    if not merge_timer(memory, settings):
        return
    for p in range(memory.partition.size[0]):
        for a in range(memory.q.shape[1]):
            memory.q1[p, a] = memory.q[p, a]
            memory.reliable[p, a] = memory.updates[p, a] >= settings.min_updates
            memory.error[p, a] = 0.0
    join_compatible(agent)
