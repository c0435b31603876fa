"""How much of what a learned controller holds can be proven, and is a certified start ever seen to fail?

Puck representations are learned with seeds that nothing else uses. Of each, test starts as the tester draws them (the
central quarter) are proven one by one; then all certified starts are simulated, in the task's algebraic form and in
the trigonometric form of the paper's figure 7, which rounds otherwise.

    python benchmarks/proof_figures.py
    python benchmarks/proof_figures.py --seeds 2 --steps 1000000
"""

from __future__ import annotations

import argparse
import math
import time
from typing import NamedTuple

import numpy as np

import distinguo
from distinguo.evaluation.simulate import evaluate
from distinguo.proof.hold.invariant import Held, certify_states, maximal_set
from distinguo.proof.hold.puck import pucks
from distinguo.runs.run import Run
from distinguo.seam import implements
from distinguo.tasks.extent import TEST, Extent
from distinguo.tasks.puck.puck import RIGHT, Puck
from distinguo.tasks.task import actions, transition, unpack

FIRST_SEED, SEEDS, STARTS = 500_000, 20, 200
STEPS = 10**8  #: simulated in each form, over all certified starts
CELLS = (2048, 1024)  #: of the set that any controller can be proven to hold


class Trigonometric(NamedTuple):
    """The puck with sines and cosines."""

    beta: float
    gravity: float
    mass: float
    force: float
    interval: float
    wall: float


@implements(transition, Trigonometric)
def push(task: Trigonometric, s: tuple[float, float], a: int) -> tuple[tuple[float, float], float, bool]:
    """Move for one interval, as figure 7 has it."""
    x, v = s
    theta = math.atan(-2.0 * task.beta * x)
    force = task.force if a == RIGHT else -task.force
    pull = (force - task.mass * task.gravity * math.sin(theta)) * math.cos(theta) / task.mass
    x, v = x + task.interval * v, v + task.interval * pull
    failed = bool(abs(x) >= task.wall)
    return (x, v), -1.0 if failed else 0.0, failed


@implements(actions, Trigonometric)
def two(task: Trigonometric) -> int:
    """There are two actions."""
    return 2


@implements(unpack, Trigonometric)
def pair(task: Trigonometric, row: np.ndarray) -> tuple[float, float]:
    """Read ``(x, v)`` from a row."""
    return (row[0], row[1])


class Proven(NamedTuple):
    """What is proven of one learned controller."""

    run: Run
    starts: np.ndarray  #: the certified ones
    of_controllable: float
    of_provable: float
    undecided: int
    seconds: float


def proven(seed: int, count: int, whole: Held) -> Proven:
    """Learn a controller and prove its test starts."""
    run = distinguo.learn("puck", seed=seed)
    spec = run.configuration.spec
    starts = Extent(spec.low, spec.high).draw(np.random.default_rng(seed), TEST, count)
    starts = starts[spec.controllable_among(starts)]
    begun = time.monotonic()
    outcomes = certify_states(spec.task, run.controller, starts)
    seconds = time.monotonic() - begun
    provable = np.array([whole.holds((float(x), float(v))) for x, v in starts])
    undecided = int((~outcomes.proven & (outcomes.lengths < 0)).sum())
    shares = float(outcomes.proven.mean()), float(outcomes.proven[provable].mean())
    return Proven(run, starts[outcomes.proven], *shares, undecided, seconds)


def falls(one: Proven, task: Puck | Trigonometric, steps: int) -> tuple[int, int]:
    """Simulate the certified starts of one controller: steps in all, and how many fall."""
    run = one.run
    rng = np.random.default_rng(run.configuration.seed)
    outcome = evaluate(task, run.controller, rng, one.starts, steps)
    return int(outcome.lengths.sum()), int(outcome.ended.sum())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--starts", type=int, default=STARTS)
    parser.add_argument("--steps", type=int, default=STEPS)
    asked = parser.parse_args()
    print("seed    solved  regions  controllable proven  provable proven  undecided  certified  seconds")
    every, whole = [], maximal_set(pucks(Puck()), CELLS)
    for seed in range(FIRST_SEED, FIRST_SEED + asked.seeds):
        one = proven(seed, asked.starts, whole)
        every.append(one)
        print(
            f"{seed}  {one.run.solved!s:6}  {one.run.representation.regions:7}  {one.of_controllable:19.1%}"
            f"  {one.of_provable:15.1%}  {one.undecided:9}  {len(one.starts):9}  {one.seconds:7.3f}",
            flush=True,
        )
    print(f"median of the controllable starts: {np.median([one.of_controllable for one in every]):.1%}")
    print(f"median of the provable starts:     {np.median([one.of_provable for one in every]):.1%}")
    puck = Puck()
    certified = sum(len(one.starts) for one in every)
    each = -(-asked.steps // max(certified, 1))
    for name, task in (("algebraic", puck), ("trigonometric", Trigonometric(**puck._asdict()))):
        done, fallen = np.array([falls(one, task, each) for one in every]).sum(axis=0)
        print(f"{name}: {certified} certified starts, {done:,} steps, {fallen} falls", flush=True)


if __name__ == "__main__":
    main()
