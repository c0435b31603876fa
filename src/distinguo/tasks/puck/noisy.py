"""The puck with pushes of random strength, and the choice between the two by the parameters.

>>> from distinguo.tasks.task import seeded, transition
>>> task = seeded(NoisyPuck(noise=0.5), 1)
>>> [round(transition(task, (0.0, 0.0), 1)[0][1], 3) for _ in range(3)]
[0.076, 0.097, 0.065]
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.seam import part
from distinguo.tasks.declare import declared_spec, task
from distinguo.tasks.puck.analysis import controllable
from distinguo.tasks.puck.puck import EXTREME_SPEED, Puck, PuckState
from distinguo.tasks.spec import Parameters, TaskSpec
from distinguo.tasks.task import transition


@task(
    name="puck",
    states=("x", "v"),
    actions=("left", "right"),
    units=("m", "m/s"),
    low=lambda puck: (-puck.wall, -EXTREME_SPEED),
    high=lambda puck: (puck.wall, EXTREME_SPEED),
)
class NoisyPuck(NamedTuple):
    """The puck with pushes of ``force * (1 + noise * z)``, where ``z`` is standard normal.

    Strong noise may make the strength negative; then the push goes the other way.

    >>> from distinguo.tasks.task import transition
    >>> transition(NoisyPuck(noise=0.0), (0.0, 1.0), 1) == transition(Puck(), (0.0, 1.0), 1)
    True
    """

    beta: Annotated[float, Field(gt=0, le=100, description="curvature of the hill (paper, section 4)")] = 0.3
    gravity: Annotated[float, Field(gt=0, le=1000, description="m/s^2 (paper, section 4)")] = 9.8
    mass: Annotated[float, Field(gt=0, le=1e6, description="kg (paper, section 4)")] = 1.0
    force: Annotated[float, Field(gt=0, le=1e6, description="N (paper, section 4)")] = 3.0
    interval: Annotated[float, Field(gt=0, le=1, description="s between actions (paper, section 4)")] = 0.02
    wall: Annotated[float, Field(gt=0, le=1e6, description="m from the top (paper, section 4)")] = 2.4
    noise: Annotated[
        float, Field(ge=0, le=10, description="standard deviation of the force, as a share of it")
    ] = 0.1
    rng: Annotated[np.random.Generator, Field(description="of the strengths")] = np.random.default_rng(0)

    def transition(self, s: PuckState, a: int) -> tuple[PuckState, float, bool]:
        """Push the puck for one interval, more or less strongly."""
        force = self.force * (1.0 + self.noise * self.rng.standard_normal())
        return transition(_with_force(self, force), s, a)  # type: ignore[return-value]

    def start(self, rng: np.random.Generator) -> PuckState:
        """Start as the puck does."""
        return (0.0, 0.0)


@part
def _with_force(task: NoisyPuck, force: float) -> Puck:
    return Puck(task.beta, task.gravity, task.mass, force, task.interval, task.wall)


def puck_spec(parameters: Parameters) -> TaskSpec:
    """Return the puck, noisy if the parameters say so.

    >>> puck_spec({"noise": 0.2}).stochastic
    'some'
    """
    if parameters.get("noise", 0.0) != 0.0:
        return declared_spec(NoisyPuck, parameters)
    spec = declared_spec(Puck, {name: value for name, value in parameters.items() if name != "noise"})
    return spec._replace(controllable=controllable if isinstance(spec.task, Puck) else None)
