"""Measure the learner ``evolution``: the tables of docs/evolution.md.

    python -m benchmarks.evolution                                   # LunarLander-v3, ten seeds, on all cores
    python -m benchmarks.evolution CartPole-v1 Acrobot-v1 MountainCar-v0 --learners evolution probation
    python -m benchmarks.evolution CartPole-v1 --seeds 91000-91004 --set learner.population=16

Every controller is tried again in 100 new trials, solved or not. LunarLander-v3 needs Box2D (``pip install
"distinguo[others]"``).
"""

from __future__ import annotations

import time
from itertools import product
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from benchmarks import rows

import distinguo as dg
from distinguo.cli.parse import changes as parse_changes

NEW = 100  #: trials that a controller is tried in again
HELD_OUT = "95000-95009"
FIRST_NEW = 10**6  #: the seed of the first new trial, far from those of any run


class Row(NamedTuple):
    """The figures of a run."""

    task: str
    learner: str
    changes: str  #: of its settings
    seed: int
    solved: bool
    anew: float
    prototypes: int
    steps: int
    confirmation: int
    seconds: float


def tried_anew(task: str, run: Any) -> float:
    """The mean return of new trials, in Gymnasium's own environment."""
    env, returns = gymnasium.make(task), []
    first = int(env.action_space.start) if hasattr(env.action_space, "start") else 0
    for number in range(NEW):
        seen, _ = env.reset(seed=FIRST_NEW + number)
        gained, over = 0.0, False
        while not over:
            seen, reward, ended, stopped, _ = env.step(run.controller.action(seen.tolist()) + first)
            gained, over = gained + float(reward), ended or stopped
        returns.append(gained)
    return float(np.mean(returns))


def measured(task: str, learner: str, changes: str, seed: int) -> Row:
    """Learn once."""
    began = time.perf_counter()
    run = dg.learn(task, learner=learner, seed=seed, settings=parse_changes(changes.split()))
    took, summary = time.perf_counter() - began, run.summary
    steps, confirmation = int(summary["environment_steps"]), int(summary["confirmation_steps"])
    figures = (tried_anew(task, run), int(summary["prototypes"]), steps, confirmation, round(took, 1))
    return Row(task, learner, changes, seed, run.solved, *figures)


def main() -> None:
    """Print a line for each run, and one for all of a learner on a task."""
    parser = rows.options(__doc__, "evolution", HELD_OUT)
    parser.add_argument("tasks", nargs="*", default=["LunarLander-v3"])
    parser.add_argument("--learners", nargs="+", default=["evolution"])
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE")
    asked = parser.parse_args()
    ways = list(product(asked.tasks, asked.learners, [" ".join(asked.set)]))
    known = rows.measured(asked.table, Row, measured, [(*way, seed) for way in ways for seed in asked.seeds])
    for task, learner, changes in ways:
        own = [row for row in known if row[:3] == (task, learner, changes)]
        threshold = gymnasium.spec(task).reward_threshold or np.inf
        solved, anew, prototypes, steps, confirmation = (rows.column(own, one) for one in Row._fields[4:9])
        print(
            f"{task} {learner}: solved {solved.sum()} of {len(own)}, at the threshold in {NEW} new trials "
            f"{(anew >= threshold).sum()}; prototypes {np.median(prototypes):g} (at most {prototypes.max()}); steps "
            f"{np.median(steps):,.0f} (at most {steps.max():,}); confirmation {np.median(confirmation):,.0f}"
        )


if __name__ == "__main__":
    main()
