"""The car in a valley: a compiled port of Gymnasium's MountainCar-v0.

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

from distinguo.seam import part
from distinguo.tasks.cart_pole import rounded
from distinguo.tasks.declare import task

MountainCarState = tuple[float, float]

#: Trials start between these positions.
FIRST_LOW, FIRST_HIGH = -0.6, -0.4


@task(
    name="MountainCar-v0",
    states=("x", "v"),
    actions=("left", "none", "right"),
    observations=("x", "v"),
    low=(rounded(-1.2), rounded(-0.07)),
    high=(rounded(0.6), rounded(0.07)),
    threshold=-110.0,
    limit=200,
)
class MountainCar(NamedTuple):
    """The parameters of the task; the defaults are Gymnasium's.

    >>> from distinguo.tasks.task import transition
    >>> transition(MountainCar(), (-1.15, -0.07), 0)
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

    def transition(self, s: MountainCarState, a: int) -> tuple[MountainCarState, float, bool]:
        """Drive for one step."""
        x, v = s
        v_next = v + ((float(a) - 1.0) * self.force + math.cos(3.0 * x) * (-self.gravity))
        v_next = clipped(v_next, -self.max_speed, self.max_speed)
        x_next = clipped(x + v_next, self.min_position, self.max_position)
        if x_next == self.min_position and v_next < 0.0:
            v_next = 0.0
        arrived = bool(x_next >= self.goal_position and v_next >= self.goal_velocity)
        return (x_next, v_next), -1.0, arrived

    def start(self, rng: np.random.Generator) -> MountainCarState:
        """Start at rest near the bottom."""
        return (rng.uniform(FIRST_LOW, FIRST_HIGH), 0.0)

    def observe(self, s: MountainCarState) -> MountainCarState:
        """Return the state rounded to 32 bits."""
        return (rounded(s[0]), rounded(s[1]))

    def goal_box(self) -> tuple[MountainCarState, MountainCarState]:
        """Return the top of the hill on the right, at any speed that is enough."""
        return (self.goal_position, self.goal_velocity), (self.max_position, self.max_speed)


@part
def clipped(number: float, low: float, high: float) -> float:
    """Return the nearest number between two limits.

    >>> clipped(3.0, -1.0, 1.0)
    1.0
    """
    if number < low:
        return low
    return high if number > high else number
