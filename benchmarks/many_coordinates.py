"""Many coordinates of which two matter: a double integrator beside which constants, noise or drifts are observed.

    python -m benchmarks.many_coordinates --seeds 100-109
    python -m benchmarks.many_coordinates --seeds 100-100 --coordinates 147,2835 --kinds noise --goals return

Every row is one task and learner. Steps are trials, mini-trials and the series that finds what matters; the ratio is
that of the medians to the same task with two coordinates, on the same seeds. ``--without`` leaves the series out.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any, NamedTuple

import numpy as np

import distinguo as dg
from distinguo.runs.seeds import seeds as parse_seeds

KINDS, GOALS, LEARNERS = "constant,noise,drift", "hold,return", "default,economy,probation"
DEFAULT = "default"  #: the learner that is chosen
BRIEF = {"stage.steps": 50_000, "stage.cap": 2_000, "stage.hold": 2_000}


def integrator(kind: str, goal: str, more: int) -> Any:
    """Return the task: hold |x| <= 1, or survive 200 steps, with ``more`` coordinates beside x and v."""

    class Integrator(NamedTuple):
        """The state holds the other coordinates, too, so that it can be restored."""

        rng: np.random.Generator = np.random.default_rng(0)

        def transition(self, s: Any, a: int) -> Any:
            x, v, rest = s[0] + 0.1 * s[1], s[1] + 0.1 * (2 * a - 1), s[2:]
            if kind == "noise":
                rest = self.rng.uniform(-1.0, 1.0, more).tolist()
            elif kind == "drift":
                rest = (np.array(rest) + self.rng.normal(0.0, 0.05, more)).tolist()
            out = abs(x) > 1.0
            return (x, v, *rest), (1.0 if goal == "return" else -1.0 * out), out

        def start(self, rng: Any) -> Any:
            x, v = rng.uniform(-0.05, 0.05, 2)
            apart = np.random.default_rng(int(abs(x) * 1e9))  # the learner draws as with two coordinates
            return (
                x,
                v,
                *(apart.uniform(-1.0, 1.0, more) if kind != "constant" else np.full(more, 0.5)).tolist(),
            )

    judged = {"score": "return", "limit": 200, "threshold": 195.0} if goal == "return" else {}
    names = ("x", "v", *(f"o{i}" for i in range(more)))
    bounds = (1.0, 2.0, *[1.0] * more)
    declare = dg.task(
        states=names,
        actions=("left", "right"),
        low=tuple(-b for b in bounds),
        high=bounds,
        compiled=False,
        **judged,
    )
    return declare(Integrator)()


def row(
    kind: str, goal: str, learner: str, more: int, seeds: range, changes: dict[str, Any]
) -> tuple[int, float, int]:
    """Return how many were solved, the median of the steps, and the most regions."""
    asked, named = {**BRIEF, **changes}, None if learner == DEFAULT else learner
    runs = [
        dg.learn(integrator(kind, goal, more), seed=seed, learner=named, settings=asked).summary
        for seed in seeds
    ]
    steps = float(np.median([run["environment_steps"] for run in runs]))
    return sum(run["solved"] for run in runs), steps, max(run["regions"] for run in runs)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default="100-109")
    parser.add_argument("--coordinates", default="20")
    parser.add_argument("--kinds", default=KINDS)
    parser.add_argument("--goals", default=GOALS)
    parser.add_argument("--learners", default=LEARNERS)
    parser.add_argument("--without", action="store_true")
    options = parser.parse_args()
    seeds, changes = parse_seeds(options.seeds), {"stage.many": 0} if options.without else {}
    print(
        "| goal | learner | others | coordinates | solved | steps, median | ratio | regions at most | CPU s | MiB |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for goal in options.goals.split(","):
        for learner in options.learners.split(","):
            few = 0.0
            for kind, count in [
                ("none", 2),
                *((k, int(c)) for k in options.kinds.split(",") for c in options.coordinates.split(",")),
            ]:
                began = time.process_time()
                solved, steps, regions = row(kind, goal, learner, count - 2, seeds, changes)
                few = few or steps
                room = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
                print(
                    f"| {goal} | `{learner}` | {kind} | {count} | {solved} of {len(seeds)} | {steps:,.0f} | "
                    f"{steps / few:.2f} | {regions} | {time.process_time() - began:.0f} | {room:,} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
