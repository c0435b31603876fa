"""Are the maps of the puck adequate, where their policy goes and everywhere? What makes them so, at what cost?

    python -m benchmarks.adequacy --seeds 0-39
    python -m benchmarks.adequacy --seeds 0-39 --faults

Each row learns the puck with every seed. Where the policy goes: 10,000 states from the top, audited as ``distinguo
audit`` does, with the learner's own gamma; at epsilon 0.005 under the preset ``paper``, else at the preset's own.
Everywhere: a grid over all states; V* are the exact values. No policy can lose more than 1 on the puck, so a bound
of 1 or more is vacuous. ``--faults`` says what is wrong with the maps of the preset ``paper``, and on how many of
them a fresh learner (200,000 steps) is adequate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from benchmarks import rows

from distinguo import criteria
from distinguo.comparison.audit import audit, trained_controller
from distinguo.controller import FeatureController
from distinguo.evaluation.audit import Visits, audit_controller
from distinguo.evaluation.tester import Batch, outcome_of
from distinguo.runs.learn import learn
from distinguo.tasks.puck.analysis import ExactValues
from distinguo.tasks.puck.puck import Puck

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "paper": ("paper", {}),
    "half of ε and δ": ("paper", {"learner.epsilon": 0.0025, "learner.delta": 0.0025}),
    "δ 0": ("paper", {"learner.delta": 0.0}),
    "more mini-trials: coin 0.1": ("paper", {"learner.coin": 0.1}),
    "rarer splits: fe_interval 300": ("paper", {"learner.fe_interval": 300}),
    "α 0.05": ("paper", {"learner.alpha": 0.05}),
    "averages of 1,000 samples": ("paper", {"learner.enough_samples": 1000}),
    "the same, δ 0": ("paper", {"learner.enough_samples": 1000, "learner.delta": 0.0}),
    "the same, half of ε and δ": (
        "paper",
        {"learner.enough_samples": 1000, "learner.epsilon": 0.0025, "learner.delta": 0.0025},
    ),
    "fast": ("fast", {}),
    "default": ("default", {}),
}
SPACING, LONG = 0.1, 5_000  #: of the grid; steps after which a trial counts as held


class Row(NamedTuple):
    """The numbers of a map: where its policy goes and, from ``grid`` on, everywhere."""

    variant: str
    seed: int
    solved: bool
    all_adequate: bool
    adequate: float  #: share of the states
    needed: float  #: ε
    bound: float
    loss: float
    regions: int
    steps: int
    grid: float
    grid_needed: float
    grid_bound: float
    grid_loss: float


def measured(variant: str, seed: int) -> Row:
    """Learn a map and return its numbers."""
    preset, changes = VARIANTS[variant]
    epsilon = 0.005 if preset == "paper" else None
    run = learn("puck", preset=preset, seed=seed, settings=changes)
    there, gamma = audit(run, epsilon=epsilon), run.configuration.learner.gamma
    task, (low, high) = run.configuration.spec.task, (run.configuration.spec.low, run.configuration.spec.high)
    axes = [np.arange(a + SPACING / 2, b, SPACING) for a, b in zip(low, high, strict=True)]
    states = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    grid = audit(run, states=states, epsilon=epsilon)
    over, under = max(0.0, grid.value_errors.max()), max(0.0, -grid.value_errors.min())
    bound = criteria.loss_bound(over, under, grid.regret.max(), criteria.horizon(gamma))
    rng = np.random.default_rng(seed)
    outcome = outcome_of(task, run.controller, rng, Batch(states, LONG), run.controller)
    own = np.where(outcome.ended, -(gamma ** (outcome.lengths - 1.0)), 0.0)
    exact = FeatureController(ExactValues(Puck(), gamma=gamma), np.eye(2))
    best = np.array([exact.value(tuple(s)) for s in states.tolist()])
    return Row(
        variant,
        seed,
        run.solved,
        bool(there.adequate == 1.0),
        float(there.adequate),
        float(there.least_epsilon),
        float(there.bound),
        float(there.loss),
        run.summary["regions"],
        run.summary["environment_steps"],
        float(grid.adequate),
        float(grid.least_epsilon),
        float(bound),
        float((best - own).max()),
    )


def faults(seeds: Sequence[int]) -> None:
    """Print where maps of the preset ``paper`` are not adequate, and what a fresh learner makes of them."""
    runs = [run for run in (learn("puck", preset="paper", seed=seed) for seed in seeds) if run.solved]
    audits = [audit(run) for run in runs]
    everywhere = [a for a in audits if a.adequate == 0.0]
    some = [np.flatnonzero(a.rules) for a in audits if 0.0 < a.adequate < 1.0]
    print(f"solved {len(runs)}, adequate {sum(a.adequate == 1.0 for a in audits)}")
    print(
        f"at no state {len(everywhere)}, of which {sum(a.loss < 0.0 for a in everywhere)} promise too little"
    )
    print(
        f"at some not {len(some)}: {min(map(len, some))} to {max(map(len, some))} states, the last after",
        end=" ",
    )
    print(f"{max(one.max() for one in some)} steps; greatest loss of all {max(a.loss for a in audits):.1g}")
    for delta in (0.005, 0.0):
        fresh = [
            trained_controller(
                run.representation,
                seed=run.configuration.seed,
                gamma=0.9,
                alpha=0.05,
                delta=delta,
                steps=200_000,
            )
            for run in runs
        ]
        found = [audit_controller("puck", one, Visits(), gamma=0.9, epsilon=0.005).adequate for one in fresh]
        print(f"a fresh learner with delta {delta:g} is adequate on {found.count(1.0)} of them")


def main() -> None:
    """Print one row for each variant: solved maps only, medians."""
    parser = rows.options(__doc__, "adequacy", "0-39")
    parser.add_argument("--only", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--faults", action="store_true")
    options = parser.parse_args()
    if options.faults:
        faults(options.seeds)
        return
    keys = [(name, seed) for name in options.only for seed in options.seeds]
    known = rows.measured(options.table, Row, measured, keys)
    print(
        "| variant | solved | adequate where they go | share of states | ε needed | bound | loss | regions | steps "
        "| grid: share | ε needed | bound | loss |\n|" + "---|" * 13
    )
    for name in options.only:
        own = [row for row in known if row.variant == name]
        solved = [row for row in own if row.solved]
        middle = Row(name, 0, *(np.median(rows.column(solved, each)) for each in Row._fields[2:]))
        print(
            f"| {name} | {len(solved)} of {len(own)} | {rows.column(solved, 'all_adequate').sum()} "
            f"| {middle.adequate:.1%} | {middle.needed:.3g} | {middle.bound:.3g} | {middle.loss:z.3f} "
            f"| {middle.regions:g} | {middle.steps:,.0f} | {middle.grid:.1%} | {middle.grid_needed:.3g} "
            f"| {middle.grid_bound:.3g} | {middle.grid_loss:.3f} |"
        )


if __name__ == "__main__":
    main()
