"""How robust is the default learner, and what is each part of it worth? Makes docs/robustness.md and its data.

    python -m benchmarks.robustness                          # everything; a quarter of an hour on one core
    python -m benchmarks.robustness --quick                  # a few seeds of everything
    python -m benchmarks.robustness --tasks CartPole-v1 --seeds 80000-80001 --out page.md

Runs that the data beside the page has already are not run again: remove it to measure anew.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.robustness.failures import written_failures
from benchmarks.robustness.measure import measured
from benchmarks.robustness.page import written
from benchmarks.robustness.plan import CLASSIC, HELD_OUT, OTHERS, ROWS, Plan

from distinguo.runs.seeds import seeds as parse_seeds

DOCS = Path(__file__).parents[2] / "docs"
QUICK = 3  #: seeds


def asked() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default=f"{HELD_OUT[0]}-{HELD_OUT[-1]}", help="FIRST-LAST")
    parser.add_argument("--tasks", nargs="+", default=list(CLASSIC), choices=CLASSIC)
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--only", action="store_true", help="neither the variants nor the puck, nor replays")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} seeds")
    parser.add_argument("--out", type=Path, default=DOCS / "robustness.md")
    return parser.parse_args()


def main() -> None:
    """Measure, and write the page."""
    options = asked()
    seeds = parse_seeds(options.seeds)
    plan = Plan(
        tuple(options.tasks),
        tuple(options.rows),
        seeds[:QUICK] if options.quick else seeds,
        {} if options.only else OTHERS,
        not options.only,
    )
    figures = measured(plan.jobs(), options.out.with_suffix(".csv"))
    options.out.write_text(written(plan, figures, "" if options.only else written_failures()))
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
