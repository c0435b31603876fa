"""The state abstraction module: split, detach and consolidate (Figures 5 and 6)."""

from __future__ import annotations

import math

from distinguo.criteria import Vector, compatible
from distinguo.learners.agent import Agent
from distinguo.learners.economy.investigation import (
    Profile,
    investigate,
    investigate_prototype,
    profile_in,
)
from distinguo.learners.economy.memory import PRIMARY, SECOND, STATE, Memory
from distinguo.learners.economy.reasons import DETACH, MERGE, SPLIT, record
from distinguo.learners.economy.values import (
    adopt_profile,
    apply_profile,
    current_epsilon,
    reliable_prototype,
)
from distinguo.representations.growing import add, detach, is_at, is_primary, merge
from distinguo.representations.partition import nearest
from distinguo.seam import part
from distinguo.settings import LearnerSettings
from distinguo.tasks.task import State, observe


@part
def should_split(memory: Memory, settings: LearnerSettings, one: Profile, other: Profile) -> bool:
    """Figure 6: whether two states are surely incompatible; Definition 9 with ``delta = epsilon``.

    Where look-ahead is repeated, "surely" means beyond the noise of its mean, too.
    """
    if not (one.reliable.all() and other.reliable.all()):
        return False
    epsilon = current_epsilon(memory, settings) + settings.split_confidence * joint_error(
        one.error, other.error
    )
    return not compatible(one.q1, other.q1, epsilon, epsilon)


@part
def joint_error(one: Vector, other: Vector) -> float:
    """Return the standard error of the difference of two profiles, at the action where it is greatest."""
    greatest = 0.0
    for a in range(len(one)):
        greatest = max(greatest, one[a] * one[a] + other[a] * other[a])
    return math.sqrt(greatest)


@part
def update_representation(agent: Agent, s: State, j: int) -> None:
    """Figure 5: refine region ``j`` if the surprising state ``s`` does not belong with its prototype."""
    memory, settings = agent.memory, agent.settings
    state = investigate(agent, s, STATE)
    primary = investigate_prototype(agent, j, PRIMARY)
    apply_profile(memory, settings, j, primary.q1, primary.reliable)
    if may_separate(agent, s, j) and should_split(memory, settings, state, primary):
        reduce_reliability(memory, settings, j)
        split(agent, s, j, state, primary)
    else:
        apply_profile(memory, settings, j, state.q1, state.reliable)
    if merge_timer(memory, settings):
        consolidate(agent)


@part
def may_separate(agent: Agent, s: State, j: int) -> bool:
    """Tell whether region ``j`` is reliable and ``s`` looks otherwise than its prototype.

    Two states with one observation cannot be told apart, however different their profiles are.
    """
    memory = agent.memory
    if is_at(memory.partition, j, observe(agent.task, s)):
        return False
    return reliable_prototype(memory, j, agent.settings.min_updates)


@part
def reduce_reliability(memory: Memory, settings: LearnerSettings, j: int) -> None:
    """Let the values of a split region prove themselves again."""
    for a in range(memory.q.shape[1]):
        memory.updates[j, a] = min(memory.updates[j, a], settings.reduced_updates)
        memory.seen[j, a] = 0.0  # what used to be ordinary need not be so in what is left of the region


@part
def split(agent: Agent, s: State, j: int, state: Profile, primary: Profile) -> None:
    """Separate ``s`` from prototype ``j``: add it, or give it to its nearest prototype ``p2``, or both."""
    memory, settings = agent.memory, agent.settings
    p2 = nearest(memory.partition, observe(agent.task, s))
    if p2 == j:  # the primary prototype is the nearest: there is no s_p2
        add_prototype(agent, s, j, state, primary)
        return
    second = investigate_prototype(agent, p2, SECOND)
    part_ways = should_split(memory, settings, primary, second)
    added = not part_ways or should_split(memory, settings, state, second)
    if added and is_at(memory.partition, p2, observe(agent.task, s)):  # it has a prototype: detach that
        detach_prototype(agent, j, p2, primary, state)
        return
    if added:
        add_prototype(agent, s, j, state, primary)
    if part_ways:
        detach_prototype(agent, j, p2, primary, second)
        if not added:
            apply_profile(memory, settings, p2, state.q1, state.reliable)


@part
def add_prototype(agent: Agent, s: State, j: int, state: Profile, primary: Profile) -> None:
    """Make ``s`` the prototype of a new region, split from region ``j``."""
    p = add_state(agent, s)
    adopt_profile(agent.memory, agent.settings, p, state.q1)
    record(agent, SPLIT, j, p, primary.q1, state.q1)


@part
def detach_prototype(agent: Agent, j: int, p: int, primary: Profile, own: Profile) -> None:
    """Give prototype ``p`` of region ``j`` a region of its own again, with the profile ``own`` for its values."""
    detach(agent.memory.partition, p)
    adopt_profile(agent.memory, agent.settings, p, own.q1)
    record(agent, DETACH, j, p, primary.q1, own.q1)


@part
def add_state(agent: Agent, s: State) -> int:
    """Make the observation of ``s`` a prototype, and remember ``s`` to be able to come back to it."""
    p = add(agent.memory.partition, observe(agent.task, s))
    for i in range(len(s)):
        agent.memory.states[p, i] = s[i]
    return p


@part
def merge_timer(memory: Memory, settings: LearnerSettings) -> bool:
    """MERGE_TIMER of Figure 5: true at every ``merge_interval``-th call."""
    memory.counters["merge_calls"][0] += 1
    calls = memory.counters["merge_calls"][0]
    return settings.merge_interval > 0 and calls % settings.merge_interval == 0


@part
def consolidate(agent: Agent) -> None:
    """Merge regions whose primary prototypes are compatible.

    Compatibility is not transitive, so the order matters: every region in turn, oldest first, joins the first
    earlier one that it is compatible with. All profiles are taken before anything changes.
    """
    for p in range(agent.memory.partition.size[0]):
        if is_primary(agent.memory.partition, p) or agent.settings.review_merged:
            investigate_prototype(agent, p, p)
    if agent.settings.review_merged:
        part_incompatible(agent)
    join_compatible(agent)


@part
def part_incompatible(agent: Agent) -> None:
    """Detach every prototype that no longer belongs with its primary, by the profiles at hand."""
    memory = agent.memory
    for p in range(memory.partition.size[0]):
        j = memory.partition.primary[p]
        if j != p and should_split(memory, agent.settings, profile_in(memory, j), profile_in(memory, p)):
            detach_prototype(agent, j, p, profile_in(memory, j), profile_in(memory, p))


@part
def join_compatible(agent: Agent) -> None:
    """Merge every region that is compatible with an earlier one, by the profiles at hand."""
    memory = agent.memory
    for k in range(1, memory.partition.size[0]):
        j = partner(memory, agent.settings, k)
        if j >= 0:
            merge(memory.partition, j, k)
            record(agent, MERGE, j, k, memory.q1[j], memory.q1[k])


@part
def partner(memory: Memory, settings: LearnerSettings, k: int) -> int:
    """Return the region that ``k`` should join, or -1."""
    if not may_merge(memory, k):
        return -1
    own = profile_in(memory, k)
    for i in range(k):
        j = k - 1 - i if settings.merge_into_youngest else i
        if may_merge(memory, j) and not should_split(memory, settings, profile_in(memory, j), own):
            return j
    return -1


@part
def may_merge(memory: Memory, p: int) -> bool:
    """Tell whether prototype ``p`` stands for a region and all actions from it are reliable."""
    return is_primary(memory.partition, p) and memory.reliable[p].all()
