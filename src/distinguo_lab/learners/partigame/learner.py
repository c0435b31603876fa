"""Parti-game as the stage sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.agent import NO_BUDGET, TERMINAL, Agent
from distinguo.learners.learner import Learner, Setup, register
from distinguo.seam import at_speed
from distinguo.tasks.spec import Goal
from distinguo.tasks.task import goal_box
from distinguo_lab.learners.partigame.game import list_neighbours, solve_game, split_at
from distinguo_lab.learners.partigame.memory import PartiMemory, PartiSettings, check_parti, fresh_parti
from distinguo_lab.learners.partigame.model import cell_boxes, drawn_controller
from distinguo_lab.learners.partigame.trials import advance_parti


class PartiGame(Learner):
    """Cells that are split where an adversary could keep them from the goal, and aims at the centres of neighbours.

    >>> from distinguo.runs.learn import learn
    >>> run = learn("maze", seed=1, learner="parti-game")
    >>> run.solved
    True
    """

    name = "parti-game"
    about = "splits cells that an opponent could keep from the goal (Moore and Atkeson 1995)"
    settings = PartiSettings
    suggested: Mapping[str, Any] = {  # it forgets little, so it never restarts
        "stage.restart": 0,
        "stage.prototypes": 10**6,
        "stage.steps": 100_000,
    }

    def __init__(self) -> None:
        self._drawn: tuple[PartiMemory, Any, Controller] | None = None  #: of which memory, and when

    def fresh(self, setup: Setup) -> PartiMemory:
        """Begin with the fewest cells that separate the goal."""
        _check_setup(setup)
        memory = fresh_parti(setup.settings.most_cells, len(setup.seen), setup.actions)
        return with_goal(memory, setup)

    def advance(self, agent: Agent, cap: int, steps: int, left: int = NO_BUDGET) -> int:
        """Aim, and record the outcomes."""
        ended: int = at_speed(advance_parti, agent.world)(*agent, cap, steps)
        return ended

    def claims(self, agent: Agent, ended: int, goal: Goal) -> bool:
        """Claim success when a trial reached the goal as predicted, once per state of knowledge."""
        counters = agent.memory.counters[0]
        foreseen = ended == TERMINAL and counters["news"] == counters["news_before"]
        if not foreseen or counters["news"] == counters["claimed"]:
            return False
        counters["claimed"] = counters["news"]
        return True

    def controller(self, memory: PartiMemory, settings: PartiSettings) -> Controller:
        """Act by the aims of the cells, as fine as the local controllers are; it is drawn once per step."""
        now, latest = (int(memory.counters["learned"][0]), settings), self._drawn
        if latest is None or latest[0] is not memory or latest[1] != now:
            latest = self._drawn = (memory, now, drawn_controller(memory, settings))
        return latest[2]

    def map_for_others(self, memory: PartiMemory, settings: PartiSettings) -> Any:
        """The cells as they were split by the game, without the parts within them."""
        return cell_boxes(memory)

    def figures(self, memory: PartiMemory, settings: PartiSettings) -> Mapping[str, Any]:
        """How many cells there are, how many of them lose, and when the goal was first reached."""
        counters, cells = memory.counters[0], int(memory.counters["cells"][0])
        first = int(counters["first_arrival"])
        return {
            "cells": cells,
            "losing_cells": int(np.isinf(memory.cost[:cells]).sum()),
            "arrivals": int(counters["arrivals"]),
            "first_arrival_steps": first if first > 0 else None,
            "outcomes_forgotten": int(counters["forgotten"]),
        }

    def checked(self, memory: PartiMemory, fresh: PartiMemory) -> PartiMemory:
        """Check a memory from a file."""
        check_parti(memory, fresh)
        return memory


def _check_setup(setup: Setup) -> None:
    """Refuse what parti-game cannot learn: stochastic tasks, labels, given prototypes, tasks without a goal."""
    if setup.prototypes:
        raise DistinguoError(
            "The learner 'parti-game' begins with the cell of the goal and takes no prototypes; omit them."
        )
    if setup.stochastic != "no":
        raise DistinguoError(
            "The learner 'parti-game' trusts every outcome that it saw once, and this task is stochastic; take "
            "another learner, such as economy."
        )
    if setup.categories or goal_box(setup.task) is None:
        raise DistinguoError(
            "The learner 'parti-game' needs a goal, a box of observations where trials end in success, and this task "
            "names none; take MountainCar-v0, Acrobot-v1, maze or a task of your own with a method goal_box(self), "
            "or another learner."
        )


def with_goal(memory: PartiMemory, setup: Setup) -> PartiMemory:
    """Cut the box of the goal out of the space, one face after the other, and list the first neighbours."""
    memory.origin[:] = setup.low
    memory.width[:] = np.subtract(setup.high, setup.low)
    low, high = goal_box(setup.task) or (setup.low, setup.high)
    faces = (np.array([low, high]) - memory.origin) / memory.width
    inner = (faces > [np.zeros(len(low)), np.maximum(faces[0], 0.0)]) & (faces < 1.0)
    if (cells := 1 + int(inner.sum())) > (most := setup.settings.most_cells):
        raise DistinguoError(
            f"The goal of this task is cut out by {cells} cells, and learner.most_cells is {most}; set it to {cells} "
            "or more."
        )
    goal = 0
    for axis in range(len(setup.low)):
        if inner[0, axis]:
            goal = split_at(memory, goal, axis, faces[0, axis])
        if inner[1, axis]:
            split_at(memory, goal, axis, faces[1, axis])
    memory.counters["goal"][0] = goal
    list_neighbours(memory)
    solve_game(memory, setup.settings.count_steps)
    return memory


PARTI_GAME = PartiGame.name

register(PartiGame())
