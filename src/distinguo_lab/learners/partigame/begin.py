"""Before the first trial of parti-game: whether it can learn the task, and the cell of the goal."""

from __future__ import annotations

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.learners.learner import Setup
from distinguo.tasks.task import goal_box
from distinguo_lab.learners.partigame.cells import list_neighbours, split_at
from distinguo_lab.learners.partigame.game import solve_game
from distinguo_lab.learners.partigame.memory import PartiMemory


def check_setup(setup: Setup) -> None:
    """Refuse what parti-game cannot learn: chance, labels, prototypes to begin from, a task without a goal."""
    if setup.prototypes:
        raise DistinguoError(
            "The learner 'parti-game' begins with the cell of the goal, not with prototypes; leave them out."
        )
    if setup.stochastic != "no":
        raise DistinguoError(
            "The learner 'parti-game' believes everything that it saw once, and there is chance in this task; take "
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
    goal = 0
    for axis in range(len(setup.low)):
        faces = (np.array([low[axis], high[axis]]) - memory.origin[axis]) / memory.width[axis]
        if 0.0 < faces[0] < 1.0:
            goal = split_at(memory, goal, axis, faces[0])
        if memory.low[goal, axis] < faces[1] < 1.0:
            split_at(memory, goal, axis, faces[1])
    memory.counters["goal"][0] = goal
    list_neighbours(memory)
    solve_game(memory, setup.settings.count_steps)
    return memory
