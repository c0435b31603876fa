"""The acrobot: a compiled port of Gymnasium's Acrobot-v1.

Two links hang from a bar, with a motor in the joint between them. The goal is to swing the free end up.

============= ============================================ ================================
state         meaning                                      range
============= ============================================ ================================
``angle_1``   of the first link, 0 hangs down (rad)        ``-pi .. pi``
``angle_2``   of the second link against the first (rad)   ``-pi .. pi``
``turning_1`` velocity of ``angle_1`` (rad/s)              ``-max_speed_1 .. max_speed_1``
``turning_2`` velocity of ``angle_2`` (rad/s)              ``-max_speed_2 .. max_speed_2``
============= ============================================ ================================

Actions: 0, 1 and 2 give the joint the torques ``-torque``, 0 and ``+torque``.

Dynamics: those of Sutton and Barto's book ("book", not "nips"), by one step of the classical Runge-Kutta method.
With ``m, l, c, I`` the masses, lengths, centres and the moment of inertia, and ``t1, t2, w1, w2`` the state::

    d1   = m1 c1^2 + m2 (l1^2 + c2^2 + 2 l1 c2 cos(t2)) + 2 I
    d2   = m2 (c2^2 + l1 c2 cos(t2)) + I
    phi2 = m2 c2 gravity cos(t1 + t2 - pi/2)
    phi1 = -m2 l1 c2 w2^2 sin(t2) - 2 m2 l1 c2 w2 w1 sin(t2) + (m1 c1 + m2 l1) gravity cos(t1 - pi/2) + phi2
    w2'  = (torque + d2/d1 phi1 - m2 l1 c2 w1^2 sin(t2) - phi2) / (m2 c2^2 + I - d2^2/d1)
    w1'  = -(d2 w2' + phi1) / d1

Then angles are wrapped and velocities clipped to their ranges.

Start: all four drawn uniformly from ``-0.1 .. 0.1`` and rounded to 32 bits. End: the tip is above the bar by
``height``: ``-cos(angle_1) - cos(angle_1 + angle_2) > height``. Reward: 0 for the step that ends the trial, -1 for
every other.

The observation is ``cos(angle_1), sin(angle_1), cos(angle_2), sin(angle_2), turning_1, turning_2``, rounded to 32
bits as Gymnasium returns it. States are the same bits as Gymnasium's wherever NumPy's sine and cosine are those of
the C library. Gymnasium computes the first observation of a trial by NumPy's 32-bit sines, which may err in the last
bit. For a state that a trial may start in, so do we, with NumPy's polynomials.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.seam import part
from distinguo.tasks.cart_pole import rounded
from distinguo.tasks.declare import task
from distinguo.tasks.mountain_car import clipped
from distinguo.tasks.pendulum import normalised, square_by_pow

AcrobotState = tuple[float, float, float, float]
AcrobotObservation = tuple[float, float, float, float, float, float]

#: Each coordinate of the first state lies between minus this and this.
_SPREAD = 0.1
#: Gymnasium's bounds of the observations, on either side.
_BOUNDS = tuple(rounded(bound) for bound in (1.0, 1.0, 1.0, 1.0, 4 * math.pi, 9 * math.pi))
#: NumPy's polynomials in the square of a small angle: its cosine, and its sine over the angle, less 1.
_COSINE = tuple(
    map(float.fromhex, ("0x1.98e616p-16", "-0x1.6c06dcp-10", "0x1.55553cp-5", "-0x1p-1", "0x1p+0"))
)
_SINE = tuple(
    map(float.fromhex, ("0x1.7d3bbcp-19", "-0x1.a06bbap-13", "0x1.11119ap-7", "-0x1.555556p-3", "0x0p+0"))
)
#: Angles beyond this are not wrapped turn by turn, as Gymnasium does: that could take for ever.
_FAR = 1e4


@task(
    name="Acrobot-v1",
    states=("angle_1", "angle_2", "turning_1", "turning_2"),
    actions=("-1", "0", "+1"),
    observations=("cos1", "sin1", "cos2", "sin2", "v1", "v2"),
    units=("", "", "", "", "rad/s", "rad/s"),
    low=tuple(-bound for bound in _BOUNDS),
    high=_BOUNDS,
    threshold=-100.0,
    limit=500,
)
class Acrobot(NamedTuple):
    """The parameters of the task; the defaults are Gymnasium's.

    >>> from distinguo.tasks.task import transition
    >>> transition(Acrobot(), (0.0, 0.0, 0.0, 0.0), 1)[1:]
    (-1.0, False)
    >>> transition(Acrobot(), (3.0, 0.0, 0.0, 0.0), 1)[1:]
    (0.0, True)
    """

    length_1: Annotated[float, Field(ge=0.01, le=100, description="m (Gymnasium's Acrobot-v1)")] = 1.0
    mass_1: Annotated[float, Field(ge=0.01, le=100, description="kg (Gymnasium's Acrobot-v1)")] = 1.0
    mass_2: Annotated[float, Field(ge=0.01, le=100, description="kg (Gymnasium's Acrobot-v1)")] = 1.0
    centre_1: Annotated[
        float, Field(ge=0.01, le=100, description="m to the centre of mass (Gymnasium's Acrobot-v1)")
    ] = 0.5
    centre_2: Annotated[
        float, Field(ge=0.01, le=100, description="m to the centre of mass (Gymnasium's Acrobot-v1)")
    ] = 0.5
    inertia: Annotated[
        float, Field(ge=0.01, le=100, description="kg m^2 of either link (Gymnasium's Acrobot-v1)")
    ] = 1.0
    gravity: Annotated[float, Field(ge=0, le=1000, description="m/s^2 (Gymnasium's Acrobot-v1)")] = 9.8
    torque: Annotated[float, Field(gt=0, le=1000, description="N m (Gymnasium's Acrobot-v1)")] = 1.0
    interval: Annotated[
        float, Field(gt=0, le=1, description="s between actions (Gymnasium's Acrobot-v1)")
    ] = 0.2
    max_speed_1: Annotated[float, Field(gt=0, le=1000, description="rad/s (Gymnasium's Acrobot-v1)")] = (
        4 * math.pi
    )
    max_speed_2: Annotated[float, Field(gt=0, le=1000, description="rad/s (Gymnasium's Acrobot-v1)")] = (
        9 * math.pi
    )
    height: Annotated[
        float, Field(ge=-2, lt=2, description="above the bar, to end a trial (Gymnasium's Acrobot-v1)")
    ] = 1.0

    def transition(self, s: AcrobotState, a: int) -> tuple[AcrobotState, float, bool]:
        """Apply a torque for one interval."""
        angle_1, angle_2, turning_1, turning_2 = _integrated(self, s, (float(a) - 1.0) * self.torque)
        angle_1, angle_2 = wrapped(angle_1), wrapped(angle_2)
        turning_1 = clipped(turning_1, -self.max_speed_1, self.max_speed_1)
        turning_2 = clipped(turning_2, -self.max_speed_2, self.max_speed_2)
        risen = bool(-math.cos(angle_1) - math.cos(angle_2 + angle_1) > self.height)
        return (angle_1, angle_2, turning_1, turning_2), (0.0 if risen else -1.0), risen

    def start(self, rng: np.random.Generator) -> AcrobotState:
        """Start nearly hanging down at rest."""
        angle_1, angle_2 = rng.uniform(-_SPREAD, _SPREAD), rng.uniform(-_SPREAD, _SPREAD)
        turning_1, turning_2 = rng.uniform(-_SPREAD, _SPREAD), rng.uniform(-_SPREAD, _SPREAD)
        return (rounded(angle_1), rounded(angle_2), rounded(turning_1), rounded(turning_2))

    def observe(self, s: AcrobotState) -> AcrobotObservation:
        """Where the links point and how fast they turn."""
        if _may_start(s):
            first, second = _short_sines(s[0]), _short_sines(s[1])
        else:
            first = (rounded(math.cos(s[0])), rounded(math.sin(s[0])))
            second = (rounded(math.cos(s[1])), rounded(math.sin(s[1])))
        return (first[0], first[1], second[0], second[1], rounded(s[2]), rounded(s[3]))

    def goal_box(self) -> tuple[AcrobotObservation, AcrobotObservation]:
        """Return a box within the goal: both links may lean as long as the tip is high enough even if both do.

        If the first leans by ``d`` and the second by as much again, the tip is at ``cos(d) + cos(2 d)``.
        """
        leaning = (math.sqrt(max(9.0 + 8.0 * self.height, 0.0)) - 1.0) / 4.0
        low = (-1.0, -1.0, leaning, -1.0, -self.max_speed_1, -self.max_speed_2)
        return low, (-leaning, 1.0, 1.0, 1.0, self.max_speed_1, self.max_speed_2)


@part
def _may_start(s: AcrobotState) -> bool:
    """Whether all numbers are small and have 32 bits: in the midst of a trial hardly any ever has."""
    for number in s:
        if abs(number) > rounded(_SPREAD) or rounded(number) != number:
            return False
    return True


@part
def _short_sines(angle: float) -> tuple[float, float]:
    """Cosine and sine of a small angle of 32 bits, every step rounded to 32 bits as NumPy does.

    >>> import numpy
    >>> _short_sines(0.03125) == (numpy.cos(numpy.float32(0.03125)), numpy.sin(numpy.float32(0.03125)))
    True
    """
    square = rounded(angle * angle)
    cosine, sine = _COSINE[0], _SINE[0]
    for i in range(1, len(_COSINE)):
        cosine, sine = rounded(cosine * square + _COSINE[i]), rounded(sine * square + _SINE[i])
    return cosine, rounded(sine * angle + angle)


@part
def _integrated(task: Acrobot, s: AcrobotState, torque: float) -> AcrobotState:
    """Take one step of the classical Runge-Kutta method."""
    half = task.interval / 2.0
    k1 = _slopes(task, s, torque)
    k2 = _slopes(task, _along(s, half, k1), torque)
    k3 = _slopes(task, _along(s, half, k2), torque)
    k4 = _slopes(task, _along(s, task.interval, k3), torque)
    mixed = (
        _mix(k1, k2, k3, k4, 0),
        _mix(k1, k2, k3, k4, 1),
        _mix(k1, k2, k3, k4, 2),
        _mix(k1, k2, k3, k4, 3),
    )
    return _along(s, task.interval / 6.0, mixed)


@part
def _along(s: AcrobotState, time: float, slope: AcrobotState) -> AcrobotState:
    """Go straight along a slope for some time."""
    return (
        s[0] + time * slope[0],
        s[1] + time * slope[1],
        s[2] + time * slope[2],
        s[3] + time * slope[3],
    )


@part
def _mix(k1: AcrobotState, k2: AcrobotState, k3: AcrobotState, k4: AcrobotState, i: int) -> float:
    """Return six times the mean slope of a coordinate."""
    return k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]


@part
def _slopes(task: Acrobot, s: AcrobotState, torque: float) -> AcrobotState:
    """How fast each coordinate changes: Gymnasium's operations in Gymnasium's order."""
    angle_1, angle_2, w1, w2 = s
    m2, l1, c2 = task.mass_2, task.length_1, task.centre_2
    d1, d2 = _inertias(task, math.cos(angle_2))
    bend = math.sin(angle_2)
    phi2 = m2 * c2 * task.gravity * math.cos(angle_1 + angle_2 - math.pi / 2.0)
    hang = (task.mass_1 * task.centre_1 + m2 * l1) * task.gravity * math.cos(angle_1 - math.pi / 2.0)
    phi1 = -m2 * l1 * c2 * square_by_pow(w2) * bend - 2.0 * m2 * l1 * c2 * w2 * w1 * bend + hang + phi2
    load = m2 * square_by_pow(c2) + task.inertia - square_by_pow(d2) / d1
    speeding_2 = (torque + d2 / d1 * phi1 - m2 * l1 * c2 * square_by_pow(w1) * bend - phi2) / load
    return (w1, w2, -(d2 * speeding_2 + phi1) / d1, speeding_2)


@part
def _inertias(task: Acrobot, cosine: float) -> tuple[float, float]:
    """Return the inertia of both links about the bar, and that which couples them."""
    m2, l1, c2 = task.mass_2, task.length_1, task.centre_2
    reach = square_by_pow(l1) + square_by_pow(c2) + 2.0 * l1 * c2 * cosine
    about_bar = task.mass_1 * square_by_pow(task.centre_1) + m2 * reach + task.inertia + task.inertia
    return about_bar, m2 * (square_by_pow(c2) + l1 * c2 * cosine) + task.inertia


@part
def wrapped(angle: float) -> float:
    """Bring an angle into ``-pi .. pi`` by whole turns, one after the other, as Gymnasium does.

    >>> wrapped(1.5 * math.pi) == -math.pi / 2
    True
    """
    if abs(angle) > _FAR:
        return normalised(angle)
    while angle > math.pi:
        angle = angle - 2.0 * math.pi
    while angle < -math.pi:
        angle = angle + 2.0 * math.pi
    return angle
