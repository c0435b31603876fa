"""Small plants as tasks, for studies over many tasks: none of them was used to tune a learner."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import distinguo as dg

# Trials should never end: keep the plant within its limits.


@dg.task(states=("x", "v"), actions=("left", "right"), low=(-1, -3), high=(1, 3))
class DoubleIntegrator(NamedTuple):
    """A cart without friction between two walls."""

    push: float = 3.0

    def transition(self, s: Any, a: int) -> Any:
        v = s[1] + 0.02 * (self.push if a == 1 else -self.push)
        x = s[0] + 0.02 * v
        out = abs(x) > 1.0
        return (x, v), (-1.0 if out else 0.0), out

    def start(self, rng: Any) -> Any:
        return (rng.uniform(-0.1, 0.1), 0.0)


@dg.task(states=("x", "v"), actions=("left", "none", "right"), low=(-1, -3), high=(1, 3))
class GustyCart(NamedTuple):
    """The same in gusts of wind, and with the choice not to push."""

    push: float = 3.0
    gust: float = 2.0
    rng: np.random.Generator = np.random.default_rng(0)

    def transition(self, s: Any, a: int) -> Any:
        v = s[1] + 0.02 * (self.push * (a - 1) + self.gust * self.rng.uniform(-1.0, 1.0))
        x = s[0] + 0.02 * v
        out = abs(x) > 1.0
        return (x, v), (-1.0 if out else 0.0), out

    def start(self, rng: Any) -> Any:
        return (0.0, 0.0)


@dg.task(states=("angle", "rate"), actions=("left", "right"), low=(-0.6, -3), high=(0.6, 3))
class UprightPendulum(NamedTuple):
    """A pendulum that should not fall, by a motor too weak to lift it."""

    torque: float = 3.0

    def transition(self, s: Any, a: int) -> Any:
        rate = s[1] + 0.02 * (9.8 * math.sin(s[0]) + (self.torque if a == 1 else -self.torque))
        angle = s[0] + 0.02 * rate
        fell = abs(angle) > 0.6
        return (angle, rate), (-1.0 if fell else 0.0), fell

    def start(self, rng: Any) -> Any:
        return (rng.uniform(-0.05, 0.05), 0.0)


@dg.task(
    states=("x", "v", "angle", "rate"),
    actions=("left", "right"),
    low=(-2.4, -3, -0.21, -3),
    high=(2.4, 3, 0.21, 3),
)
class HeldPole(NamedTuple):
    """A cart that balances a pole for ever."""

    force: float = 10.0

    def transition(self, s: Any, a: int) -> Any:
        x, v, angle, rate = s
        cosine, sine = math.cos(angle), math.sin(angle)
        pushed = ((self.force if a == 1 else -self.force) + 0.05 * rate * rate * sine) / 1.1
        turn = (9.8 * sine - cosine * pushed) / (0.5 * (4.0 / 3.0 - 0.1 * cosine * cosine / 1.1))
        v, rate = v + 0.02 * (pushed - 0.05 * turn * cosine / 1.1), rate + 0.02 * turn
        x, angle = x + 0.02 * v, angle + 0.02 * rate
        out = abs(x) > 2.4 or abs(angle) > 0.21
        return (x, v, angle, rate), (-1.0 if out else 0.0), out

    def start(self, rng: Any) -> Any:
        return (rng.uniform(-0.05, 0.05), 0.0, rng.uniform(-0.05, 0.05), 0.0)


@dg.task(
    states=("current", "voltage"),
    actions=("open", "closed"),
    low=(0, 14),
    high=(6, 26),
    units=("A", "V"),
)
class BoostConverter(NamedTuple):
    """A converter from 12 V to 20 V by one switch: voltage and current should stay within their bands."""

    load: float = 20.0  #: ohm

    def transition(self, s: Any, a: int) -> Any:
        current, voltage = s
        rise = 12.0 - (0.0 if a == 1 else voltage)
        charge = (0.0 if a == 1 else current) - voltage / self.load
        current = max(current + 2e-6 * rise / 22e-6, 0.0)
        voltage = voltage + 2e-6 * charge / 4.7e-6
        out = not (16.0 < voltage < 24.0) or current > 5.5
        return (current, voltage), (-1.0 if out else 0.0), out

    def start(self, rng: Any) -> Any:
        return (1.7, rng.uniform(19.0, 21.0))


@dg.task(
    states=("upper", "lower"),
    actions=("closed", "open"),
    low=(0, 0),
    high=(2, 2),
    units=("m", "m"),
)
class TwoTanks(NamedTuple):
    """A pump fills the upper tank, which drains into the lower one: neither should overflow or run dry."""

    pump: float = 0.08

    def transition(self, s: Any, a: int) -> Any:
        out = 0.03 * math.sqrt(max(s[0], 0.0))
        upper = s[0] + (self.pump if a == 1 else 0.0) - out
        lower = s[1] + out - 0.03 * math.sqrt(max(s[1], 0.0))
        bad = not (0.6 < upper < 1.4) or not (0.7 < lower < 1.3)
        return (upper, lower), (-1.0 if bad else 0.0), bad

    def start(self, rng: Any) -> Any:
        return (rng.uniform(0.9, 1.1), rng.uniform(0.9, 1.1))


@dg.task(
    states=("north", "middle", "south"),
    actions=("off", "heat north", "heat middle", "heat south"),
    low=(15, 15, 15),
    high=(27, 27, 27),
    units=("C", "C", "C"),
)
class ThreeRooms(NamedTuple):
    """One heater for three rooms, at 5 degrees outside: all should stay between 18 and 24 degrees."""

    heat: float = 1.6

    def transition(self, s: Any, a: int) -> Any:
        north, middle, south = s
        one = north + 0.02 * (5.0 - north) + 0.05 * (middle - north) + (self.heat if a == 1 else 0.0)
        two = (
            middle
            + 0.01 * (5.0 - middle)
            + 0.05 * (north + south - 2.0 * middle)
            + (self.heat if a == 2 else 0.0)
        )
        three = south + 0.02 * (5.0 - south) + 0.05 * (middle - south) + (self.heat if a == 3 else 0.0)
        bad = min(one, two, three) < 18.0 or max(one, two, three) > 24.0
        return (one, two, three), (-1.0 if bad else 0.0), bad

    def start(self, rng: Any) -> Any:
        return (rng.uniform(20.0, 22.0), rng.uniform(20.0, 22.0), rng.uniform(20.0, 22.0))


@dg.task(
    states=("offset", "heading", "steering"),
    actions=("left", "straight", "right"),
    low=(-2, -0.5, -0.3),
    high=(2, 0.5, 0.3),
)
class LaneKeeping(NamedTuple):
    """A car at 20 m/s whose steering wheel turns slowly should stay in its lane."""

    speed: float = 20.0

    def transition(self, s: Any, a: int) -> Any:
        steering = min(max(s[2] + 0.02 * (a - 1), -0.06), 0.06)
        heading = s[1] + 0.05 * self.speed / 2.7 * math.tan(steering)
        offset = s[0] + 0.05 * self.speed * math.sin(heading)
        out = abs(offset) > 1.8 or abs(heading) > 0.5
        return (offset, heading, steering), (-1.0 if out else 0.0), out

    def start(self, rng: Any) -> Any:
        return (rng.uniform(-0.3, 0.3), rng.uniform(-0.05, 0.05), 0.0)


@dg.task(
    states=("x", "v", "y", "w"),
    actions=("left", "right", "down", "up"),
    low=(-1, -2, -1, -2),
    high=(1, 2, 1, 2),
)
class TiltedTable(NamedTuple):
    """A ball on a table that can be tilted one way at a time should stay on it."""

    tilt: float = 2.0

    def transition(self, s: Any, a: int) -> Any:
        v = s[1] + 0.04 * (-self.tilt if a == 0 else self.tilt if a == 1 else 0.0)
        w = s[3] + 0.04 * (-self.tilt if a == 2 else self.tilt if a == 3 else 0.0)
        x, y = s[0] + 0.04 * v, s[2] + 0.04 * w
        out = abs(x) > 1.0 or abs(y) > 1.0
        return (x, v, y, w), (-1.0 if out else 0.0), out

    def start(self, rng: Any) -> Any:
        return (rng.uniform(-0.1, 0.1), 0.0, rng.uniform(-0.1, 0.1), 0.0)


# Trials are judged by their return.


@dg.task(
    states=("stock", "coming"),
    actions=("none", "five", "ten"),
    low=(-20, 0),
    high=(40, 10),
    threshold=-130.0,
    limit=60,
)
class Inventory(NamedTuple):
    """Order goods that arrive the day after next: every unit in stock costs 0.1 a day, every one missing 1."""

    demand: float = 4.0
    rng: np.random.Generator = np.random.default_rng(0)

    def transition(self, s: Any, a: int) -> Any:
        stock = s[0] + s[1] - math.floor(self.rng.uniform(0.0, 2.0 * self.demand + 1.0))
        stock = max(stock, -20.0)
        cost = 0.1 * stock if stock > 0.0 else -stock
        return (stock, 5.0 * a), -cost, False

    def start(self, rng: Any) -> Any:
        return (10.0, 0.0)


@dg.task(
    states=("x", "v"),
    actions=("left", "right"),
    low=(-1, -2),
    high=(1, 2),
    threshold=-60.0,
    limit=300,
)
class Parking(NamedTuple):
    """Come to rest in the middle, soon; every step costs 1 and a wall stops the cart."""

    push: float = 2.0

    def transition(self, s: Any, a: int) -> Any:
        v = s[1] + 0.04 * (self.push if a == 1 else -self.push)
        x = s[0] + 0.04 * v
        if abs(x) > 1.0:
            x, v = math.copysign(1.0, x), 0.0
        return (x, v), -1.0, abs(x) < 0.1 and abs(v) < 0.2

    def start(self, rng: Any) -> Any:
        return (rng.uniform(-0.9, 0.9), 0.0)


@dg.task(
    states=("angle", "rate"),
    actions=("left", "none", "right"),
    low=(-3.2, -8),
    high=(3.2, 8),
    threshold=-120.0,
    limit=300,
)
class SwingUp(NamedTuple):
    """A pendulum that hangs should swing up and be slow there; its motor is too weak to lift it at once."""

    torque: float = 2.5
    gravity: float = 9.81

    def transition(self, s: Any, a: int) -> Any:
        rate = s[1] + 0.05 * (self.gravity * math.sin(s[0]) + self.torque * (a - 1.0))
        rate = min(8.0, max(-8.0, rate))
        angle = s[0] + 0.05 * rate
        if angle > math.pi:
            angle -= 2.0 * math.pi
        if angle < -math.pi:
            angle += 2.0 * math.pi
        return (angle, rate), -1.0, abs(angle) < 0.25 and abs(rate) < 1.5

    def start(self, rng: Any) -> Any:
        return (3.04 + 0.1 * rng.random(), 0.0)


@dg.task(
    states=("x", "y", "heading"),
    actions=("left", "straight", "right"),
    low=(-1, -1, -math.pi),
    high=(1, 1, math.pi),
    threshold=-40.0,
    limit=200,
)
class Ferry(NamedTuple):
    """A boat in a current should come to the pier; every step costs 1."""

    current: float = 0.01

    def transition(self, s: Any, a: int) -> Any:
        heading = s[2] + 0.3 * (a - 1)
        heading = heading - 2.0 * math.pi * math.floor((heading + math.pi) / (2.0 * math.pi))
        x = min(max(s[0] + 0.05 * math.cos(heading), -1.0), 1.0)
        y = min(max(s[1] + 0.05 * math.sin(heading) - self.current, -1.0), 1.0)
        return (x, y, heading), -1.0, abs(x - 0.8) < 0.15 and abs(y) < 0.15

    def start(self, rng: Any) -> Any:
        return (-0.8, rng.uniform(-0.5, 0.5), rng.uniform(-1.0, 1.0))


@dg.task(
    states=("level", "temperature", "feed"),
    actions=("cool", "wait", "heat"),
    low=(0, 0, 0),
    high=(2, 100, 1),
    threshold=-200.0,
    limit=200,
)
class StirredTank(NamedTuple):
    """Keep a tank at 60 degrees while its feed changes at random; every step costs the distance in degrees."""

    power: float = 4.0
    rng: np.random.Generator = np.random.default_rng(0)

    def transition(self, s: Any, a: int) -> Any:
        feed = min(max(s[2] + 0.1 * self.rng.uniform(-1.0, 1.0), 0.2), 0.8)
        temperature = s[1] + 0.1 * feed * (20.0 - s[1]) / s[0] + self.power * (a - 1)
        level = s[0] + 0.02 * (feed - 0.5 * s[0])
        return (level, temperature, feed), -abs(temperature - 60.0), False

    def start(self, rng: Any) -> Any:
        return (1.0, rng.uniform(40.0, 80.0), 0.5)


@dg.task(
    states=("cell",),
    actions=("west", "east", "south", "north"),
    low=(0,),
    high=(35,),
    threshold=-20.0,
    limit=100,
    categories=True,
)
class WindyGrid(NamedTuple):
    """Cells are labels; the wind blows north in the middle columns, now and then twice as far."""

    gusts: float = 0.2
    rng: np.random.Generator = np.random.default_rng(0)

    def transition(self, s: Any, a: int) -> Any:
        x, y = s[0] % 6, s[0] // 6
        wind = 1.0 if 2 <= x <= 3 else 0.0
        if wind > 0.0 and self.rng.uniform(0.0, 1.0) < self.gusts:
            wind = 2.0
        x = x + (-1.0 if a == 0 else 1.0 if a == 1 else 0.0)
        y = y + wind + (-1.0 if a == 2 else 1.0 if a == 3 else 0.0)
        x, y = min(max(x, 0.0), 5.0), min(max(y, 0.0), 5.0)
        return (x + 6.0 * y,), -1.0, x == 5.0 and y == 2.0

    def start(self, rng: Any) -> Any:
        return (12.0,)
