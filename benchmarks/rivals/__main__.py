"""The command: run what was not run yet, and write what all runs say."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import benchmarks.rivals
from benchmarks.rivals import report, sb3
from benchmarks.rivals.study import RIVALS, SLOW, learned
from benchmarks.rivals.world import TASKS

from distinguo.engines.engine import ENGINES, checked_engine
from distinguo.engines.jobs import Job
from distinguo.engines.results import StudyResults
from distinguo.processes import Failed
from distinguo.runs.seeds import seeds as parse_seeds

ROOT = Path(__file__).parents[2]


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rivals",
        description=benchmarks.rivals.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rivals", nargs="+", choices=list(RIVALS), default=list(RIVALS))
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--seeds", type=parse_seeds, default=parse_seeds("70000-70009"))
    parser.add_argument("--slow-seeds", type=int, default=3, help="of these, for DQN, QR-DQN and PPO")
    parser.add_argument("--budget", type=int, default=200_000, help="learning steps of a run at most")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "rivals", help="where runs are kept")
    parser.add_argument("--engine", default="processes", choices=ENGINES)
    parser.add_argument("--workers", type=int, help="all cores if not given")
    parser.add_argument("--address", help="of a dask scheduler")
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="where the page is written to")
    parser.add_argument("--report", action="store_true", help="write the page of the runs there are")
    return parser.parse_args()


def jobs(options: argparse.Namespace, names: list[str]) -> list[Job]:
    """Return what is to be run: the slow ones last."""
    listed = [
        (name in SLOW, task, name, seed)
        for name in names
        for task in options.tasks
        for seed in options.seeds[: options.slow_seeds if name in SLOW else None]
    ]
    return [
        Job(
            f"{task}, {name}, seed {seed}",
            learned,
            {"rival": name, "task": task, "seed": seed, "budget": options.budget},
        )
        for _, task, name, seed in sorted(listed, key=lambda one: one[0])
    ]


def told(key: str, found: Any) -> str:
    """Say how a run went."""
    if isinstance(found, Failed):
        return f"{key}: failed, {found.reason}"
    how = "solved" if found["solved"] else "not solved"
    size = f"{found['size']:,} {found['unit']} ({found['seconds']:.0f} s)"
    return f"{key}: {how} after {found['steps']:,} steps, {size}"


def main() -> None:
    options = asked()
    lacking = {n: sb3.missing(n) for n in options.rivals if n in sb3.PACKAGES}
    left_out = [f"{n} was left out: `{how}` brings it." for n, how in lacking.items() if how]
    print("\n".join(left_out), end="\n" if left_out else "")
    planned = jobs(options, [n for n in options.rivals if not lacking.get(n)])
    results = StudyResults(options.runs)
    if not options.report:
        engine = checked_engine(options.engine, options.workers, options.address)
        for key, found in results.each(planned, engine):
            print(told(key, found), flush=True)
    runs = [one for one in results.answers(planned).values() if not isinstance(one, Failed)]
    if not runs:
        raise SystemExit("No run of these was made yet; leave --report out to make them.")
    unrun = {job.arguments["rival"] for job in planned} - {run["rival"] for run in runs}
    left_out += [f"{name} was not run yet." for name in RIVALS if name in unrun]
    report.write(runs, options.out, left_out)
    print(
        f"Written: {options.out / 'rivals.md'}, {options.out / 'rivals.csv'}, {options.out / 'images/rivals.png'}"
    )


if __name__ == "__main__":
    main()
