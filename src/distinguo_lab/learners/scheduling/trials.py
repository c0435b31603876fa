"""The paper's learner under a scheduler: its memory with an agenda, the entries on the agenda, and its sessions.

Figures 1-6 are the paper's, unchanged. Three things happen around them: a step of a trial is noted before Figure 1
learns from it; mini-trials run in a :class:`WatchedWorld`, which notes where they lead; and the session at the end of
a trial takes states off the agenda where Figure 2 pops its stack. A session holds as many investigations as the stack
had entries, unless the agenda says otherwise, so that schedulers differ only in what they choose.
"""

from __future__ import annotations

from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numpy.random import Generator

from distinguo.criteria import look_ahead, state_value
from distinguo.learners.agent import Agent
from distinguo.learners.driver import first_action, get_action, locate, look_back, pauses
from distinguo.learners.economy import figures
from distinguo.learners.economy.learner import (
    begin_in_region,
    learn_and_act,
    learn_step,
    region_of_state,
    time_to_pause,
)
from distinguo.learners.economy.memory import (
    Memory,
    checked_memory,
    current_epsilon,
    forget_stack,
    with_room,
)
from distinguo.references import by_reference
from distinguo.representations.growing import region
from distinguo.seam import implements, part
from distinguo.tasks.world import BEFORE, OWN, Sight, begin, knows, look, step, stops
from distinguo_lab.learners.scheduling.agenda import (
    NONE,
    ROUT,
    SWEEPING,
    Agenda,
    agenda_with_room,
    check_agenda,
    forget_states,
    forget_ways,
    fresh_agenda,
    next_due,
    note_change,
    note_state,
    note_surprise,
    note_transition,
    note_update,
    push_again,
)
from distinguo_lab.learners.scheduling.frontier import Hunt, hunt_frontier

#: Simulations of rout: of each action in a search, and the most steps of each.
SIMULATIONS, HORIZON = 1, 1000

# ---- memory -------------------------------------------------------------------------------------------------------

_tuple_of: Any = NamedTuple
#: The fields of the paper's memory, and the agenda.
ScheduledMemory = _tuple_of(
    "ScheduledMemory", [*get_type_hints(Memory, include_extras=True).items(), ("agenda", Agenda)]
)


def with_agenda(memory: Memory, scheduler: str, investigations: int) -> Any:
    """The memory of the paper's learner with an empty agenda; 0 investigations for as many as are surprising."""
    (room, actions), width = memory.q.shape, memory.states.shape[1]
    return ScheduledMemory(*memory, fresh_agenda(scheduler, room, actions, width, investigations))


def without_agenda(memory: Any) -> Memory:
    """The memory as the paper's learner has it."""
    return Memory(*memory[:-1])


@with_room.register(ScheduledMemory)
def _with_room(memory: Any, room: int) -> Any:
    if len(memory.q) >= room:
        return memory
    larger = with_room(without_agenda(memory), room)
    return ScheduledMemory(*larger, agenda_with_room(memory.agenda, len(larger.q)))


@checked_memory.register(ScheduledMemory)
def _checked(memory: Any) -> Any:
    checked_memory(without_agenda(memory))
    (room, actions), width = memory.q.shape, memory.states.shape[1]
    check_agenda(memory.agenda, room, actions, width)
    return memory


@forget_stack.register(ScheduledMemory)
def _forget_stack(memory: Any) -> None:
    memory.pushed_at[:] = 0
    forget_states(memory.agenda)


# ---- trials -------------------------------------------------------------------------------------------------------

implements(locate, ScheduledMemory)(region_of_state)
implements(first_action, ScheduledMemory)(begin_in_region)
implements(get_action, ScheduledMemory)(learn_and_act)
implements(pauses, ScheduledMemory)(time_to_pause)


@implements(learn_step, ScheduledMemory)
def _note_and_learn(
    memory: Any, agent: Agent, s: np.ndarray, j: int, a: int, r: float, k: int, terminal: bool
) -> int:
    note_step(agent, s, j, a, r, k, terminal)
    return figures.get_action(agent, s, j, a, r, k, terminal)


@part
def note_step(agent: Agent, s: np.ndarray, j: int, a: int, r: float, k: int, terminal: bool) -> None:
    """Count a transition and keep its state; for sweeping, its urgency is the error of its value."""
    memory, settings = agent.memory, agent.settings
    agenda = memory.agenda
    q_new = r if terminal else look_ahead(r, settings.gamma, state_value(memory.q[k]))
    if not terminal:
        note_transition(agenda, j, a, k)
    note_update(agenda, j, a)
    error = abs(q_new - memory.q[j, a])
    if agenda.counters["kind"][0] == SWEEPING and error > current_epsilon(memory, settings):
        note_surprise(agenda, j, s, error)
    else:
        note_state(agenda, j, s)


# ---- mini-trials --------------------------------------------------------------------------------------------------


class WatchedWorld(NamedTuple):
    """A world for mini-trials, which notes on an agenda where each of them leads."""

    inner: Any  #: the world that steps are taken in
    partition: Any
    agenda: Agenda
    max_steps: int  #: of a mini-trial
    spare: np.ndarray  #: of the inner world; the steps of the mini-trial are counted in its row ``OWN``


@part
def in_watched_world(agent: Agent) -> Agent:
    """The agent in a world that is watched, before a mini-trial."""
    world, memory = agent.world, agent.memory
    world.spare[OWN, 0] = 0.0
    watched = WatchedWorld(world, memory.partition, memory.agenda, agent.settings.max_steps, world.spare)
    return Agent(watched, memory, agent.settings, agent.progress, agent.log, agent.rng)


