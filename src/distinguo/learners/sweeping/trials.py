"""Trials of the learner for categories: act by hope, take down what follows, sweep."""

from __future__ import annotations

from typing import Any

from numpy.random import Generator

from distinguo.controller import choose
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
)
from distinguo.learners.sweeping.hopes import learn_transition, recognise
from distinguo.learners.sweeping.memory import SweepingMemory
from distinguo.learners.sweeping.settings import SweepingSettings
from distinguo.seam import kernel, part
from distinguo.tasks.task import State, observe, start, transition, truncated, unpack


@kernel
def begin_trial_by_hope(
    task: Any,
    memory: SweepingMemory,
    settings: SweepingSettings,
    progress: Progress,
    log: Any,
    rng: Generator,
) -> None:
    """Begin a trial."""
    s = start(task, rng)
    begin_counting(progress, s)
    j = recognise(memory, observe(task, s))
    memory.starts[j] += 1
    progress.counts["action"][0] = choose(memory.hope[j], 0.0, rng)


@kernel
def advance_by_hope(
    task: Any,
    memory: SweepingMemory,
    settings: SweepingSettings,
    progress: Progress,
    log: Any,
    rng: Generator,
    cap: int,
    steps: int,
) -> int:
    """Drive the running trial for at most so many steps, to its end, to the cap, or until there is no room."""
    agent = Agent(task, memory, settings, progress, log, rng)
    s = unpack(task, progress.now)
    j = recognise(memory, observe(task, s))
    first = progress.counts["length"][0]
    terminal, stopped = False, False
    while not terminal and not stopped and progress.counts["length"][0] < min(cap, first + steps):
        s, j, terminal = step_by_hope(agent, s, j)
        stopped = not terminal and truncated(task, s)
        if is_full(memory):
            break
    keep(progress, s)
    if terminal:
        return TERMINAL
    if stopped or progress.counts["length"][0] >= cap:
        return CAPPED
    return PAUSED if is_full(memory) else RUNNING


@part
def step_by_hope(agent: Agent, s: State, j: int) -> tuple[State, int, bool]:
    """Take the chosen action from ``s``, which is state number ``j``, learn from it, and choose the next."""
    task, memory, counts = agent.task, agent.memory, agent.progress.counts
    a = counts["action"][0]
    s_next, r, terminal = transition(task, s, a)
    k = recognise(memory, observe(task, s_next))
    learn_transition(memory, agent.settings, j, a, r, k, terminal)
    counts["length"][0] += 1
    counts["trial_steps"][0] += 1
    counts["gained"][0] += r
    counts["action"][0] = NO_ACTION if terminal else choose(memory.hope[k], 0.0, agent.rng)
    return s_next, k, terminal


@part
def is_full(memory: SweepingMemory) -> bool:
    """Tell whether there is no room for another state or edge."""
    counters = memory.counters
    return counters["states"][0] >= len(memory.tries) or counters["edges"][0] >= len(memory.edge_to)
