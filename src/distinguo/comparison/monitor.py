"""Training that others have logged: the ``monitor.csv`` of Stable-Baselines3 as learning curves beside ours."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from distinguo.comparison.plan import DEFAULT_VARIANT, AveragedCurve
from distinguo.errors import DistinguoError, attempt, shown
from distinguo.reading.files import MEBIBYTE, read_text
from distinguo.tasks.spec import Hold, MeanReturn

NAMES = "*monitor.csv"
LARGEST = 256 * MEBIBYTE
COLUMNS = ("r", "l", "t")
WINDOW = 20  #: episodes in a mean
POINTS = 50  #: of a curve


class Episodes(NamedTuple):
    """The episodes of one training, in the order of their ends."""

    returns: np.ndarray
    lengths: np.ndarray
    times: np.ndarray  #: seconds since the training began

    @property
    def steps(self) -> np.ndarray:
        """The steps of the training at the end of each episode."""
        return np.cumsum(self.lengths)


def read_monitor(*places: str | os.PathLike[str], score: str = "return") -> AveragedCurve:
    r"""Read what Stable-Baselines3's ``Monitor`` wrote: a learning curve with an interval over the trainings.

    Each place is a file, or the folder of one training (with a file for each of its environments), or a folder of
    such folders, one for each seed. The curve has the mean return of the last 20 episodes or, with
    ``score="length"``, their median length; these episodes explore. ``distinguo.show`` draws it, and ``distinguo test
    --monitor PLACE`` puts it beside others.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "monitor.csv").write_text('#{"t_start": 0.0}\nr,l,t\n9.0,9,0.1\n21.0,21,0.2\n')
    ...     curve = read_monitor(folder)
    >>> curve.training_steps[-1], float(curve.scores[0, -1])
    (30, 15.0)
    """
    if score not in ("return", "length"):
        raise DistinguoError(f"The score of a monitor is 'return' or 'length', got {shown(score)}.")
    if not places:
        raise DistinguoError("Which monitor? Give the path of a monitor.csv, or of a folder that holds some.")
    runs = [read_episodes(files) for place in places for files in _trainings(Path(place))]
    most = min(int(run.lengths.sum()) for run in runs)
    points = sorted({max(1, round(most * n / POINTS)) for n in range(1, POINTS + 1)})
    scores = np.array([_curve(run, points, score == "length") for run in runs])
    return AveragedCurve(
        Path(places[0]).resolve().stem if len(places) == 1 else f"{len(runs)} trainings",
        DEFAULT_VARIANT,
        0,
        points,
        scores,
        np.full(scores.shape, math.nan),
        (Hold() if score == "length" else MeanReturn(None)).score_name,
    )


def _curve(run: Episodes, points: list[int], lengths: bool) -> list[float]:
    values, middle = (run.lengths, np.median) if lengths else (run.returns, np.mean)
    ends = np.searchsorted(run.steps, points, side="right")
    return [float(middle(values[max(0, end - WINDOW) : max(end, 1)])) for end in ends]


def _trainings(place: Path) -> list[list[Path]]:
    """The files of each training at a place."""
    if not place.is_dir():
        return [[place]]
    own = sorted(place.glob(NAMES))
    if own:
        return [own]
    within = [sorted(folder.glob(NAMES)) for folder in sorted(place.iterdir()) if folder.is_dir()]
    found = [files for files in within if files]
    if not found:
        raise DistinguoError(
            f"{place} holds no monitor.csv; give the folder that Monitor or make_vec_env(monitor_dir=…) wrote to."
        )
    return found


def read_episodes(files: Iterable[Path]) -> Episodes:
    """Read the episodes of one training from the files of its environments."""
    rows = [row for path in files for row in _rows(path)]
    table = np.array(sorted(rows, key=lambda row: row[2]))
    return Episodes(*(table[:, n] for n in range(len(COLUMNS))))


def _rows(path: Path) -> list[tuple[float, ...]]:
    first, *lines = read_text(path, LARGEST).splitlines() or [""]
    if not first.startswith("#"):
        raise DistinguoError(
            f"{path} is not a monitor of Stable-Baselines3: its first line should begin with #, got "
            f"{shown(first[:40])}."
        )
    reader = csv.DictReader(lines)
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise DistinguoError(
            f"{path} has no column '{missing[0]}'; a monitor has the columns {', '.join(COLUMNS)}."
        )
    rows = []
    for row in reader:
        numbers = tuple(attempt(float, row[name], otherwise=math.nan) for name in COLUMNS)
        if not all(map(math.isfinite, numbers)) or numbers[1] < 1:
            raise DistinguoError(
                f"Line {reader.line_num + 1} of {path} should have a return, a length from 1 and a time, got "
                f"{shown(','.join(str(row[name]) for name in COLUMNS))}."
            )
        rows.append(numbers)
    if not rows:
        raise DistinguoError(f"{path} has no episodes; a training writes one line for each that ends.")
    return rows