@implements(step, WatchedWorld)
def _step_and_note(world: WatchedWorld, s: np.ndarray, a: int, out: np.ndarray) -> tuple[float, bool]:
    """Take a step; if the mini-trial ends with it, note where it led, unless that is terminal or unknown."""
    inner = world.inner
    j = region(world.partition, look(inner, s, BEFORE).seen)
    r, terminal = step(inner, s, a, out)
    k = region(world.partition, look(inner, out, BEFORE).seen)
    world.spare[OWN, 0] += 1.0
    if k != j or world.spare[OWN, 0] >= world.max_steps or terminal or stops(inner, out):
        world.spare[OWN, 0] = 0.0
        if not terminal and knows(inner, out):
            note_transition(world.agenda, j, a, k)
    return r, terminal


@implements(begin, WatchedWorld)
def _begin(world: WatchedWorld, rng: Generator, out: np.ndarray) -> None:
    begin(world.inner, rng, out)


@implements(look, WatchedWorld)
def _look(world: WatchedWorld, s: np.ndarray, row: int) -> Sight:
    return look(world.inner, s, row)


@implements(stops, WatchedWorld)
def _stops(world: WatchedWorld, s: np.ndarray) -> bool:
    return stops(world.inner, s)


@implements(knows, WatchedWorld)
def _knows(world: WatchedWorld, s: np.ndarray) -> bool:
    return knows(world.inner, s)


# ---- sessions -----------------------------------------------------------------------------------------------------


@implements(look_back, ScheduledMemory)
def process_agenda(memory: Any, agent: Agent, left: int) -> None:
    """Figure 2 in the order of the agenda, while there are steps left."""
    counts, investigator = agent.progress.counts, by_reference(in_watched_world(agent))
    most = counts["investigation_steps"][0] + left
    memory.counters["sessions"][0] += 1
    while counts["investigation_steps"][0] + figures.most_steps_of_next(memory, agent.settings) <= most:
        j = take_due(agent, most)
        if j == NONE:
            return
        figures.investigate_surprise(investigator, memory.stacked[j])


@part
def take_due(agent: Agent, most: int) -> int:
    """Note what the last investigation changed, and choose the next region; -1 if the session is over.

    Its state is put where the stack would have it. ``most`` is the limit on the steps of all investigations so far.
    """
    memory = agent.memory
    agenda, counters = memory.agenda, memory.agenda.counters
    conclude_last(agent)
    if counters["session"][0] != memory.counters["sessions"][0]:
        begin_session(agent)
    while counters["left"][0] > 0:
        counters["left"][0] -= 1
        j = next_due(agenda, memory.partition.size[0], agent.rng)
        if counters["kind"][0] == ROUT and j != NONE:
            j = found_on_frontier(agent, j, most)
        elif j == NONE:
            return NONE
        if j != NONE:
            for i in range(agenda.state.shape[1]):
                memory.stacked[j, i] = agenda.state[j, i]
            remember_before(agent, j)
            return j
    return NONE


@part
def begin_session(agent: Agent) -> None:
    """Move the stack to the agenda, and decide the number of investigations."""
    memory, agenda = agent.memory, agent.memory.agenda
    counters, waiting = agenda.counters, 0
    for j in range(memory.partition.size[0]):
        if memory.pushed_at[j] > 0:
            waiting += 1
            note_state(agenda, j, memory.stacked[j])
            agenda.pushed_at[j] = 0 if agenda.settled[j] else memory.pushed_at[j]
            memory.pushed_at[j] = 0
        elif memory.partition.primary[j] != j:  # merged into another region
            agenda.seen_at[j], agenda.pushed_at[j] = 0, 0
    counters["session"][0] = memory.counters["sessions"][0]
    counters["left"][0] = counters["most"][0] if counters["most"][0] > 0 else waiting


@part
def remember_before(agent: Agent, place: int) -> None:
    """Remember the value of the region that is due, before it is investigated."""
    memory, agenda = agent.memory, agent.memory.agenda
    j = region(memory.partition, look(agent.world, agenda.state[place], BEFORE).seen)
    agenda.counters["last"][0], agenda.value[0] = j, state_value(memory.q[j])
    agenda.counters["size"][0] = memory.partition.size[0]


@part
def conclude_last(agent: Agent) -> None:
    """Note what the last investigation changed: a value, or the region itself."""
    memory, settings, agenda = agent.memory, agent.settings, agent.memory.agenda
    counters = agenda.counters
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
    if counters["kind"][0] == ROUT and figures.reliable_prototype(memory, j, settings.min_updates):
        agenda.settled[j] = True


@part
def found_on_frontier(agent: Agent, x: int, most: int) -> int:
    """Search for the frontier from region ``x``, which stays queued if another is found; -1 if there is a cycle."""
    memory, agenda = agent.memory, agent.memory.agenda
    before = agenda.counters["hunt_steps"][0]
    investigation = 3 * memory.q.shape[1] * agent.settings.samples * agent.settings.max_steps
    left = most - agent.progress.counts["investigation_steps"][0] - investigation
    hunt = Hunt(SIMULATIONS, HORIZON, left)
    j = hunt_frontier(agent.world, memory.partition, memory.q, agenda, x, hunt, agent.rng)
    agent.progress.counts["investigation_steps"][0] += agenda.counters["hunt_steps"][0] - before
    if j != x and j != NONE:
        push_again(agenda, x)
    return j
