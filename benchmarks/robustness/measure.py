"""One run of the plan, and the figures that are kept of it."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, get_type_hints

import numpy as np
from plan import Job

from distinguo.engines.engine import Engine
from distinguo.evaluation.tester import Batch, outcome_of
from distinguo.runs.many import learn_many
from distinguo.runs.run import Run
from distinguo.tasks.extent import TEST, observed_extent
from distinguo.tasks.spec import MeanReturn
from distinguo.tasks.task import start

TRIALS = 300  #: new greedy trials of a task that asks for a mean return
PLACES, LONG = (
    50,
    5_000_000,
)  #: new greedy trials of a task that asks to hold on, and the steps that they should last
ANEW = 1  #: a second seed beside the run's own, so that no start of learning or confirmation comes again


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


def measure(job: Job) -> Figures:
    """Learn, and try what was learned on new starts."""
    run = learn_many([job.configuration()], engine=Engine(workers=1))[0]
    summary, (fresh, reached) = run.summary, tried_anew(run)
    return Figures(
        *job,
        summary["learner"],
        int(run.solved),
        int(run.solved and reached),
        round(fresh, 2),
        summary["prototypes"],
        summary["environment_steps"],
        summary["confirmation_steps"],
        summary["failed_confirmation_steps"],
        summary["total_steps"],
        summary["attempts"],
    )


def tried_anew(run: Run) -> tuple[float, bool]:
    """Return how well the greedy policy does from new starts, and whether that is what the task asks for."""
    spec = run.configuration.spec
    rng = np.random.default_rng([run.configuration.seed, ANEW])
    if isinstance(spec.goal, MeanReturn):
        mean = float(new_trials(run, TRIALS, rng).mean())
        return mean, spec.goal.threshold is not None and mean >= spec.goal.threshold
    starts = observed_extent(spec.task).draw(rng, TEST, PLACES)
    batch = Batch(starts[spec.controllable_among(starts)], LONG)
    median = float(
        np.median(outcome_of(spec.task, run.controller, rng, batch, provable=run.controller).lengths)
    )
    return median, median >= LONG


def new_trials(run: Run, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return the returns of greedy trials from new starts."""
    spec = run.configuration.spec
    starts = np.array([start(spec.task, rng) for _ in range(count)])
    returns: np.ndarray = outcome_of(spec.task, run.controller, rng, Batch(starts, spec.cap(10**6))).returns
    return returns


def measured(jobs: Sequence[Job], data: Path) -> list[Figures]:
    """Return the figures of all jobs; those that the data has already are not run again."""
    known = {line[:4]: line for line in read(data)} if data.exists() else {}
    for number, job in enumerate(jobs):
        if job not in known:
            known[job] = measure(job)
            append(data, known[job])
            print(f"{number + 1} of {len(jobs)}: {known[job]}", flush=True)
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
