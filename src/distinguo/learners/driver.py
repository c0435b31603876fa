"""The driver of trials, a loop that learners share, ours and yours: act, step, learn, and look back at the end.

A learner is known by the class of its memory. It gives the driver :func:`get_action` (learn from a step and choose
the next action, Figure 1 of the paper) or, as a learner of your own does, ``act`` and ``learn``
(:mod:`distinguo.learners.declare`); and what it learns from a whole trial, :func:`look_back`.

Kernels take the fields of an agent one by one, as in ``advance_trial(*agent, cap, steps)``: Numba knows the type of
each field at once, but would determine the type of the whole tuple anew at every call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from distinguo.learners.agent import (
    CAPPED,
    NO_ACTION,
    PAUSED,
    RUNNING,
    TERMINAL,
    Agent,
    Progress,
    begin_counting,
)
from distinguo.references import by_reference
from distinguo.seam import generic, generic_with_default, kernel
from distinguo.tasks.world import AFTER, BEFORE, NEXT, begin, copy_row, look, step, stops


class Transition(NamedTuple):
    """A step of a trial, by the observations before and after it."""

    s: np.ndarray
    a: int
    r: float
    s_next: np.ndarray
    terminal: bool


@generic
def act(memory: Any, agent: Agent, s: np.ndarray) -> int:
    """Return the action to take where ``s`` is observed."""
    raise NotImplementedError


@generic
def learn_from(memory: Any, agent: Agent, t: Transition) -> None:
    """Learn from one step of a trial."""
    raise NotImplementedError


@generic_with_default
def end_trial(memory: Any, agent: Agent) -> None:
    """Learn from a whole trial when it has ended; by default nothing."""


@generic_with_default
def locate(memory: Any, agent: Agent, s: np.ndarray) -> int:
    """A number to remember about a state during a step, such as its region; by default 0."""
    return 0


@generic_with_default
def first_action(memory: Any, agent: Agent, s: np.ndarray, j: int) -> int:
    """Choose the first action of a trial at ``s``; ``j`` is the result of :func:`locate`."""
    return act(memory, agent, look(agent.world, s, BEFORE).seen)


@generic_with_default
def get_action(
    memory: Any, agent: Agent, s: np.ndarray, j: int, a: int, r: float, s_next: np.ndarray, terminal: bool
) -> tuple[int, int]:
    """Learn from a step and choose the next action; return it with the result of :func:`locate` for ``s_next``."""
    seen = look(agent.world, s_next, AFTER).seen
    learn_from(memory, agent, Transition(look(agent.world, s, BEFORE).seen, a, r, seen, terminal))
    return (NO_ACTION if terminal else act(memory, agent, seen)), 0


@generic_with_default
def pauses(memory: Any, agent: Agent, length: int) -> bool:
    """Whether the trial must pause before the next step; by default never."""
    return False


@generic_with_default
def look_back(memory: Any, agent: Agent, left: int) -> None:
    """Learn from a trial that has ended, was stopped or paused; mini-trials may take ``left`` steps."""
    end_trial(memory, agent)


@kernel
def begin_trial(world: Any, memory: Any, settings: Any, progress: Progress, log: Any, rng: Generator) -> None:
    """Begin a trial."""
    agent, counts = by_reference(Agent(world, memory, settings, progress, log, rng)), progress.counts
    begin(agent.world, rng, progress.now)
    begin_counting(progress)
    j = locate(agent.memory, agent, progress.now)
    counts["action"][0] = first_action(agent.memory, agent, progress.now, j)


@kernel
def advance_trial(
    world: Any, memory: Any, settings: Any, progress: Progress, log: Any, rng: Generator, cap: int, steps: int
) -> int:
    """Advance the running trial by at most ``steps`` steps, to its end or to the cap; return how it was left."""
    agent, counts = by_reference(Agent(world, memory, settings, progress, log, rng)), progress.counts
    s, s_next = progress.now, world.spare[NEXT]
    j, a = locate(agent.memory, agent, s), counts["action"][0]
    length = counts["length"][0]
    last = min(cap, length + steps)
    terminal, stopped, paused = False, False, False
    while not terminal and not stopped and not paused and length < last:
        r, terminal = step(agent.world, s, a, s_next)
        length += 1
        counts["length"][0] = length
        counts["trial_steps"][0] += 1
        counts["gained"][0] += r
        a, j = get_action(agent.memory, agent, s, j, a, r, s_next, terminal)
        s, s_next = s_next, s
        stopped = not terminal and stops(agent.world, s)
        paused = pauses(agent.memory, agent, length)
    counts["action"][0] = a
    copy_row(s, progress.now)
    if terminal:
        return TERMINAL
    if stopped or length >= cap:
        return CAPPED
    return PAUSED if paused else RUNNING


@kernel
def settle_trial(
    world: Any, memory: Any, settings: Any, progress: Progress, log: Any, rng: Generator, left: int
) -> None:
    """Let the learner learn from the whole trial."""
    agent = by_reference(Agent(world, memory, settings, progress, log, rng))
    look_back(agent.memory, agent, left)
