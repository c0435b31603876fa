"""The puck as a continuing task: after a fall it is put back on top, and nothing but the reward tells of it.

>>> from distinguo.tasks.task import transition
>>> transition(ContinuingPuck(), (2.35, 5.0), 0)
((0.0, 0.0), -1.0, False)
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.tasks.declare import task
from distinguo.tasks.puck.puck import EXTREME_SPEED, Puck, PuckState
from distinguo.tasks.task import transition

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
