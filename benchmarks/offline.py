"""What is learned from logged random steps, tried in new trials of the real task.

    python -m benchmarks.offline                       # ten logs of each task, three learners; half an hour
    python -m benchmarks.offline puck --seeds 11-20 --learners model
    python -m benchmarks.offline --draw                # the table of the rows so far

A log has 20,000 steps of a random policy. A controller is learned from it without a step in the task, and then tried
in 100 new trials (of the puck, whose trials all begin alike, in one of 500,000 steps). The seed is that of the log
and of the learner. Rows go to docs/offline.csv as soon as they are known; what is there is not run again.
"""

from __future__ import annotations

import argparse
import csv
import time
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

import distinguo as dg
from distinguo.runs.seeds import seeds as parse_seeds

DOCS = Path(__file__).parents[1] / "docs"
CSV, PAGE = DOCS / "offline.csv", DOCS / "how-to" / "offline.md"
BEGIN, END = "<!-- table -->", "<!-- end of the table -->"
TASKS = ("puck", "CartPole-v1")
LEARNERS = ("model", "economy", "probation")
STEPS = 20_000


class Row(NamedTuple):
    """What came of one log."""

    task: str
    learner: str
    seed: int
    steps: int  #: logged
    episodes: int
    promised: bool  #: whether the controller solves the task in the model
    solved: bool  #: and in the real one
    score: float  #: there: the median length or the mean return
    regions: int
    prototypes: int
    model_steps: int  #: taken in the model to learn
    seconds: float  #: of the processor


def measured(task: str, learner: str, seed: int) -> Row:
    """Learn from a log and try the result."""
    log = dg.record(task, steps=STEPS, seed=seed)
    began = time.process_time()
    run = dg.learn(task, data=log, learner=learner, seed=seed)
    took, facts = time.process_time() - began, run.summary
    return Row(
        task,
        learner,
        seed,
        STEPS,
        len(log.starts),
        run.solved,
        facts["tried_solved"],
        facts["tried_score"],
        facts["regions"],
        facts["prototypes"],
        facts["environment_steps"],
        round(took, 1),
    )


def known_rows() -> dict[tuple[str, str, str], dict[str, str]]:
    """The rows so far, by what was measured."""
    if not CSV.exists():
        return {}
    with CSV.open(newline="") as file:
        return {(row["task"], row["learner"], row["seed"]): row for row in csv.DictReader(file)}


def keep(row: Row) -> None:
    """Append a row."""
    first = not CSV.exists()
    with CSV.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if first:
            writer.writerow(Row._fields)
        writer.writerow(row)


def table() -> str:
    """The table of the page."""
    rows = list(known_rows().values())
    lines = ["| task | learner | logs | solved | median score | prototypes | steps in the model | seconds |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for task, learner in dict.fromkeys((row["task"], row["learner"]) for row in rows):
        own = [row for row in rows if (row["task"], row["learner"]) == (task, learner)]
        solved = sum(row["solved"] == "True" for row in own)
        middle = {
            name: float(np.median([float(row[name]) for row in own]))
            for name in ("score", "prototypes", "model_steps", "seconds")
        }
        lines.append(
            f"| {task} | `{learner}` | {len(own)} | {solved} | {middle['score']:,.0f} | {middle['prototypes']:g} | "
            f"{middle['model_steps']:,.0f} | {middle['seconds']:.0f} |"
        )
    return "\n".join(lines)


def draw() -> None:
    """Write the table into the page."""
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}")


def main() -> None:
    """Measure what is not known yet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", default=TASKS)
    parser.add_argument("--seeds", default="1-10")
    parser.add_argument("--learners", nargs="+", default=LEARNERS)
    parser.add_argument("--draw", action="store_true")
    given = parser.parse_args()
    if not given.draw:
        for seed, task, learner in product(parse_seeds(given.seeds), given.tasks or TASKS, given.learners):
            if (task, learner, str(seed)) not in known_rows():
                row = measured(task, learner, seed)
                keep(row)
                print(*row, flush=True)
    draw()


if __name__ == "__main__":
    main()
