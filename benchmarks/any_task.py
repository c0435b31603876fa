"""Measure what each improvement for any task does: the tables "Any task" and "Chance" of docs/readings.md.

    python benchmarks/any_task.py --seeds 80000-80099

Every row changes one setting of what suits tasks judged by return (``presets.BY_RETURN``), or of what suits
chance. Solved means a mean return of at least the threshold over 100 greedy trials, or, for the puck, 100,000 steps
held. Steps are trials, mini-trials and the preliminary series; confirmations are counted apart.
"""

from __future__ import annotations

import argparse

import numpy as np

from distinguo.runs.configuration import configure
from distinguo.runs.learn import warm
from distinguo.runs.many import learn_many
from distinguo.runs.seeds import seeds as parse_seeds

CART_POLE = [
    ("as it is", {}),
    ("not optimistic", {"learner.optimistic": False}),
    ("epsilon 0.1, not a share", {"learner.epsilon_share": 0.0}),
    ("epsilon a share of 0.1", {"learner.epsilon_share": 0.1}),
    ("scaled once, by the preliminary series", {"learner.rescale": False}),
    ("one attempt", {"stage.restart": 0, "stage.trials": 2000}),
    ("attempts of 200 trials", {"stage.restart": 200}),
    ("gamma 0.98", {"learner.gamma": 0.98}),
    ("the preset paper's learner", {"preset": "paper", "stage.trials": 2000, "stage.steps": 200_000}),
]
CHANCE = [
    ("as it is (confidence 2)", {}),
    ("the paper's test for surprise", {"learner.confidence": 0.0}),
    ("2 look-aheads", {"learner.samples": 2}),
    ("4 look-aheads", {"learner.samples": 4}),
    ("4 look-aheads, profiles 1 error apart", {"learner.samples": 4, "learner.split_confidence": 1.0}),
    ("4 look-aheads, the paper's test", {"learner.samples": 4, "learner.confidence": 0.0}),
]
HOLD = {"stage.cap": 100_000, "stage.hold": 100_000}
TABLES = [
    ("CartPole-v1", {}, CART_POLE),
    ("CartPole-v1", {"task.noisy_actions": 0.1}, CHANCE),
    ("puck", {"task.noise": 0.1, **HOLD}, CHANCE),
    ("puck", {"task.noise": 1.0, **HOLD}, CHANCE),
]


def spread(values: list[float]) -> str:
    low, middle, high = np.percentile(values, [5, 50, 95])
    return f"{middle:,.0f} ({low:,.0f}-{high:,.0f})"


def row(task: str, seeds: range, changes: dict[str, object]) -> str:
    asked = dict(changes)
    preset = str(asked.pop("preset", "default"))
    configurations = [
        configure(task, seed=s, preset_name=preset, changes=asked, learner="economy") for s in seeds
    ]
    warm(configurations[0])
    runs = [run.summary for run in learn_many(configurations)]
    columns = [f"{sum(bool(r['solved']) for r in runs)} of {len(runs)}"]
    columns += [
        spread([r[k] for r in runs]) for k in ("regions", "trials", "environment_steps", "confirmation_steps")
    ]
    return " | ".join(columns)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default="80000-80099")
    seeds = parse_seeds(parser.parse_args().seeds)
    for task, common, rows in TABLES:
        print(f"\n{task} {common or ''}\n\n| change | solved | regions | trials | steps | confirmation |")
        print("|---|---|---|---|---|---|")
        for name, changes in rows:
            print(f"| {name} | {row(task, seeds, {**common, **changes})} |", flush=True)


if __name__ == "__main__":
    main()
