"""Investigations of a fixed table at the end of a trial, in the order that the scheduler says."""

from __future__ import annotations

from distinguo.controller import region_at
from distinguo.criteria import look_ahead, state_value
from distinguo.learners.agent import Agent
from distinguo.learners.economy.values import alpha, reliable_source
from distinguo.learners.scheduling.agenda import (
    ALL,
    NONE,
    due_action,
    empty_agenda,
    next_due,
    note_change,
    note_transition,
    note_update,
    push_again,
    waiting_regions,
)
from distinguo.learners.scheduling.frontier import Hunt, hunt_frontier
from distinguo.learners.scheduling.kinds import DYNA, OLDEST, ROUT
from distinguo.seam import part
from distinguo.tasks.task import transition, truncated, unpack


@part
def hold_session(agent: Agent, left: int) -> None:
    """Investigate as many regions as are due in a session, while steps are left for that."""
    memory, settings, counts = agent.memory, agent.settings, agent.progress.counts
    agenda, size = memory.agenda, len(memory.q)
    kind = agenda.counters["kind"][0]
    most = settings.investigations if settings.investigations > 0 else waiting_regions(agenda, size)
    beyond = counts["investigation_steps"][0] + left
    for _ in range(most):
        spare = beyond - counts["investigation_steps"][0] - memory.q.shape[1] * settings.max_steps
        if spare < 0:
            return
        j = next_due(agenda, size, agent.rng)
        if j == NONE:
            return
        if kind == ROUT:
            settle_frontier(agent, j, spare)
        else:
            investigate_region(agent, j, due_action(agenda, j, agent.rng))
    if kind in (DYNA, OLDEST):  # they look at any region: what was surprising only said how often
        empty_agenda(agenda)


@part
def settle_frontier(agent: Agent, j: int, spare: int) -> None:
    """Hunt for the frontier from region ``j`` and learn the region that is found; ``j`` waits on if it is another."""
    memory, settings, counts = agent.memory, agent.settings, agent.progress.counts
    agenda = memory.agenda
    before = agenda.counters["hunt_steps"][0]
    hunt = Hunt(settings.simulations, settings.horizon, spare)
    found = hunt_frontier(agent.task, memory.partition, memory.q, agenda, j, hunt, agent.rng)
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
    task, memory, settings = agent.task, agent.memory, agent.settings
    s = unpack(task, memory.agenda.state[j])
    gained, discount, steps = 0.0, 1.0, 0
    while True:
        s, r, terminal = transition(task, s, a)
        k = region_at(task, memory.partition, s)
        gained += discount * r
        discount *= settings.gamma
        steps += 1
        if k != j or steps >= settings.max_steps or terminal or truncated(task, s):
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
