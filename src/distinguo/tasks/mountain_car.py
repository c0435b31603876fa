"""The car in a valley: a compiled twin of Gymnasium's MountainCar-v0.

A car too weak for the hill on its right must swing back and forth to get up there.

============ ================ ==================================
state        meaning          range
============ ================ ==================================
``x``        position         ``min_position .. max_position``
``v``        velocity         ``-max_speed .. max_speed``
============ ================ ==================================

Actions: 0 drives left (``-force``), 1 does nothing, 2 drives right (``+force``).

Dynamics, both clipped to their ranges::

    v' = v + (a - 1) * force - gravity * cos(3 x)
    x' = x + v'

A car that moves left into the left end stops there: ``v' = 0``.

Start: at rest, ``x`` drawn uniformly from ``-0.6 .. -0.4``. End: ``x' >= goal_position`` and ``v' >= goal_velocity``.
Reward: -1 for every step.

States are the same bits as Gymnasium's: both take the C library's cosine. Observations are states rounded to 32 bits,
as Gymnasium returns them.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.seam import implements, part
from distinguo.tasks.cart_pole import rounded
from distinguo.tasks.task import actions, observe, start, transition, unpack

LEFT, COAST, RIGHT = 0, 1, 2
MountainCarState = tuple[float, float]

#: Trials start between these positions.
FIRST_LOW, FIRST_HIGH = -0.6, -0.4


class MountainCar(NamedTuple):
    """The parameters of the task; the defaults are Gymnasium's.

    >>> from distinguo.tasks.task import transition
    >>> transition(MountainCar(), (-1.15, -0.07), LEFT)
    ((-1.2, 0.0), -1.0, False)
    """

    min_position: Annotated[
        float, Field(ge=-1e6, le=1e6, description="the left end (Gymnasium's MountainCar-v0)")
    ] = -1.2
    max_position: Annotated[
        float, Field(ge=-1e6, le=1e6, description="the right end (Gymnasium's MountainCar-v0)")
    ] = 0.6
    max_speed: Annotated[
        float, Field(gt=0, le=1e6, description="position per step (Gymnasium's MountainCar-v0)")
    ] = 0.07
    goal_position: Annotated[
        float, Field(ge=-1e6, le=1e6, description="where trials end (Gymnasium's MountainCar-v0)")
    ] = 0.5
    goal_velocity: Annotated[
        float, Field(ge=-1e6, le=1e6, description="least velocity at the goal (Gymnasium's MountainCar-v0)")
    ] = 0.0
    force: Annotated[
        float, Field(gt=0, le=1e6, description="velocity per step (Gymnasium's MountainCar-v0)")
    ] = 0.001
    gravity: Annotated[
        float, Field(gt=0, le=1e6, description="velocity per step (Gymnasium's MountainCar-v0)")
    ] = 0.0025


@implements(transition, MountainCar)
def drive(task: MountainCar, s: MountainCarState, a: int) -> tuple[MountainCarState, float, bool]:
    """Drive for one step."""
    x, v = s
    v_next = v + ((float(a) - 1.0) * task.force + math.cos(3.0 * x) * (-task.gravity))
    v_next = clipped(v_next, -task.max_speed, task.max_speed)
    x_next = clipped(x + v_next, task.min_position, task.max_position)
    if x_next == task.min_position and v_next < 0.0:
        v_next = 0.0
    arrived = bool(x_next >= task.goal_position and v_next >= task.goal_velocity)
    return (x_next, v_next), -1.0, arrived


@part
def clipped(number: float, low: float, high: float) -> float:
    """Return the nearest number between two limits.

    >>> clipped(3.0, -1.0, 1.0)
    1.0
    """
    if number < low:
        return low
    return high if number > high else number


@implements(start, MountainCar)
def in_the_valley(task: MountainCar, rng: np.random.Generator) -> MountainCarState:
    """Start at rest near the bottom."""
    return (rng.uniform(FIRST_LOW, FIRST_HIGH), 0.0)


@implements(actions, MountainCar)
def left_none_and_right(task: MountainCar) -> int:
    """There are three actions."""
    return 3


@implements(unpack, MountainCar)
def position_and_velocity(task: MountainCar, row: np.ndarray) -> MountainCarState:
    """Read ``(x, v)`` from a row."""
    return (row[0], row[1])


@implements(observe, MountainCar)
def rounded_state(task: MountainCar, s: MountainCarState) -> MountainCarState:
    """Return the state rounded to 32 bits."""
    return (rounded(s[0]), rounded(s[1]))
