"""Runs of the plans in benchmarks/plans, kept as lines of a table: medians, and where nine tenths of the runs are.

    python -m benchmarks.planned any-task --figures regions trials environment_steps confirmation_steps
    python -m benchmarks.planned surprise surprise-defaults --figures regions environment_steps confirmation_steps

``distinguo study benchmarks/plans/any-task.toml`` does the same runs, with a table of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from benchmarks import rows

from distinguo.engines.code import imported
from distinguo.runs.learn import learn_configured
from distinguo.runs.settings_file import from_toml, to_toml
from distinguo.studies.measure import figures_of
from distinguo.studies.plan import StudyPlan, load_study

PLANS = Path(__file__).parent / "plans"
KEY = {"plan": str, "task": str, "asked": str, "settings": str, "seed": int}  #: first fields of every line


def plans_of(names: Sequence[str], folder: Path = PLANS) -> dict[str, StudyPlan]:
    """The plans of these names; those that a folder does not have are left out."""
    imported(PLANS / "tasks.py")
    paths = {name: folder / f"{name}.toml" for name in names}
    return {name: load_study(path) for name, path in paths.items() if path.exists()}


def asked(kind: type[tuple[Any, ...]], plans: Mapping[str, StudyPlan]) -> rows.Asked:
    """The runs of the plans; ``kind`` has the fields of ``KEY``, and names of figures of a run."""
    figures = list(get_type_hints(kind).items())[len(KEY) :]
    shared = {"names": [name for name, _ in figures], "whole": [of is int for _, of in figures]}
    texts = {
        (name, cell): to_toml(one)
        for name, plan in plans.items()
        for cell, one in plan.configurations.items()
    }
    return {
        (name, *cell, seed): {
            "key": [name, *cell, seed],
            "settings": texts[name, cell],
            "trials": plan.head.trials,
            **shared,
        }
        for name, plan in plans.items()
        for _, cell, seed in plan.runs()
    }


def measured(table: Path, kind: type[rows.Row], plans: Mapping[str, StudyPlan]) -> list[rows.Row]:
    """The lines of all runs of the plans."""
    return rows.measured(table, kind, learned, asked(kind, plans))


def learned(
    key: Sequence[Any], settings: str, trials: int, names: Sequence[str], whole: Sequence[bool]
) -> list[Any]:
    """Learn as a plan says, and return a line; a figure that a learner does not have is NaN."""
    run = learn_configured(from_toml(settings)._replace(seed=key[-1]))
    told = {**run.summary, **figures_of(run, trials)}
    values = (told.get(name, np.nan) for name in names)
    return [*key, *(_kept(value, is_whole) for value, is_whole in zip(values, whole, strict=True))]


def _kept(value: Any, whole: bool) -> Any:
    return value if isinstance(value, str) else int(value) if whole else round(float(value), 2)


def words_of(settings: str) -> str:
    """The name of settings in words.

    >>> words_of("beta-0.15")
    'beta 0.15'
    """
    return settings.replace("-", " ")


def print_table(plan: StudyPlan, runs: Sequence[Any], names: Sequence[str]) -> None:
    """Print a table for each task and learner of a plan."""
    for task, asked in dict.fromkeys((cell.task, cell.learner) for cell in plan.cells):
        print(
            f"\n{task}, {asked}\n\n| change | solved | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}"
        )
        for cell in plan.cells:
            own = [run for run in runs if run[1:4] == cell]
            if own and cell[:2] == (task, asked):
                cells = [rows.spread(rows.column(own, name)) for name in names]
                solved = f"{sum(run.solved for run in own)} of {len(own)}"
                print(f"| {words_of(cell.settings)} | {solved} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "plans", nargs="+", help=f"of {', '.join(sorted(p.stem for p in PLANS.glob('*.toml')))}"
    )
    parser.add_argument("--figures", nargs="+", default=["prototypes", "environment_steps"])
    parser.add_argument("--folder", type=Path, default=PLANS, help="where the plans are")
    options = parser.parse_args()
    fields = {**KEY, "solved": int, **dict.fromkeys(options.figures, float)}
    kind: Any = NamedTuple("Run", list(fields.items()))  # type: ignore[misc]
    for name, plan in plans_of(options.plans, options.folder).items():
        table = rows.KEPT / f"{name}-{'-'.join(options.figures)}.csv"
        print_table(plan, measured(table, kind, {name: plan}), options.figures)


if __name__ == "__main__":
    main()
