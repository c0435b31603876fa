"""Does a solved run stay at the threshold in Gymnasium's own environment? 300 new trials for each seed.

    python -m benchmarks.own_environment --seeds 80000-80099

Runs are learned on our compiled ports, as always; the trials here are Gymnasium's.
"""

from __future__ import annotations

import argparse

from benchmarks.distilled import new_returns

from distinguo.runs.learn import learn
from distinguo.runs.seeds import seeds as parse_seeds

TASKS = ("CartPole-v1", "Acrobot-v1", "MountainCar-v0")
TRIALS, FIRST = 300, 1_000_000  #: trials of a run, and the first seed of all


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default="80000-80099", help="FIRST-LAST")
    asked = parse_seeds(parser.parse_args().seeds)
    for task in TASKS:
        kept = 0
        for seed in asked:
            run = learn(task, seed=seed)
            mean = float(new_returns(run, FIRST + TRIALS * seed, TRIALS).mean())
            threshold = run.configuration.spec.threshold
            reached = run.solved and threshold is not None and mean >= threshold
            kept += reached
            if not reached:
                print(f"{task}, seed {seed}: solved {run.solved}, mean {mean:.2f}", flush=True)
        print(
            f"{task}: {kept} of {len(asked)} solved and at the threshold in {TRIALS} new trials", flush=True
        )


if __name__ == "__main__":
    main()
