"""Trials of parti-game: aim at a neighbour until the cell is left or progress stops, and record the outcome.

The driver of trials chooses an action as soon as it has learned from the last one. Parti-game must choose just before
a step: taking aim may split cells, which must not happen after the end of a trial. So it drives its trials itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from distinguo.learners.agent import CAPPED, RUNNING, TERMINAL, Agent, Progress
from distinguo.learners.driver import first_action
from distinguo.references import by_reference
from distinguo.seam import implements, kernel, part
from distinguo.tasks.world import AFTER, BEFORE, look, step, stops
from distinguo_lab.learners.partigame.game import (
    best_aim,
    cell_at_place,
    distance_squared,
    find_part,
    make_winnable,
    note_arrival,
    solve_game,
)
from distinguo_lab.learners.partigame.memory import NOTHING, PartiMemory, PartiSettings
from distinguo_lab.learners.partigame.model import action_towards, keep_model, learn_models, least_tried


@implements(first_action, PartiMemory)
def _begin(memory: PartiMemory, agent: Agent, s: np.ndarray, j: int) -> int:
    """Begin a trial; an interrupted aim has no outcome, and the next one is not taken yet."""
    set_place(memory, look(agent.world, s, BEFORE).seen)
    memory.counters["here"][0] = NOTHING
    memory.counters["news_before"][0] = memory.counters["news"][0]
    return agent.progress.counts["action"][0]


@kernel
def advance_parti(
    world: Any,
    memory: PartiMemory,
    settings: PartiSettings,
    progress: Progress,
    log: Any,
    rng: Generator,
    cap: int,
    steps: int,
) -> int:
    """Run the present trial for at most so many steps, to its end or to the cap."""
    agent, counts = by_reference(Agent(world, memory, settings, progress, log, rng)), progress.counts
    last = min(cap, counts["length"][0] + steps)
    terminal, stopped = False, False
    while not terminal and not stopped and counts["length"][0] < last:
        terminal = step_towards_aim(agent)
        stopped = not terminal and stops(agent.world, progress.now)
    if terminal:
        return TERMINAL
    if not stopped and counts["length"][0] < cap:
        return RUNNING
    run_out_of_time(agent.memory, settings)
    return CAPPED


@part
def run_out_of_time(memory: PartiMemory, settings: PartiSettings) -> None:
    """Count the aim of a stopped trial as stuck; otherwise a path that is too long would be repeated forever."""
    if settings.time_counts and memory.counters["here"][0] != NOTHING:
        end_aim(memory, settings, memory.counters["here"][0])


@part
def step_towards_aim(agent: Agent) -> bool:
    """Take an action towards the aim, learn its effect, and check whether the aim is over; True at the goal."""
    memory, counts, now = agent.memory, agent.progress.counts, agent.progress.now
    if memory.counters["here"][0] == NOTHING:
        take_aim(memory, agent.settings)
    a = aimed_action(memory, agent.settings.fineness)
    r, terminal = step(agent.world, now, a, now)
    counts["length"][0] += 1
    counts["trial_steps"][0] += 1
    counts["gained"][0] += r
    learn_displacement(memory, a, look(agent.world, now, AFTER).seen)
    if terminal:
        arrive(memory, agent.settings, counts["trial_steps"][0])
    else:
        follow_aim(memory, agent.settings)
    return terminal


@part
def set_place(memory: PartiMemory, seen: np.ndarray) -> None:
    """Store a scaled observation."""
    for i in range(len(seen)):
        memory.place[i] = (seen[i] - memory.origin[i]) / memory.width[i]


@part
def take_aim(memory: PartiMemory, settings: PartiSettings) -> None:
    """Choose the neighbour to aim at, after splitting cells if the present one loses."""
    counters = memory.counters
    cell = make_winnable(memory, settings.finest, settings.count_steps)
    counters["here"][0], counters["aimed"][0], counters["closer"][0] = cell, 0, 0
    memory.nearest[0] = np.inf
    is_known = keep_model(memory, cell, settings.enough)
    counters["aim"][0] = best_aim(memory, cell, settings.count_steps) if is_known else NOTHING


@part
def aimed_action(memory: PartiMemory, fineness: int) -> int:
    """The action that leads towards the aim from the present part of the cell.

    Before there is a model, actions are tried in turn.
    """
    here, aim = memory.counters["here"][0], memory.counters["aim"][0]
    if aim == NOTHING:
        return least_tried(memory, 0)
    find_part(memory, here, memory.place, fineness)
    return action_towards(memory, memory.models[here], memory.centre, aim)


@part
def learn_displacement(memory: PartiMemory, a: int, seen: np.ndarray) -> None:
    """Learn the effect of an action, and move there."""
    for i in range(len(seen)):
        memory.moved[i] = (seen[i] - memory.origin[i]) / memory.width[i] - memory.place[i]
    learn_models(memory, memory.place, a, memory.moved)
    memory.counters["learned"][0] += 1
    set_place(memory, seen)


@part
def arrive(memory: PartiMemory, settings: PartiSettings, steps: int) -> None:
    """Record that the goal was reached, after so many steps in all."""
    counters = memory.counters
    if counters["arrivals"][0] == 0:
        counters["first_arrival"][0] = steps
    counters["arrivals"][0] += 1
    counters["aimed"][0] += 1
    end_aim(memory, settings, counters["goal"][0])


@part
def follow_aim(memory: PartiMemory, settings: PartiSettings) -> None:
    """Check whether the cell was left, or whether the aim has not come closer for too long."""
    counters = memory.counters
    here, aim = counters["here"][0], counters["aim"][0]
    counters["aimed"][0] += 1
    if aim == NOTHING:
        counters["here"][0] = NOTHING
        return
    cell, distance = cell_at_place(memory), distance_squared(memory, aim, memory.place)
    if distance < memory.nearest[0]:
        memory.nearest[0] = distance
        counters["closer"][0] = counters["aimed"][0]
    if cell != here or counters["aimed"][0] - counters["closer"][0] >= settings.patience:
        end_aim(memory, settings, cell)


@part
def end_aim(memory: PartiMemory, settings: PartiSettings, result: int) -> None:
    """Record the outcome of the aim, which is the cell itself if it got stuck."""
    counters = memory.counters
    here, aim, steps = counters["here"][0], counters["aim"][0], counters["aimed"][0]
    counters["here"][0] = NOTHING
    if aim != NOTHING and note_arrival(memory, here, aim, result, steps):
        counters["news"][0] += 1
        solve_game(memory, settings.count_steps)
