"""The paper's learner with amounts: the puck pushed by any force, a dose, and what each of our choices changes.

    python -m benchmarks.amounts [--seeds 0-29]
    python -m benchmarks.amounts --condense [--seeds 0-9]    # laws instead of constants

Prints a row for each variant: how many seeds are solved, and the medians of regions, sampled amounts and steps. The
puck starts near the top of its hill, not on it, where no force would do. Three levels are the same task with the
criteria for finite actions.
"""

from __future__ import annotations

import math
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from benchmarks import rows

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
#: Task, settings, and whether samples are refined.
VARIANTS: dict[str, tuple[Any, dict[str, Any], bool]] = {
    "as it is": (PuckOfAmounts(), {}, True),
    "trials of 500,000 steps": (PuckOfAmounts(), {"stage.cap": 500_000}, True),
    "three levels, finite criteria": (PuckOfLevels(), {"stage.cap": 10_000}, True),
    "dose": (Dose(), {}, True),
    "no refinement": (PuckOfAmounts(), {}, False),
    "dose, no refinement": (Dose(), {}, False),
}
CONDENSED = {"a dose in proportion": Slope(), "two doses": Dose(), "puck": PuckOfAmounts()}


class Row(NamedTuple):
    """A run."""

    variant: str
    seed: int
    solved: bool
    regions: int
    sampled: int  #: amounts
    steps: int


def measured(variant: str, seed: int) -> Row:
    """Learn once."""
    task, settings, refined = VARIANTS[variant]
    usual, amounts.EVERY = amounts.EVERY, amounts.EVERY if refined else 10**9
    try:
        run = dg.learn(task, learner="economy", seed=seed, settings=settings)
    finally:
        amounts.EVERY = usual
    return Row(
        variant, seed, run.solved, run.summary["regions"], run.q.shape[1], run.summary["environment_steps"]
    )


class Condensed(NamedTuple):
    """A run that was condensed; one that was not solved has no laws."""

    task: str
    seed: int
    regions: int  #: constants
    kept: bool
    laws: int
    prototypes: int


def condensed(task: str, seed: int) -> Condensed:
    """Learn once, and condense."""
    run = dg.learn(CONDENSED[task], learner="economy", seed=seed)
    if not run.solved:
        return Condensed(task, seed, run.summary["regions"], False, 0, 0)
    small = dg.condense(run, seed=seed, steps=STEPS)
    laws = 1 if small.laws is None else len(small.laws)
    prototypes = len(small.controller.partition.prototypes)
    return Condensed(task, seed, run.summary["regions"], small.kept, laws, prototypes)


def print_condensed(runs: list[Condensed]) -> None:
    """Print how many constants were learned, and how many laws and prototypes they are condensed to."""
    laws, sizes = ([getattr(one, name) for one in runs if one.laws] for name in ("laws", "prototypes"))
    kept, regions = sum(one.kept for one in runs), median(one.regions for one in runs)
    found = f"{kept} of {len(runs)} | {regions:g} | {median(laws):g} | {max(laws)} | {median(sizes):g}"
    print(f"| {runs[0].task} | {found} |")


def main() -> None:
    parser = rows.options(__doc__, "amounts", "0-29")
    parser.add_argument("--condense", action="store_true")
    asked = parser.parse_args()
    if asked.condense:
        keys = [(task, seed) for task in CONDENSED for seed in asked.seeds]
        found = rows.measured(asked.table.with_stem("condensed"), Condensed, condensed, keys)
        print("| task | kept | constants | laws | most | prototypes |\n|---|---|---|---|---|---|")
        for task in CONDENSED:
            print_condensed([one for one in found if one.task == task])
        return
    known = rows.measured(asked.table, Row, measured, [(v, seed) for v in VARIANTS for seed in asked.seeds])
    print("| variant | solved | regions | sampled amounts | most | steps |\n|---|---|---|---|---|---|")
    for variant in VARIANTS:
        own = [row for row in known if row.variant == variant]
        regions, sampled, steps = (median(rows.column(own, name)) for name in ("regions", "sampled", "steps"))
        found = f"{regions:g} | {sampled:g} | {max(row.sampled for row in own)} | {steps:,g}"
        print(f"| {variant} | {sum(row.solved for row in own)} of {len(own)} | {found} |")


if __name__ == "__main__":
    main()
