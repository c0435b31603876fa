"""How robust is the default learner, and what is each part of it worth? Makes docs/robustness.md and its data.

    python -m benchmarks.robustness

The plans are robustness-*.toml in benchmarks/plans; ``--plans`` names another folder, for fewer seeds or settings.
Runs that the data beside the page has already are not run again: remove it to measure anew.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import planned
from benchmarks.robustness.failures import written_failures
from benchmarks.robustness.measure import measured, plans_in
from benchmarks.robustness.page import written

DOCS = Path(__file__).parents[2] / "docs"


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--plans", type=Path, default=planned.PLANS)
    parser.add_argument("--out", type=Path, default=DOCS / "robustness.md")
    options = parser.parse_args()
    plans = plans_in(options.plans)
    figures = measured(plans, options.out.with_suffix(".csv"))
    replays = written_failures() if options.plans == planned.PLANS else ""
    options.out.write_text(written(plans, figures, replays))
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
