"""Measure the learner ``evolution``: the tables of docs/evolution.md.

    python -m benchmarks.evolution                                   # LunarLander-v3, ten seeds, on all cores
    python -m benchmarks.evolution CartPole-v1 Acrobot-v1 MountainCar-v0 --learners evolution probation
    python -m benchmarks.evolution CartPole-v1 --seeds 91000-91004 --set learner.population=16

Every controller is tried again in 100 new trials, solved or not. LunarLander-v3 needs Box2D (``pip install
"distinguo[others]"``).
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

import gymnasium
import numpy as np

import distinguo as dg
from distinguo.cli.parse import changes as parse_changes
from distinguo.engines.engine import Engine
from distinguo.engines.jobs import Job
from distinguo.processes import Failed
from distinguo.runs.seeds import seeds as parse_seeds

NEW = 100  #: trials that a controller is tried in again
HELD_OUT = "95000-95009"
FIRST_NEW = 10**6  #: the seed of the first new trial, far from those of any run


class Row(NamedTuple):
    """The figures of a run."""

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


def measured(task: str, learner: str, seed: int, changes: dict[str, Any]) -> Row:
    """Learn once."""
    began = time.perf_counter()
    run = dg.learn(task, learner=learner, seed=seed, settings=changes)
    took, summary = time.perf_counter() - began, run.summary
    steps, confirmation = int(summary["environment_steps"]), int(summary["confirmation_steps"])
    return Row(run.solved, tried_anew(task, run), int(summary["prototypes"]), steps, confirmation, took)


def main() -> None:
    """Print a line for each run, and one for all of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", default=["LunarLander-v3"])
    parser.add_argument("--learners", nargs="+", default=["evolution"])
    parser.add_argument("--seeds", default=HELD_OUT, help="FIRST-LAST")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    changes = parse_changes(options.set)
    for task in options.tasks:
        threshold = gymnasium.spec(task).reward_threshold or np.inf
        for learner in options.learners:
            rows = []
            asked = {"task": task, "learner": learner, "changes": changes}
            jobs = [Job(str(n), measured, {**asked, "seed": n}) for n in parse_seeds(options.seeds)]
            for seed, found in Engine("processes").run(jobs):
                if isinstance(found, Failed):
                    raise SystemExit(f"{task} {learner} seed {seed}: {found.reason}")
                rows.append(row := Row(*found))
                answer = "solved" if row.solved else "not solved"
                print(
                    f"{task} {learner} seed {seed}: {answer}, {row.anew:.1f} on {NEW} "
                    f"new trials, {row.prototypes} prototypes, {row.steps:,} steps and {row.confirmation:,} of "
                    f"confirmation, {row.seconds:.0f} s",
                    flush=True,
                )
            columns = [np.array(column) for column in zip(*rows, strict=True)]
            print(
                f"{task} {learner}: solved {columns[0].sum()} of {len(rows)}, at the threshold in {NEW} new trials "
                f"{(columns[1] >= threshold).sum()}; prototypes {np.median(columns[2]):g} (at most "
                f"{columns[2].max()}); steps {np.median(columns[3]):,.0f} (at most {columns[3].max():,}); "
                f"confirmation {np.median(columns[4]):,.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
