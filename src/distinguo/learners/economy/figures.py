"""The paper's algorithm: Figures 1 to 6, in their order.

========  ==============================  =============================================
figure    here                            what it does
========  ==============================  =============================================
1         :func:`get_action`              learn from a step, choose the next action
2         :func:`process_stack`           investigate the surprising states of a trial
3         :func:`investigate`             the action profile of a state, by mini-trials
4         :func:`alpha`                   the learning rate of active updates
5         :func:`update_representation`   split, detach or consolidate regions
6         :func:`should_split`            whether two states are surely incompatible
========  ==============================  =============================================

The trial itself is driven by :mod:`distinguo.learners.driver`, which calls :func:`get_action` at every step and
:func:`process_stack` at the end. Where the paper leaves a choice, there is a setting; docs/readings.md has the
effect of each. A region is identified by the row of its primary prototype.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import choose
from distinguo.criteria import Vector, adequate, look_ahead, state_value
from distinguo.learners.agent import NO_ACTION, Agent
from distinguo.learners.economy.memory import (
    COUNT,
    DETACH,
    DEVIATION,
    MEAN,
    MERGE,
    PRIMARY,
    SECOND,
    SPLIT,
    STATE,
    Memory,
    current_epsilon,
    record,
    rules_apart,
    widen_values,
)
from distinguo.representations.growing import add, detach, is_at, is_primary, merge, nearest, region
from distinguo.seam import generic_with_default, part
from distinguo.settings import LearnerSettings
from distinguo.tasks.world import BEFORE, ON_THE_WAY, copy_row, knows, look, step, stops

# ---- Figure 1: get_action ----------------------------------------------------------------------------------------


@part
def get_action(agent: Agent, s: np.ndarray, j: int, a: int, r: float, k: int, terminal: bool) -> int:
    """Figure 1: learn from a transition from ``s`` in region ``j`` to region ``k``, and choose the next action.

    At a terminal state there is no next action; the driver of the trial calls the figure's ``process_stack()``.
    """
    memory, settings = agent.memory, agent.settings
    q_new = r if terminal else look_ahead(r, settings.gamma, state_value(memory.q[k]))
    reliable = terminal or reliable_source(memory, k, settings.min_updates)
    if reliable:
        back_up(memory, j, a, q_new, settings.alpha)
    if (
        (surprising(memory, settings, j, a, q_new) and (reliable or not settings.surprise_reliable))
        or not memory.investigated[j]
        or agent.rng.random() < settings.coin  # a weighted coin flip returns heads
    ):
        push(memory, s, j)
    return NO_ACTION if terminal else next_action(agent, k)


@part
def next_action(agent: Agent, j: int) -> int:
    """Choose an action in region ``j`` by the current policy."""
    q, settings, rng = agent.memory.q, agent.settings, agent.rng
    if settings.explore > 0.0 and rng.random() < settings.explore:
        return int(rng.random() * q.shape[1])
    return choose(q[j], settings.delta, rng)


@part
def back_up(memory: Memory, j: int, a: int, q_new: float, rate: float) -> None:
    """Move ``Q(j, a)`` towards ``q_new``."""
    memory.q[j, a] = (1.0 - rate) * memory.q[j, a] + rate * q_new
    memory.updates[j, a] += 1


@part
def reliable_source(memory: Memory, k: int, min_updates: int) -> bool:
    """Section 3.1: whether *some* action value of region ``k`` was updated often enough."""
    for a in range(memory.q.shape[1]):
        if memory.updates[k, a] >= min_updates:
            return True
    return False


@part
def surprising(memory: Memory, settings: LearnerSettings, j: int, a: int, q1: float) -> bool:
    """Section 3.1: whether a transition shows that its state is not epsilon-adequate.

    Only one look-ahead value is known; for the others, the region's values are used (docs/readings.md). With a
    ``confidence``, one instance is not enough: it must be unusual among all instances of this region and action,
    "taking into account trends and averages over very many instances" (section 5.1).
    """
    inadequate = seems_inadequate(memory, settings, j, a, q1)
    if settings.confidence == 0.0:
        return inadequate
    difference = q1 - memory.q[j, a]
    strange = unusual(memory, settings, j, a, difference)
    take_note(memory, j, a, difference)
    return inadequate and strange


@part
def seems_inadequate(memory: Memory, settings: LearnerSettings, j: int, a: int, q1: float) -> bool:
    """Judge a state by one transition, as if the task were deterministic."""
    epsilon = current_epsilon(memory, settings)
    if settings.surprise_by_transition:
        return not abs(q1 - memory.q[j, a]) <= epsilon
    profile = memory.q1[STATE]
    for b in range(len(profile)):
        profile[b] = q1 if b == a else memory.q[j, b]
    return not is_adequate(memory, memory.q[j], profile, epsilon, settings.delta)


@generic_with_default
def is_adequate(memory: Any, q: Vector, q1: Vector, epsilon: float, delta: float) -> bool:
    """Definition 8; where actions are amounts, over ranges (``economy/amounts``)."""
    return adequate(q, q1, epsilon, delta)


@part
def unusual(memory: Memory, settings: LearnerSettings, j: int, a: int, difference: float) -> bool:
    """Whether a difference lies many standard deviations from the mean so far.

    With fewer than ``min_updates`` of them, everything is unusual.
    """
    count = memory.seen[j, a, COUNT]
    if count < max(settings.min_updates, 2):
        return True
    deviation = math.sqrt(memory.seen[j, a, DEVIATION] / (count - 1.0))
    return abs(difference - memory.seen[j, a, MEAN]) > settings.confidence * deviation


@part
def take_note(memory: Memory, j: int, a: int, difference: float) -> None:
    """Add a difference to the running mean and deviation (Welford's method)."""
    seen = memory.seen[j, a]
    seen[COUNT] += 1.0
    change = difference - seen[MEAN]
    seen[MEAN] += change / seen[COUNT]
    seen[DEVIATION] += change * (difference - seen[MEAN])


# ---- Figure 2: process_stack, and the replacing-stack of section 3.2 ---------------------------------------------
#
# Pushing a state removes any earlier state of the same region, so there is at most one entry per region: the stack is
# a table by region, with the time of each push. Popping takes the latest.


@part
def process_stack(agent: Agent, left: int) -> None:
    """Figure 2: investigate the surprising states of a trial, the latest first, while steps are left."""
    memory, settings = agent.memory, agent.settings
    counts = agent.progress.counts
    most = counts["investigation_steps"][0] + left
    memory.counters["sessions"][0] += 1
    while counts["investigation_steps"][0] + most_steps_of_next(memory, settings) <= most:
        place = pop(memory)
        if place < 0:
            return
        investigate_surprise(agent, memory.stacked[place])


@part
def investigate_surprise(agent: Agent, s: np.ndarray) -> None:
    """Figure 2 for one state from the stack: extract features if it is time, else only learn its values."""
    memory, settings = agent.memory, agent.settings
    j = region(memory.partition, look(agent.world, s, BEFORE).seen)
    if fe_timer(memory, settings):
        update_representation(agent, s, j)
    else:
        profile = investigate(agent, s, STATE)
        apply_profile(memory, settings, j, profile.q1, profile.reliable)


@part
def push(memory: Memory, s: np.ndarray, j: int) -> None:
    """Push ``s``, which lies in region ``j``, in place of any earlier state of that region."""
    memory.counters["clock"][0] += 1
    memory.pushed_at[j] = memory.counters["clock"][0]
    for i in range(len(s)):
        memory.stacked[j, i] = s[i]


@part
def pop(memory: Memory) -> int:
    """Take the latest entry off the stack and return its place in ``memory.stacked``; -1 if there is none."""
    latest = -1
    for j in range(memory.partition.size[0]):
        if memory.pushed_at[j] > 0 and (latest < 0 or memory.pushed_at[j] > memory.pushed_at[latest]):
            latest = j
    if latest >= 0:
        memory.pushed_at[latest] = 0
    return latest


@part
def most_steps_of_next(memory: Memory, settings: LearnerSettings) -> int:
    """The most steps that the next state may take: its profile, those of two prototypes, or of all."""
    profiles = 3
    if settings.merge_interval > 0 and (memory.counters["merge_calls"][0] + 1) % settings.merge_interval == 0:
        profiles += memory.partition.size[0] + 1  # consolidation, with the prototype that a split adds
    return profiles * memory.q.shape[1] * settings.samples * settings.max_steps


@part
def fe_timer(memory: Memory, settings: LearnerSettings) -> bool:
    """FE_TIMER of Figure 2: true in every ``fe_interval``-th session, or at every such call."""
    memory.counters["fe_calls"][0] += 1
    sessions, calls = memory.counters["sessions"][0], memory.counters["fe_calls"][0]
    return (sessions if settings.fe_counts_trials else calls) % settings.fe_interval == 0


@part
def apply_profile(memory: Memory, settings: LearnerSettings, j: int, q1: Vector, reliable: Vector) -> None:
    """Update ``Q(j, .)`` by the reliable entries of an action profile (the last lines of Figure 2)."""
    for a in range(len(q1)):
        if reliable[a]:
            memory.updates[j, a] += 1
            rate = alpha(memory.updates[j, a], settings.enough_samples)
            memory.q[j, a] += rate * (q1[a] - memory.q[j, a])


# ---- Figure 3: investigate ---------------------------------------------------------------------------------------


class Profile(NamedTuple):
    """An action profile: the look-ahead values of a state, which are reliable, and their standard errors."""

    q1: Vector
    reliable: Vector
    error: Vector


@part
def investigate(agent: Agent, s: np.ndarray, row: int) -> Profile:
    """Figure 3: the action profile ``Q1(s, .)`` and which of its entries are reliable, kept in a row of memory."""
    memory = agent.memory
    profile = profile_in(memory, row)
    j = region(memory.partition, look(agent.world, s, BEFORE).seen)
    for a in range(len(profile.q1)):
        profile.q1[a], profile.reliable[a], profile.error[a] = repeated_mini_trial(agent, s, j, a)
        widen_values(memory, profile.q1[a])
    memory.investigated[j] = True
    return profile


@part
def mini_trial(agent: Agent, s: np.ndarray, j: int, a: int) -> tuple[float, bool]:
    """Repeat action ``a`` from ``s`` until its region ``j`` is left: ``Q1(s, a)``, and whether it is reliable."""
    world, memory, settings = agent.world, agent.memory, agent.settings
    s_hat = world.spare[ON_THE_WAY]
    copy_row(s, s_hat)
    r_hat, discount, steps = 0.0, 1.0, 0
    while True:
        r, terminal = step(world, s_hat, a, s_hat)
        k = region(memory.partition, look(world, s_hat, BEFORE).seen)
        r_hat += discount * r
        discount *= settings.gamma
        steps += 1
        if k != j or steps >= settings.max_steps or terminal or stops(world, s_hat):
            break
    agent.progress.counts["investigation_steps"][0] += steps
    reliable = knows(world, s_hat) and reliable_source(memory, k, settings.min_updates)
    if terminal:
        return r_hat, reliable or settings.terminal_reliable
    future = discount if settings.discount_steps else settings.gamma
    return look_ahead(r_hat, future, state_value(memory.q[k])), reliable


@part
def repeated_mini_trial(agent: Agent, s: np.ndarray, j: int, a: int) -> tuple[float, bool, float]:
    """Definition 5: the mean of several mini-trials, whether all are reliable, and the mean's standard error."""
    mean, deviation, all_reliable, samples = 0.0, 0.0, True, agent.settings.samples
    for n in range(1, samples + 1):
        q1, reliable = mini_trial(agent, s, j, a)
        difference = q1 - mean
        mean += difference / n
        deviation += difference * (q1 - mean)
        all_reliable = all_reliable and reliable
    if samples == 1:
        return mean, all_reliable, 0.0
    return mean, all_reliable, math.sqrt(deviation / (samples - 1) / samples)


@part
def investigate_prototype(agent: Agent, p: int, row: int) -> Profile:
    """Investigate the state whose observation is prototype ``p``."""
    return investigate(agent, agent.memory.states[p], row)


@part
def profile_in(memory: Memory, row: int) -> Profile:
    """The action profile in a row of memory."""
    return Profile(memory.q1[row], memory.reliable[row], memory.error[row])


# ---- Figure 4: alpha ---------------------------------------------------------------------------------------------


@part
def alpha(updates: int, enough_samples: int) -> float:
    """Figure 4: the learning rate of active updates, 1/n until there are enough samples.

    >>> alpha(2, 5), alpha(50, 5)
    (0.5, 0.2)
    """
    if updates <= enough_samples:
        return 1.0 / updates
    return 1.0 / enough_samples


# ---- Figure 5: update_representation -----------------------------------------------------------------------------


@part
def update_representation(agent: Agent, s: np.ndarray, j: int) -> None:
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
def may_separate(agent: Agent, s: np.ndarray, j: int) -> bool:
    """Whether region ``j`` is reliable and ``s`` looks different from its prototype.

    Two states with one observation cannot be kept apart, however different their profiles are.
    """
    memory = agent.memory
    if is_at(memory.partition, j, look(agent.world, s, BEFORE).seen):
        return False
    return reliable_prototype(memory, j, agent.settings.min_updates)


@part
def reliable_prototype(memory: Memory, j: int, min_updates: int) -> bool:
    """Section 3.3: whether *every* action value of region ``j`` was updated often enough."""
    for a in range(memory.q.shape[1]):
        if memory.updates[j, a] < min_updates:
            return False
    return True


@part
def reduce_reliability(memory: Memory, settings: LearnerSettings, j: int) -> None:
    """Make the values of a split region less reliable."""
    for a in range(memory.q.shape[1]):
        memory.updates[j, a] = min(memory.updates[j, a], settings.reduced_updates)
        memory.seen[j, a] = 0.0  # what was usual may be unusual in the rest of the region


@part
def split(agent: Agent, s: np.ndarray, j: int, state: Profile, primary: Profile) -> None:
    """Separate ``s`` from prototype ``j``: add it, or give it to its nearest prototype ``p2``, or both."""
    memory, settings = agent.memory, agent.settings
    p2 = nearest(memory.partition, look(agent.world, s, BEFORE).seen)
    if p2 == j:  # the primary prototype is the nearest: there is no s_p2
        add_prototype(agent, s, j, state, primary)
        return
    second = investigate_prototype(agent, p2, SECOND)
    part_ways = should_split(memory, settings, primary, second)
    added = not part_ways or should_split(memory, settings, state, second)
    if added and is_at(
        memory.partition, p2, look(agent.world, s, BEFORE).seen
    ):  # it has a prototype: detach that
        detach_prototype(agent, j, p2, primary, state)
        return
    if added:
        add_prototype(agent, s, j, state, primary)
    if part_ways:
        detach_prototype(agent, j, p2, primary, second)
        if not added:
            apply_profile(memory, settings, p2, state.q1, state.reliable)


@part
def add_prototype(agent: Agent, s: np.ndarray, j: int, state: Profile, primary: Profile) -> None:
    """Make ``s`` the prototype of a new region, split from region ``j``."""
    p = add_state(agent, s)
    adopt_profile(agent.memory, agent.settings, p, state.q1)
    record(agent, SPLIT, j, p, primary.q1, state.q1)


@part
def detach_prototype(agent: Agent, j: int, p: int, primary: Profile, own: Profile) -> None:
    """Give prototype ``p`` of region ``j`` its own region again, with the profile ``own`` as its values."""
    detach(agent.memory.partition, p)
    adopt_profile(agent.memory, agent.settings, p, own.q1)
    record(agent, DETACH, j, p, primary.q1, own.q1)


@part
def add_state(agent: Agent, s: np.ndarray) -> int:
    """Make the observation of ``s`` a prototype, and remember ``s`` so that it can be restored."""
    p = add(agent.memory.partition, look(agent.world, s, BEFORE).seen)
    for i in range(len(s)):
        agent.memory.states[p, i] = s[i]
    return p


@part
def adopt_profile(memory: Memory, settings: LearnerSettings, p: int, q1: Vector) -> None:
    """Start the region of prototype ``p`` with an action profile as its values."""
    for a in range(len(q1)):
        memory.q[p, a] = q1[a]
        memory.updates[p, a] = settings.new_updates
        memory.seen[p, a] = 0.0
    memory.investigated[p] = settings.new_investigated


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
    """The region that ``k`` should join, or -1."""
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
    """Whether prototype ``p`` stands for a region and all actions from it are reliable."""
    return is_primary(memory.partition, p) and memory.reliable[p].all()


# ---- Figure 6: should_split --------------------------------------------------------------------------------------


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
    return rules_apart(memory, one.q1, other.q1, epsilon) != 0


@part
def joint_error(one: Vector, other: Vector) -> float:
    """The standard error of the difference of two profiles, at the action where it is greatest."""
    greatest = 0.0
    for a in range(len(one)):
        greatest = max(greatest, one[a] * one[a] + other[a] * other[a])
    return math.sqrt(greatest)
