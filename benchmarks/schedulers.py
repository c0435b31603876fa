"""What drives investigation, measured: `python benchmarks/schedulers.py [--seeds 40000-40099] [--write] [PART …]`.

Parts: on the puck, `model` (the learner by a learned model), `growing` (the paper's learner) and `table` (a grid of
10 x 10); without cycles, tables of the same size for `fork` and `descent`. A run is solved by the same criterion
under every scheduler: on the puck, if the greedy policy holds 100,000 steps; elsewhere, if its return is that of the
fixed point of the same table, which is known beforehand (the descent's by value iteration).
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import distinguo as dg

SCHEDULERS = ("stack", "sweeping", "dyna", "dyna-oldest", "rout")
SIZE, GAMMA = 10, 0.99
COLUMNS = (
    "part",
    "scheduler",
    "changed",
    "seeds",
    "solved",
    "trials",
    "environment_steps",
    "investigation_steps",
)
COUNTED = ("backups", "model_queries", "regions", "cycles")


def cost(i: int, j: int, a: int) -> float:
    """Return the reward of a step on the descent: between -1 and 0, and without a pattern to the eye."""
    return -((7 * i + 13 * j + 5 * a + i * j) % 11) / 11.0


def fixed_point() -> float:
    """Return what the greedy policy of the descent's exact values gains, from the first cell to the end."""
    value = np.zeros((SIZE + 1, SIZE + 1))
    for i in reversed(range(SIZE)):
        for j in reversed(range(SIZE)):
            value[i, j] = max(
                cost(i, j, 0) + GAMMA * value[i + 1, j], cost(i, j, 1) + GAMMA * value[i, j + 1]
            )
    i = j = 0
    gained = 0.0
    while i < SIZE and j < SIZE:
        a = int(cost(i, j, 1) + GAMMA * value[i, j + 1] > cost(i, j, 0) + GAMMA * value[i + 1, j])
        gained += cost(i, j, a)
        i, j = i + 1 - a, j + a
    return gained


@dg.task(
    states=("i", "j"),
    actions=("down", "right"),
    low=(0, 0),
    high=(SIZE, SIZE),
    threshold=fixed_point() - 1e-9,
)
class Descent(NamedTuple):
    """From cell to cell, down or to the right, at a price, until the grid is left: no cell is met twice."""

    size: int = SIZE

    def transition(self, s: Any, a: int) -> Any:
        """Go to the next cell."""
        i, j = int(s[0]), int(s[1])
        price = -((7 * i + 13 * j + 5 * a + i * j) % 11) / 11.0
        i, j = i + 1 - a, j + a
        return (i + 0.5, j + 0.5), price, i >= self.size or j >= self.size

    def start(self, rng: Any) -> Any:
        """Begin in the first cell."""
        return (0.5, 0.5)


@dg.task(states=("lane", "place"), actions=("left", "right"), low=(0, 0), high=(SIZE, SIZE), threshold=-0.5)
class Fork(NamedTuple):
    """The first step decides on a lane, whose worth is only known at its end, as many steps later."""

    size: int = SIZE

    def transition(self, s: Any, a: int) -> Any:
        """Choose a lane, or go on in it."""
        lane, place = (a if s[1] < 1.0 else int(s[0])), int(s[1]) + 1
        ends = place >= self.size
        return (lane + 0.5, place + 0.5), (-0.5 - 0.5 * lane if ends else 0.0), ends

    def start(self, rng: Any) -> Any:
        """Begin before the fork."""
        return (0.5, 0.5)


LEARNERS: dict[str, tuple[Any, str]] = {
    "model": ("puck", "model"),
    "growing": ("puck", "scheduled"),
    "table": ("puck", "table"),
    "fork": (Fork(), "table"),
    "descent": (Descent(), "table"),
}
TRIALS = {"model": 400, "growing": 400, "table": 500, "fork": 500, "descent": 2_000}
#: Steps that the puck must be kept up, and then once more; elsewhere, trials that confirm a return.
LONG = {
    "stage.cap": 100_000,
    "stage.hold": 100_000,
    "stage.confirm": 20,
    "stage.confirm_steps": 200,
}


def arms(part: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the schedulers to compare in a part, with what is changed for each."""
    if LEARNERS[part][1] == "table":  # back up from any region, as the sources do, or from reliable ones
        for scheduler in ("none", *SCHEDULERS[:-1]):
            yield scheduler, {"learner.min_updates": 0}
            yield scheduler, {"learner.min_updates": 3}
        yield "rout", {}
        return
    for scheduler in SCHEDULERS:
        yield scheduler, {}
    for scheduler in ("sweeping", "dyna", "dyna-oldest"):
        yield scheduler, {"learner.investigations": 20}


def measure(part: str, scheduler: str, changed: Mapping[str, Any], seeds: range) -> dict[str, Any]:
    """Return a row of the table: medians over the runs that were solved."""
    task, learner = LEARNERS[part]
    settings = {"learner.scheduler": scheduler, "stage.trials": TRIALS[part], **LONG, **changed}
    if part == "model":  # trials in the model would be investigations, too
        settings["learner.rehearsals"] = 0
    runs = [dg.learn(task, learner=learner, seed=seed, settings=settings).summary for seed in seeds]
    solved = [run for run in runs if run["solved"]]
    row = {
        "part": part,
        "scheduler": scheduler,
        "changed": _short(changed),
        "seeds": len(runs),
        "solved": len(solved),
    }
    for name in (*COLUMNS[5:], *COUNTED):
        key = "backups_before_last" if name == "backups" and part == "table" else name
        values = [run[key] for run in solved if key in run]
        row[name] = f"{np.median(values):.0f}" if values else ""
    return row


def _short(changed: Mapping[str, Any]) -> str:
    return " ".join(f"{name.removeprefix('learner.')}={value}" for name, value in changed.items())


def main() -> None:
    """Measure, print, and with --write replace the rows of these parts in docs/schedulers.csv."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(LEARNERS), metavar="PART")
    parser.add_argument("--seeds", default="0-19")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    first, last = map(int, arguments.seeds.split("-"))
    names = (*COLUMNS, *COUNTED)
    rows = []
    print(" | ".join(names))
    for part in arguments.parts:
        for scheduler, changed in arms(part):
            rows.append(measure(part, scheduler, changed, range(first, last + 1)))
            print(" | ".join(str(rows[-1][name]) for name in names), flush=True)
    if arguments.write:
        write(Path(__file__).parent.parent / "docs" / "schedulers.csv", names, rows)


def write(path: Path, names: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
    """Write the rows, with the earlier ones of parts that were not measured now."""
    parts = {row["part"] for row in rows}
    if path.exists():
        with path.open() as file:
            rows = [row for row in csv.DictReader(file) if row["part"] not in parts] + rows
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
