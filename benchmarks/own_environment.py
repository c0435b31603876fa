"""Does a solved run stay at the threshold in Gymnasium's own environment? 300 new trials for each seed.

    python -m benchmarks.own_environment --seeds 80000-80099

Runs are learned on our compiled ports, as always; the trials here are Gymnasium's. Runs that are in the
folder are not made again.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.distilled import new_returns

from distinguo.engines.engine import Engine
from distinguo.engines.jobs import Job
from distinguo.engines.results import StudyResults
from distinguo.processes import Failed
from distinguo.runs.learn import learn
from distinguo.runs.seeds import seeds as parse_seeds

TASKS = ("CartPole-v1", "Acrobot-v1", "MountainCar-v0")
TRIALS, FIRST = 300, 1_000_000  #: trials of a run, and the first seed of all


def tried(task: str, seed: int) -> dict[str, Any]:
    """Learn a seed, and follow it through new trials of Gymnasium's own environment."""
    run = learn(task, seed=seed)
    mean = float(new_returns(run, FIRST + TRIALS * seed, TRIALS).mean())
    threshold = run.configuration.spec.threshold
    return {
        "solved": run.solved,
        "mean": mean,
        "reached": run.solved and threshold is not None and mean >= threshold,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default="80000-80099", help="FIRST-LAST")
    parser.add_argument(
        "--runs", type=Path, default=Path("runs/own-environment"), help="where results are kept"
    )
    options = parser.parse_args()
    asked = parse_seeds(options.seeds)
    jobs = [Job(f"{task}, seed {n}", tried, {"task": task, "seed": n}) for task in TASKS for n in asked]
    found = StudyResults(options.runs).run(jobs, Engine("processes"))
    for task in TASKS:
        of = {n: found[f"{task}, seed {n}"] for n in asked}
        for seed, one in of.items():
            if isinstance(one, Failed) or not one["reached"]:
                print(f"{task}, seed {seed}: {one}")
        kept = sum(not isinstance(one, Failed) and one["reached"] for one in of.values())
        print(f"{task}: {kept} of {len(of)} solved and at the threshold in {TRIALS} new trials")


if __name__ == "__main__":
    main()
