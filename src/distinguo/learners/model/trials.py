"""Trials in the world, in which every step is remembered, and what is done in the model between them.

The learner knows states by their observations alone: that is what surprises, and what is pushed on the stack.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from distinguo.learners.agent import NO_BUDGET, Agent, Progress, widen
from distinguo.learners.driver import first_action, get_action, locate, look_back, pauses
from distinguo.learners.economy.learner import ENTRIES, learn_step, time_to_pause
from distinguo.learners.economy.memory import Log
from distinguo.learners.model.memory import ModelMemory
from distinguo.learners.model.store import keep_tuple, remember_start
from distinguo.references import by_reference
from distinguo.representations.growing import nearest, region
from distinguo.seam import implements, kernel, part
from distinguo.settings import LearnerSettings
from distinguo.tasks.world import AFTER, BEFORE, NEXT, OWN, begin, knows, look, step

LONGEST_REHEARSAL = 500  #: steps of a trial in the model


@part
def inner(memory: ModelMemory, agent: Agent) -> Agent:
    """The paper's learner within the one by a model."""
    return Agent(agent.world, memory.economy, agent.settings, agent.progress, agent.log, agent.rng)


@implements(locate, ModelMemory)
def _nearest_prototype(memory: ModelMemory, agent: Agent, s: np.ndarray) -> int:
    return nearest(memory.economy.partition, look(agent.world, s, BEFORE).seen)


@implements(first_action, ModelMemory)
def _first_action(memory: ModelMemory, agent: Agent, s: np.ndarray, p: int) -> int:
    seen = look(agent.world, s, BEFORE).seen
    remember_start(memory.store, seen)
    j = memory.economy.partition.primary[p]
    return first_action(memory.economy, inner(memory, agent), seen, j)


@implements(get_action, ModelMemory)
def _remember_and_act(
    memory: ModelMemory,
    agent: Agent,
    s: np.ndarray,
    p: int,
    a: int,
    r: float,
    s_next: np.ndarray,
    terminal: bool,
) -> tuple[int, int]:
    """Keep the tuple, then do as Figure 1 does."""
    partition = memory.economy.partition
    seen, seen_next = look(agent.world, s, BEFORE).seen, look(agent.world, s_next, AFTER).seen
    keep_tuple(memory.store, p, seen, a, r, seen_next, terminal)
    p_next = nearest(partition, seen_next)
    j, k = partition.primary[p], partition.primary[p_next]
    a_next = learn_step(memory.economy, inner(memory, agent), seen, j, a, r, k, terminal)
    if agent.settings.rescale:
        widen(agent.progress, seen_next)
    return a_next, p_next


@implements(pauses, ModelMemory)
def _pauses(memory: ModelMemory, agent: Agent, length: int) -> bool:
    return time_to_pause(memory.economy, agent, length)


@part
def rehearse_trial(agent: Agent) -> None:
    """Run a trial in the model from a start that is remembered, until it ends or the model knows no more.

    It is learned from as if it were one in the world; what the model does not know is not.
    """
    model, memory = agent.world, agent.memory
    s, s_next = model.spare[OWN], model.spare[NEXT]
    begin(model, agent.rng, s)
    j = region(memory.partition, s)
    a = first_action(memory, agent, s, j)
    for _ in range(LONGEST_REHEARSAL):
        r, terminal = step(model, s, a, s_next)
        if not knows(model, s_next):
            return
        k = region(memory.partition, s_next)
        a = learn_step(memory, agent, s, j, a, r, k, terminal)
        if terminal:
            return
        s, s_next, j = s_next, s, k


@part
def has_room(agent: Agent) -> bool:
    """Whether another session finds room for all that it may add, to the map and to the log."""
    size = agent.memory.partition.size[0]
    return 2 * size + 2 <= len(agent.memory.q) and agent.log.size[0] + 2 * ENTRIES * size <= len(
        agent.log.regret
    )


@kernel
def settle_in_model(
    model: Any,
    memory: Any,
    settings: LearnerSettings,
    progress: Progress,
    log: Log,
    rng: Generator,
    rehearsals: int,
) -> None:
    """Process the stack by questions to the model, then rehearse: trials in the model, each with its own session."""
    agent = by_reference(Agent(model, memory, settings, progress, log, rng))
    look_back(agent.memory, agent, NO_BUDGET)
    for _ in range(rehearsals):
        if has_room(agent):
            rehearse_trial(agent)
            look_back(agent.memory, agent, NO_BUDGET)
