"""The comparison as tables: rows for programs, Markdown for people, made from the same figures."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from distinguo_lab.neighbours.study import Cell, Neighbours
from distinguo_lab.neighbours.systems import PLANNER

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
    """Return a row for each system and task; None where there is nothing to tell."""
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
    """Return the rows as a table for programs."""
    text = io.StringIO()
    written = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    written.writeheader()
    written.writerows(rows)
    return text.getvalue()


def from_csv(text: str) -> list[dict[str, Any]]:
    """Return the rows of a table for programs.

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
    """Return the table of one task; below it, which systems cannot be run on it, and why."""
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
