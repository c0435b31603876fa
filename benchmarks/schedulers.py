"""What drives investigation, measured by the plans schedulers-*.toml in benchmarks/plans.

    python -m benchmarks.schedulers [--write] [PART ...]

Parts: on the puck, `model` (the learner by a learned model), `growing` (the paper's learner) and `table` (a grid of
10 x 10); without cycles, tables of the same size for `fork` and `descent`. A run is solved by the same criterion
under every scheduler: on the puck, if the greedy policy holds 100,000 steps; elsewhere, if its return is that of the
fixed point of the same table, which is known beforehand (the descent's by value iteration). ``--write`` replaces the
rows of these parts in docs/schedulers.csv.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks import planned, rows

PARTS = ("model", "growing", "table", "fork", "descent")
TABLE = Path(__file__).parent.parent / "docs" / "schedulers.csv"
#: Figures of a table of regions, which counts backups before the last, long trial.
BACKUPS, OF_TABLE = "backups", "backups_before_last"


class Run(NamedTuple):
    """A line of the runs."""

    plan: str
    task: str
    asked: str
    settings: str
    seed: int
    solved: int
    trials: float
    environment_steps: float
    investigation_steps: float
    backups: float
    backups_before_last: float
    model_queries: float
    regions: float
    cycles: float


FIGURES = tuple(name for name in Run._fields[6:] if name != OF_TABLE)


def line(part: str, settings: str, runs: Sequence[Run]) -> dict[str, Any]:
    """A row of the table: medians over the runs that were solved."""
    scheduler, _, changed = settings.partition("--")
    solved = [run for run in runs if run.solved]
    found = {
        "part": part,
        "scheduler": scheduler,
        "changed": "=".join(changed.rsplit("-", 1)),
        "seeds": len(runs),
        "solved": len(solved),
    }
    for name in FIGURES:
        key = OF_TABLE if name == BACKUPS and runs[0].asked == "table" else name
        values = [value for value in rows.column(solved, key) if not np.isnan(value)]
        found[name] = f"{np.median(values):.0f}" if values else ""
    return found


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART")
    parser.add_argument("--plans", type=Path, default=planned.PLANS, help="their folder")
    parser.add_argument("--runs", type=Path, default=rows.KEPT / "schedulers.csv", help="where runs are kept")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    found = []
    for part in options.parts:
        plans = planned.plans_of([f"schedulers-{part}"], options.plans)
        runs = planned.measured(options.runs, Run, plans)
        settings = dict.fromkeys(run.settings for run in runs)
        found += [line(part, one, [run for run in runs if run.settings == one]) for one in settings]
    print(" | ".join(found[0]))
    for row in found:
        print(" | ".join(map(str, row.values())))
    if options.write:
        write(TABLE, found)


def write(path: Path, found: list[dict[str, Any]]) -> None:
    """Write the rows, with the earlier ones of parts that were not measured now."""
    parts = {row["part"] for row in found}
    with path.open() as file:
        kept = [row for row in csv.DictReader(file) if row["part"] not in parts]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept + found)


if __name__ == "__main__":
    main()
