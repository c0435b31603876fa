"""The paper's learner with amounts: the puck pushed by any force, a dose, and what each of our choices changes.

    python -m benchmarks.amounts [--seeds 30]
    python -m benchmarks.amounts --condense [--seeds 10]    # laws instead of constants

Prints a row for each variant: how many seeds are solved, and the medians of regions, sampled amounts and steps. The
puck starts near the top of its hill, not on it, where no force would do. Three levels are the same task with the
criteria for finite actions.
"""

from __future__ import annotations

import argparse
import math
from statistics import median
from typing import Any, NamedTuple

import numpy as np

import distinguo as dg
from distinguo.learners.economy import amounts


def hill(s: Any, f: float) -> tuple[tuple[float, float], float, bool]:
    """The puck's next state under a force, the reward, and whether it hits a wall."""
    u = -0.6 * s[0]
    c = 1.0 / math.sqrt(1.0 + u * u)
    x, v = s[0] + 0.02 * s[1], s[1] + 0.02 * (f - 9.8 * (u * c)) * c
    fell = not (-2.4 < x < 2.4)
    return (x, v), (-1.0 if fell else 0.0), fell


dg.part(hill)
BOUNDS: Any = {"states": ("x", "v"), "low": (-2.4, -5.5), "high": (2.4, 5.5)}


@dg.task(actions=dg.amounts(-3, 3), **BOUNDS)
class PuckOfAmounts(NamedTuple):
    """Any force up to a limit."""

    unused: float = 0.0

    def transition(self, s: Any, f: float) -> Any:
        return hill(s, f)

    def start(self, rng: np.random.Generator) -> Any:
        return (rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3))


@dg.task(actions=dg.levels(-3, 3, 3), **BOUNDS)
class PuckOfLevels(NamedTuple):
    """Three forces."""

    unused: float = 0.0

    def transition(self, s: Any, f: float) -> Any:
        return hill(s, f)

    def start(self, rng: np.random.Generator) -> Any:
        return (rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3))


@dg.task(states=("need",), actions=dg.amounts(-1, 1), low=(-1.0,), high=(1.0,), threshold=-0.06)
class Dose(NamedTuple):
    """One dose per trial, 0.4 on the right side and -0.6 on the left: neither is a sample at first."""

    left: float = -0.6
    right: float = 0.4

    def transition(self, s: Any, u: float) -> Any:
        wrong = u - (self.right if s[0] > 0.0 else self.left)
        return (s[0],), -wrong * wrong, True

    def start(self, rng: np.random.Generator) -> Any:
        return (rng.uniform(-1.0, 1.0),)


@dg.task(states=("need",), actions=dg.amounts(-1, 1), low=(-1.0,), high=(1.0,), threshold=-0.06)
class Slope(NamedTuple):
    """One dose per trial, in proportion to the need: one law says it, and no constant does."""

    gain: float = 0.8

    def transition(self, s: Any, u: float) -> Any:
        wrong = u - self.gain * s[0]
        return (s[0],), -wrong * wrong, True

    def start(self, rng: np.random.Generator) -> Any:
        return (rng.uniform(-1.0, 1.0),)


STEPS = 5_000_000  #: of condensing a run


def condensed_row(name: str, task: Any, seeds: int) -> None:
    """Print how many constants were learned, and how many laws and prototypes they are condensed to."""
    runs = [dg.learn(task, learner="economy", seed=seed) for seed in range(seeds)]
    smaller = [dg.condense(run, seed=n, steps=STEPS) for n, run in enumerate(runs) if run.solved]
    laws = [1 if one.laws is None else len(one.laws) for one in smaller]
    sizes = [len(one.controller.partition.prototypes) for one in smaller]
    regions = median(run.summary["regions"] for run in runs)
    kept = sum(one.kept for one in smaller)
    print(
        f"| {name} | {kept} of {seeds} | {regions:g} | {median(laws):g} | {max(laws)} | {median(sizes):g} |",
        flush=True,
    )


def row(name: str, task: Any, seeds: int, **settings: Any) -> None:
    """Print the row of a variant."""
    cap = {"stage.cap": settings.pop("cap")} if "cap" in settings else {}
    runs = [dg.learn(task, learner="economy", seed=seed, settings=cap) for seed in range(seeds)]
    regions, steps = (median(run.summary[key] for run in runs) for key in ("regions", "environment_steps"))
    sampled, solved = [run.q.shape[1] for run in runs], sum(run.solved for run in runs)
    found = f"{regions:g} | {median(sampled):g} | {max(sampled)} | {steps:,g}"
    print(f"| {name} | {solved} of {seeds} | {found} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--condense", action="store_true")
    asked = parser.parse_args()
    seeds = asked.seeds
    if asked.condense:
        print("| task | kept | constants | laws | most | prototypes |")
        print("|---|---|---|---|---|---|")
        condensed_row("a dose in proportion", Slope(), seeds)
        condensed_row("two doses", Dose(), seeds)
        condensed_row("puck", PuckOfAmounts(), seeds)
        return
    print("| variant | solved | regions | sampled amounts | most | steps |")
    print("|---|---|---|---|---|---|")
    row("as it is", PuckOfAmounts(), seeds)
    row("trials of 500,000 steps", PuckOfAmounts(), seeds, cap=500_000)
    row("three levels, finite criteria", PuckOfLevels(), seeds, cap=10_000)
    row("dose", Dose(), seeds)
    amounts.EVERY = 10**9
    row("no refinement", PuckOfAmounts(), seeds)
    row("dose, no refinement", Dose(), seeds)


if __name__ == "__main__":
    main()
