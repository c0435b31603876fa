"""Measure what each setting of the learner by surprise is worth: the tables of docs/readings.md.

    python benchmarks/surprise.py --seeds 0-49
    python benchmarks/surprise.py --only "the defaults" --tasks MountainCar-v0,Acrobot-v1

Every row changes one setting, or a few, of what suits the task. Steps are those of learning; those of confirmations
are a column of their own.
"""

from __future__ import annotations

import argparse

import numpy as np

from distinguo.engines.engine import Engine
from distinguo.learners.catalog import SURPRISE
from distinguo.runs.configuration import configure
from distinguo.runs.many import learn_many

ROWS: list[tuple[str, dict[str, object]]] = [
    ("the defaults", {}),
    ("explore 0", {"learner.explore": 0.0}),
    ("explore 0.01", {"learner.explore": 0.01}),
    ("explore 0.05", {"learner.explore": 0.05}),
    ("explore 0.1", {"learner.explore": 0.1}),
    ("values begin at 0", {"learner.optimistic": False}),
    ("gamma 0.8", {"learner.gamma": 0.8}),
    ("gamma 0.95", {"learner.gamma": 0.95}),
    ("gamma 0.98", {"learner.gamma": 0.98}),
    ("epsilon 0.002 of the range", {"learner.epsilon_share": 0.002}),
    ("epsilon 0.05 of the range", {"learner.epsilon_share": 0.05}),
    ("epsilon 0.2 of the range", {"learner.epsilon_share": 0.2}),
    ("alpha 0.02", {"learner.alpha": 0.02}),
    ("alpha 0.3", {"learner.alpha": 0.3}),
    ("MIN_UPDATES 1", {"learner.min_updates": 1}),
    ("MIN_UPDATES 10", {"learner.min_updates": 10}),
    ("no consolidation", {"learner.merge_interval": 0}),
    ("consolidation after every trial", {"learner.merge_interval": 1}),
    ("consolidation, youngest first", {"learner.merge_into_youngest": True}),
    ("a split leaves 3 updates", {"learner.reduced_updates": 3}),
    ("a new prototype has no update", {"learner.new_updates": 0}),
    ("a new prototype has 3 updates", {"learner.new_updates": 3}),
    ("surprise by one action value", {"learner.surprise_by_transition": True}),
    ("surprise only by reliable regions", {"learner.surprise_reliable": True}),
    ("two standard deviations make a surprise", {"learner.confidence": 2.0}),
    ("delta 0.01 (ties)", {"learner.delta": 0.01}),
    ("scales of the preliminary series", {"learner.rescale": False}),
    ("attempts of at most 300 prototypes", {"stage.prototypes": 300}),
    ("no attempt ends by its trials", {"stage.restart": 10**9}),
]


def measure(task: str, changes: dict[str, object], seeds: range) -> str:
    """Return the cells of a row that are about one task."""
    configurations = [configure(task, seed=n, learner=SURPRISE, changes=changes) for n in seeds]
    runs = learn_many(configurations, engine=Engine(workers=1))

    def middle(key: str) -> str:
        mid, high = np.percentile([run.summary[key] for run in runs], [50, 95])
        return f"{mid:,.0f} ({high:,.0f})"

    solved = sum(run.solved for run in runs)
    return f"{solved} | {middle('regions')} | {middle('environment_steps')} | {middle('confirmation_steps')}"


def main() -> None:
    """Print the table in Markdown, a row as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="0-49", help="such as 0-49")
    parser.add_argument("--tasks", default="CartPole-v1,puck", help="names with commas between")
    parser.add_argument("--only", default="", help="measure only the rows whose name contains this")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split("-"))
    tasks = options.tasks.split(",")
    print(
        "| change | " + " | ".join(f"{task}: solved | regions | steps | to confirm" for task in tasks) + " |"
    )
    print("|---|" + "---|" * (4 * len(tasks)))
    for name, changes in ROWS:
        if options.only not in name:
            continue
        cells = [measure(task, changes, range(first, last + 1)) for task in tasks]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
