"""A study: many runs on any engine, kept in a folder, and what they come to."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.comparison.plan import readable
from distinguo.engines.code import code_behind
from distinguo.engines.engine import checked_engine
from distinguo.engines.jobs import Job
from distinguo.engines.results import StudyResults, Watch
from distinguo.errors import DistinguoError, checks_names, counted, path_from
from distinguo.evaluation.statistics import interquartile_mean, iqm_interval
from distinguo.learners.learner import learner_named
from distinguo.processes import Failed
from distinguo.progress import show_progress
from distinguo.reading.files import read_text
from distinguo.runs.settings_file import to_toml
from distinguo.studies.measure import TOLD, learning_job
from distinguo.studies.plan import (
    HELD_OUT,
    SUITED,
    StudyCell,
    StudyPlan,
    in_words,
    load_study,
    run_key,
    write_study,
)
from distinguo.writing import is_leftover, write_atomically

PLAN, CSV, MARKDOWN, PICTURE = "plan.toml", "runs.csv", "table.md", "study.png"
LARGEST_WRITTEN = 2**30  #: bytes of a plan with all settings of all cells
HEAD = (
    "task",
    "learner",
    "settings",
    "seeds",
    "solved",
    "again",
    "score",
    "95 % interval",
    "prototypes",
    "steps",
    "in all",
)
#: Figures of a run in the table of all runs.
COLUMNS = (*TOLD, "numbers", "proven", "again", "fresh", "seconds", "failed")


class Row(NamedTuple):
    """A cell of a study on its held-out seeds, or on those for development."""

    cell: StudyCell
    part: str
    runs: list[dict[str, Any]]
    failed: int  #: runs without a result

    @property
    def scores(self) -> np.ndarray:
        """The mean returns in new trials, or their median lengths."""
        return np.array([run["fresh"] for run in self.runs if run["fresh"] is not None], dtype=np.float64)

    def median(self, figure: str) -> float:
        """The median of a figure over the runs."""
        return float(np.median([run[figure] for run in self.runs]))

    def cells(self) -> tuple[str, ...]:
        """Return the row under ``HEAD``."""
        cell, count = self.cell, len(self.runs)
        names = sorted({run["learner"] for run in self.runs})
        learner = f"{cell.learner} ({', '.join(names)})" if cell.learner == SUITED and names else cell.learner
        seeds = f"{count}{'' if self.part == HELD_OUT else f' {self.part}'}"
        seeds += f", {self.failed} failed" if self.failed else ""
        head = (cell.task, learner, cell.settings, seeds)
        if not self.runs:
            return (*head, *[""] * (len(HEAD) - len(head)))
        score = interval = "none"
        if len(self.scores):
            mean, low, high = iqm_interval([self.scores])
            score, interval = readable(mean), f"{readable(low)} to {readable(high)}"
        return (
            *head,
            f"{sum(run['solved'] for run in self.runs)} of {count}",
            f"{sum(run['again'] for run in self.runs)} of {count}",
            score,
            interval,
            *(readable(self.median(name)) for name in ("prototypes", "environment_steps", "total_steps")),
        )


class Study(NamedTuple):
    """What is known of a study so far."""

    plan: StudyPlan
    answers: Mapping[str, Any]  #: by the names of the runs; :class:`Failed` for failures
    folder: Path

    @property
    def failures(self) -> dict[str, str]:
        """The runs without a result, and why."""
        return {key: one.reason for key, one in self.answers.items() if isinstance(one, Failed)}

    @property
    def missing(self) -> int:
        """Runs that were not tried yet."""
        return len(self.plan.runs()) - len(self.answers)

    def results(self) -> list[Row]:
        """Return a row for each cell that has runs."""
        rows = []
        for part, numbers in self.plan.parts.items():
            for cell in self.plan.cells:
                there = [self.answers.get(run_key(cell, number)) for number in numbers]
                runs = [one for one in there if isinstance(one, dict)]
                failed = sum(isinstance(one, Failed) for one in there)
                if runs or failed:
                    rows.append(Row(cell, part, runs, failed))
        return rows

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table: its head, and a row for each cell."""
        return [HEAD, *(row.cells() for row in self.results())]

    def summary(self) -> list[tuple[str, float, float, float, int]]:
        """Return, for each learner and its settings, the interquartile mean over all tasks, with an interval.

        The scores of a task count from 0 to 1 by the plan's scale; without one for every task there is no summary.
        """
        if set(self.plan.scale) != {cell.task for cell in self.plan.cells}:
            return []
        found = []
        for name, groups in self.scaled().items():
            if len(groups) == len(self.plan.scale):
                found.append((name, *iqm_interval(groups), sum(map(len, groups))))
        return found

    def scaled(self) -> dict[str, list[np.ndarray]]:
        """Return the held-out scores on the plan's scale: by learner and settings, an array for each task."""
        groups: dict[str, list[np.ndarray]] = {}
        for row in self.results():
            if row.part == HELD_OUT and row.cell.task in self.plan.scale and len(row.scores):
                low, high = self.plan.scale[row.cell.task]
                groups.setdefault(variant_name(row.cell, self.plan), []).append(
                    (row.scores - low) / (high - low)
                )
        return groups

    def legend(self) -> list[str]:
        """Say what the columns of the table are."""
        return [
            f"score: interquartile mean over the seeds of what {counted(self.plan.head.trials, 'new trial')} of each "
            "run gave (mean return, or median length), with a bootstrap interval.",
            "again: solved, and these new trials reached what the task asks for.",
            "prototypes, steps, in all: medians; steps to learn, and with confirmation and all else.",
        ]

    def __repr__(self) -> str:
        rows = self.rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([in_words(self.plan), "", *lines, "", *self.ending(), *self.legend()])

    def ending(self) -> list[str]:
        """Return what the table does not say: the summary over tasks, what failed and what is left."""
        lines = [
            f"{name}: {mean:.3f} ({low:.3f} to {high:.3f}), interquartile mean over {counted(count, 'run')} on the "
            "plan's scale."
            for name, mean, low, high, count in self.summary()
        ]
        if self.missing:
            lines.append(f"{counted(self.missing, 'run')} left to do.")
        return [*lines, *(f"Failed: {key}: {reason}" for key, reason in list(self.failures.items())[:10])]

    def csv(self) -> str:
        """Return a line for each run."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(("task", "asked", "settings", "part", "seed", *COLUMNS))
        for part, numbers in self.plan.parts.items():
            for cell in self.plan.cells:
                for number in numbers:
                    one = self.answers.get(run_key(cell, number))
                    if one is not None:
                        told = {"failed": one.reason} if isinstance(one, Failed) else one
                        table.writerow((*cell, part, number, *(told.get(name, "") for name in COLUMNS)))
        return text.getvalue()

    def markdown(self) -> str:
        """Return the table in Markdown."""
        head, *rows = self.rows()
        lines = [head, ["---"] * len(head), *rows]
        table = [f"| {' | '.join(word.replace('|', '/') for word in line)} |" for line in lines]
        return "\n".join([in_words(self.plan), "", *table, "", *self.ending(), *self.legend()]) + "\n"

    def as_json(self) -> dict[str, Any]:
        """Return everything as the command line prints it."""
        return {
            "rows": [
                {
                    **row.cell._asdict(),
                    "part": row.part,
                    "runs": len(row.runs),
                    "failed": row.failed,
                    "solved": sum(run["solved"] for run in row.runs),
                    "again": sum(run["again"] for run in row.runs),
                    "score": float(interquartile_mean(row.scores)) if len(row.scores) else None,
                }
                for row in self.results()
            ],
            "summary": [list(line) for line in self.summary()],
            "failures": self.failures,
            "missing": self.missing,
        }


def variant_name(cell: StudyCell, plan: StudyPlan) -> str:
    """Return a learner and its settings in short: what all of the plan share is left out."""
    learners, settings = {one.learner for one in plan.cells}, {one.settings for one in plan.cells}
    words = [cell.learner] * (len(learners) > 1) + [cell.settings] * (len(settings) > 1)
    return ", ".join(words) or cell.learner


@checks_names()
def study(
    plan: StudyPlan | str | Path,
    out: str | Path,
    *,
    engine: str = "processes",
    workers: int | None = None,
    address: str | None = None,
    shard: tuple[int, int] = (1, 1),
    seconds: float | None = None,
    watch: Watch | None = None,
) -> Study:
    r"""Do the runs of a plan that have no result yet, and return what all of them come to.

    ``plan`` is a file, or what :func:`read_study` returns; ``out`` is the folder of the results, which may be read
    while the study runs. A run that takes longer than ``seconds`` fails; failed runs are tried again the next time.

    >>> import tempfile
    >>> from distinguo.studies.plan import read_study
    >>> plan = read_study('[study]\ntasks = ["puck"]\nseeds = "1-2"\ntrials = 5')
    >>> with tempfile.TemporaryDirectory() as place:
    ...     found = study(plan, place, engine="threads")
    >>> [row.cells()[:6] for row in found.results()]
    [('puck', 'suited (economy)', 'default', '2', '2 of 2', '2 of 2')]
    """
    asked = plan if isinstance(plan, StudyPlan) else load_study(path_from(plan))
    workshop = checked_engine(engine, workers, address, seconds)
    folder = path_from(out)
    _prepare(folder, write_study(asked))
    jobs = _jobs(asked)
    with show_progress(f"Studying {in_words(asked)}") as tell:
        told: Watch = watch or (lambda done, of: tell(f"Studying: {done} of {of} runs"))
        answers = StudyResults(folder).run(jobs, workshop, shard, told)
    found = Study(asked, answers, folder)
    write_atomically(folder / CSV, found.csv())
    write_atomically(folder / MARKDOWN, found.markdown())
    return found


def _jobs(plan: StudyPlan) -> list[Job]:
    settings, code = {}, {}
    for cell, one in plan.configurations.items():
        settings[cell] = to_toml(one)
        code[cell] = code_behind(type(one.spec.task), learner_named(one.learner_name).declared)
    return [
        learning_job(key, settings[cell], number, plan.head.trials, code[cell])
        for key, cell, number in plan.runs()
    ]


def _prepare(folder: Path, text: str) -> None:
    """Refuse a folder that holds something else, before anything is written."""
    path = folder / PLAN
    if path.exists():
        if read_text(path, LARGEST_WRITTEN) != text:
            raise DistinguoError(f"{folder} holds the results of another plan; choose another --out.")
        return
    if folder.exists() and (not folder.is_dir() or not all(map(is_leftover, folder.iterdir()))):
        raise DistinguoError(f"{folder} exists and holds no study; choose another --out.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DistinguoError(f"Cannot write to {folder}: {error.strerror or error}.") from None
    write_atomically(path, text)
