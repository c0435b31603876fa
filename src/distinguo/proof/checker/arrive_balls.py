"""The car's equations in ball arithmetic (Arb), for the checker of arrivals; nothing of the prover's.

A *bundle* holds the states ``c + d t`` with ``t`` between -1 and 1, where ``c`` and ``d`` lie in balls. By the mean
value theorem a step ``f`` leads them to ``f(c) + (f' d) t`` with the derivative somewhere in the bundle: so a step of
a bundle is a step of the ball ``c``, and a product of balls for ``d``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from flint import arb

from distinguo.proof.checker.balls import ONE, ROUNDING, ball
from distinguo.proof.schema import CarClaim

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
