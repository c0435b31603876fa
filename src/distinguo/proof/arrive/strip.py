"""What a proof of arrival asks of a task: where does one step lead a whole *strip* of states, and has it arrived?

A strip is a segment of states with a box around each of its points. Steps stretch and turn the segment as they turn
neighbouring states, which a box alone could not follow; what is not known exactly goes into the box.

A step may go in several *ways*: a car drives on, stops at a wall, or is at its goal. Within one way a step is smooth,
so that a strip becomes a strip. A task of two dimensions whose trials are meant to arrive becomes provable by
implementing, for its class (``distinguo.seam.implements``):

``ways(task)``
    how many ways there are.
``enclose_strip(task, strip, a, way)``
    a strip that holds every ``s'`` that action ``a`` leads to in this way from a state of the strip, as the
    *floating-point* program computes it, and what is then known: ``NEVER`` if no state goes this way, ``ARRIVED`` if
    all that do have arrived, otherwise ``ON``. Every step of every state must go one of the ways.
``blurred(task, strip)``
    by how much the observation of a state of the strip, on which the policy decides, may differ from the state.
``first_states(task)``
    the box that trials start in, all states alike.
``step_cost(task)``
    what every step costs, so that the return of a trial of n steps is ``-n step_cost``.

The car's are in ``car``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from distinguo.proof.enclosure import Pair
from distinguo.seam import generic, part

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
    """Return how far an observation may be from the state of the strip that it shows.

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
    """Return what every step costs.

    >>> from distinguo.proof.arrive.car import MountainCar
    >>> step_cost(MountainCar())
    1.0
    """
    raise NotImplementedError


@part
def reach(strip: Strip) -> Pair:
    """Return how far the states of a strip are from its centre.

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
    """Return the half of a strip on one side of its centre, -1 or 1; what rounding may move goes into its box.

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
