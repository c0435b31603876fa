"""Measure what each reading of the paper does: the tables of docs/readings.md.

    python -m benchmarks.readings --preset fast --seeds 1000-1099
    python -m benchmarks.readings --preset paper --seeds 1000-1099

Every row changes one setting, or a few, of a preset. "Carries over" is the share of the maps learned from scratch on
which a fresh Q-learner (discount 0.99, else as in settings.py) reaches a median of 50 trials of 100,000 steps
after 50,000 training steps. Steps are those of ``summarise``: trials and mini-trials, without the final long trial.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from benchmarks import rows

from distinguo.controller import Controller
from distinguo.controls import PAPER_SEEDS
from distinguo.evaluation.simulate import follow
from distinguo.evaluation.training import fresh_training, train
from distinguo.presets import FAST, PAPER
from distinguo.runs.configuration import configure
from distinguo.runs.learn import learn_configured
from distinguo.runs.run import Run
from distinguo.settings import TesterSettings

FAST_ROWS: dict[str, dict[str, object]] = {
    "the preset": {},
    "gamma 0.95": {"gamma": 0.95},
    "gamma 0.98": {"gamma": 0.98},
    "gamma 0.995": {"gamma": 0.995},
    "epsilon 0.05": {"epsilon": 0.05},
    "epsilon 0.2": {"epsilon": 0.2},
    "delta 0.01 (ties)": {"delta": 0.01},
    "delta = epsilon (one delta everywhere)": {"delta": 0.1},
    "alpha 0.02": {"alpha": 0.02},
    "alpha 0.2": {"alpha": 0.2},
    "ENOUGH_SAMPLES 1": {"enough_samples": 1},
    "ENOUGH_SAMPLES 10": {"enough_samples": 10},
    "MAX_STEPS 1": {"max_steps": 1},
    "MAX_STEPS 20": {"max_steps": 20},
    "MAX_STEPS 100": {"max_steps": 100},
    "no coin": {"coin": 0.0},
    "coin 0.01": {"coin": 0.01},
    "coin 0.1": {"coin": 0.1},
    "1 % random actions": {"explore": 0.01},
    "FE_TIMER: every 2nd trial": {"fe_interval": 2},
    "FE_TIMER: every 3rd trial": {"fe_interval": 3},
    "FE_TIMER: every 2nd popped state": {"fe_interval": 2, "fe_counts_trials": False},
    "every 2nd trial, coin 0.1": {"fe_interval": 2, "coin": 0.1},
    "every 2nd trial, coin 0.1, epsilon 0.02": {"fe_interval": 2, "coin": 0.1, "epsilon": 0.02},
    "every 2nd trial, coin 0.1, delta = epsilon": {"fe_interval": 2, "coin": 0.1, "delta": 0.1},
    "no consolidation": {"merge_interval": 0},
    "MERGE_TIMER 1": {"merge_interval": 1},
    "MERGE_TIMER 50": {"merge_interval": 50},
    "consolidation, youngest first": {"merge_into_youngest": True},
    "a split leaves no reliability": {"reduced_updates": 0},
    "a split leaves 2 updates": {"reduced_updates": 2},
    "a new prototype has 1 update": {"new_updates": 1},
    "a new prototype has 3 updates": {"new_updates": 3},
    "a new region is not yet investigated": {"new_investigated": False},
    "bootstrap by gamma^steps": {"discount_steps": True},
    "terminal states reliable in Figure 3": {"terminal_reliable": True},
    "surprise by one action value": {"surprise_by_transition": True},
    "surprise only by reliable regions": {"surprise_reliable": True},
    "merged regions reviewed at MERGE_TIMER": {"review_merged": True},
    "MIN_UPDATES 1": {"min_updates": 1},
}
PAPER_ROWS: dict[str, dict[str, object]] = {
    "the preset": {},
    "gamma 0.8": {"gamma": 0.8},
    "gamma 0.95": {"gamma": 0.95},
    "gamma 0.99": {"gamma": 0.99},
    "epsilon = delta = 0.002": {"epsilon": 0.002, "delta": 0.002},
    "epsilon = delta = 0.01": {"epsilon": 0.01, "delta": 0.01},
    "epsilon = delta = 0.1": {"epsilon": 0.1, "delta": 0.1},
    "delta 0": {"delta": 0.0},
    "alpha 0.0001": {"alpha": 0.0001},
    "alpha 0.01": {"alpha": 0.01},
    "ENOUGH_SAMPLES 3": {"enough_samples": 3},
    "MAX_STEPS 5": {"max_steps": 5},
    "no coin": {"coin": 0.0},
    "coin 0.1": {"coin": 0.1},
    "FE_TIMER: every 10th trial": {"fe_interval": 10},
    "FE_TIMER: every 50th trial": {"fe_interval": 50},
    "no consolidation": {"merge_interval": 0},
    "a split leaves no reliability": {"reduced_updates": 0},
    "a split leaves 2 updates": {"reduced_updates": 2},
    "a split leaves 3 updates": {"reduced_updates": 3},
    "a new prototype has 1 update": {"new_updates": 1},
    "a new region is not yet investigated": {"new_investigated": False},
    "terminal states as Figure 3 has them": {"terminal_reliable": False},
    "surprise by Definition 8": {"surprise_by_transition": False},
    "surprise only by reliable regions": {"surprise_reliable": True},
    "merged regions reviewed at MERGE_TIMER": {"review_merged": True},
}
ROWS = {FAST: FAST_ROWS, PAPER: PAPER_ROWS}


def carries_over(run: Run, settings: TesterSettings, cap: int = 100_000) -> bool:
    """Train a fresh learner on the map of a run and tell whether it balances for the median test start."""
    spec, partition = run.configuration.spec, run.representation.partition
    rng = np.random.default_rng([run.configuration.seed, 1])
    learner, done = fresh_training(*run.q.shape, settings, settings.training_cap), 0
    third, quarter = np.array(spec.high) / 3, np.array(spec.high) / 4
    while done < settings.steps:
        first = rng.uniform(-third, third)
        steps, _ = train(spec.task, partition, learner, settings, rng, first, settings.training_cap)
        done += steps
    starts = [rng.uniform(-quarter, quarter) for _ in range(settings.batch)]
    controller = Controller(partition, learner.q, settings.delta)
    lengths = [follow(spec.task, controller, rng, s, cap)[0] for s in starts]
    return bool(np.median(lengths) >= cap)


class Row(NamedTuple):
    """A map learned from scratch and, from ``two`` on, one from the paper's two seed points."""

    preset: str
    change: str
    seed: int
    solved: bool
    regions: int
    trials: int
    steps: int
    carries: bool  #: whether a fresh learner balances on the first map
    two_solved: bool
    two_regions: int
    two_trials: int
    two_steps: int


