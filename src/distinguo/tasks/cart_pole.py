"""The pole on a cart: a compiled port of Gymnasium's CartPole-v1.

A cart is pushed left or right so that the pole on it stays up and the cart stays on its track.

============ ============================== ====================
state        meaning                        range
============ ============================== ====================
``x``        position of the cart (m)       ``-wall .. wall``
``v``        velocity of the cart (m/s)     any
``angle``    of the pole, 0 is up (rad)     ``-fall .. fall``
``turning``  of the pole (rad/s)            any
============ ============================== ====================

Actions: 0 pushes left (``-force``), 1 pushes right (``+force``).

Dynamics (Euler's method), with ``total = pole_mass + cart_mass`` and ``moment = pole_mass * half_length``::

    pull     = (f + moment * turning^2 * sin(angle)) / total
    bend     = (gravity * sin(angle) - cos(angle) * pull)
               / (half_length * (4/3 - pole_mass * cos(angle)^2 / total))
    x'       = x + interval * v
    v'       = v + interval * (pull - moment * bend * cos(angle) / total)
    angle'   = angle + interval * turning
    turning' = turning + interval * bend

Start: all four drawn uniformly from ``-0.05 .. 0.05``. End: the next state is out of its range. Reward: 1 for every
step; with ``sutton_barto_reward``, -1 for the step that ends the trial and 0 for every other.

States are the same bits as Gymnasium's wherever NumPy's sine and cosine are those of the C library. Observations are
states rounded to 32 bits, as Gymnasium returns them.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.seam import part
from distinguo.tasks.declare import task

CartPoleState = tuple[float, float, float, float]

_RIGHT = 1
#: Each coordinate of the first state lies between minus this and this.
_SPREAD = 0.05


@part
def rounded(number: float) -> float:
    """Round a number to 32 bits, as Gymnasium rounds observations, and keep it as 64.

    >>> rounded(0.1)
    0.10000000149011612
    """
    return float(np.float64(np.float32(number)))  # compiled, float() alone would keep 32 bits


#: Gymnasium's bounds of the observations, on either side.
_BOUNDS = tuple(rounded(bound) for bound in (4.8, math.inf, 24 * math.pi / 180, math.inf))


@task(
    name="CartPole-v1",
    states=("x", "v", "angle", "angular_v"),
    actions=("left", "right"),
    observations=("x", "v", "angle", "angular_v"),
    units=("m", "m/s", "rad", "rad/s"),
    low=tuple(-bound for bound in _BOUNDS),
    high=_BOUNDS,
    threshold=475.0,
    limit=500,
)
class CartPole(NamedTuple):
    """The parameters of the task; the defaults are Gymnasium's.

    >>> from distinguo.tasks.task import transition
    >>> transition(CartPole(), (1.0, 0.5, 0.0, 0.0), 1)[0][:2]
    (1.01, 0.6951219512195121)
    >>> transition(CartPole(sutton_barto_reward=True), (2.4, 0.5, 0.0, 0.0), 1)[1:]
    (-1.0, True)
    """

    gravity: Annotated[float, Field(gt=0, le=1000, description="m/s^2 (Gymnasium's CartPole-v1)")] = 9.8
    cart_mass: Annotated[float, Field(gt=0, le=1e6, description="kg (Gymnasium's CartPole-v1)")] = 1.0
    pole_mass: Annotated[float, Field(gt=0, le=1e6, description="kg (Gymnasium's CartPole-v1)")] = 0.1
    half_length: Annotated[
        float, Field(gt=0, le=1e6, description="m, half the pole's length (Gymnasium's CartPole-v1)")
    ] = 0.5
    force: Annotated[float, Field(gt=0, le=1e6, description="N (Gymnasium's CartPole-v1)")] = 10.0
    interval: Annotated[
        float, Field(gt=0, le=1, description="s between actions (Gymnasium's CartPole-v1)")
    ] = 0.02
    wall: Annotated[float, Field(gt=0, le=1e6, description="m from the middle (Gymnasium's CartPole-v1)")] = (
        2.4
    )
    fall: Annotated[
        float, Field(gt=0, le=math.pi, description="rad from upright (Gymnasium's CartPole-v1)")
    ] = 12 * 2 * math.pi / 360
    sutton_barto_reward: Annotated[
        bool, Field(description="-1 at the end instead of 1 per step (Gymnasium's CartPole-v1)")
    ] = False

    def transition(self, s: CartPoleState, a: int) -> tuple[CartPoleState, float, bool]:
        """Push the cart for one interval."""
        x, v, angle, turning = s
        speeding, bending = _accelerations(self, angle, turning, self.force if a == _RIGHT else -self.force)
        x_next = x + self.interval * v
        v_next = v + self.interval * speeding
        angle_next = angle + self.interval * turning
        turning_next = turning + self.interval * bending
        fell = not (-self.wall <= x_next <= self.wall and -self.fall <= angle_next <= self.fall)
        return (x_next, v_next, angle_next, turning_next), _reward(self, fell), fell

    def start(self, rng: np.random.Generator) -> CartPoleState:
        """Start nearly upright in the middle of the track."""
        x, v = rng.uniform(-_SPREAD, _SPREAD), rng.uniform(-_SPREAD, _SPREAD)
        return (x, v, rng.uniform(-_SPREAD, _SPREAD), rng.uniform(-_SPREAD, _SPREAD))

    def observe(self, s: CartPoleState) -> CartPoleState:
        """Return the state rounded to 32 bits."""
        return (rounded(s[0]), rounded(s[1]), rounded(s[2]), rounded(s[3]))


@part
def _accelerations(task: CartPole, angle: float, turning: float, f: float) -> tuple[float, float]:
    """How fast the cart's and the pole's velocities change under a push.

    Gymnasium's operations in Gymnasium's order, to get the same bits.
    """
    total = task.pole_mass + task.cart_mass
    moment = task.pole_mass * task.half_length
    c, s = math.cos(angle), math.sin(angle)
    pull = (f + moment * (turning * turning) * s) / total
    load = task.half_length * (4.0 / 3.0 - task.pole_mass * (c * c) / total)
    bending = (task.gravity * s - c * pull) / load
    return pull - moment * bending * c / total, bending


@part
def _reward(task: CartPole, fell: bool) -> float:
    """Return the reward of a step."""
    if task.sutton_barto_reward:
        return -1.0 if fell else 0.0
    return 1.0
