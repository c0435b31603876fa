"""The pendulum: a compiled port of Gymnasium's Pendulum-v1, with a few torques to choose from.

The goal is to swing a pendulum with a weak motor up and to hold it there.

============ ========================================== ==========================
state        meaning                                    range
============ ========================================== ==========================
``angle``    0 is up (rad); it goes on growing          any
``turning``  velocity of the angle (rad/s)              ``-max_speed .. max_speed``
============ ========================================== ==========================

Actions: ``a = 0 .. levels - 1`` gives the torque ``-max_torque + 2 * max_torque * a / (levels - 1)``. (Gymnasium's
actions are all the torques between, rounded to 32 bits; the default five are the same in 32 bits and in 64.)

Dynamics, with ``turning'`` clipped to its range::

    turning' = turning + (3 g / (2 length) * sin(angle) + 3 / (mass * length^2) * torque) * interval
    angle'   = angle + turning' * interval

Start: ``angle`` drawn uniformly from ``-pi .. pi``, ``turning`` from ``-1 .. 1``. Trials never end. Reward, from the
state before the step, with the angle brought into ``-pi .. pi``::

    -(angle^2 + 0.1 * turning^2 + 0.001 * torque^2)

The observation is ``cos(angle), sin(angle), turning``, rounded to 32 bits as Gymnasium returns it. States and rewards
are the same bits as Gymnasium's wherever NumPy's sine and cosine are those of the C library.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.errors import DistinguoError, shown
from distinguo.seam import part
from distinguo.tasks.amounts import amounts
from distinguo.tasks.cart_pole import rounded
from distinguo.tasks.declare import task
from distinguo.tasks.mountain_car import clipped
from distinguo.tasks.spec import RETURN, Parameters

PendulumState = tuple[float, float]

#: The first angle and the first velocity lie between minus these and these.
_FIRST_ANGLE, _FIRST_TURNING = math.pi, 1.0


@task(
    name="Pendulum-v1",
    states=("angle", "turning"),
    actions=lambda pendulum: [f"{torque:+g}" for torque in torques(pendulum)],
    observations=("cos", "sin", "v"),
    units=("", "", "rad/s"),
    low=(-1.0, -1.0, -8.0),
    high=(1.0, 1.0, 8.0),
    score=RETURN,
    limit=200,
)
class Pendulum(NamedTuple):
    """The parameters of the task; the defaults are Gymnasium's, but for ``levels``, which is ours.

    >>> from distinguo.tasks.task import transition
    >>> transition(Pendulum(), (0.0, 1.0), 2)
    ((0.05, 1.0), -0.1, False)
    """

    g: Annotated[float, Field(ge=0, le=1000, description="gravity, m/s^2 (Gymnasium's Pendulum-v1)")] = 10.0
    mass: Annotated[float, Field(gt=0, le=1e6, description="kg (Gymnasium's Pendulum-v1)")] = 1.0
    length: Annotated[float, Field(gt=0, le=1e6, description="m (Gymnasium's Pendulum-v1)")] = 1.0
    max_speed: Annotated[float, Field(gt=0, le=1e6, description="rad/s (Gymnasium's Pendulum-v1)")] = 8.0
    max_torque: Annotated[float, Field(gt=0, le=1e6, description="N m (Gymnasium's Pendulum-v1)")] = 2.0
    interval: Annotated[
        float, Field(gt=0, le=1, description="s between actions (Gymnasium's Pendulum-v1)")
    ] = 0.05
    levels: Annotated[
        int, Field(ge=2, le=101, description="how many torques (Gymnasium's Pendulum-v1 has all between)")
    ] = 5

    def transition(self, s: PendulumState, a: int) -> tuple[PendulumState, float, bool]:
        """Apply a torque for one interval."""
        return _turned(self, s, _torque_of(self, a))

    def start(self, rng: np.random.Generator) -> PendulumState:
        """Start at any angle, turning slowly."""
        return (rng.uniform(-_FIRST_ANGLE, _FIRST_ANGLE), rng.uniform(-_FIRST_TURNING, _FIRST_TURNING))

    def actions(self) -> int:
        """The number of torques."""
        return self.levels

    def observe(self, s: PendulumState) -> tuple[float, float, float]:
        """Where the tip is and how fast it turns."""
        return _shown(s)


@task(
    name="Pendulum-v1",
    states=("angle", "turning"),
    actions=lambda pendulum: [f"{torque:+.4g}" for torque in pendulum.levels],
    observations=("cos", "sin", "v"),
    units=("", "", "rad/s"),
    low=(-1.0, -1.0, -8.0),
    high=(1.0, 1.0, 8.0),
    score=RETURN,
    limit=200,
)
class PendulumOfTorques(NamedTuple):
    """The same with a list of torques, as a teacher chose them.

    Gymnasium rounds torques to 32 bits, so its rewards differ in the tenth digit where 32 bits cannot hold a
    torque.

    >>> from distinguo.tasks.task import transition
    >>> transition(PendulumOfTorques(levels=(-2.0, 0.0)), (0.0, 1.0), 1) == transition(Pendulum(), (0.0, 1.0), 2)
    True
    """

    g: Annotated[float, Field(ge=0, le=1000, description="gravity, m/s^2 (Gymnasium's Pendulum-v1)")] = 10.0
    mass: Annotated[float, Field(gt=0, le=1e6, description="kg (Gymnasium's Pendulum-v1)")] = 1.0
    length: Annotated[float, Field(gt=0, le=1e6, description="m (Gymnasium's Pendulum-v1)")] = 1.0
    max_speed: Annotated[float, Field(gt=0, le=1e6, description="rad/s (Gymnasium's Pendulum-v1)")] = 8.0
    max_torque: Annotated[float, Field(gt=0, le=1e6, description="N m (Gymnasium's Pendulum-v1)")] = 2.0
    interval: Annotated[
        float, Field(gt=0, le=1, description="s between actions (Gymnasium's Pendulum-v1)")
    ] = 0.05
    levels: Annotated[
        tuple[float, ...], Field(min_length=2, max_length=101, description="the torques to choose from, N m")
    ] = (-2.0, 2.0)

    def transition(self, s: PendulumState, a: int) -> tuple[PendulumState, float, bool]:
        """Apply a torque for one interval."""
        return _turned(self, s, clipped(self.levels[a], -self.max_torque, self.max_torque))

    def start(self, rng: np.random.Generator) -> PendulumState:
        """Start at any angle, turning slowly."""
        return (rng.uniform(-_FIRST_ANGLE, _FIRST_ANGLE), rng.uniform(-_FIRST_TURNING, _FIRST_TURNING))

    def actions(self) -> int:
        """The number of torques."""
        return len(self.levels)

    def observe(self, s: PendulumState) -> tuple[float, float, float]:
        """Where the tip is and how fast it turns."""
        return _shown(s)


@task(
    name="Pendulum-v1",
    states=("angle", "turning"),
    actions=amounts(-2.0, 2.0, names=("torque",)),
    observations=("cos", "sin", "v"),
    units=("", "", "rad/s"),
    low=(-1.0, -1.0, -8.0),
    high=(1.0, 1.0, 8.0),
    score=RETURN,
    limit=200,
)
class PendulumOfAmounts(NamedTuple):
    """The same with all the torques between, rounded to 32 bits as Gymnasium does.

    >>> from distinguo.tasks.task import transition
    >>> transition(PendulumOfAmounts(), (0.0, 1.0), 0.0) == transition(Pendulum(), (0.0, 1.0), 2)
    True
    """

    g: Annotated[float, Field(ge=0, le=1000, description="gravity, m/s^2 (Gymnasium's Pendulum-v1)")] = 10.0
    mass: Annotated[float, Field(gt=0, le=1e6, description="kg (Gymnasium's Pendulum-v1)")] = 1.0
    length: Annotated[float, Field(gt=0, le=1e6, description="m (Gymnasium's Pendulum-v1)")] = 1.0
    max_speed: Annotated[float, Field(gt=0, le=1e6, description="rad/s (Gymnasium's Pendulum-v1)")] = 8.0
    interval: Annotated[
        float, Field(gt=0, le=1, description="s between actions (Gymnasium's Pendulum-v1)")
    ] = 0.05
    levels: Annotated[int, Field(ge=0, le=0, description="0: all torques from -2 to 2 N m")] = 0

    def transition(self, s: PendulumState, u: float) -> tuple[PendulumState, float, bool]:
        """Apply a torque for one interval."""
        angle, turning = s
        torque = rounded(u)
        weight = 3.0 * self.g / (2.0 * self.length) * math.sin(angle)
        push = rounded(rounded(3.0 / (self.mass * square_by_pow(self.length))) * torque)
        turning_next = clipped(turning + (weight + push) * self.interval, -self.max_speed, self.max_speed)
        effort = rounded(rounded(0.001) * rounded(torque * torque))
        cost = square_by_pow(normalised(angle)) + 0.1 * square_by_pow(turning) + effort
        return (angle + turning_next * self.interval, turning_next), -cost, False

    def start(self, rng: np.random.Generator) -> PendulumState:
        """Start at any angle, turning slowly."""
        return (rng.uniform(-_FIRST_ANGLE, _FIRST_ANGLE), rng.uniform(-_FIRST_TURNING, _FIRST_TURNING))

    def observe(self, s: PendulumState) -> tuple[float, float, float]:
        """Where the tip is and how fast it turns."""
        return _shown(s)


def pendulum_kind(parameters: Parameters) -> type:
    """Return the class for the parameters: torques at even distances, a list, or with ``levels`` 0 all of them.

    >>> pendulum_kind({"levels": [-2.0, 1.5]}).__name__
    'PendulumOfTorques'
    """
    levels = parameters.get("levels")
    if isinstance(levels, list | tuple):
        return PendulumOfTorques
    return PendulumOfAmounts if type(levels) is int and levels == 0 else Pendulum


def check_torques(parameters: Parameters) -> None:
    """Reject torques beyond the motor's, and torques given twice.

    >>> check_torques({"levels": (-3.0, 2.0), "max_torque": 2.0})
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Setting task.levels should be different torques from -2 to 2, got (-3.0, 2.0).
    """
    levels, most = parameters["levels"], parameters.get("max_torque", 2.0)
    given = isinstance(levels, list | tuple)
    if given and (len(set(levels)) < len(levels) or not all(-most <= torque <= most for torque in levels)):
        raise DistinguoError(
            f"Setting task.levels should be different torques from {-most:g} to {most:g}, got {shown(levels)}."
        )


@part
def _turned(task: Any, s: PendulumState, torque: float) -> tuple[PendulumState, float, bool]:
    """Apply a torque for one interval."""
    angle, turning = s
    weight = 3.0 * task.g / (2.0 * task.length) * math.sin(angle)
    push = 3.0 / (task.mass * square_by_pow(task.length)) * torque
    turning_next = clipped(turning + (weight + push) * task.interval, -task.max_speed, task.max_speed)
    angle_next = angle + turning_next * task.interval
    return (angle_next, turning_next), -_cost(angle, turning, torque), False


@part
def _shown(s: PendulumState) -> tuple[float, float, float]:
    return (rounded(math.cos(s[0])), rounded(math.sin(s[0])), rounded(s[1]))


def torques(task: Any) -> list[float]:
    """Return the torque of each action.

    >>> torques(Pendulum())
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    """
    if isinstance(task, PendulumOfTorques):
        return list(task.levels)
    return [_torque_of(task, a) for a in range(task.levels)]


@part
def _torque_of(task: Pendulum, a: int) -> float:
    """Return the torque of an action, clipped because the division may round beyond the greatest."""
    torque = -task.max_torque + 2.0 * task.max_torque * float(a) / float(task.levels - 1)
    return clipped(torque, -task.max_torque, task.max_torque)


@part
def _cost(angle: float, turning: float, torque: float) -> float:
    """How far the pendulum is from resting upright without effort."""
    return square_by_pow(normalised(angle)) + 0.1 * square_by_pow(turning) + 0.001 * square_by_pow(torque)


@part
def normalised(angle: float) -> float:
    """Bring an angle into ``-pi .. pi``.

    >>> normalised(2.5 * math.pi) == math.pi / 2
    True
    """
    return ((angle + math.pi) % (2.0 * math.pi)) - math.pi


@part
def square_by_pow(number: float) -> float:
    """Square a number with the C library's power function, as Gymnasium does.

    Its last bit is not always that of a product. The exponent is two, written so that the compiler cannot see it
    and multiply instead.

    >>> square_by_pow(-3.0)
    9.0
    """
    return number ** (2.0 + 0.0 * number)
