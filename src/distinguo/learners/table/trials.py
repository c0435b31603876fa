"""Trials on a fixed table: Figure 1 without feature extraction, which is Q-learning where nothing is investigated."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from distinguo.controller import choose, region_at
from distinguo.criteria import adequate, look_ahead, state_value
from distinguo.learners.agent import (
    CAPPED,
    NO_ACTION,
    RUNNING,
    TERMINAL,
    Agent,
    Progress,
    begin_counting,
    keep,
)
from distinguo.learners.economy.values import back_up, reliable_source
from distinguo.learners.scheduling.agenda import (
    note_change,
    note_state,
    note_surprise,
    note_transition,
    note_update,
)
from distinguo.learners.scheduling.kinds import ROUT
from distinguo.learners.table.memory import TableMemory
from distinguo.learners.table.sessions import hold_session
from distinguo.seam import kernel, part
from distinguo.tasks.task import State, start, transition, truncated, unpack

PASSIVE = -1  #: the code of no scheduler at all: nothing is investigated


@kernel
def begin_table_trial(
    task: Any, memory: TableMemory, settings: Any, progress: Progress, log: Any, rng: Generator
) -> None:
    """Begin a trial."""
    agent = Agent(task, memory, settings, progress, log, rng)
    s = start(task, rng)
    begin_counting(progress, s)
    memory.counters["earlier"][0] = memory.counters["backups"][0]
    progress.counts["action"][0] = table_action(agent, region_at(task, memory.partition, s))


@kernel
def advance_table(
    task: Any,
    memory: TableMemory,
    settings: Any,
    progress: Progress,
    log: Any,
    rng: Generator,
    cap: int,
    steps: int,
) -> int:
    """Drive the running trial for at most so many steps, to its end or to the cap."""
    agent = Agent(task, memory, settings, progress, log, rng)
    s = unpack(task, progress.now)
    j = region_at(task, memory.partition, s)
    counts = progress.counts
    first = counts["length"][0]
    terminal, stopped = False, False
    while not terminal and not stopped and counts["length"][0] < min(cap, first + steps):
        a = counts["action"][0]
        s_next, r, terminal = transition(task, s, a)
        k = region_at(task, memory.partition, s_next)
        counts["length"][0] += 1
        counts["gained"][0] += r
        learn_step(agent, s, j, a, r, k, terminal)
        counts["action"][0] = NO_ACTION if terminal else table_action(agent, k)
        s, j = s_next, k
        stopped = not terminal and truncated(task, s)
    counts["trial_steps"][0] += counts["length"][0] - first
    keep(progress, s)
    if terminal:
        return TERMINAL
    return CAPPED if stopped or counts["length"][0] >= cap else RUNNING


@part
def table_action(agent: Agent, j: int) -> int:
    """Choose an action in region ``j``: a preferred one, or sometimes any."""
    q, explore = agent.memory.q, agent.settings.explore
    if explore > 0.0 and agent.rng.random() < explore:
        return int(agent.rng.random() * q.shape[1])
    return choose(q[j], 0.0, agent.rng)


@part
def learn_step(agent: Agent, s: State, j: int, a: int, r: float, k: int, terminal: bool) -> None:
    """Figure 1: back the transition up if what follows is reliable, and note it if it is surprising.

    ``rout`` learns nothing from a trial: only what lies on the frontier is learned.
    """
    memory, settings = agent.memory, agent.settings
    q_new = r if terminal else look_ahead(r, settings.gamma, state_value(memory.q[k]))
    before = state_value(memory.q[j])
    error = q_new - memory.q[j, a]
    inadequate = surprising_step(memory, settings.epsilon, j, a, q_new)
    if settings.scheduler != ROUT and (terminal or reliable_source(memory, k, settings.min_updates)):
        back_up(memory, j, a, q_new, settings.alpha)
        memory.counters["backups"][0] += 1
        note_update(memory.agenda, j, a)
    if settings.scheduler == PASSIVE:
        return
    agenda = memory.agenda
    if not terminal:
        note_transition(agenda, j, a, k)
    note_change(agenda, j, state_value(memory.q[j]) - before, settings.gamma, settings.epsilon)
    if inadequate or not memory.investigated[j] or agent.rng.random() < settings.coin:
        note_surprise(agenda, j, s, abs(error))
    else:
        note_state(agenda, j, s)


@part
def surprising_step(memory: TableMemory, epsilon: float, j: int, a: int, q_new: float) -> bool:
    """Tell whether one transition shows that its state is not epsilon-adequate, the other values being right."""
    for b in range(len(memory.profile)):
        memory.profile[b] = q_new if b == a else memory.q[j, b]
    return not adequate(memory.q[j], memory.profile, epsilon, 0.0)


@kernel
def settle_table(
    task: Any, memory: TableMemory, settings: Any, progress: Progress, log: Any, rng: Generator, left: int
) -> None:
    """Investigate what a trial that has ended, or was stopped, has left to investigate."""
    hold_session(Agent(task, memory, settings, progress, log, rng), left)
