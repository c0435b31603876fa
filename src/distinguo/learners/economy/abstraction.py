"""The state abstraction module: split, detach and consolidate (Figures 5 and 6)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from distinguo.criteria import Vector, compatible
from distinguo.learners.economy.investigation import investigate
from distinguo.learners.economy.memory import MERGE_CALLS, PRIMARY, SECOND, STATE, Memory
from distinguo.learners.economy.reasons import DETACH, MERGE, SPLIT, Log, record
from distinguo.learners.economy.values import (
    adopt_profile,
    apply_profile,
    current_epsilon,
    reliable_prototype,
)
from distinguo.representation.partition import nearest
from distinguo.representation.prototypes import add, detach, is_at, is_primary, merge
from distinguo.seam import part
from distinguo.settings import LearnerSettings
from distinguo.tasks.task import State, observe, unpack


class Profile(NamedTuple):
    """An action profile: the look-ahead values of a state, which are reliable, and their standard errors."""

    q1: Vector
    reliable: Vector
    error: Vector


@part
def profile_of(task: Any, memory: Memory, settings: LearnerSettings, s: State, row: int) -> Profile:
    """Investigate ``s``, keeping its profile in that row of memory."""
    q1, reliable = investigate(task, memory, settings, s, row)
    return Profile(q1, reliable, memory.error[row])


@part
def profile_of_prototype(task: Any, memory: Memory, settings: LearnerSettings, p: int, row: int) -> Profile:
    """Investigate the state whose observation is prototype ``p``."""
    return profile_of(task, memory, settings, unpack(task, memory.states[p]), row)


@part
def should_split(memory: Memory, settings: LearnerSettings, one: Profile, other: Profile) -> bool:
    """Figure 6: whether two states are surely incompatible; Definition 9 with ``delta = epsilon``.

    Where look-ahead is repeated, "surely" means beyond the play of chance, too.
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
def update_representation(
    task: Any, memory: Memory, settings: LearnerSettings, log: Log, s: State, j: int
) -> None:
    """Figure 5: refine region ``j`` if the surprising state ``s`` does not belong with its prototype."""
    p2 = nearest(memory.partition, observe(task, s))
    state = profile_of(task, memory, settings, s, STATE)
    primary = profile_of_prototype(task, memory, settings, j, PRIMARY)
    apply_profile(memory, settings, j, primary.q1, primary.reliable)
    if should_split(memory, settings, state, primary) and reliable_prototype(memory, j, settings.min_updates):
        reduce_reliability(memory, settings, j)
        split(task, memory, settings, log, s, j, p2, state, primary)
    else:
        apply_profile(memory, settings, j, state.q1, state.reliable)
    if merge_timer(memory, settings):
        consolidate(task, memory, settings, log)


@part
def reduce_reliability(memory: Memory, settings: LearnerSettings, j: int) -> None:
    """Let the values of a split region prove themselves again."""
    for a in range(memory.q.shape[1]):
        memory.updates[j, a] = min(memory.updates[j, a], settings.reduced_updates)
        memory.seen[j, a] = 0.0  # what used to be ordinary need not be so in what is left of the region


@part
def split(
    task: Any,
    memory: Memory,
    settings: LearnerSettings,
    log: Log,
    s: State,
    j: int,
    p2: int,
    state: Profile,
    primary: Profile,
) -> None:
    """Separate ``s`` from prototype ``j``: add it, or give it to its nearest prototype ``p2``, or both."""
    if p2 == j:  # the primary prototype is the nearest: there is no s_p2
        add_prototype(task, memory, settings, log, s, j, state, primary)
        return
    second = profile_of_prototype(task, memory, settings, p2, SECOND)
    part_ways = should_split(memory, settings, primary, second)
    added = not part_ways or should_split(memory, settings, state, second)
    if added and is_at(memory.partition, p2, observe(task, s)):  # it is a prototype: give it back its region
        detach(memory.partition, p2)
        adopt_profile(memory, settings, p2, state.q1)
        record(log, memory, DETACH, j, p2, primary.q1, state.q1, current_epsilon(memory, settings))
        return
    if added:
        add_prototype(task, memory, settings, log, s, j, state, primary)
    if part_ways:
        detach(memory.partition, p2)
        adopt_profile(memory, settings, p2, second.q1)
        record(log, memory, DETACH, j, p2, primary.q1, second.q1, current_epsilon(memory, settings))
        if not added:
            apply_profile(memory, settings, p2, state.q1, state.reliable)


@part
def add_prototype(
    task: Any,
    memory: Memory,
    settings: LearnerSettings,
    log: Log,
    s: State,
    j: int,
    state: Profile,
    primary: Profile,
) -> None:
    """Make ``s`` the prototype of a new region, split from region ``j``."""
    p = add_state(task, memory, s)
    adopt_profile(memory, settings, p, state.q1)
    record(log, memory, SPLIT, j, p, primary.q1, state.q1, current_epsilon(memory, settings))


@part
def add_state(task: Any, memory: Memory, s: State) -> int:
    """Make the observation of ``s`` a prototype, and remember ``s`` to be able to come back to it."""
    p = add(memory.partition, observe(task, s))
    for i in range(len(s)):
        memory.states[p, i] = s[i]
    return p


@part
def merge_timer(memory: Memory, settings: LearnerSettings) -> bool:
    """MERGE_TIMER of Figure 5: true at every ``merge_interval``-th call."""
    memory.counters[MERGE_CALLS] += 1
    return settings.merge_interval > 0 and memory.counters[MERGE_CALLS] % settings.merge_interval == 0


@part
def consolidate(task: Any, memory: Memory, settings: LearnerSettings, log: Log) -> None:
    """Merge regions whose primary prototypes are compatible.

    Compatibility is not transitive, so the order matters: every region in turn, oldest first, joins the first
    earlier one that it is compatible with. All profiles are taken before anything changes.
    """
    size = memory.partition.size[0]
    for p in range(size):
        if is_primary(memory.partition, p):
            investigate(task, memory, settings, unpack(task, memory.states[p]), p)
    join_compatible(memory, settings, log)


@part
def join_compatible(memory: Memory, settings: LearnerSettings, log: Log) -> None:
    """Merge every region that is compatible with an earlier one, by the profiles at hand."""
    size = memory.partition.size[0]
    for k in range(1, size):
        j = partner(memory, settings, k)
        if j >= 0:
            merge(memory.partition, j, k)
            record(log, memory, MERGE, j, k, memory.q1[j], memory.q1[k], current_epsilon(memory, settings))


@part
def partner(memory: Memory, settings: LearnerSettings, k: int) -> int:
    """Return the region that ``k`` should join, or -1."""
    if not may_merge(memory, k):
        return -1
    for i in range(k):
        j = k - 1 - i if settings.merge_into_youngest else i
        if may_merge(memory, j) and not should_split(memory, settings, row(memory, j), row(memory, k)):
            return j
    return -1


@part
def row(memory: Memory, p: int) -> Profile:
    """Return the profile of prototype ``p`` that was taken last."""
    return Profile(memory.q1[p], memory.reliable[p], memory.error[p])


@part
def may_merge(memory: Memory, p: int) -> bool:
    """Tell whether prototype ``p`` stands for a region and all actions from it are reliable."""
    return is_primary(memory.partition, p) and memory.reliable[p].all()
