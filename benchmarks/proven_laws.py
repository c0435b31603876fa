"""How many laws are proven as they are learned: eight plants with a continuous force, several seeds each.

    python -m benchmarks.proven_laws [--seeds 3]

Prints a line for every run: the plant, the seed, whether it is solved and proven, the share of all states that is
proven, and the seconds. The plants are carts with walls and pendulums that should not fall.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import Any, NamedTuple

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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    proven = runs = 0
    for plant in PLANTS:
        for seed in range(parser.parse_args().seeds):
            begun = time.monotonic()
            known = dg.learn(plant, prove=True, seed=seed).summary
            proven, runs = proven + bool(known["proven"]), runs + 1
            words = f"solved {known['solved']}  proven {known['proven']}  of all states {known['proven_states']:.1%}"
            print(f"{plant}  seed {seed}  {words}  {time.monotonic() - begun:.0f} s", flush=True)
    print(f"{proven} of {runs} proven")


if __name__ == "__main__":
    main()
