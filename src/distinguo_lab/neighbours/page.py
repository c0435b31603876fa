"""The comparison with the neighbours as tables, as a page and as a picture of the puck's maps."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from distinguo.comparison.sources import representation_named
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.evaluation.tester import Evaluation, trained_values
from distinguo.representations.file import Representation
from distinguo.representations.partition import region
from distinguo.runs.learn import learn
from distinguo.seam import has_own
from distinguo.settings import TesterSettings
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.extent import task_extent
from distinguo.tasks.spec import TaskSpec
from distinguo.views.pictures import representation_picture
from distinguo.views.plots import draw_gallery, save_figure
from distinguo.writing import write_atomically
from distinguo_lab.neighbours.study import (
    LEARNER,
    PAGE,
    PICTURE,
    PLANNER,
    REPRESENTATION,
    SYSTEMS,
    TABLE,
    Cell,
    Neighbours,
    System,
)

# The comparison as tables: CSV and Markdown, made from the same figures.


HEAD = ("system", "regions or features", "environment steps", "success", "carries over", "seconds")
COLUMNS = (
    "task",
    "system",
    "door",
    "asked",
    "runs",
    "size",
    "steps",
    "succeeded",
    "carried",
    "seconds",
    "refused",
)

Row = Mapping[str, Any]  #: by the names of ``COLUMNS``


def summary_rows(neighbours: Neighbours) -> list[dict[str, Any]]:
    """Return a row for each system and task; missing figures are None."""
    return [dict(zip(COLUMNS, _figures(cell), strict=True)) for cell in neighbours.cells]


def _figures(cell: Cell) -> tuple[Any, ...]:
    """Return medians: sizes and seconds of all runs, steps of those that succeeded."""
    runs, done = cell.measurements, [one for one in cell.measurements if one.succeeded]
    judged = [one.carries for one in runs if one.carries is not None]
    return (
        cell.task,
        cell.system.name,
        cell.system.door,
        cell.system.asked_on(cell.task),
        len(runs),
        median(one.size for one in runs) if runs else None,
        median(one.steps for one in done) if done else None,
        len(done),
        sum(judged) if judged else None,
        round(median(one.seconds for one in runs), 9 if cell.system.door == PLANNER else 3) if runs else None,
        cell.refused,
    )


def as_csv(rows: Sequence[Row]) -> str:
    """Return the rows as CSV."""
    text = io.StringIO()
    written = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    written.writeheader()
    written.writerows(rows)
    return text.getvalue()


def from_csv(text: str) -> list[dict[str, Any]]:
    """Return the rows of a CSV text.

    >>> figures = ("puck", "it", "representation", "grid:2x2", 3, 4, None, 0, None, 0.5, "")
    >>> row = dict(zip(COLUMNS, figures, strict=True))
    >>> from_csv(as_csv([row])) == [row]
    True
    """
    words = ("task", "system", "door", "asked", "refused")
    return [
        {name: value if name in words else _number(value) for name, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]


def _number(text: str) -> float | None:
    return float(text) if text else None


def tables(rows: Sequence[Row]) -> str:
    """Return a table in Markdown for each task, under its name."""
    tasks = dict.fromkeys(row["task"] for row in rows)
    return "\n".join(
        f"### {task}\n\n{task_table([row for row in rows if row['task'] == task])}" for task in tasks
    )


def task_table(rows: Sequence[Row]) -> str:
    """Return the table of one task and, below it, the systems that cannot be run on it, with the reasons."""
    lines = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
    lines += [f"| {' | '.join(_words(row))} |" for row in rows if row["runs"]]
    lines += [f"\n*{row['system']}* does not apply: {row['refused']}" for row in rows if row["refused"]]
    return "\n".join(lines) + "\n"


def _words(row: Row) -> list[str]:
    steps, carried, plans = row["steps"], row["carried"], row["door"] == PLANNER
    asked = f"depth {row['asked']}" if plans else f"`{row['asked']}`"
    return [
        f"{row['system']} ({asked})",
        "none" if plans else f"{row['size']:,.0f}",
        "–" if steps is None else f"{steps:,.0f}{' asked at every step' if plans else ''}",
        f"{row['succeeded']:.0f} of {row['runs']:.0f}",
        "=" if carried is None else f"{carried:.0f} of {row['runs']:.0f}",
        f"{row['seconds'] * 1e6:,.0f} µs a step" if plans else f"{row['seconds']:.2f}",
    ]


# The comparison with the neighbours: a page in Markdown, a table in CSV, a picture of the puck's maps.


PICTURED = "puck"  #: the task whose maps are drawn


def write_neighbours(found: Neighbours) -> tuple[Path, Path]:
    """Write the page, the table and the picture into the folder of the comparison; return the first and the last."""
    page, picture = found.folder / PAGE, found.folder / PICTURE
    write_atomically(found.folder / TABLE, as_csv(summary_rows(found)))
    draw_maps(picture, found.seed)
    words = "\n".join(
        [
            "# Neighbours",
            "",
            f"Seeds from {found.seed} on; sizes, steps and seconds are medians, steps those of successful runs.",
            "",
            f"![The maps of the puck, side by side]({PICTURE})",
            "",
            tables(summary_rows(found)),
        ]
    )
    write_atomically(page, words)
    return page, picture


def draw_maps(path: Path, seed: int) -> None:
    """Draw the puck's maps of all systems that make one."""
    spec = task_spec(PICTURED)
    pictures = [
        representation_picture(
            made.representation, spec, f"{made.system.name}: {made.representation.regions}", made.controller
        )
        for made in maps_of(PICTURED, seed)
    ]
    save_figure(draw_gallery(pictures), path)


# The maps that the systems make of a task, each with what is done in its regions.


class SystemMap(NamedTuple):
    """The map of a system."""

    system: System
    representation: Representation
    controller: Controller


def maps_of(task: str, seed: int) -> list[SystemMap]:
    """Return the map of every system that makes one; representations get a fresh learner's values."""
    spec, maps = task_spec(task), []
    for system in SYSTEMS:
        if system.door not in (LEARNER, REPRESENTATION):
            continue
        try:
            made = _learned(system, spec, seed) if system.door == LEARNER else _given(system, spec, seed)
        except DistinguoError:  # it does not apply: the tables say why
            continue
        maps.append(made)
    return maps


def _learned(system: System, spec: TaskSpec, seed: int) -> SystemMap:
    run = learn(
        spec.name, learner=system.asked_on(spec.name), seed=seed, settings=dict(system.settings) or None
    )
    return SystemMap(system, run.representation, run.controller)


def _given(system: System, spec: TaskSpec, seed: int) -> SystemMap:
    representation = representation_named(system.asked_on(spec.name), spec, seed)
    if not has_own(region, representation.partition):
        raise DistinguoError(f"{system.name} has features and no regions.")
    partition, settings = representation.partition, TesterSettings()
    evaluation = Evaluation(spec, partition, representation.regions, settings, task_extent(spec, seed))
    q = trained_values(evaluation, np.random.default_rng(seed))
    return SystemMap(system, representation, Controller(partition, q, settings.delta))
