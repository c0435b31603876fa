"""A table of decisions as a teacher: rows of observations, each with the action that was taken there.

It answers with the action of the nearest row, each coordinate measured by its spread. A file of it is CSV: a column
for every coordinate of the task, by its name, and a column ``action`` with the number or the name of one.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from distinguo.distillation.fit import standard_of
from distinguo.distillation.teachers.teacher import Teacher
from distinguo.errors import DistinguoError, attempt, shown
from distinguo.reading.files import MEBIBYTE, read_text
from distinguo.tasks.spec import TaskSpec

LARGEST_TABLE = 256 * MEBIBYTE  #: bytes
ACTION = "action"


def table_teacher(observations: Any, actions: Any, name: str = "table") -> Teacher:
    """Return a teacher that does what was done where it is nearest.

    ``actions`` are numbers from 0, as many as there are rows of ``observations``.

    >>> teacher = table_teacher([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]], [1, 0, 1])
    >>> teacher.answer(np.array([[0.9, 0.1], [0.1, 0.8]])).tolist()
    [0, 1]
    """
    rows = attempt(np.array, observations, np.float64, otherwise=np.zeros(0))
    taken = attempt(np.array, actions, otherwise=np.zeros(0))
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise DistinguoError(
            f"The table {name} should have rows of finite numbers to look actions up by, got {shown(observations)}."
        )
    if taken.shape != (len(rows),) or taken.dtype.kind not in "iu" or (taken < 0).any():
        raise DistinguoError(
            f"The table {name} should have the number of an action, from 0, for each of its {len(rows)} rows, got "
            f"{shown(actions)}."
        )
    standard = standard_of(rows)
    tree = cKDTree(standard.of(rows))

    def answer(seen: np.ndarray) -> np.ndarray:
        if seen.shape[1] != rows.shape[1]:
            raise DistinguoError(
                f"The table {name} has rows of {rows.shape[1]} coordinates, but {seen.shape[1]} are seen; take a "
                "table of this task, or another --task."
            )
        return np.asarray(taken[tree.query(standard.of(seen))[1]].astype(np.int64))

    return Teacher(name, answer)


def read_table(path: Path, spec: TaskSpec) -> Teacher:
    """Read a table of decisions from a file."""
    lines = read_text(path, LARGEST_TABLE).splitlines()
    reader = csv.DictReader(lines)
    wanted = (*spec.dimensions, ACTION)
    missing = [name for name in wanted if name not in (reader.fieldnames or ())]
    if missing:
        raise DistinguoError(
            f"{path} has no column '{missing[0]}'; a table of decisions for {spec.name} has the columns "
            f"{', '.join(wanted)}."
        )
    names = {
        **{str(a): a for a in range(len(spec.actions))},
        **{word: a for a, word in enumerate(spec.actions)},
    }
    seen, taken = [], []
    for row in reader:
        numbers = [attempt(float, row[name], otherwise=np.nan) for name in spec.dimensions]
        if not np.isfinite(numbers).all() or row[ACTION] not in names:
            raise DistinguoError(
                f"Line {reader.line_num} of {path} should have a number in each of {', '.join(spec.dimensions)} and "
                f"one of {', '.join(names)} as its action, got {shown(lines[reader.line_num - 1])}."
            )
        seen.append(numbers)
        taken.append(names[row[ACTION]])
    return table_teacher(seen, taken, str(path))
