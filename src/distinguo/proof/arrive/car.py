"""One step of the car in the valley from anywhere in a strip.

The velocity before clipping is ``v + (a - 1) force - gravity cos(3 x)``. Around the centre ``c`` of a strip

    cos(3 x) = cos(3 c) - 3 sin(3 c) (x - c) + rest,        abs(rest) <= 4.5 (x - c)^2

so that all but ``rest`` is linear and turns the strip exactly. A step goes one of nine ways: the velocity is below,
within or above its limits, and then the car stops at the left wall, drives on, or has arrived.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from pydantic import ValidationError

from distinguo.errors import DistinguoError
from distinguo.proof.enclosure import SLACK, Pair
from distinguo.proof.question import task_claim
from distinguo.proof.schema import CarClaim
from distinguo.seam import generic, implements, part
from distinguo.tasks.mountain_car import FIRST_HIGH, FIRST_LOW, MountainCar, clipped

# The interface of a task to a proof of arrival: where does one step lead a *strip* of states, and has it arrived?
#
# A strip is a segment of states with a box around each of its points. Steps stretch and turn the segment, which a
# box alone could not follow; what is not known exactly goes into the box.
#
# A step may go in several *ways*: a car drives on, stops at a wall, or is at its goal. Within one way a step is
# smooth, so that a strip becomes a strip. A task of two dimensions whose trials are meant to arrive becomes provable
# by implementing, for its class (``distinguo.seam.implements``):
#
# ``ways(task)``
#     how many ways there are.
# ``enclose_strip(task, strip, a, way)``
#     a strip that holds every ``s'`` that action ``a`` leads to in this way from a state of the strip, as the
#     *floating-point* program computes it, and what is then known: ``NEVER`` if no state goes this way, ``ARRIVED``
#     if
#     all that do have arrived, otherwise ``ON``. Every step of every state must go one of the ways.
# ``blurred(task, strip)``
#     by how much the observation of a state of the strip, on which the policy decides, may differ from the state.
# ``first_states(task)``
#     the box that trials start in, all states alike.
# ``step_cost(task)``
#     what every step costs, so that the return of a trial of n steps is ``-n step_cost``.
#
# The car's are in ``car``.


FEW_DIGITS = 1e-15  #: nine times the rounding of one operation
NEVER, ON, ARRIVED = 0, 1, 2  #: what is known of a way


class Strip(NamedTuple):
    """The states ``centre + t * along + d`` with ``t`` between -1 and 1 and ``d`` no larger than ``off``.

    >>> least(Strip((1.0, 0.0), (0.5, -0.25), (0.25, 0.0)))
    (0.25, -0.25)
    """

    centre: Pair
    along: Pair
    off: Pair


@generic
def ways(task: Any) -> int:
    """Return the number of ways that a step can go.

    >>> from distinguo.proof.arrive.car import MountainCar
    >>> ways(MountainCar())
    9
    """
    raise NotImplementedError


@generic
def enclose_strip(task: Any, strip: Strip, a: int, way: int) -> tuple[Strip, int]:
    """Return a strip around where action ``a`` leads in one way, and what is then known.

    >>> from distinguo.proof.arrive.car import FREE, GOAL, WITHIN, MountainCar
    >>> valley = Strip((-0.5, 0.0), (0.01, 0.0), (0.0, 0.0))
    >>> image, known = enclose_strip(MountainCar(), valley, 2, 3 * WITHIN + FREE)
    >>> round(image.centre[1], 6), known == ON, enclose_strip(MountainCar(), valley, 2, 3 * WITHIN + GOAL)[1] == NEVER
    (0.000823, True, True)
    """
    raise NotImplementedError


@generic
def blurred(task: Any, strip: Strip) -> Pair:
    """The greatest distance between a state of the strip and its observation.

    >>> from distinguo.proof.arrive.car import MountainCar
    >>> blurred(MountainCar(), Strip((-0.5, 0.0), (0.0, 0.0), (0.0, 0.0)))[0] < 1e-7
    True
    """
    raise NotImplementedError


@generic
def first_states(task: Any) -> tuple[Pair, Pair]:
    """Return the box that trials start in.

    >>> from distinguo.proof.arrive.car import MountainCar
    >>> first_states(MountainCar())
    ((-0.6, 0.0), (-0.4, 0.0))
    """
    raise NotImplementedError


@generic
def step_cost(task: Any) -> float:
    """The cost of every step.

    >>> from distinguo.proof.arrive.car import MountainCar
    >>> step_cost(MountainCar())
    1.0
    """
    raise NotImplementedError


@part
def reach(strip: Strip) -> Pair:
    """The greatest distance of the states of a strip from its centre.

    >>> reach(Strip((1.0, 0.0), (0.5, -0.25), (0.25, 0.0)))
    (0.75, 0.25)
    """
    return abs(strip.along[0]) + strip.off[0], abs(strip.along[1]) + strip.off[1]


@part
def least(strip: Strip) -> Pair:
    """Return the least of each coordinate."""
    r = reach(strip)
    return strip.centre[0] - r[0], strip.centre[1] - r[1]


@part
def most(strip: Strip) -> Pair:
    """Return the greatest of each coordinate."""
    r = reach(strip)
    return strip.centre[0] + r[0], strip.centre[1] + r[1]


@part
def half(strip: Strip, side: float) -> Strip:
    """Return the half of a strip on one side of its centre, -1 or 1; its box includes the rounding.

    >>> half(Strip((0.0, 0.0), (1.0, 0.5), (0.25, 0.25)), -1.0)
    Strip(centre=(-0.5, -0.25), along=(0.5, 0.25), off=(0.250000000000001, 0.2500000000000005))
    """
    g = (0.5 * strip.along[0], 0.5 * strip.along[1])
    centre = (strip.centre[0] + side * g[0], strip.centre[1] + side * g[1])
    off = (strip.off[0] + last_digits(centre[0], g[0]), strip.off[1] + last_digits(centre[1], g[1]))
    return Strip(centre, g, off)


@part
def last_digits(centre: float, length: float) -> float:
    """Return more than the rounding of a sum of two numbers, and of a few such sums.

    >>> last_digits(1.0, 0.0) > 2**-51
    True
    """
    return FEW_DIGITS * (abs(centre) + abs(length))


__all__ = ["FREE", "GOAL", "LEAST", "MOST", "WALL", "WITHIN", "MountainCar"]

LEAST, WITHIN, MOST = 0, 1, 2  #: the velocity is raised to its least, left as it is, lowered to its most
WALL, FREE, GOAL = 0, 1, 2  #: the car stops at the left end, drives on, has arrived
#: Rounding to 32 bits changes a number by at most 2**-24 of itself, or by 2**-150 if it is tiny.
HALF_DIGIT, NEXT_TO_NOTHING = 6e-8, 1e-40


@part
def slack_of(task: MountainCar, strip: Strip) -> float:
    """Return more than rounding can change in one step of the program, and of the enclosure (docs/proof.md)."""
    far = abs(strip.centre[0]) + abs(strip.centre[1]) + reach(strip)[0] + reach(strip)[1]
    return SLACK * (1.0 + far + abs(task.force) + task.max_speed + abs(task.gravity) * (1.0 + far))


@part
def _free_velocity(task: MountainCar, strip: Strip, a: int) -> tuple[float, float, float]:
    """Return the velocity before clipping: at the centre, its slope in ``x`` there, and how far ``rest`` reaches."""
    x = strip.centre[0]
    v = strip.centre[1] + (float(a) - 1.0) * task.force - task.gravity * math.cos(3.0 * x)
    far = reach(strip)[0]
    return v, 3.0 * task.gravity * math.sin(3.0 * x), 4.5 * abs(task.gravity) * (far * far)


@part
def _driven(task: MountainCar, strip: Strip, a: int) -> Strip:
    """Where the car is if no limit matters."""
    v, slope, rest = _free_velocity(task, strip, a)
    wide = rest + slack_of(task, strip)
    along = strip.along[1] + slope * strip.along[0]
    off_v = strip.off[1] + abs(slope) * strip.off[0] + wide
    off_x = abs(1.0 + slope) * strip.off[0] + strip.off[1] + wide
    return Strip((strip.centre[0] + v, v), (strip.along[0] + along, along), (off_x, off_v))


@part
def _at_speed(task: MountainCar, strip: Strip, v: float) -> Strip:
    """Where the car is if its velocity was clipped to ``v``."""
    off = strip.off[0] + slack_of(task, strip)
    return Strip((strip.centre[0] + v, v), (strip.along[0], 0.0), (off, 0.0))


@part
def _clipped_place(task: MountainCar, strip: Strip) -> Strip:
    """Clip the position; a strip that an end cuts becomes a box."""
    low, high = least(strip)[0], most(strip)[0]
    if low >= task.min_position and high <= task.max_position:
        return strip
    one = clipped(low, task.min_position, task.max_position)
    two = clipped(high, task.min_position, task.max_position)
    middle, off = 0.5 * (one + two), 0.5 * abs(two - one) + SLACK * (1.0 + abs(one) + abs(two))
    return Strip((middle, strip.centre[1]), (0.0, strip.along[1]), (off, strip.off[1]))


@part
def _placed(task: MountainCar, strip: Strip, place: int) -> tuple[Strip, int]:
    """The part of a strip at the wall, at the goal, or elsewhere, and what is known of it."""
    low, high = least(strip), most(strip)
    if place == WALL:
        stops = low[0] <= task.min_position and low[1] < 0.0
        return Strip((task.min_position, 0.0), (0.0, 0.0), (0.0, 0.0)), ON if stops else NEVER
    arrives = high[0] >= task.goal_position and high[1] >= task.goal_velocity
    if place == GOAL:
        return strip, ARRIVED if arrives and task.max_position >= task.goal_position else NEVER
    all_arrive = (
        low[0] >= task.goal_position
        and low[1] >= task.goal_velocity
        and task.max_position >= task.goal_position
    )
    all_stop = high[0] < task.min_position and high[1] < 0.0
    return _clipped_place(task, strip), NEVER if all_arrive or all_stop else ON


@part
def _reaches(task: MountainCar, driven: Strip, speed: int) -> bool:
    """Whether some velocity is below, within or above its limits."""
    low, high = least(driven)[1], most(driven)[1]
    if speed == LEAST:
        return low < -task.max_speed
    if speed == MOST:
        return high > task.max_speed
    return low <= task.max_speed and high >= -task.max_speed


@implements(enclose_strip, MountainCar)
def drive_on(task: MountainCar, strip: Strip, a: int, way: int) -> tuple[Strip, int]:
    """Follow a strip in one of the nine ways."""
    speed, place = way // 3, way % 3
    driven = _driven(task, strip, a)
    if not _reaches(task, driven, speed):
        return strip, NEVER
    if speed != WITHIN:
        driven = _at_speed(task, strip, task.max_speed if speed == MOST else -task.max_speed)
    return _placed(task, driven, place)


@implements(ways, MountainCar)
def limits_and_places(task: MountainCar) -> int:
    """Three cases of the velocity times three of the position."""
    return 9


@implements(blurred, MountainCar)
def rounded_to_32_bits(task: MountainCar, strip: Strip) -> Pair:
    """Observations are rounded to 32 bits."""
    x, v = abs(strip.centre[0]) + reach(strip)[0], abs(strip.centre[1]) + reach(strip)[1]
    return HALF_DIGIT * x + NEXT_TO_NOTHING, HALF_DIGIT * v + NEXT_TO_NOTHING


@implements(step_cost, MountainCar)
def one_per_step(task: MountainCar) -> float:
    """Every step has the reward -1."""
    return 1.0


@implements(first_states, MountainCar)
def at_rest_near_the_bottom(task: MountainCar) -> tuple[Pair, Pair]:
    """Trials start at rest near the bottom."""
    return (FIRST_LOW, 0.0), (FIRST_HIGH, 0.0)


@implements(task_claim, MountainCar)
def car_claim(task: MountainCar) -> CarClaim:
    """Name every parameter; an invalid car is not certified."""
    parameters = {name: float(value) for name, value in task._asdict().items()}
    try:
        return CarClaim(name="MountainCar-v0", parameters=parameters)
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise DistinguoError(f"There is no certificate for this task: {problem}.") from None
