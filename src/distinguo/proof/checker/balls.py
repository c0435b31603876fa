"""The checker's own numbers and equations: rigorous bounds by ball arithmetic (Arb), nothing of the prover's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from flint import arb

from distinguo.proof.schema import CarClaim, PuckClaim

#: What rounding may change in one step of the program, in units of the numbers that it adds: twenty roundings of
#: 1.1e-16 each are allowed for a hundred times over.
ROUNDING = arb("1e-12")
ONE = arb(1)


class StateBlock(NamedTuple):
    """States around a centre: how far they reach in each coordinate, and along which half edges."""

    x: Any
    v: Any
    rx: Any
    rv: Any
    edges: tuple[tuple[Any, Any], ...]


class Span(NamedTuple):
    """A closed interval between two balls: from the lower end of the first to the upper end of the second."""

    low: Any
    high: Any


def span(*values: Any) -> Span:
    """Return the hull of some balls.

    >>> span(arb(3), arb(1), arb(2))
    Span(low=1.00000000000000, high=3.00000000000000)
    """
    low, high = values[0].lower(), values[0].upper()
    for value in values[1:]:
        low, high = low.min(value.lower()), high.max(value.upper())
    return Span(low, high)


def ball(low: Any, high: Any) -> Any:
    """Return a ball around two.

    >>> ball(arb(1), arb(2)).contains(arb(1.5))
    True
    """
    return low.union(high)


class PuckEquations:
    """The equations of the puck, ``x' = x + d v`` and ``v' = v + d acc(x)``, with parameters in ranges.

    ``acc(x) = (f / m) c + 2 b g x c^2`` where ``c = 1 / sqrt(1 + (2 b x)^2)``.

    >>> from distinguo.tasks.puck.puck import Puck
    >>> puck = Puck()._asdict()
    >>> claim = PuckClaim(name="puck", low=puck, high=puck, disturbance=[0.0, 0.0])
    >>> PuckEquations(claim).acceleration(arb(0), 1).low.contains(3)
    True
    """

    def __init__(self, task: PuckClaim) -> None:
        self.low = {name: arb(value) for name, value in task.low.items()}
        self.high = {name: arb(value) for name, value in task.high.items()}
        self.ball = {name: ball(self.low[name], self.high[name]) for name in self.low}
        self.middle = {name: arb((task.low[name] + task.high[name]) / 2) for name in self.low}
        self.shake_x, self.shake_v = (arb(d) for d in task.disturbance)
        shortest, longest = self.low["interval"], self.high["interval"]
        self.intervals = [shortest] if task.low["interval"] == task.high["interval"] else [shortest, longest]
        self.push = (self.low["force"] / self.high["mass"], self.high["force"] / self.low["mass"])
        self.rounding = ROUNDING * (ONE + self.push[1] + self.high["gravity"])

    def acceleration(self, x: Any, a: int) -> Span:
        """Return the range of ``acc`` at one position: each parameter at the end that makes it least, or most."""
        near, far = ((ONE + (2 * beta["beta"] * x) ** 2).rsqrt() for beta in (self.low, self.high))
        weak, strong = self.push[0] * far, self.push[1] * near
        little = 2 * self.low["beta"] * self.low["gravity"] * x * far**2
        much = 2 * self.high["beta"] * self.high["gravity"] * x * near**2
        pull = span(little, much)
        push = span(weak, strong) if a == 1 else span(-weak, -strong)
        return Span(push.low + pull.low, push.high + pull.high)

    def slope(self, x: Any, a: int, parameters: dict[str, Any]) -> Any:
        """Return the derivative of ``acc`` over a ball of positions."""
        u = 2 * parameters["beta"] * x
        square = u * u
        c2 = 1 / (ONE + square)
        push = parameters["force"] / parameters["mass"] * (1 if a == 1 else -1)
        k = 2 * parameters["beta"] * parameters["gravity"]
        return k * (ONE - square) * c2 * c2 - push * 2 * parameters["beta"] * u * c2 * c2.sqrt()


UNIT = arb(0, 1)  #: from -1 to 1
NOTHING = arb(0)


class BallBundle(NamedTuple):
    """States as balls."""

    x: Any
    v: Any
    dx: Any
    dv: Any

    @property
    def all_x(self) -> Any:
        """Return a ball around all positions."""
        return self.x + self.dx * UNIT

    @property
    def all_v(self) -> Any:
        """Return a ball around all velocities."""
        return self.v + self.dv * UNIT

    def halves(self) -> tuple[BallBundle, BallBundle]:
        """Return the parts with ``t`` below and above 0."""
        x, v = self.dx / 2, self.dv / 2
        return BallBundle(self.x - x, self.v - v, x, v), BallBundle(self.x + x, self.v + v, x, v)


def bundle_of(box: list[float]) -> BallBundle:
    """Return a box of states as a bundle along its longer side.

    >>> bundle_of([0.0, 2.0, 0.0, 0.0]).all_x.contains(arb(2))
    True
    """
    (x, rx), (v, rv) = (((arb(a) + arb(b)) / 2, (arb(b) - arb(a)) / 2) for a, b in (box[:2], box[2:]))
    if rx >= rv:
        return BallBundle(x, v + rv * UNIT, rx, NOTHING)
    return BallBundle(x + rx * UNIT, v, NOTHING, rv)


class CarEquations:
    """What can become of a bundle.

    >>> from distinguo.tasks.mountain_car import MountainCar
    >>> car = CarEquations(CarClaim(name="MountainCar-v0", parameters=MountainCar()._asdict()))
    >>> [len(list(car.outcomes(bundle_of([x, x, 0.05, 0.05]), 2))) for x in (-0.5, 0.47)]
    [1, 1]
    >>> list(car.outcomes(bundle_of([0.47, 0.47, 0.05, 0.05]), 2))
    [None]
    """

    def __init__(self, claim: CarClaim) -> None:
        self.parameters: Any = {name: arb(value) for name, value in claim.parameters.items()}
        self.within_reach = claim.parameters["goal_position"] <= claim.parameters["max_position"]

    def outcomes(self, bundle: BallBundle, a: int) -> Iterator[BallBundle | None]:
        """Yield every bundle that one step may lead to; None stands for states that have arrived."""
        p, x = self.parameters, bundle.all_x
        size = ONE + abs(x) + abs(bundle.all_v) + p["force"] + p["max_speed"] + p["gravity"] * (ONE + abs(x))
        rounding = ROUNDING * size * UNIT
        v = bundle.v + (a - 1) * p["force"] - p["gravity"] * (3 * bundle.x).cos() + rounding
        dv = bundle.dv + 3 * p["gravity"] * (3 * x).sin() * bundle.dx
        most, free = p["max_speed"], v + dv * UNIT
        if not (free > most or free < -most):
            yield from self._placed(BallBundle(bundle.x + v + rounding, v, bundle.dx + dv, dv))
        if not free <= most:
            yield from self._placed(BallBundle(bundle.x + most + rounding, most, bundle.dx, NOTHING))
        if not free >= -most:
            yield from self._placed(BallBundle(bundle.x - most + rounding, -most, bundle.dx, NOTHING))

    def _placed(self, bundle: BallBundle) -> Iterator[BallBundle | None]:
        """Yield the parts that have arrived, that stop at the wall, and that drive on."""
        p, x, v = self.parameters, bundle.all_x, bundle.all_v
        goal, speed, wall = p["goal_position"], p["goal_velocity"], p["min_position"]
        if self.within_reach and not (x < goal or v < speed):
            yield None
            if x >= goal and v >= speed:
                return
        if not (x > wall or v >= 0):
            yield BallBundle(wall, NOTHING, NOTHING, NOTHING)
            if x <= wall and v < 0:
                return
        yield self._clipped(bundle, x)

    def _clipped(self, bundle: BallBundle, x: Any) -> BallBundle:
        low, high = self.parameters["min_position"], self.parameters["max_position"]
        if x >= low and x <= high:
            return bundle
        ends = (end.max(low).min(high) for end in (x.lower(), x.upper()))
        return BallBundle(ball(*ends), bundle.v, NOTHING, bundle.dv)
