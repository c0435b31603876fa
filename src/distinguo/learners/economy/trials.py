"""The top level of the algorithm: trials, and the stack at their ends (Figures 1 and 2)."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from distinguo.controller import choose, region_at
from distinguo.criteria import look_ahead, state_value
from distinguo.learners.agent import (
    CAPPED,
    NO_ACTION,
    PAUSED,
    RUNNING,
    TERMINAL,
    Agent,
    Progress,
    begin_counting,
    keep,
    widen,
)
from distinguo.learners.economy.abstraction import update_representation
from distinguo.learners.economy.investigation import investigate
from distinguo.learners.economy.memory import STATE, Memory
from distinguo.learners.economy.passive import consolidate_by_values, split_by_surprise
from distinguo.learners.economy.reasons import Log
from distinguo.learners.economy.surprise import push, surprising
from distinguo.learners.economy.values import apply_profile, back_up, reliable_source
from distinguo.learners.scheduling.hooks import note_step, take_due
from distinguo.seam import kernel, part
from distinguo.settings import LearnerSettings
from distinguo.tasks.task import State, observe, start, transition, truncated, unpack


@part
def begin_trial(agent: Agent) -> None:
    """Begin a trial."""
    s = start(agent.task, agent.rng)
    begin_counting(agent.progress, s)
    j = region_at(agent.task, agent.memory.partition, s)
    agent.progress.counts["action"][0] = next_action(agent, j)


@part
def drive_trial(agent: Agent, cap: int, steps: int) -> int:
    """Drive the running trial for at most so many steps, to its end or to the cap: the paper's driver process.

    When a trial has ended or was stopped, :func:`process_stack` is due.
    """
    task, memory, settings, progress = agent.task, agent.memory, agent.settings, agent.progress
    s = unpack(task, progress.now)
    j = region_at(task, memory.partition, s)
    a = progress.counts["action"][0]
    first = progress.counts["length"][0]
    length = first
    gained = progress.counts["gained"][0]
    terminal, stopped, paused = False, False, False
    while not terminal and not stopped and not paused and length < min(cap, first + steps):
        s_next, r, terminal = transition(task, s, a)
        k = region_at(task, memory.partition, s_next)
        length += 1
        gained += r
        if not settings.active:  # a split on the way writes down when it was made
            progress.counts["trial_steps"][0] += 1
        a = get_action(agent, s, j, a, r, k, terminal)
        s, j = s_next, k
        if settings.rescale:
            widen(progress, observe(task, s))
        if not settings.active:  # a split on the way may have changed the region
            j = region_at(task, memory.partition, s)
        stopped = not terminal and truncated(task, s)
        paused = time_to_pause(memory, settings, length)
    progress.counts["length"][0] = length
    if settings.active:  # once for all steps: a look into a record costs as much as half a step
        progress.counts["trial_steps"][0] += length - first
    progress.counts["gained"][0] = gained
    progress.counts["action"][0] = a
    keep(progress, s)
    if terminal:
        return TERMINAL
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
def get_action(agent: Agent, s: State, j: int, a: int, r: float, k: int, terminal: bool) -> int:
    """Figure 1: learn from a transition from ``s`` in region ``j`` to region ``k``, and choose the next action.

    At a terminal state there is none; the figure's ``process_stack()`` is called by whoever drives the trial.
    """
    memory, settings = agent.memory, agent.settings
    q_new = r if terminal else look_ahead(r, settings.gamma, state_value(memory.q[k]))
    note_step(memory.agenda, agent, s, j, a, k, q_new, terminal)
    reliable = terminal or reliable_source(memory, k, settings.min_updates)
    if reliable:
        back_up(memory, j, a, q_new, settings.alpha)
    surprise = surprising(memory, settings, j, a, q_new) and (reliable or not settings.surprise_reliable)
    if not settings.active:
        if surprise:
            split_by_surprise(agent, s, j, a, q_new)
    elif (
        surprise
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
def process_stack(agent: Agent, left: int) -> None:
    """Figure 2: investigate the surprising states of a trial, the latest first, while steps are left for that."""
    task, memory, settings = agent.task, agent.memory, agent.settings
    counts = agent.progress.counts
    most = counts["investigation_steps"][0] + left
    memory.counters["sessions"][0] += 1
    if not settings.active:
        consolidate_by_values(agent)
    while counts["investigation_steps"][0] + dearest(memory, settings) <= most:
        place = take_due(memory.agenda, agent, most)
        if place < 0:
            return
        s = unpack(task, memory.stacked[place])
        j = region_at(task, memory.partition, s)
        if fe_timer(memory, settings):
            update_representation(agent, s, j)
        else:
            profile = investigate(agent, s, STATE)
            apply_profile(memory, settings, j, profile.q1, profile.reliable)


@part
def dearest(memory: Memory, settings: LearnerSettings) -> int:
    """Return the most steps that the next state may take: its profile, those of two prototypes, or of all."""
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


# Kernels take the fields of an agent one by one, as in ``advance(*agent, cap, steps)``: Numba knows the type of each
# at once, but would work out that of all of them together anew at every call.


@kernel
def begin(task: Any, memory: Memory, settings: Any, progress: Progress, log: Log, rng: Generator) -> None:
    """Begin a trial."""
    begin_trial(Agent(task, memory, settings, progress, log, rng))


@kernel
def advance(
    task: Any,
    memory: Memory,
    settings: Any,
    progress: Progress,
    log: Log,
    rng: Generator,
    cap: int,
    steps: int,
) -> int:
    """Drive the running trial for at most so many steps; see :func:`drive_trial`."""
    return drive_trial(Agent(task, memory, settings, progress, log, rng), cap, steps)


@kernel
def settle(
    task: Any, memory: Memory, settings: Any, progress: Progress, log: Log, rng: Generator, left: int
) -> None:
    """Process the stack of a trial that has ended, was stopped, or is in progress."""
    process_stack(Agent(task, memory, settings, progress, log, rng), left)
