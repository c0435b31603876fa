"""The puck between walls that are not equally far away: a variant that the paper's task has no parameter for."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

import distinguo as dg


@dg.task(
    name="unequal-walls",
    states=("x", "v"),
    actions=("left", "right"),
    low=lambda puck: (-puck.left, -5.5),
    high=lambda puck: (puck.right, 5.5),
)
class UnequalWalls(NamedTuple):
    """The puck of the paper, but for its walls."""

    left: Annotated[float, Field(gt=0, le=1e6, description="m from the top to the left wall")] = 1.2
    right: Annotated[float, Field(gt=0, le=1e6, description="m from the top to the right wall")] = 2.4

    def transition(self, s: tuple[float, float], a: int) -> tuple[tuple[float, float], float, bool]:
        """Push the puck for one interval; see distinguo/tasks/puck/puck.py."""
        x, v = s
        u = -0.6 * x
        c = 1.0 / math.sqrt(1.0 + u * u)
        f = 3.0 if a == 1 else -3.0
        x_next = x + 0.02 * v
        v_next = v + 0.02 * ((f - 9.8 * (u * c)) * c)
        fell = not (-self.left < x_next < self.right)
        return (x_next, v_next), (-1.0 if fell else 0.0), fell

    def start(self, rng: np.random.Generator) -> tuple[float, float]:
        """Start at rest on the top of the hill."""
        return (0.0, 0.0)


def controllable(task: UnequalWalls, s: tuple[float, float]) -> bool:
    """Tell whether the strongest correction keeps the puck from either wall; see tasks/puck/analysis.py."""
    return _final_place(task, s, 0) < 0.0 and _final_place(task, s, 1) > 0.0


def _final_place(task: UnequalWalls, s: tuple[float, float], a: int) -> float:
    """Return where pushing one way for ever ends."""
    ended = False
    while not ended:
        s, _, ended = task.transition(s, a)
    return s[0]
