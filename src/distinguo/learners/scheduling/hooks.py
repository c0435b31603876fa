"""Where the paper's learner, whose regions change, asks an agenda instead of its own replacing-stack.

Three places: after a step of a trial (Figure 1), after a mini-trial (Figure 3), and where the next state is popped
(Figure 2). Without an agenda the first two do nothing and the third pops. A session holds as many investigations
as the stack had entries, unless the agenda says otherwise, so that schedulers differ in what they choose alone.
"""

from __future__ import annotations

from typing import Any

from distinguo.controller import region_at
from distinguo.criteria import state_value
from distinguo.learners.agent import Agent
from distinguo.learners.economy.surprise import pop
from distinguo.learners.economy.values import current_epsilon, reliable_prototype
from distinguo.learners.scheduling.agenda import (
    NONE,
    Agenda,
    forget_ways,
    next_due,
    note_change,
    note_state,
    note_surprise,
    note_transition,
    note_update,
    push_again,
)
from distinguo.learners.scheduling.frontier import Hunt, hunt_frontier
from distinguo.learners.scheduling.kinds import ROUT, SWEEPING
from distinguo.seam import generic_with_default, implements, part
from distinguo.tasks.task import State, unpack

#: Simulations of rout: of each action in a hunt, and the most steps of each.
SIMULATIONS, HORIZON = 1, 1000


@generic_with_default
def note_step(
    agenda: Any, agent: Agent, s: State, j: int, a: int, k: int, q_new: float, terminal: bool
) -> None:
    """Take a step of a trial down, before its value is backed up."""


@generic_with_default
def note_outcome(agenda: Any, j: int, a: int, k: int) -> None:
    """Take down that a mini-trial led from region ``j`` to region ``k``."""


@generic_with_default
def take_due(agenda: Any, agent: Agent, most: int) -> int:
    """Return the place in ``memory.stacked`` of the state to investigate next; -1 if the session is over.

    ``most`` are the steps of all investigations that there may be in the end.
    """
    return pop(agent.memory)


@implements(note_step, Agenda)
def note_step_on_agenda(
    agenda: Any, agent: Agent, s: State, j: int, a: int, k: int, q_new: float, terminal: bool
) -> None:
    """Count the transition, and keep the state; to sweeping, it is urgent by the error of its value."""
    if not terminal:
        note_transition(agenda, j, a, k)
    note_update(agenda, j, a)
    error = abs(q_new - agent.memory.q[j, a])
    if agenda.counters["kind"][0] == SWEEPING and error > current_epsilon(agent.memory, agent.settings):
        note_surprise(agenda, j, s, error)
    else:
        note_state(agenda, j, s)


@implements(note_outcome, Agenda)
def note_outcome_on_agenda(agenda: Any, j: int, a: int, k: int) -> None:
    """Count the transition."""
    note_transition(agenda, j, a, k)


@implements(take_due, Agenda)
def take_due_off_agenda(agenda: Any, agent: Agent, most: int) -> int:
    """Take down what the last investigation changed, and choose the next."""
    memory, counters = agent.memory, agenda.counters
    conclude_last(agenda, agent)
    if counters["session"][0] != memory.counters["sessions"][0]:
        begin_session(agenda, agent)
    while counters["left"][0] > 0:
        counters["left"][0] -= 1
        j = next_due(agenda, memory.partition.size[0], agent.rng)
        if counters["kind"][0] == ROUT and j != NONE:
            j = found_on_frontier(agenda, agent, j, most)
        elif j == NONE:
            return NONE
        if j != NONE:
            for i in range(agenda.state.shape[1]):
                memory.stacked[j, i] = agenda.state[j, i]
            remember_before(agenda, agent, j)
            return j
    return NONE


@part
def begin_session(agenda: Any, agent: Agent) -> None:
    """Take over what is on the stack, and say how many investigations there will be."""
    memory, counters = agent.memory, agenda.counters
    waiting = 0
    for j in range(memory.partition.size[0]):
        if memory.pushed_at[j] > 0:
            waiting += 1
            note_state(agenda, j, memory.stacked[j])
            agenda.pushed_at[j] = 0 if agenda.settled[j] else memory.pushed_at[j]
            memory.pushed_at[j] = 0
        elif memory.partition.primary[j] != j:  # merged into another region: no longer one of its own
            agenda.seen_at[j], agenda.pushed_at[j] = 0, 0
    counters["session"][0] = memory.counters["sessions"][0]
    counters["left"][0] = counters["most"][0] if counters["most"][0] > 0 else waiting


@part
def remember_before(agenda: Any, agent: Agent, place: int) -> None:
    """Remember what the region that is due is worth before it is investigated."""
    memory = agent.memory
    j = region_at(agent.task, memory.partition, unpack(agent.task, agenda.state[place]))
    agenda.counters["last"][0], agenda.value[0] = j, state_value(memory.q[j])
    agenda.counters["size"][0] = memory.partition.size[0]


@part
def conclude_last(agenda: Any, agent: Agent) -> None:
    """Take down what the last investigation changed: a value, or the region itself, which is then another one."""
    memory, settings, counters = agent.memory, agent.settings, agenda.counters
    j = counters["last"][0]
    counters["last"][0] = NONE
    if j == NONE:
        return
    if memory.partition.size[0] != counters["size"][0]:
        forget_ways(agenda, j)
        agenda.settled[j] = False
        return
    change = state_value(memory.q[j]) - agenda.value[0]
    note_change(agenda, j, change, settings.gamma, current_epsilon(memory, settings))
    for a in range(memory.q.shape[1]):
        note_update(agenda, j, a)
    if counters["kind"][0] == ROUT and reliable_prototype(memory, j, settings.min_updates):
        agenda.settled[j] = True


@part
def found_on_frontier(agenda: Any, agent: Agent, x: int, most: int) -> int:
    """Hunt for the frontier from region ``x``, which waits on if another is found; -1 if there is a cycle."""
    memory = agent.memory
    before = agenda.counters["hunt_steps"][0]
    investigation = 3 * memory.q.shape[1] * agent.settings.samples * agent.settings.max_steps
    spare = most - agent.progress.counts["investigation_steps"][0] - investigation
    hunt = Hunt(SIMULATIONS, HORIZON, spare)
    j = hunt_frontier(agent.task, memory.partition, memory.q, agenda, x, hunt, agent.rng)
    agent.progress.counts["investigation_steps"][0] += agenda.counters["hunt_steps"][0] - before
    if j != x and j != NONE:
        push_again(agenda, x)
    return j