def measured(preset: str, change: str, seed: int) -> Row:
    """Learn both maps, and try the first."""
    settings = {f"learner.{key}": value for key, value in ROWS[preset][change].items()}
    asked: dict[str, Any] = {"seed": seed, "preset_name": preset, "changes": settings}
    run, two = (
        learn_configured(configure("puck", **asked, **own)) for own in ({}, {"prototypes": PAPER_SEEDS})
    )
    carries = carries_over(run, TesterSettings(gamma=0.99))
    return Row(preset, change, seed, *_figures(run), carries, *_figures(two))


def _figures(run: Run) -> tuple[Any, ...]:
    return (run.solved, *(run.summary[key] for key in ("regions", "trials", "environment_steps")))


def _cells(runs: list[Row], names: tuple[str, ...]) -> str:
    solved, *others = (rows.column(runs, name) for name in names)
    return " | ".join([str(solved.sum()), *map(rows.spread, others)])


def main() -> None:
    """Measure, and print the table in Markdown."""
    parser = rows.options(__doc__, "readings", "1000-1099")
    parser.add_argument("--preset", choices=ROWS, default=FAST)
    parser.add_argument("--only", default="", help="measure only the rows whose name contains this")
    options = parser.parse_args()
    changes = [name for name in ROWS[options.preset] if options.only in name]
    keys = [(options.preset, name, seed) for name in changes for seed in options.seeds]
    known = rows.measured(options.table, Row, measured, keys)
    print(
        "| change | solved | regions | trials | steps | carries over | two seeds: solved | regions | trials | steps |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in changes:
        own = [row for row in known if row.change == name]
        carries = f"{rows.column(own, 'carries').mean():.2f}"
        print(f"| {name} | {_cells(own, Row._fields[3:7])} | {carries} | {_cells(own, Row._fields[8:])} |")


if __name__ == "__main__":
    main()
