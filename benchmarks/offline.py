"""What is learned from logged random steps, tried in new trials of the real task.

    python -m benchmarks.offline                       # ten logs of each task, with and without its name
    python -m benchmarks.offline puck --seeds 1-10 --learners model economy --named
    python -m benchmarks.offline --draw                # the table of the rows so far

A log has 20,000 steps of a random policy. A controller is learned from it without a step in the task, and then tried
in 100 new trials (of the puck, whose trials all begin alike, in one of 500,000 steps). The seed is that of the log
and of the learner, which is the default one unless others are asked for. Where the task is not named, nothing but the
log is known: neither the limit of trials nor what solves the task. Rows go to docs/offline.csv as soon as they are
known; what is there is not run again.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from benchmarks import rows

import distinguo as dg
from distinguo.runs.logged import tried
from distinguo.runs.seeds import seeds as parse_seeds
from distinguo.settings import StageSettings
from distinguo.tasks.catalog import task_spec

DOCS = Path(__file__).parents[1] / "docs"
CSV, PAGE = DOCS / "offline.csv", DOCS / "how-to" / "offline.md"
BEGIN, END = "<!-- table -->", "<!-- end of the table -->"
TASKS = ("puck", "CartPole-v1")
DEFAULT, DEFAULT_OF_LOGS = "default", "probation"
STEPS = 20_000


class Row(NamedTuple):
    """What came of one log."""

    task: str
    named: bool  #: whether the learner was told the task
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


def measured(task: str, named: bool, learner: str, seed: int) -> Row:
    """Learn from a log and try the result."""
    log, chosen = dg.record(task, steps=STEPS, seed=seed), None if learner == DEFAULT else learner
    began = time.process_time()
    run = dg.learn(task if named else None, data=log, learner=chosen, seed=seed)
    took, facts = time.process_time() - began, run.summary
    if not named:
        facts = facts | tried(task_spec(task), run.controller, seed, StageSettings().hold)
    return Row(
        task,
        named,
        run.configuration.learner_name,
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


def table() -> str:
    """The table of the page."""
    lines = [
        "| task | named | learner | logs | solved | median score | prototypes | steps in the model | seconds |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|---|")
    kinds: dict[tuple[bool, str, bool], list[Row]] = {}
    for row in rows.read(CSV, Row):
        kinds.setdefault((row.learner != DEFAULT_OF_LOGS, row.task, not row.named), []).append(row)
    for _, own in sorted(kinds.items()):
        score, prototypes, steps, seconds = (
            np.median(rows.column(own, name)) for name in ("score", "prototypes", "model_steps", "seconds")
        )
        lines.append(
            f"| {own[0].task} | {'yes' if own[0].named else 'no'} | `{own[0].learner}` | {len(own)} "
            f"| {sum(row.solved for row in own)} | {score:,.0f} | {prototypes:g} | {steps:,.0f} | {seconds:.0f} |"
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
    parser.add_argument("--seeds", default="101-110")
    parser.add_argument("--learners", nargs="+", default=[DEFAULT])
    parser.add_argument("--named", action="store_true", help="only with the name of the task")
    parser.add_argument("--draw", action="store_true")
    given = parser.parse_args()
    if not given.draw:
        learners = [DEFAULT_OF_LOGS if one == DEFAULT else one for one in given.learners]
        named = (True,) if given.named else (True, False)
        rows.measured(
            CSV, Row, measured, product(given.tasks or TASKS, named, learners, parse_seeds(given.seeds))
        )
    draw()


if __name__ == "__main__":
    main()
