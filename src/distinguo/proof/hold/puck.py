"""One step of the puck from anywhere in a cell, also when its parameters are only known roughly.

With ``L = sqrt(2 beta gravity)`` the coordinates of cells are ``y = v + L x`` and ``z = v - L x``: near the top the
hill stretches ``y`` and shrinks ``z``. In them a step is, exactly::

    y' = (1 + interval L) y + interval n(x)        x' = x + interval v
    z' = (1 - interval L) z + interval n(x)

    n(x) = (f / mass) c + x (2 beta gravity c^2 - L^2),        c = 1 / sqrt(1 + (2 beta x)^2)

The second part of ``n`` falls in ``x`` as long as ``L^2 >= 2 beta gravity``, so its range over a cell is taken at the
cell's ends; ``c`` falls in ``abs(x)``. Unknown parameters may take other values at every step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.proof.enclosure import SLACK, Pair, axes, enclose, extent, widened
from distinguo.proof.question import task_claim
from distinguo.proof.schema import PuckClaim
from distinguo.seam import implements, kernel, part
from distinguo.settings import checked
from distinguo.tasks.puck.analysis import controllable
from distinguo.tasks.puck.puck import RIGHT, Puck
from distinguo.tasks.task import actions

__all__ = ["Puck", "Pucks", "pucks"]


class Pucks(NamedTuple):
    """All pucks between two, whose every step is also off by up to ``shake_x`` and ``shake_v``.

    >>> rough = pucks(Puck(mass=0.95), Puck(mass=1.05), disturbance=(0.0, 0.001))
    >>> rough.low.mass, rough.high.mass, rough.shake_v
    (0.95, 1.05, 0.001)
    """

    low: Puck
    high: Puck
    shake_x: float
    shake_v: float

    @property
    def middle(self) -> Puck:
        """Return the puck with every parameter in the middle of its range."""
        return Puck(*((a + b) / 2 for a, b in zip(self.low, self.high, strict=True)))


def pucks(low: Puck, high: Puck | None = None, disturbance: Pair = (0.0, 0.0)) -> Pucks:
    """Build a set of pucks, and check the ranges."""
    first, last = Puck(*map(float, low)), Puck(*map(float, high or low))
    for name, least, most in zip(Puck._fields, first, last, strict=True):
        if not 0 < least <= most < math.inf:
            raise DistinguoError(
                f"The range of {name} should be positive and in order, got {least} to {most}."
            )
    shakes = tuple(map(float, disturbance))
    if len(shakes) != 2 or not all(0 <= shake < math.inf for shake in shakes):
        raise DistinguoError(f"A disturbance should be two numbers not below 0, got {disturbance}.")
    return Pucks(first, last, *shakes)


@implements(widened, Puck)
def between_pucks(
    task: Puck, low: Mapping[str, float], high: Mapping[str, float], disturbance: Pair
) -> Pucks:
    """Return the pucks between two."""
    return pucks_around(Pucks(task, task, 0.0, 0.0), low, high, disturbance)


@implements(widened, Pucks)
def pucks_around(
    task: Pucks, low: Mapping[str, float], high: Mapping[str, float], disturbance: Pair
) -> Pucks:
    """Return the pucks between two, with a further disturbance."""
    first = checked(Puck, {**task.low._asdict(), **low}, "task")
    last = checked(Puck, {**task.high._asdict(), **high}, "task")
    return pucks(first, last, (task.shake_x + disturbance[0], task.shake_v + disturbance[1]))


@implements(task_claim, Puck)
def puck_claim(task: Puck) -> PuckClaim:
    """Name a puck with exact parameters and no disturbance."""
    return pucks_claim(pucks(task))


@implements(task_claim, Pucks)
def pucks_claim(task: Pucks) -> PuckClaim:
    """Name both ends of every range."""
    low, high = ({k: float(v) for k, v in puck._asdict().items()} for puck in (task.low, task.high))
    return PuckClaim(name="puck", low=low, high=high, disturbance=[task.shake_x, task.shake_v])


@part
def _stretch(task: Puck) -> float:
    return math.sqrt(2.0 * task.beta * task.gravity)


@part
def _cosine(beta: float, x: float) -> float:
    u = 2.0 * beta * x
    return 1.0 / math.sqrt(1.0 + u * u)


@part
def _pull(low: Puck, high: Puck, stretch: float, x: float, most: bool) -> float:
    """Return the greatest or least ``x (2 beta gravity c^2 - L^2)`` that the parameters allow."""
    if (x >= 0.0) == most:
        c = _cosine(low.beta, x)
        k = 2.0 * high.beta * high.gravity
    else:
        c = _cosine(high.beta, x)
        k = 2.0 * low.beta * low.gravity
    return x * (k * (c * c) - stretch * stretch)


@part
def _rest(low: Puck, high: Puck, stretch: float, x0: float, x1: float, a: int) -> Pair:
    """Return the range of ``n`` between two positions."""
    far = max(-x0, x1)
    near = 0.0 if x0 <= 0.0 <= x1 else min(abs(x0), abs(x1))
    weak = low.force / high.mass * _cosine(high.beta, far)
    strong = high.force / low.mass * _cosine(low.beta, near)
    least, most = (weak, strong) if a == RIGHT else (-strong, -weak)
    return least + _pull(low, high, stretch, x1, False), most + _pull(low, high, stretch, x0, True)


@part
def _times(d0: float, d1: float, low: float, high: float) -> Pair:
    """Multiply an interval by a positive one."""
    return (d1 if low < 0.0 else d0) * low, (d0 if high < 0.0 else d1) * high


@part
def _along(p: float, low: float, high: float) -> Pair:
    """Multiply an interval by a number of any sign."""
    return (p * low, p * high) if p >= 0.0 else (p * high, p * low)


@part
def _grown(d0: float, d1: float, rate: float, low: float, high: float) -> Pair:
    """Return the range of ``(1 + d rate) w`` for ``d`` between ``d0`` and ``d1``."""
    a0, a1 = _along(1.0 + d0 * rate, low, high)
    b0, b1 = _along(1.0 + d1 * rate, low, high)
    return min(a0, b0), max(a1, b1)


@part
def _position(d: float, stretch: float, low: Pair, high: Pair) -> Pair:
    """Return the range of ``x + d v`` over a cell: it is linear, so its extremes are at the ends."""
    y0, y1 = _along(0.5 / stretch + 0.5 * d, low[0], high[0])
    z0, z1 = _along(0.5 * d - 0.5 / stretch, low[1], high[1])
    return y0 + z0, y1 + z1


@part
def _image(task: Pucks, low: Pair, high: Pair, a: int) -> tuple[Pair, Pair, bool]:
    stretch = _stretch(task.high)
    d0, d1 = task.low.interval, task.high.interval
    size = max(max(abs(low[0]), abs(high[0])), max(abs(low[1]), abs(high[1])))
    slack = SLACK * (1.0 + size + task.high.force / task.low.mass + task.high.gravity)
    x0, x1 = (low[0] - high[1]) / (2.0 * stretch), (high[0] - low[1]) / (2.0 * stretch)
    n0, n1 = _rest(task.low, task.high, stretch, x0 - slack, x1 + slack, a)
    r0, r1 = _times(d0, d1, n0, n1)
    y0, y1 = _grown(d0, d1, stretch, low[0], high[0])
    z0, z1 = _grown(d0, d1, -stretch, low[1], high[1])
    p0, p1 = _position(d0, stretch, low, high)
    q0, q1 = _position(d1, stretch, low, high)
    most_x = max(max(p1, q1), -min(p0, q0)) + task.shake_x + slack
    wide = slack + task.shake_v + stretch * task.shake_x
    stays = most_x < task.low.wall and -math.inf < r0 + y0 + z0 and r1 + y1 + z1 < math.inf
    return (y0 + r0 - wide, z0 + r0 - wide), (y1 + r1 + wide, z1 + r1 + wide), stays


@implements(axes, Pucks)
def growing_and_shrinking(task: Pucks) -> tuple[float, float, float, float]:
    """Cells have sides along the directions in which the hill stretches and shrinks."""
    stretch = _stretch(task.high)
    return (stretch, 1.0, -stretch, 1.0)


@implements(axes, Puck)
def growing_and_shrinking_of_one(task: Puck) -> tuple[float, float, float, float]:
    """One puck is a set of pucks."""
    stretch = _stretch(task)
    return (stretch, 1.0, -stretch, 1.0)


@implements(enclose, Pucks)
def enclose_all(task: Pucks, low: Pair, high: Pair, a: int) -> tuple[Pair, Pair, bool]:
    """Enclose one step of any of the pucks."""
    return _image(task, low, high, a)


@implements(enclose, Puck)
def enclose_one(task: Puck, low: Pair, high: Pair, a: int) -> tuple[Pair, Pair, bool]:
    """Enclose one step of one puck without disturbance."""
    return _image(Pucks(task, task, 0.0, 0.0), low, high, a)


@implements(actions, Pucks)
def two_pushes(task: Pucks) -> int:
    """There are two actions."""
    return 2


@kernel
def _widen(task: Puck, xs: np.ndarray, vs: np.ndarray, stretch: float, most: np.ndarray) -> None:
    for x in xs:
        for v in vs:
            if controllable(task, (x, v)):
                most[0] = max(most[0], abs(v + stretch * x))
                most[1] = max(most[1], abs(v - stretch * x))


@implements(extent, Pucks)
def around_controllable(task: Pucks) -> tuple[Pair, Pair]:
    """Return a box around the controllable states of the puck in the middle, found on a grid of states."""
    middle = task.middle
    stretch, most = axes(task)[0], np.zeros(2)
    fastest = math.sqrt((stretch * middle.wall) ** 2 + 4 * middle.force / middle.mass * middle.wall)
    xs = np.linspace(-middle.wall, middle.wall, 97)
    _widen(middle, xs, np.linspace(-fastest, fastest, 201), stretch, most)
    between = np.array([2.0 * fastest / 100, stretch * middle.wall / 24])  # two states of that grid, and more
    y, z = (most + between).tolist()
    return (-y, -z), (y, z)


@implements(extent, Puck)
def around_controllable_of_one(task: Puck) -> tuple[Pair, Pair]:
    """One puck is a set of pucks."""
    return around_controllable(pucks(task))
