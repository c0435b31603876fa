"""Many coordinates of which two matter: a double integrator beside which constants, noise or drifts are observed.

    python -m benchmarks.many_coordinates --seeds 100-109
    python -m benchmarks.many_coordinates --seeds 100-100 --coordinates 147,2835 --kinds noise --goals return

Every row is one task and learner. Steps are trials, mini-trials and the series that finds what matters; the ratio is
that of the medians to the same task with two coordinates, on the same seeds. ``--without`` leaves the series out.
"""

from __future__ import annotations

import resource
import time
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from benchmarks import rows

import distinguo as dg

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


class Row(NamedTuple):
    """The figures of a run."""

    goal: str
    learner: str
    others: str
    coordinates: int
    many: bool  #: whether the series is run that finds what matters
    seed: int
    solved: bool
    steps: int
    regions: int
    seconds: float  #: of the processor
    memory: int  #: MiB of the process, at most


def measured(goal: str, learner: str, others: str, coordinates: int, many: bool, seed: int) -> Row:
    """Learn once."""
    began, named = time.process_time(), None if learner == DEFAULT else learner
    changes = BRIEF | ({} if many else {"stage.many": 0})
    task = integrator(others, goal, coordinates - 2)
    run = dg.learn(task, seed=seed, learner=named, settings=changes).summary
    room = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    figures = (run["solved"], run["environment_steps"], run["regions"], time.process_time() - began, room)
    return Row(goal, learner, others, coordinates, many, seed, *figures)


def main() -> None:
    parser = rows.options(__doc__, "many-coordinates", "100-109")
    parser.add_argument("--coordinates", default="20")
    parser.add_argument("--kinds", default=KINDS)
    parser.add_argument("--goals", default=GOALS)
    parser.add_argument("--learners", default=LEARNERS)
    parser.add_argument("--without", action="store_true")
    options = parser.parse_args()
    counts = [int(count) for count in options.coordinates.split(",")]
    others = [("none", 2), *product(options.kinds.split(","), counts)]
    ways = list(product(options.goals.split(","), options.learners.split(",")))
    keys = [(*way, *other, not options.without, n) for way in ways for other in others for n in options.seeds]
    known = rows.measured(options.table, Row, measured, keys)
    print(
        "| goal | learner | others | coordinates | solved | steps, median | ratio | regions at most | CPU s | MiB |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for way in ways:
        few = 0.0
        for other in others:
            own = [row for row in known if row[:4] == (*way, *other)]
            steps = float(np.median(rows.column(own, "steps")))
            few = few or steps
            regions, room = (rows.column(own, name).max() for name in ("regions", "memory"))
            seconds = rows.column(own, "seconds").sum()
            print(
                f"| {way[0]} | `{way[1]}` | {other[0]} | {other[1]} | {sum(row.solved for row in own)} of {len(own)} "
                f"| {steps:,.0f} | {steps / few:.2f} | {regions} | {seconds:.0f} | {room:,} |"
            )


if __name__ == "__main__":
    main()
