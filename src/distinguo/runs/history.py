"""The history of a run: its map after some trials, and a table of its trials."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.reading.arrays import LONGEST_LINE, PackedLines, read_lines
from distinguo.reading.files import MEBIBYTE, parse_json
from distinguo.representations.file import Representation, can_be_read_again, content_of, of_content

# The file ``history.jsonl``: the map as it was after some of the trials, one frame per line.
#
# At first every trial has a frame, then fewer and fewer: a fixed number for every doubling of the trials, smaller
# for larger maps. Only the number of the trial, the size of the map and the size of the file decide, so a run that
# was stopped and resumed has the same frames.


HISTORY = "history.jsonl"
LARGEST_HISTORY = 16 * MEBIBYTE  #: bytes of all frames but the last
MOST_PER_DOUBLING = 50  #: frames while the number of trials doubles
_DOUBLING = LARGEST_HISTORY // 32  # bytes in that time; no run has 2^32 trials
_NUMBER, _REST = 20, 400  # the most bytes of a number in a line, and of the text around them
_PACKED_TOGETHER = 64  # frames in memory that are unpacked at once
_KEYS = ("trial", "environment_steps", "representation", "q", "delta")


class Frame(NamedTuple):
    """What a run had learned after a trial.

    >>> import distinguo
    >>> run = distinguo.learn("puck", seed=1)
    >>> [frame.representation.regions for frame in run.history]
    [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4]
    >>> run.history[-1].controller.action((0.5, 1.0)) == run.controller.action((0.5, 1.0))
    True
    """

    trial: int  #: the number of the trial, from 1
    environment_steps: int  #: of trials and mini-trials until then
    representation: Representation  #: that it acted by, with the extent known then
    q: np.ndarray  #: (regions, actions) its values
    delta: float = 0.0  #: of the controller

    @property
    def controller(self) -> Controller:
        """The controller of that moment."""
        return Controller(self.representation.partition, self.q, self.delta)


def is_due(trial: int, prototypes: int, regions: int, dimensions: int, actions: int) -> bool:
    """Whether a trial has a frame, by its number and the size of the map.

    >>> [trial for trial in range(1, 300) if is_due(trial, 4, 4, 2, 2)][98:104]
    [99, 100, 102, 104, 106, 108]
    >>> [trial for trial in range(1, 40) if is_due(trial, 500, 500, 1, 6)]
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28, 32, 36]
    """
    size = _REST + _NUMBER * (prototypes * (dimensions + 1) + regions * (actions + 1))
    per_doubling = max(2, min(MOST_PER_DOUBLING, _DOUBLING // size))
    gap = max(1, trial // per_doubling)
    return trial % (1 << gap.bit_length() - 1) == 0


def frame_line(frame: Frame) -> str:
    """Return a frame as a line of the file."""
    content = {
        "trial": frame.trial,
        "environment_steps": frame.environment_steps,
        "delta": frame.delta,
        "representation": content_of(frame.representation),
        "q": frame.q.tolist(),
    }
    return json.dumps(content, separators=(",", ":")) + "\n"


def ending_with(lines: list[str], last: Frame) -> list[str]:
    """Return the lines of a history with this frame as the last, unless it is too large to be read again."""
    if not can_be_read_again(last.representation.partition):
        return lines
    line = frame_line(last)
    return lines if lines[-1:] == [line] or not fits(line) else [*lines, line]


def fits(line: str) -> bool:
    """Whether a line can be read again; a map of about 50,000 numbers cannot."""
    return len(line) <= LONGEST_LINE


def packed_history(lines: Iterable[str]) -> PackedLines[Frame]:
    """Return the frames of these lines, in little memory."""
    table, every = PackedLines(_frame), [line.rstrip("\n").encode() for line in lines]
    for first in range(0, len(every), _PACKED_TOGETHER):
        table.append(every[first : first + _PACKED_TOGETHER])
    return table


def read_history(path: str | Path, is_growing: bool = False) -> PackedLines[Frame]:
    """Read the frames of a run, oldest first; from a file that ``is_growing``, only complete ones.

    A run of an earlier version has no such file, and no frames.
    """
    path = Path(path)
    if not path.exists() and not path.is_symlink():
        return PackedLines(_frame)
    kinds: set[tuple[tuple[str, ...], int]] = set()

    def check_alike(frame: Frame) -> None:
        kinds.add((frame.representation.dimensions, frame.q.shape[1]))
        if len(kinds) > 1:
            raise ValueError("the frames are of different tasks")

    return read_lines(path, _frame, check_alike, is_growing=is_growing)


def _frame(line: bytes) -> Frame:
    content = parse_json(line, HISTORY)
    if not isinstance(content, dict) or sorted(content) != sorted(_KEYS):
        raise ValueError("it is not a frame")
    trial, steps = _count(content["trial"]), _count(content["environment_steps"])
    representation = of_content(content["representation"], HISTORY)
    delta, q = content["delta"], np.array(content["q"], dtype=np.float64)
    if q.ndim != 2 or len(q) != representation.regions or not q.shape[1] or not np.isfinite(q).all():
        raise ValueError("the values are not those of the regions")
    if type(delta) not in (int, float) or not 0.0 <= delta < np.inf:
        raise ValueError("delta is not a number from 0")
    return Frame(trial, steps, representation, q, float(delta))


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise ValueError("a count is out of range")
    return value


# The file ``trials.csv``: one row for each trial.


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
