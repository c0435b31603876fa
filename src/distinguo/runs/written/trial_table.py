"""The file ``trials.csv``: one row for each trial."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from distinguo.reading.lines import PackedLines, read_lines

TRIALS = "trials.csv"
_COLUMNS = (int, int, str, int, int, int, int, float)  # the last is missing in old files


class TrialRow(NamedTuple):
    """One line of ``trials.csv``."""

    trial: int
    length: int
    ended: str  #: "wall" or "terminal" for a terminal state, "cap" for a trial that was stopped
    regions: int
    prototypes: int
    environment_steps: int
    investigation_steps: int
    gained: float = 0.0  #: the sum of its rewards


def trials_text(trials: Sequence[TrialRow], header: bool) -> str:
    r"""Return rows as the file has them.

    >>> trials_text([TrialRow(1, 22, "wall", 1, 1, 22, 0, -1.0)], header=False)
    '1,22,wall,1,1,22,0,-1.0\n'
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if header:
        writer.writerow(TrialRow._fields)
    writer.writerows(trials)
    return buffer.getvalue()


def read_trials(path: Path, is_growing: bool = False) -> PackedLines[TrialRow]:
    """Read the trials of a run folder."""
    return read_lines(path, _trial_row, head=_check_columns, is_growing=is_growing)


def _check_columns(line: bytes) -> None:
    names = tuple(line.decode().split(","))
    if names not in (TrialRow._fields, TrialRow._fields[:-1]):
        raise ValueError("the columns have other names")


def _trial_row(line: bytes) -> TrialRow:
    cells = line.decode().split(",")
    if not len(_COLUMNS) - 1 <= len(cells) <= len(_COLUMNS):
        raise ValueError("there are other columns")
    row = TrialRow(*(read(cell) for read, cell in zip(_COLUMNS, cells, strict=False)))
    if not all(0 <= number < 2**63 for number in row[:-1] if isinstance(number, int)):
        raise ValueError("a count is out of range")
    return row
