"""One run of the plan, and the figures that are kept of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import rows
from benchmarks.robustness.plan import Job

from distinguo.runs.learn import learn_configured
from distinguo.studies.measure import tried_anew
from distinguo.tasks.spec import MeanReturn

TRIALS, PLACES = (
    300,
    50,
)  #: new greedy trials of a task that asks for a mean return, and of one that asks to hold on


class Figures(NamedTuple):
    """A line of the data: a run in short."""

    table: str
    row: str
    task: str
    seed: int
    learner: str
    solved: int
    again: int  #: whether it was solved, and new greedy trials are still at the threshold
    fresh: float  #: their mean return, or their median length
    prototypes: int
    environment_steps: int
    confirmation_steps: int
    failed_confirmation_steps: int
    total_steps: int
    attempts: int


def measure(job: Sequence[Any]) -> list[Any]:
    """Learn, and try what was learned on new starts."""
    asked = Job(*job)
    run = learn_configured(asked.configuration())
    by_return = isinstance(run.configuration.spec.goal, MeanReturn)
    summary, (fresh, reached) = run.summary, tried_anew(run, TRIALS if by_return else PLACES)
    return [
        *asked,
        summary["learner"],
        int(run.solved),
        int(run.solved and reached),
        round(fresh, 2),
        *(summary[name] for name in Figures._fields[8:]),
    ]


def measured(jobs: Sequence[Job], data: Path) -> list[Figures]:
    """Return the figures of all jobs; those that the data has already are not run again."""
    return rows.measured(data, Figures, measure, {tuple(job): {"job": list(job)} for job in jobs})
