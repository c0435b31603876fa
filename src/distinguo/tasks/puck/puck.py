"""The puck-on-a-hill task (section 4 of the paper, Figure 7).

A puck is pushed left or right to stay on top of the hill ``y = -beta x^2``; hitting a wall ends the trial with
reward -1, every other step is worth 0.

========== ======================== ==============
state      meaning                  range
========== ======================== ==============
``x``      position (m)             ``-wall .. wall``
``v``      velocity (m/s)           any
========== ======================== ==============

Actions: 0 pushes left (``-force``), 1 pushes right (``+force``).

Dynamics, with ``theta = arctan(-2 beta x)``::

    x' = x + interval * v
    v' = v + interval * (f - mass * gravity * sin(theta)) * cos(theta) / mass

Trials start at rest on the top, ``(0, 0)``, and end when ``|x'| >= wall``.

>>> from distinguo.tasks.task import transition
>>> transition(ContinuingPuck(), (2.35, 5.0), 0)
((0.0, 0.0), -1.0, False)
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.tasks.declare import task
from distinguo.tasks.task import transition

LEFT, RIGHT = 0, 1
PuckState = tuple[float, float]

#: The greatest speed in the paper's "state-space dimensions [-2.4, 2.4] x [-5.5, 5.5]" (section 4.2.2).
EXTREME_SPEED = 5.5


@task(
    name="puck",
    states=("x", "v"),
    actions=("left", "right"),
    units=("m", "m/s"),
    low=lambda puck: (-puck.wall, -EXTREME_SPEED),
    high=lambda puck: (puck.wall, EXTREME_SPEED),
)
class Puck(NamedTuple):
    """The parameters of the task; the defaults are the paper's.

    >>> from distinguo.tasks.task import transition
    >>> transition(Puck(), (0.0, 1.0), RIGHT)
    ((0.02, 1.06), 0.0, False)
    """

    beta: Annotated[float, Field(gt=0, le=100, description="curvature of the hill (paper, section 4)")] = 0.3
    gravity: Annotated[float, Field(gt=0, le=1000, description="m/s^2 (paper, section 4)")] = 9.8
    mass: Annotated[float, Field(gt=0, le=1e6, description="kg (paper, section 4)")] = 1.0
    force: Annotated[float, Field(gt=0, le=1e6, description="N (paper, section 4)")] = 3.0
    interval: Annotated[float, Field(gt=0, le=1, description="s between actions (paper, section 4)")] = 0.02
    wall: Annotated[float, Field(gt=0, le=1e6, description="m from the top (paper, section 4)")] = 2.4

    def transition(self, s: PuckState, a: int) -> tuple[PuckState, float, bool]:
        """Push the puck for one interval.

        ``sin(arctan u) = u c`` and ``cos(arctan u) = c`` with ``c = 1 / sqrt(1 + u^2)``: one square root and one
        division, both correctly rounded everywhere, instead of three trigonometric calls that are not.
        """
        x, v = s
        u = -2.0 * self.beta * x
        c = 1.0 / math.sqrt(1.0 + u * u)
        push = self.force / self.mass  # depends on no state, so loops over many states divide only once
        x_next = x + self.interval * v
        v_next = v + self.interval * (((push if a == RIGHT else -push) - self.gravity * (u * c)) * c)
        fell = not (-self.wall < x_next < self.wall)
        return (x_next, v_next), (-1.0 if fell else 0.0), fell

    def start(self, rng: np.random.Generator) -> PuckState:
        """Start every trial at rest on the top of the hill."""
        return (0.0, 0.0)


# The puck as a continuing task: after a fall it is put back on top, and only the reward shows it.


WINDOW = 10_000  #: steps that falls are counted over


@task(
    name="puck-continuing",
    states=("x", "v"),
    actions=("left", "right"),
    units=("m", "m/s"),
    low=lambda puck: (-puck.wall, -EXTREME_SPEED),
    high=lambda puck: (puck.wall, EXTREME_SPEED),
    threshold=0.0,
    limit=WINDOW,
)
class ContinuingPuck(NamedTuple):
    """The parameters of the puck. A trial is a window of 10,000 steps, and its return is minus the falls in it.

    The task is solved when there are none. Nothing is terminal, and the end of a window means nothing.
    """

    beta: Annotated[float, Field(gt=0, le=100, description="curvature of the hill (paper, section 4)")] = 0.3
    gravity: Annotated[float, Field(gt=0, le=1000, description="m/s^2 (paper, section 4)")] = 9.8
    mass: Annotated[float, Field(gt=0, le=1e6, description="kg (paper, section 4)")] = 1.0
    force: Annotated[float, Field(gt=0, le=1e6, description="N (paper, section 4)")] = 3.0
    interval: Annotated[float, Field(gt=0, le=1, description="s between actions (paper, section 4)")] = 0.02
    wall: Annotated[float, Field(gt=0, le=1e6, description="m from the top (paper, section 4)")] = 2.4

    def transition(self, s: PuckState, a: int) -> tuple[PuckState, float, bool]:
        """Push the puck for one interval; put it back if it fell."""
        puck = Puck(self.beta, self.gravity, self.mass, self.force, self.interval, self.wall)
        s_next, reward, fell = transition(puck, s, a)
        x, v = s_next
        return ((0.0, 0.0) if fell else (x, v)), reward, False

    def start(self, rng: np.random.Generator) -> PuckState:
        """Start as the puck does."""
        return (0.0, 0.0)
