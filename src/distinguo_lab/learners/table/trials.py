"""Trials on a fixed table: Figure 1 without feature extraction, which is Q-learning if nothing is investigated.

At the end of a trial regions are investigated, in the order of the scheduler.
"""

from __future__ import annotations

import numpy as np

from distinguo.controller import choose
from distinguo.criteria import adequate, look_ahead, state_value
from distinguo.learners.agent import NO_ACTION, Agent
from distinguo.learners.driver import first_action, get_action, locate, look_back
from distinguo.learners.economy.figures import alpha, back_up, reliable_source
from distinguo.representations.partition import region
from distinguo.seam import implements, part
from distinguo.tasks.world import AFTER, BEFORE, ON_THE_WAY, copy_row, look, step, stops
from distinguo_lab.learners.scheduling.agenda import (
    ALL,
    DYNA,
    NONE,
    OLDEST,
    ROUT,
    due_action,
    empty_agenda,
    next_due,
    note_change,
    note_state,
    note_surprise,
    note_transition,
    note_update,
    push_again,
    waiting_regions,
)
from distinguo_lab.learners.scheduling.frontier import Hunt, hunt_frontier
from distinguo_lab.learners.table.memory import TableMemory

PASSIVE = -1  #: the code of no scheduler at all: nothing is investigated


@implements(locate, TableMemory)
def _region_of_state(memory: TableMemory, agent: Agent, s: np.ndarray) -> int:
    return region(memory.partition, look(agent.world, s, BEFORE).seen)


@implements(first_action, TableMemory)
def _first_action(memory: TableMemory, agent: Agent, s: np.ndarray, j: int) -> int:
    memory.counters["earlier"][0] = memory.counters["backups"][0]
    return table_action(agent, j)


@implements(get_action, TableMemory)
def _learn_and_act(
    memory: TableMemory,
    agent: Agent,
    s: np.ndarray,
    j: int,
    a: int,
    r: float,
    s_next: np.ndarray,
    terminal: bool,
) -> tuple[int, int]:
    k = region(memory.partition, look(agent.world, s_next, AFTER).seen)
    learn_on_table(agent, s, j, a, r, k, terminal)
    return (NO_ACTION if terminal else table_action(agent, k)), k


@part
def table_action(agent: Agent, j: int) -> int:
    """Choose an action in region ``j``: a preferred one, or sometimes any."""
    q, explore = agent.memory.q, agent.settings.explore
    if explore > 0.0 and agent.rng.random() < explore:
        return int(agent.rng.random() * q.shape[1])
    return choose(q[j], 0.0, agent.rng)


@part
def learn_on_table(agent: Agent, s: np.ndarray, j: int, a: int, r: float, k: int, terminal: bool) -> None:
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
    """Whether one transition shows that its state is not epsilon-adequate, the other values being right."""
    for b in range(len(memory.profile)):
        memory.profile[b] = q_new if b == a else memory.q[j, b]
    return not adequate(memory.q[j], memory.profile, epsilon, 0.0)


# ---- sessions -----------------------------------------------------------------------------------------------------


@implements(look_back, TableMemory)
def _hold_session(memory: TableMemory, agent: Agent, left: int) -> None:
    if agent.settings.scheduler != PASSIVE:
        hold_session(agent, left)


@part
def hold_session(agent: Agent, left: int) -> None:
    """Investigate the regions that are due in a session, while there are steps left."""
    memory, settings, counts = agent.memory, agent.settings, agent.progress.counts
    agenda, size = memory.agenda, len(memory.q)
    kind = agenda.counters["kind"][0]
    most = settings.investigations if settings.investigations > 0 else waiting_regions(agenda, size)
    beyond = counts["investigation_steps"][0] + left
    for _ in range(most):
        left_over = beyond - counts["investigation_steps"][0] - memory.q.shape[1] * settings.max_steps
        if left_over < 0:
            return
        j = next_due(agenda, size, agent.rng)
        if j == NONE:
            return
        if kind == ROUT:
            settle_frontier(agent, j, left_over)
        else:
            investigate_region(agent, j, due_action(agenda, j, agent.rng))
    if kind in (DYNA, OLDEST):  # they choose from all regions; surprises only decide how many
        empty_agenda(agenda)


@part
def settle_frontier(agent: Agent, j: int, most: int) -> None:
    """Search for the frontier from region ``j`` and learn what is found; ``j`` stays queued if it is another."""
    memory, settings, counts = agent.memory, agent.settings, agent.progress.counts
    agenda = memory.agenda
    before = agenda.counters["hunt_steps"][0]
    hunt = Hunt(settings.simulations, settings.horizon, most)
    found = hunt_frontier(agent.world, memory.partition, memory.q, agenda, j, hunt, agent.rng)
    counts["investigation_steps"][0] += agenda.counters["hunt_steps"][0] - before
    if found == NONE:
        return
    investigate_region(agent, found, ALL)
    agenda.settled[found] = True
    agenda.pushed_at[found] = 0
    if found != j:
        push_again(agenda, j)


@part
def investigate_region(agent: Agent, j: int, action: int) -> None:
    """Figures 2 and 3: a mini-trial for one action or for all, from the state that stands for region ``j``."""
    memory, settings = agent.memory, agent.settings
    before = state_value(memory.q[j])
    for a in range(memory.q.shape[1]):
        if action in (ALL, a):
            try_pair(agent, j, a)
    memory.investigated[j] = True
    memory.counters["investigations"][0] += 1
    note_change(memory.agenda, j, state_value(memory.q[j]) - before, settings.gamma, settings.epsilon)


@part
def try_pair(agent: Agent, j: int, a: int) -> None:
    """Repeat an action until region ``j`` is left, and back the look-ahead value up if it is reliable."""
    world, memory, settings = agent.world, agent.memory, agent.settings
    s = world.spare[ON_THE_WAY]
    copy_row(memory.agenda.state[j], s)
    gained, discount, steps = 0.0, 1.0, 0
    while True:
        r, terminal = step(world, s, a, s)
        k = region(memory.partition, look(world, s, BEFORE).seen)
        gained += discount * r
        discount *= settings.gamma
        steps += 1
        if k != j or steps >= settings.max_steps or terminal or stops(world, s):
            break
    agent.progress.counts["investigation_steps"][0] += steps
    note_update(memory.agenda, j, a)
    if not terminal:
        note_transition(memory.agenda, j, a, k)
        gained = look_ahead(gained, discount, state_value(memory.q[k]))
    if terminal or memory.agenda.settled[k] or reliable_source(memory, k, settings.min_updates):
        memory.updates[j, a] += 1
        rate = alpha(memory.updates[j, a], settings.enough_samples)
        memory.q[j, a] += rate * (gained - memory.q[j, a])
        memory.counters["backups"][0] += 1
