"""The command: run what was not run yet, and write what all runs say."""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import benchmarks.rivals
from benchmarks.rivals import ars, ours, report, sb3, search, tables
from benchmarks.rivals.world import TASKS

from distinguo.runs.seeds import seeds as parse_seeds

ROOT = Path(__file__).parents[2]
Learn = Callable[[str, int, int], dict[str, Any]]
#: In the order of the table.
RIVALS: dict[str, Learn] = {
    "ours": ours.learn,
    "ours, from the start": functools.partial(ours.learn, name="ours, from the start", **ours.FROM_THE_START),
    "random search": search.random_search,
    "evolutionary tree": search.evolution,
    "grid, Q-learning": tables.grid,
    "tiles, SARSA(λ)": tables.sarsa,
    "ARS": ars.ars,
    "DQN": sb3.dqn,
    "QR-DQN": sb3.qr_dqn,
    "PPO": sb3.ppo,
}
#: Those that take minutes a run get fewer seeds.
SLOW = tuple(sb3.PACKAGES)


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
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="where the page is written to")
    parser.add_argument("--report", action="store_true", help="write the page of the runs there are")
    return parser.parse_args()


def place(options: argparse.Namespace, task: str, name: str, seed: int) -> Path:
    words = "".join(c if c.isalnum() else "-" for c in f"{task} {name}")
    return options.runs / f"{words}-{seed}-{options.budget}.json"


def jobs(options: argparse.Namespace, names: list[str]) -> list[tuple[str, str, int]]:
    """Return what is to be run: the slow ones last."""
    listed = [
        (task, name, seed)
        for name in names
        for task in options.tasks
        for seed in options.seeds[: options.slow_seeds if name in SLOW else None]
    ]
    return sorted(listed, key=lambda job: job[1] in SLOW)


def run(options: argparse.Namespace, job: tuple[str, str, int]) -> None:
    """Run, keep it, and say how it went."""
    task, name, seed = job
    found = RIVALS[name](task, seed, options.budget)
    path = place(options, *job)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found), encoding="utf-8")
    how = "solved" if found["solved"] else "not solved"
    print(
        f"{task}, {name}, seed {seed}: {how} after {found['steps']:,} steps, "
        f"{found['size']:,} {found['unit']} ({found['seconds']:.0f} s)",
        flush=True,
    )


def main() -> None:
    options = asked()
    lacking = {n: sb3.missing(n) for n in options.rivals if n in sb3.PACKAGES}
    left_out = [f"{n} was left out: `{how}` brings it." for n, how in lacking.items() if how]
    print("\n".join(left_out), end="\n" if left_out else "")
    planned = jobs(options, [n for n in options.rivals if not lacking.get(n)])
    for job in planned:
        if not options.report and not place(options, *job).is_file():
            run(options, job)
    done = [place(options, *job) for job in planned if place(options, *job).is_file()]
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in done]
    if not runs:
        raise SystemExit("No run of these was made yet; leave --report out to make them.")
    unrun = {name for _, name, _ in planned} - {run["rival"] for run in runs}
    left_out += [f"{name} was not run yet." for name in RIVALS if name in unrun]
    report.write(runs, options.out, left_out)
    print(
        f"Written: {options.out / 'rivals.md'}, {options.out / 'rivals.csv'}, {options.out / 'images/rivals.png'}"
    )


if __name__ == "__main__":
    main()
