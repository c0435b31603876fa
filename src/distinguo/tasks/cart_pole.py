"""The pole on a cart: a compiled twin of Gymnasium's CartPole-v1.

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

from distinguo.seam import implements, part
from distinguo.tasks.task import actions, observe, start, transition, unpack

LEFT, RIGHT = 0, 1
CartPoleState = tuple[float, float, float, float]

#: Each coordinate of the first state lies between minus this and this.
SPREAD = 0.05


class CartPole(NamedTuple):
    """The parameters of the task; the defaults are Gymnasium's.

    >>> from distinguo.tasks.task import transition
    >>> transition(CartPole(), (1.0, 0.5, 0.0, 0.0), RIGHT)[0][:2]
    (1.01, 0.6951219512195121)
    >>> transition(CartPole(sutton_barto_reward=True), (2.4, 0.5, 0.0, 0.0), RIGHT)[1:]
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


@implements(transition, CartPole)
def push_cart(task: CartPole, s: CartPoleState, a: int) -> tuple[CartPoleState, float, bool]:
    """Push the cart for one interval."""
    x, v, angle, turning = s
    speeding, bending = accelerations(task, angle, turning, task.force if a == RIGHT else -task.force)
    x_next = x + task.interval * v
    v_next = v + task.interval * speeding
    angle_next = angle + task.interval * turning
    turning_next = turning + task.interval * bending
    fell = not (-task.wall <= x_next <= task.wall and -task.fall <= angle_next <= task.fall)
    return (x_next, v_next, angle_next, turning_next), reward(task, fell), fell


@part
def accelerations(task: CartPole, angle: float, turning: float, f: float) -> tuple[float, float]:
    """Return how fast the cart's and the pole's velocities change under a push.

    Gymnasium's operations in Gymnasium's order, for the sake of the last bit.
    """
    total = task.pole_mass + task.cart_mass
    moment = task.pole_mass * task.half_length
    c, s = math.cos(angle), math.sin(angle)
    pull = (f + moment * (turning * turning) * s) / total
    load = task.half_length * (4.0 / 3.0 - task.pole_mass * (c * c) / total)
    bending = (task.gravity * s - c * pull) / load
    return pull - moment * bending * c / total, bending


@part
def reward(task: CartPole, fell: bool) -> float:
    """Return the reward of a step."""
    if task.sutton_barto_reward:
        return -1.0 if fell else 0.0
    return 1.0


@implements(start, CartPole)
def nearly_upright(task: CartPole, rng: np.random.Generator) -> CartPoleState:
    """Start nearly upright in the middle of the track."""
    x, v = rng.uniform(-SPREAD, SPREAD), rng.uniform(-SPREAD, SPREAD)
    return (x, v, rng.uniform(-SPREAD, SPREAD), rng.uniform(-SPREAD, SPREAD))


@implements(actions, CartPole)
def left_and_right(task: CartPole) -> int:
    """There are two actions."""
    return 2


@implements(unpack, CartPole)
def cart_and_pole(task: CartPole, row: np.ndarray) -> CartPoleState:
    """Read the state from a row."""
    return (row[0], row[1], row[2], row[3])


@implements(observe, CartPole)
def rounded_state(task: CartPole, s: CartPoleState) -> CartPoleState:
    """Return the state rounded to 32 bits."""
    return (rounded(s[0]), rounded(s[1]), rounded(s[2]), rounded(s[3]))


@part
def rounded(number: float) -> float:
    """Round a number to 32 bits, as Gymnasium rounds what it shows, and keep it in 64.

    >>> rounded(0.1)
    0.10000000149011612
    """
    return float(np.float64(np.float32(number)))  # compiled, float() alone would keep 32 bits
