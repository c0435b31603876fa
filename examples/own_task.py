"""A task of one's own: keep a drone, whose motor is on or off, between the floor and the ceiling.

distinguo learn examples/own_task.py:Hover --set task.lift=25
"""

from typing import Annotated, Any, NamedTuple

from pydantic import Field

import distinguo as dg


@dg.task(states=("height", "speed"), actions=("off", "on"), low=(0, -5), high=(2, 5))
class Hover(NamedTuple):
    """The parameters; a range is checked, wherever the value comes from."""

    lift: Annotated[float, Field(gt=9.8, le=100, description="m/s^2 upwards while the motor is on")] = 20.0
    interval: float = 0.05

    def transition(self, s: Any, a: int) -> Any:
        """Return the next state, the reward, and whether the trial is over."""
        speed = s[1] + self.interval * ((self.lift if a == 1 else 0.0) - 9.8)
        height = s[0] + self.interval * speed
        crashed = not 0.0 < height < 2.0
        return (height, speed), (-1.0 if crashed else 0.0), crashed

    def start(self, rng: Any) -> Any:
        """Begin in the middle, at rest."""
        return (1.0, 0.0)
