"""Trials in the world, in which every step is remembered, and what is done in the model between them."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from distinguo.learners.agent import (
    CAPPED,
    NO_BUDGET,
    PAUSED,
    RUNNING,
    TERMINAL,
    Agent,
    Progress,
    begin_counting,
    keep,
    widen,
)
from distinguo.learners.economy.memory import Memory
from distinguo.learners.economy.reasons import Log
from distinguo.learners.economy.trials import get_action, next_action, process_stack, time_to_pause
from distinguo.learners.model.memory import ModelMemory
from distinguo.learners.model.store import keep_tuple, remember_start
from distinguo.representations.partition import nearest, region
from distinguo.seam import kernel, part
from distinguo.settings import LearnerSettings
from distinguo.tasks.task import is_known, observe, start, transition, truncated, unpack

LONGEST_REHEARSAL = 500  #: steps of a trial in the model
ENTRIES = 5  #: of the log, per prototype and session, at most; see the paper's learner


@part
def begin_remembered(agent: Agent, store: Any) -> None:
    """Begin a trial in the world."""
    s = start(agent.task, agent.rng)
    seen = observe(agent.task, s)
    begin_counting(agent.progress, s)
    remember_start(store, seen)
    agent.progress.counts["action"][0] = next_action(agent, region(agent.memory.partition, seen))


@part
def drive_remembered(agent: Agent, store: Any, cap: int, steps: int) -> int:
    """Drive the running trial in the world as Figure 1 does, and keep every tuple.

    The learner knows states by their observations alone: that is what surprises, and what is pushed.
    """
    task, memory, settings, progress = agent.task, agent.memory, agent.settings, agent.progress
    counts = progress.counts
    s = unpack(task, progress.now)
    seen = observe(task, s)
    p = nearest(memory.partition, seen)
    a = counts["action"][0]
    length, last = counts["length"][0], min(cap, counts["length"][0] + steps)
    terminal, stopped, paused = False, False, False
    while not terminal and not stopped and not paused and length < last:
        s, r, terminal = transition(task, s, a)
        seen_next = observe(task, s)
        keep_tuple(store, p, seen, a, r, seen_next, terminal)
        p_next = nearest(memory.partition, seen_next)
        j, k = memory.partition.primary[p], memory.partition.primary[p_next]
        length += 1
        counts["gained"][0] += r
        counts["trial_steps"][0] += 1
        a = get_action(agent, seen, j, a, r, k, terminal)
        seen, p = seen_next, p_next
        if settings.rescale:
            widen(progress, seen)
        stopped = not terminal and truncated(task, s)
        paused = time_to_pause(memory, settings, length)
    counts["length"][0] = length
    counts["action"][0] = a
    keep(progress, s)
    if terminal:
        return TERMINAL
    if stopped or length >= cap:
        return CAPPED
    return PAUSED if paused else RUNNING


@part
def rehearse_trial(agent: Agent) -> None:
    """Run a trial in the model from a start that is remembered, until it ends or the model knows no more.

    It is learned from as if it were one in the world; what the model does not know is not.
    """
    task, memory = agent.task, agent.memory
    s = start(task, agent.rng)
    j = region(memory.partition, s)
    a = next_action(agent, j)
    for _ in range(LONGEST_REHEARSAL):
        s_next, r, terminal = transition(task, s, a)
        if not is_known(task, s_next):
            return
        k = region(memory.partition, s_next)
        a = get_action(agent, s, j, a, r, k, terminal)
        if terminal:
            return
        s, j = s_next, k


@part
def has_room(agent: Agent) -> bool:
    """Tell whether another session finds room for all that it may add, to the map and to the log."""
    size = agent.memory.partition.size[0]
    return 2 * size + 2 <= len(agent.memory.q) and agent.log.size[0] + 2 * ENTRIES * size <= len(
        agent.log.regret
    )


@kernel
def begin_in_world(
    task: Any, memory: ModelMemory, settings: LearnerSettings, progress: Progress, log: Log, rng: Generator
) -> None:
    """Begin a trial in the world."""
    begin_remembered(Agent(task, memory.economy, settings, progress, log, rng), memory.store)


@kernel
def advance_in_world(
    task: Any,
    memory: ModelMemory,
    settings: LearnerSettings,
    progress: Progress,
    log: Log,
    rng: Generator,
    cap: int,
    steps: int,
) -> int:
    """Drive the running trial for at most so many steps; see :func:`drive_remembered`."""
    return drive_remembered(
        Agent(task, memory.economy, settings, progress, log, rng), memory.store, cap, steps
    )


@kernel
def settle_in_model(
    model: Any,
    memory: Memory,
    settings: LearnerSettings,
    progress: Progress,
    log: Log,
    rng: Generator,
    rehearsals: int,
) -> None:
    """Process the stack by questions to the model, then rehearse: trials in the model, each with its own session."""
    agent = Agent(model, memory, settings, progress, log, rng)
    process_stack(agent, NO_BUDGET)
    for _ in range(rehearsals):
        if has_room(agent):
            rehearse_trial(agent)
            process_stack(agent, NO_BUDGET)
