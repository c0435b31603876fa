"""The comparison as tables: in Markdown for people, as CSV for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from statistics import median
from typing import Any

from distinguo.neighbours.measure import Measurement
from distinguo.neighbours.study import Cell, Neighbours
from distinguo.neighbours.systems import TASKS

HEAD = ("system", "regions or features", "environment steps", "success", "carries over", "seconds")
COLUMNS = ("task", "system", "asked", "runs", "size", "steps", "succeeded", "carried", "seconds", "refused")


def tables(neighbours: Neighbours) -> str:
    """Return a table for each task, with medians of sizes, steps and seconds."""
    present = [task for task in TASKS if neighbours.on(task)]
    return "\n".join(f"## {task}\n\n{table(neighbours.on(task))}" for task in present)


def table(cells: Sequence[Cell]) -> str:
    """Return the table of one task; a system that cannot be run on it says why below."""
    lines = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
    lines += [f"| {' | '.join(_words(cell))} |" for cell in cells if cell.measurements]
    lines += [f"\n*{cell.system.name}* does not apply: {cell.refused}" for cell in cells if cell.refused]
    return "\n".join(lines) + "\n"


def _words(cell: Cell) -> list[str]:
    runs, done = cell.measurements, [one for one in cell.measurements if one.succeeded]
    return [
        f"{cell.system.name} (`{cell.system.asked_on(cell.task)}`)",
        f"{median(one.size for one in runs):,.0f}",
        f"{median(one.steps for one in done):,.0f}" if done else "–",
        f"{len(done)} of {len(runs)}",
        _carried(runs),
        f"{median(one.seconds for one in runs):.2f}",
    ]


def _carried(runs: Sequence[Measurement]) -> str:
    """Say on how many maps a fresh learner succeeds; for a representation that is its success."""
    judged = [one.carries for one in runs if one.carries is not None]
    return f"{sum(judged)} of {len(judged)}" if judged else "="


def summary_rows(neighbours: Neighbours) -> list[dict[str, Any]]:
    """Return a row for each system and task, by the names of ``COLUMNS``; None where there is nothing to tell."""
    return [dict(zip(COLUMNS, _figures(cell), strict=True)) for cell in neighbours.cells]


def _figures(cell: Cell) -> tuple[Any, ...]:
    runs, done = cell.measurements, [one for one in cell.measurements if one.succeeded]
    judged = [one.carries for one in runs if one.carries is not None]
    return (
        cell.task,
        cell.system.name,
        cell.system.asked_on(cell.task),
        len(runs),
        median(one.size for one in runs) if runs else None,
        median(one.steps for one in done) if done else None,
        len(done),
        sum(judged) if judged else None,
        round(median(one.seconds for one in runs), 3) if runs else None,
        cell.refused,
    )


def as_csv(neighbours: Neighbours) -> str:
    """Return the rows as a table for programs."""
    text = io.StringIO()
    written = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    written.writeheader()
    written.writerows(summary_rows(neighbours))
    return text.getvalue()
