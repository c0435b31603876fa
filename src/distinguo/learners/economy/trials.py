"""The top level of the algorithm: trials, and the stack at their ends (Figures 1 and 2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.controller import choose, region_at
from distinguo.criteria import look_ahead, state_value
from distinguo.learners.economy.abstraction import update_representation
from distinguo.learners.economy.investigation import investigate
from distinguo.learners.economy.memory import (
    ACTION,
    FE_CALLS,
    GREATEST,
    LEAST,
    LENGTH,
    SESSIONS,
    STATE,
    TRIAL_STEPS,
    TRIALS,
    Memory,
)
from distinguo.learners.economy.passive import consolidate_by_values, split_by_surprise
from distinguo.learners.economy.reasons import Log
from distinguo.learners.economy.stack import pop, push
from distinguo.learners.economy.surprise import surprising
from distinguo.learners.economy.values import apply_profile, back_up, reliable_source
from distinguo.seam import kernel, part
from distinguo.settings import LearnerSettings
from distinguo.tasks.task import Observation, State, observe, start, transition, truncated, unpack

#: How :func:`advance` leaves a trial. A paused one needs room for more prototypes, or an investigation.
RUNNING, FELL, CAPPED, PAUSED = 0, 1, 2, 3
NO_ACTION = -1


@kernel
def begin(task: Any, memory: Memory, settings: LearnerSettings, rng: np.random.Generator) -> None:
    """Begin a trial."""
    s = start(task, rng)
    keep(memory, s)
    memory.counters[TRIALS] += 1
    memory.counters[LENGTH] = 0
    memory.gained[0] = 0.0
    memory.counters[ACTION] = next_action(memory, settings, region_at(task, memory.partition, s), rng)


@kernel
def advance(
    task: Any,
    memory: Memory,
    settings: LearnerSettings,
    rng: np.random.Generator,
    log: Log,
    cap: int,
    steps: int,
) -> int:
    """Drive the running trial for at most so many steps, to its end or to the cap: the paper's driver process."""
    s = unpack(task, memory.now)
    j = region_at(task, memory.partition, s)
    a = memory.counters[ACTION]
    first = memory.counters[LENGTH]
    length = first
    terminal, stopped, paused = False, False, False
    while not terminal and not stopped and not paused and length < min(cap, first + steps):
        s_next, r, terminal = transition(task, s, a)
        k = region_at(task, memory.partition, s_next)
        length += 1
        memory.counters[TRIAL_STEPS] += 1
        memory.gained[0] += r
        a = get_action(task, memory, settings, rng, log, s, j, a, r, k, terminal)
        s, j = s_next, k
        if settings.rescale:
            widen(memory, observe(task, s))
        if not settings.active:  # a split on the way may have changed the region
            j = region_at(task, memory.partition, s)
        stopped = not terminal and truncated(task, s)
        paused = time_to_pause(memory, settings, length)
    memory.counters[LENGTH] = length
    memory.counters[ACTION] = a
    keep(memory, s)
    if terminal:
        return FELL
    if stopped or length >= cap:
        return CAPPED
    return PAUSED if paused else RUNNING


@part
def time_to_pause(memory: Memory, settings: LearnerSettings, length: int) -> bool:
    """Tell whether an investigation is due within a trial (section 5.1), or the room for prototypes is used up."""
    if settings.investigate_every > 0 and length % settings.investigate_every == 0:
        return True
    return not settings.active and memory.partition.size[0] >= len(memory.q)


@part
def widen(memory: Memory, seen: Observation) -> None:
    """Widen the extent of what was observed."""
    for i in range(len(seen)):
        memory.extent[LEAST, i] = min(memory.extent[LEAST, i], seen[i])
        memory.extent[GREATEST, i] = max(memory.extent[GREATEST, i], seen[i])


@part
def keep(memory: Memory, s: State) -> None:
    """Write the state of the running trial down."""
    for i in range(len(s)):
        memory.now[i] = s[i]


@part
def get_action(
    task: Any,
    memory: Memory,
    settings: LearnerSettings,
    rng: np.random.Generator,
    log: Log,
    s: State,
    j: int,
    a: int,
    r: float,
    k: int,
    terminal: bool,
) -> int:
    """Figure 1: learn from a transition from ``s`` in region ``j`` to region ``k``, and choose the next action."""
    q_new = r if terminal else look_ahead(r, settings.gamma, state_value(memory.q[k]))
    if terminal or reliable_source(memory, k, settings.min_updates):
        back_up(memory, j, a, q_new, settings.alpha)
    surprise = surprising(memory, settings, j, a, q_new)
    if not settings.active:
        split_by_surprise(task, memory, settings, log, s, j, a, q_new, surprise)
    elif (
        surprise
        or not memory.investigated[j]
        or rng.random() < settings.coin  # a weighted coin flip returns heads
    ):
        push(memory, s, j)
    if terminal:
        process_stack(task, memory, settings, log)
        return NO_ACTION
    return next_action(memory, settings, k, rng)


@part
def next_action(memory: Memory, settings: LearnerSettings, j: int, rng: np.random.Generator) -> int:
    """Choose an action in region ``j`` by the current policy."""
    if settings.explore > 0.0 and rng.random() < settings.explore:
        return int(rng.random() * memory.q.shape[1])
    return choose(memory.q[j], settings.delta, rng)


@part
def process_stack(task: Any, memory: Memory, settings: LearnerSettings, log: Log) -> None:
    """Figure 2: investigate the surprising states of a trial, the latest first."""
    memory.counters[SESSIONS] += 1
    if not settings.active:
        consolidate_by_values(memory, settings, log)
    while True:
        place = pop(memory)
        if place < 0:
            return
        s = unpack(task, memory.stacked[place])
        j = region_at(task, memory.partition, s)
        if fe_timer(memory, settings):
            update_representation(task, memory, settings, log, s, j)
        else:
            q1, reliable = investigate(task, memory, settings, s, STATE)
            apply_profile(memory, settings, j, q1, reliable)


@part
def fe_timer(memory: Memory, settings: LearnerSettings) -> bool:
    """FE_TIMER of Figure 2: true in every ``fe_interval``-th session, or at every such call."""
    memory.counters[FE_CALLS] += 1
    ticks = memory.counters[SESSIONS] if settings.fe_counts_trials else memory.counters[FE_CALLS]
    return ticks % settings.fe_interval == 0


@kernel
def settle(task: Any, memory: Memory, settings: LearnerSettings, log: Log) -> None:
    """Process the stack of a trial that was stopped, or in the midst of one."""
    process_stack(task, memory, settings, log)
