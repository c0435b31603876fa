"""Trials of the learner for categories: act by the highest upper value, record what follows, sweep."""

from __future__ import annotations

import numpy as np

from distinguo.controller import choose
from distinguo.learners.agent import NO_ACTION, Agent
from distinguo.learners.driver import first_action, get_action, locate, pauses
from distinguo.learners.sweeping.exploration import learn_transition, state_number
from distinguo.learners.sweeping.memory import SweepingMemory
from distinguo.seam import implements
from distinguo.tasks.world import AFTER, BEFORE, look


@implements(locate, SweepingMemory)
def _number_of(memory: SweepingMemory, agent: Agent, s: np.ndarray) -> int:
    return state_number(memory, look(agent.world, s, BEFORE).seen)


@implements(first_action, SweepingMemory)
def _first_action(memory: SweepingMemory, agent: Agent, s: np.ndarray, j: int) -> int:
    memory.starts[j] += 1
    return choose(memory.hope[j], 0.0, agent.rng)


@implements(get_action, SweepingMemory)
def _sweep_and_act(
    memory: SweepingMemory,
    agent: Agent,
    s: np.ndarray,
    j: int,
    a: int,
    r: float,
    s_next: np.ndarray,
    terminal: bool,
) -> tuple[int, int]:
    k = state_number(memory, look(agent.world, s_next, AFTER).seen)
    learn_transition(memory, agent.settings, j, a, r, k, terminal)
    return (NO_ACTION if terminal else choose(memory.hope[k], 0.0, agent.rng)), k


@implements(pauses, SweepingMemory)
def is_full(memory: SweepingMemory, agent: Agent, length: int) -> bool:
    """Whether there is no room for another state or edge."""
    counters = memory.counters
    return counters["states"][0] >= len(memory.tries) or counters["edges"][0] >= len(memory.edge_to)
