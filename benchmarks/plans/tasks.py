"""Tasks of the plans beside this file: the puck between unequal walls, and two tasks without cycles.

distinguo study benchmarks/plans/robustness-walls.toml --code benchmarks/plans/tasks.py
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

import distinguo as dg


def controllable(task: Any, s: tuple[float, float]) -> bool:
    """Whether the strongest correction keeps the puck from either wall; see tasks/puck/analysis.py."""
    return _final_place(task, s, 0) < 0.0 and _final_place(task, s, 1) > 0.0


def _final_place(task: Any, s: tuple[float, float], a: int) -> float:
    """Return where pushing one way for ever ends."""
    ended = False
    while not ended:
        s, _, ended = task.transition(s, a)
    return s[0]


@dg.task(
    name="unequal-walls",
    states=("x", "v"),
    actions=("left", "right"),
    low=lambda puck: (-puck.left, -5.5),
    high=lambda puck: (puck.right, 5.5),
    controllable=controllable,
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


SIZE, GAMMA = 10, 0.99  #: of the tasks without cycles


def cost(i: int, j: int, a: int) -> float:
    """Return the reward of a step on the descent: between -1 and 0, and without a pattern to the eye."""
    return -((7 * i + 13 * j + 5 * a + i * j) % 11) / 11.0


def fixed_point() -> float:
    """Return what the greedy policy of the descent's exact values gains, from the first cell to the end."""
    value = np.zeros((SIZE + 1, SIZE + 1))
    for i in reversed(range(SIZE)):
        for j in reversed(range(SIZE)):
            value[i, j] = max(
                cost(i, j, 0) + GAMMA * value[i + 1, j], cost(i, j, 1) + GAMMA * value[i, j + 1]
            )
    i = j = 0
    gained = 0.0
    while i < SIZE and j < SIZE:
        a = int(cost(i, j, 1) + GAMMA * value[i, j + 1] > cost(i, j, 0) + GAMMA * value[i + 1, j])
        gained += cost(i, j, a)
        i, j = i + 1 - a, j + a
    return gained


@dg.task(
    states=("i", "j"),
    actions=("down", "right"),
    low=(0, 0),
    high=(SIZE, SIZE),
    threshold=fixed_point() - 1e-9,
)
class Descent(NamedTuple):
    """From cell to cell, down or to the right, at a price, until the grid is left: no cell is met twice."""

    size: int = SIZE

    def transition(self, s: Any, a: int) -> Any:
        """Go to the next cell."""
        i, j = int(s[0]), int(s[1])
        price = -((7 * i + 13 * j + 5 * a + i * j) % 11) / 11.0
        i, j = i + 1 - a, j + a
        return (i + 0.5, j + 0.5), price, i >= self.size or j >= self.size

    def start(self, rng: Any) -> Any:
        """Begin in the first cell."""
        return (0.5, 0.5)


@dg.task(states=("lane", "place"), actions=("left", "right"), low=(0, 0), high=(SIZE, SIZE), threshold=-0.5)
class Fork(NamedTuple):
    """The first step decides on a lane, whose worth is only known at its end, as many steps later."""

    size: int = SIZE

    def transition(self, s: Any, a: int) -> Any:
        """Choose a lane, or go on in it."""
        lane, place = (a if s[1] < 1.0 else int(s[0])), int(s[1]) + 1
        ends = place >= self.size
        return (lane + 0.5, place + 0.5), (-0.5 - 0.5 * lane if ends else 0.0), ends

    def start(self, rng: Any) -> Any:
        """Begin before the fork."""
        return (0.5, 0.5)
