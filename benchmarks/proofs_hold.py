"""How much of what learned controllers of small plants hold is proven for ever, in how many seconds, checked.

A controller is learned until it is proven from all starts (``distinguo learn --prove``). Then all that it holds is
proven, as ``distinguo verify`` does. Shares are of sampled states that survive 1,000 simulated steps, and of all
states within the limits; seconds are of the processor.

    python -m benchmarks.proofs_hold
    python -m benchmarks.proofs_hold --seeds 710000 --steps 10000000
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np
from benchmarks import plants, rows

import distinguo as dg
from distinguo.controller import Controller
from distinguo.evaluation.simulate import evaluate
from distinguo.proof.checker.check import check
from distinguo.proof.declared.guard import ProgramGuard
from distinguo.proof.declared.question import ProgramFinding, ask_program
from distinguo.proof.question import Request
from distinguo.tasks.catalog import spec_of

FIRST_SEED, SAMPLES, SURVIVED = 710_000, 5_000, 1_000


@dg.task(states=("x", "v"), actions=("left", "off", "right"), low=(-1, -2), high=(1, 2), units=("m", "m/s"))
class Integrator(NamedTuple):
    """A cart without friction between two walls, by coarse steps."""

    force: float = 1.0

    def transition(self, s: Any, a: int) -> Any:
        v = s[1] + 0.05 * self.force * (a - 1.0)
        x = s[0] + 0.05 * s[1]
        out = abs(x) > 1.0 or abs(v) > 2.0
        return (x, v), (-1.0 if out else 0.0), out

    def start(self, rng: Any) -> Any:
        return (rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5))


@dg.task(
    states=("angle", "rate"),
    actions=("minus", "off", "plus"),
    low=(-0.5, -2),
    high=(0.5, 2),
    units=("rad", "rad/s"),
)
class Upright(NamedTuple):
    """A pendulum that should not fall."""

    torque: float = 5.0

    def transition(self, s: Any, a: int) -> Any:
        rate = s[1] + 0.02 * (9.81 * math.sin(s[0]) + self.torque * (a - 1.0))
        angle = s[0] + 0.02 * rate
        out = abs(angle) > 0.5
        return (angle, rate), (-1.0 if out else 0.0), out

    def start(self, rng: Any) -> Any:
        return (rng.uniform(-0.2, 0.2), rng.uniform(-0.5, 0.5))


@dg.task(
    states=("upper", "lower"),
    actions=("closed", "half", "open"),
    low=(0, 0.3),
    high=(1.2, 0.7),
    units=("m", "m"),
)
class Tanks(NamedTuple):
    """A pump fills a tank that drains into another one, whose level counts."""

    pump: float = 0.25
    outflow: float = 0.3

    def transition(self, s: Any, a: int) -> Any:
        between = self.outflow * math.sqrt(max(s[0], 0.0))
        upper = s[0] + 0.1 * (self.pump * a - between)
        lower = s[1] + 0.1 * (between - self.outflow * math.sqrt(max(s[1], 0.0)))
        out = upper < 0.05 or upper > 1.2 or lower < 0.4 or lower > 0.6
        return (upper, lower), (-1.0 if out else 0.0), out

    def start(self, rng: Any) -> Any:
        return (rng.uniform(0.4, 0.6), rng.uniform(0.45, 0.55))


@dg.task(
    states=("current", "voltage"),
    actions=("open", "closed"),
    low=(1.15, 5.45),
    high=(1.55, 5.85),
    units=("A", "5 V"),
)
class Converter(NamedTuple):
    """The boost converter of Girard, Pola and Tabuada (2010), exactly discretised, as other tools prove it."""

    supply: float = 1.0

    def transition(self, s: Any, a: int) -> Any:
        if a == 1:
            current = 0.991701292639 * s[0] + 0.165974147222 * self.supply
            voltage = 0.992917876732 * s[1]
        else:
            current = 0.990295029428 * s[0] - 0.032892318824 * s[1] + 0.165872918753 * self.supply
            voltage = 0.035241770168 * s[0] + 0.99233317847 * s[1] + 0.002945083317 * self.supply
        out = current < 1.15 or current > 1.55 or voltage < 5.45 or voltage > 5.85
        return (current, voltage), (-1.0 if out else 0.0), out

    def start(self, rng: Any) -> Any:
        return (rng.uniform(1.2, 1.5), rng.uniform(5.5, 5.8))


@dg.task(
    states=("north", "middle", "south"),
    actions=("off", "heat north", "heat middle", "heat south"),
    low=(18, 18, 18),
    high=(22, 22, 22),
    units=("C", "C", "C"),
)
class Rooms(NamedTuple):
    """One heater for three rooms, which should stay between 18 and 22 degrees."""

    heat: float = 1.2

    def transition(self, s: Any, a: int) -> Any:
        n = s[0] + 0.05 * (s[1] - s[0]) + 0.02 * (10.0 - s[0]) + (self.heat if a == 1 else 0.0)
        m = s[1] + 0.05 * (s[0] + s[2] - 2.0 * s[1]) + 0.02 * (10.0 - s[1]) + (self.heat if a == 2 else 0.0)
        o = s[2] + 0.05 * (s[1] - s[2]) + 0.02 * (10.0 - s[2]) + (self.heat if a == 3 else 0.0)
        out = min(n, m, o) < 18.0 or max(n, m, o) > 22.0
        return (n, m, o), (-1.0 if out else 0.0), out

    def start(self, rng: Any) -> Any:
        return (rng.uniform(19.5, 20.5), rng.uniform(19.5, 20.5), rng.uniform(19.5, 20.5))


@dg.task(
    states=("offset", "heading", "steering"),
    actions=("left", "hold", "right"),
    low=(-1.5, -0.3, -0.1),
    high=(1.5, 0.3, 0.1),
    units=("m", "rad", "rad"),
)
class Lane(NamedTuple):
    """A car at 15 m/s whose steering, which has an end, turns slowly, should stay in its lane."""

    speed: float = 15.0

    def transition(self, s: Any, a: int) -> Any:
        steering = min(0.1, max(-0.1, s[2] + 0.025 * (1.0 - a)))
        heading = s[1] + 0.05 * self.speed / 2.7 * math.tan(steering)
        offset = s[0] + 0.05 * self.speed * math.sin(heading)
        out = abs(offset) > 1.5 or abs(heading) > 0.3
        return (offset, heading, steering), (-1.0 if out else 0.0), out

    def start(self, rng: Any) -> Any:
        return (rng.uniform(-0.5, 0.5), rng.uniform(-0.05, 0.05), 0.0)


@dg.task(
    states=("gap", "speed", "lead"),
    actions=("brake", "coast", "push"),
    low=(0, 0, 5),
    high=(60, 30, 25),
    units=("m", "m/s", "m/s"),
)
class Following(NamedTuple):
    """A car should follow another, whose driver changes speed at will, neither too near nor too far."""

    brake: float = 4.0
    push: float = 2.0
    rng: np.random.Generator = np.random.default_rng(0)

    def transition(self, s: Any, a: int) -> Any:
        lead = min(25.0, max(5.0, s[2] + 0.2 * self.rng.uniform(-1.5, 1.5)))
        speed = min(30.0, max(0.0, s[1] + 0.2 * (-self.brake if a == 0 else self.push if a == 2 else 0.0)))
        gap = s[0] + 0.2 * (s[2] - s[1])
        out = gap < 3.0 or gap > 60.0
        return (gap, speed, lead), (-1.0 if out else 0.0), out

    def start(self, rng: Any) -> Any:
        return (rng.uniform(25.0, 35.0), rng.uniform(14.0, 16.0), rng.uniform(14.0, 16.0))


class Row(NamedTuple):
    """A plant, what is not known exactly when it is learned and proven, and how many cells may hold all."""

    plant: Any
    ranges: dict[str, tuple[float, float]] | None = None
    cells: int | None = None

    @property
    def name(self) -> str:
        """As ``--plants`` takes it."""
        return self.plant.__name__ + (" range" if self.ranges else "")


ROWS = (
    Row(Integrator),
    Row(Upright),
    Row(Tanks),
    Row(Converter),
    Row(Converter, {"supply": (0.99, 1.01)}, 10_000),
    Row(Rooms),
    Row(Lane),
    Row(Following),
    Row(plants.DoubleIntegrator),
    Row(plants.UprightPendulum),
    Row(plants.TwoTanks),
    Row(plants.BoostConverter),
    Row(plants.ThreeRooms),
    Row(plants.LaneKeeping),
)


class Learned(NamedTuple):
    """A controller, and what it took."""

    controller: Controller
    summary: dict[str, Any]
    seconds: float


class Measured(NamedTuple):
    """What was proven of one controller."""

    finding: ProgramFinding
    of_survivors: float
    of_box: float
    proving: float
    checking: float


def learned(row: Row, seed: int, learner: str | None = None) -> Learned:
    """Learn a controller until it is proven from all starts."""
    begun = time.process_time()
    run = dg.learn(row.plant(), learner=learner, seed=seed, prove=True, ranges=row.ranges)
    return Learned(run.controller, run.summary, time.process_time() - begun)


def measured(row: Row, controller: Controller, seed: int) -> Measured:
    """Prove, check and sample."""
    spec = spec_of(row.plant())
    begun = time.process_time()
    finding = ask_program(Request(spec, controller, seed, cells=row.cells, ranges=row.ranges or {}))
    proving = time.process_time() - begun
    if finding.certificate is not None:
        check(finding.certificate)
    checking = time.process_time() - begun - proving
    rng = np.random.default_rng(seed)
    states = rng.uniform(spec.low, spec.high, (SAMPLES, len(spec.low)))
    surviving = ~evaluate(spec.task, controller, rng, states, SURVIVED).ended
    held = finding.attempt.holds(states)
    return Measured(finding, float(held[surviving].mean()), float(held.mean()), proving, checking)


def failures(row: Row, one: Measured, controller: Controller, steps: int) -> tuple[int, int]:
    """Simulate certified states, and a random agent in the shield: steps in all, and how many trials fail."""
    if one.finding.certificate is None:
        return 0, 0
    spec, rng = spec_of(row.plant()), np.random.default_rng(1)
    guard = ProgramGuard(one.finding.certificate, spec.task)
    states = rng.uniform(spec.low, spec.high, (4_000, len(spec.low)))
    states = states[guard.all_held(states)][:1_000]
    each = -(-steps // len(states))
    outcome = evaluate(spec.task, controller, rng, states, each)
    walked = guard.walk(states[:100], max(1, each // 100))
    return int(outcome.lengths.sum()) + walked, int(outcome.ended.sum()) + (
        walked < 100 * max(1, each // 100)
    )


class Line(NamedTuple):
    """A line of the table."""

    plant: str
    learner: str  #: "" for the task's own
    steps: int  #: that are simulated at least
    seed: int
    learned: float  #: seconds
    proven: bool  #: from all starts
    prototypes: int
    proofs: int
    of_survivors: float
    of_box: float
    of_provable: float
    cells: int
    longest: int  #: steps
    proving: float
    checking: float
    simulated: int
    failures: int


def line_of(plant: str, learner: str, steps: int, seed: int) -> Line:
    """Learn, prove and simulate."""
    row = next(row for row in ROWS if row.name == plant)
    found = learned(row, seed, learner or None)
    one = measured(row, found.controller, seed)
    attempt, provable = one.finding.attempt, one.finding.answer(True).details["share_of_provable"]
    return Line(
        *(plant, learner, steps, seed, found.seconds, bool(found.summary["proven"])),
        *(found.summary["prototypes"], found.summary.get("proofs", 0)),
        *(one.of_survivors, one.of_box, float(provable), int(attempt.alive.sum()), attempt.steps),
        *(one.proving, one.checking),
        *(failures(row, one, found.controller, steps) if steps else (0, 0)),
    )


def main() -> None:
    """Print the table."""
    parser = rows.options(__doc__, "proofs-hold", f"{FIRST_SEED}-{FIRST_SEED + 2}")
    parser.add_argument("--learner", default="", help="by default the task's own")
    names = ",".join(row.name for row in ROWS)
    parser.add_argument("--plants", default=names, help="names, with commas between them; by default all")
    parser.add_argument(
        "--steps", type=int, default=0, help="simulated from certified states of each controller"
    )
    asked = parser.parse_args()
    plants = asked.plants.split(",")
    keys = [(plant, asked.learner, asked.steps, seed) for plant in plants for seed in asked.seeds]
    known = rows.measured(asked.table, Line, line_of, keys)
    print(
        "plant                 seed  learned s  proven  prototypes  proofs  of survivors  of the box  of provable"
        "       cells  steps  proving s  checking s  failures"
    )
    for line in known:
        print(
            f"{line.plant:20}{line.seed:6}  {line.learned:9.1f}  {'all' if line.proven else 'no':6}  "
            f"{line.prototypes:10}  {line.proofs:6}  {line.of_survivors:12.2%}  {line.of_box:10.2%}"
            f"  {line.of_provable:11.2%}  {line.cells:10,}  {line.longest:5}"
            f"  {line.proving:9.2f}  {line.checking:10.2f}  {line.failures} of {line.simulated:,} steps"
        )


if __name__ == "__main__":
    main()
