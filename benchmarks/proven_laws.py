"""How many laws are proven as they are learned: eight plants with a continuous force, several seeds each.

    python -m benchmarks.proven_laws [--seeds 0-2]

Prints a line for every run: the plant, the seed, whether it is solved and proven, the share of all states that is
proven, and the seconds. The plants are carts with walls and pendulums that should not fall.
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

from benchmarks import rows

import distinguo as dg


@dg.task(states=("x", "v"), actions=dg.amounts(-1, 1), low=(-1, -2), high=(1, 2))
class DrivenCart(NamedTuple):
    """A cart between two walls, pushed by any force up to a limit."""

    push: float = 1.0
    drag: float = 0.0
    interval: float = 0.05

    def transition(self, s: Any, u: float) -> Any:
        v = s[1] + self.interval * (self.push * u - self.drag * s[1])
        x = s[0] + self.interval * v
        out = abs(x) > 1.0
        return (x, v), (-1.0 if out else 0.0), out

    def start(self, rng: Any) -> Any:
        return (rng.uniform(-0.25, 0.25), rng.uniform(-0.25, 0.25))


@dg.task(states=("angle", "rate"), actions=dg.amounts(-1, 1), low=(-0.6, -3), high=(0.6, 3))
class HeldPendulum(NamedTuple):
    """An upright pendulum, held by any torque up to a limit."""

    torque: float = 3.0
    length: float = 1.0
    interval: float = 0.02

    def transition(self, s: Any, u: float) -> Any:
        rate = s[1] + self.interval * (9.81 / self.length * math.sin(s[0]) + self.torque * u)
        angle = s[0] + self.interval * rate
        fell = abs(angle) > 0.6
        return (angle, rate), (-1.0 if fell else 0.0), fell

    def start(self, rng: Any) -> Any:
        return (rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.1))


PLANTS = (
    DrivenCart(),
    DrivenCart(push=5.0, interval=0.02),
    DrivenCart(push=0.6, drag=0.1, interval=0.1),
    DrivenCart(push=4.0, interval=0.01),
    HeldPendulum(),
    HeldPendulum(torque=10.0),
    HeldPendulum(torque=6.0, length=0.7, interval=0.01),
    HeldPendulum(torque=2.0, length=2.0, interval=0.05),
)


class Row(NamedTuple):
    """What came of a run."""

    plant: int
    seed: int
    solved: bool
    proven: bool
    states: float  #: the share of all that is proven
    seconds: float  #: of the processor


def measured(plant: int, seed: int) -> Row:
    """Learn a law until it is proven."""
    begun = time.process_time()
    known = dg.learn(PLANTS[plant], prove=True, seed=seed).summary
    took = time.process_time() - begun
    return Row(plant, seed, known["solved"], bool(known["proven"]), float(known["proven_states"]), took)


def main() -> None:
    options = rows.options(__doc__, "proven-laws", "0-2").parse_args()
    keys = [(plant, seed) for plant in range(len(PLANTS)) for seed in options.seeds]
    known = rows.measured(options.table, Row, measured, keys)
    for row in known:
        words = f"solved {row.solved}  proven {row.proven}  of all states {row.states:.1%}"
        print(f"{PLANTS[row.plant]}  seed {row.seed}  {words}  {row.seconds:.0f} s")
    print(f"{sum(row.proven for row in known)} of {len(known)} proven")


if __name__ == "__main__":
    main()
