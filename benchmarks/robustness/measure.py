"""One run of the plan, and the figures that are kept of it."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from plan import Job

from distinguo.engines.engine import Engine
from distinguo.engines.jobs import Job as EngineJob
from distinguo.processes import Failed
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
    known = {line[:4]: line for line in read(data)} if data.exists() else {}
    missing = [job for job in jobs if job not in known]
    asked = [EngineJob(" ".join(map(str, job)), measure, {"job": list(job)}) for job in missing]
    for number, (key, answer) in enumerate(Engine("processes").run(asked)):
        if isinstance(answer, Failed):
            raise SystemExit(f"{key}: {answer.reason}")
        line = Figures(*answer)
        known[line[:4]] = line
        append(data, line)
        print(f"{number + 1} of {len(missing)}: {line}", flush=True)
    return [known[job] for job in jobs]


def read(data: Path) -> Iterator[Figures]:
    """Read the lines of the data."""
    types = get_type_hints(Figures)
    with data.open(newline="") as file:
        for line in csv.DictReader(file):
            yield Figures(*(kind(line[name]) for name, kind in types.items()))


def append(data: Path, figures: Figures) -> None:
    """Write a line at the end of the data."""
    data.parent.mkdir(parents=True, exist_ok=True)
    begins = not data.exists()
    with data.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if begins:
            writer.writerow(Figures._fields)
        writer.writerow(figures)
