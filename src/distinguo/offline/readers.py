"""Logs from files and objects: CSV and npz, and what holds the same columns under other names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from distinguo.errors import DistinguoError, attempt, one_line, path_from, shown
from distinguo.offline.log import ARRAYS, NEXT, Transitions, checked_log
from distinguo.reading.arrays import read_arrays
from distinguo.reading.files import MEBIBYTE, regular_file
from distinguo.tasks.spec import TaskSpec

LARGEST_LOG = 1024 * MEBIBYTE  #: bytes of a file
#: The columns of a table besides observations, with the names that other programs give them.
ACTION, REWARD, END, TRUNCATED = "action", "reward", "end", "truncated"
COLUMNS = {
    ACTION: ("a", "actions"),
    REWARD: ("r", "rewards"),
    END: ("ends", "terminal", "terminals", "terminated", "termination", "terminations", "done", "dones"),
    TRUNCATED: ("truncation", "truncations", "timeout", "timeouts", "cut"),
}
EPISODE = ("episode", "episodes", "episode_id", "trial")
COUNTERS = ("step", "steps", "t", "time", "index")  #: columns that are not needed
#: The same for the arrays of an npz file or an object.
KEYS = {
    "observations": ("observation", "states", "s", "obs"),
    "actions": ("action", "a"),
    "rewards": ("reward", "r"),
    "next_observations": ("next_observation", "next_states", "s_next", "next_obs"),
    "ends": COLUMNS[END],
    "truncations": COLUMNS[TRUNCATED],
}
SAVING = (
    "numpy.savez('log.npz', observations=…, actions=…, rewards=…, next_observations=…, ends=…, truncations=…)"
)
ONLY_DONE = ("done", "dones")  #: also true where an episode was stopped


def load_log(data: Any, like: TaskSpec | None = None) -> Transitions:
    """Read logged transitions from a file, a mapping of arrays or a log.

    ``like`` is the task that was logged: its coordinates and actions are looked for, and their names taken.

    >>> log = load_log({"observations": [[0.0], [1.0]], "actions": [0, 0], "rewards": [0.0, 1.0],
    ...                 "next_observations": [[1.0], [2.0]], "ends": [False, True]})
    >>> log.dimensions, log.actions, len(log.reward)
    (('s0',), ('a0',), 2)
    """
    if isinstance(data, Transitions):
        return _as_task(data, like)
    if isinstance(data, Mapping):
        return _of_arrays(data, "data", like)
    if not isinstance(data, str | Path):
        raise DistinguoError(
            f"Data should be a file, a dictionary of arrays or a log, got {shown(data)}; for arrays give "
            f"{', '.join(ARRAYS)}."
        )
    path = path_from(data)
    readers = {".csv": _read_csv, ".npz": _read_npz}
    if path.suffix not in readers:
        raise DistinguoError(
            f"{path} is of a kind that is not read; allowed are {', '.join(readers)}. Save it with {SAVING}."
        )
    return readers[path.suffix](path, like)


def _as_task(log: Transitions, like: TaskSpec | None) -> Transitions:
    """The log with the names of a task, if it fits."""
    if like is None:
        return log
    columns = (log.before, log.action, log.reward, log.after, log.ended, log.cut)
    _check_width(log.before, log.source, like)
    return checked_log(columns, source=log.source, dimensions=like.dimensions, actions=like.actions)


def _check_width(rows: np.ndarray, source: str, like: TaskSpec) -> None:
    width = int(np.prod(rows.shape[1:]))
    if width != len(like.dimensions):
        raise DistinguoError(
            f"{source} has observations of {width} coordinates, but {like.name} has {len(like.dimensions)} "
            f"({', '.join(like.dimensions)}); give a log of this task, or another --task."
        )


# ---- arrays --------------------------------------------------------------------------------------------------------


def _read_npz(path: Path, like: TaskSpec | None) -> Transitions:
    return _of_arrays(read_arrays(path), path.name, like)


def _of_arrays(arrays: Mapping[Any, Any], source: str, like: TaskSpec | None) -> Transitions:
    """A log of arrays by name."""
    found: dict[str, Any] = {}
    names: dict[str, str] = {}
    for key, others in KEYS.items():
        name = _column_of(arrays, (key, *others))
        if not name and key != "truncations":
            raise DistinguoError(
                f"{source} has no array '{key}', only {', '.join(map(one_line, map(str, arrays))) or 'none'}; save "
                f"it with {SAVING}."
            )
        found[key] = attempt(np.asarray, arrays[name], otherwise=np.zeros(0)) if name else None
        names[key] = name
    if found["truncations"] is not None and names["ends"] in ONLY_DONE:
        found["ends"] = found["ends"].astype(bool) & ~found["truncations"].astype(bool)
    if like is not None and found["observations"].ndim > 1:
        _check_width(found["observations"], source, like)
    dimensions, actions = (
        [str(name) for name in arrays[key]] if key in arrays else None
        for key in ("dimensions", "action_names")
    )
    return checked_log(
        [found[key] for key in KEYS],
        source=source,
        dimensions=dimensions if like is None else like.dimensions,
        actions=actions if like is None else like.actions,
    )


# ---- tables --------------------------------------------------------------------------------------------------------


def _read_csv(path: Path, like: TaskSpec | None) -> Transitions:
    with regular_file(path, LARGEST_LOG) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
        try:
            header, *rows = csv.reader(text)
        except (csv.Error, UnicodeDecodeError, ValueError) as error:
            raise DistinguoError(
                f"{path} is no table in CSV ({one_line(str(error))}); write it again, as text in UTF-8."
            ) from None
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise DistinguoError(
                f"Line {number} of {path} has {len(row)} cells, but its header has {len(header)}; the table is cut "
                "off or damaged."
            )
    cells = zip(*rows, strict=True) if rows else [()] * len(header)
    return of_columns(dict(zip((name.strip() for name in header), cells, strict=True)), str(path), like)


def of_columns(columns: Mapping[str, Sequence[Any]], path: str, like: TaskSpec | None) -> Transitions:
    """A log of columns by name: one for each coordinate, one of the same name after ``next_``, and the others."""
    free = [name for name in columns if like is None or name not in like.dimensions]
    roles = {role: _column_of(free, (role, *others)) for role, others in COLUMNS.items()}
    episode = _column_of(free, EPISODE)
    others = {name for name in (*roles.values(), episode, *COUNTERS) if name}
    seen = [name for name in columns if name not in others and not name.startswith(NEXT)]
    dimensions = list(like.dimensions) if like is not None else seen
    wanted = [*dimensions, *(NEXT + name for name in dimensions)]
    missing = [name for name in wanted if name not in columns]
    missing += [role for role in (ACTION, REWARD, END) if not roles[role]]
    if missing or not dimensions:
        raise DistinguoError(
            f"{path} has no column '{missing[0] if missing else 'x'}'; a log has a column for each coordinate of an "
            f"observation, one of the same name after '{NEXT}', and the columns {ACTION}, {REWARD}, {END} and, where "
            f"episodes were stopped, {TRUNCATED}."
        )
    rows, after = (
        np.column_stack([_numbers(columns[prefix + name], prefix + name, path) for name in dimensions])
        for prefix in ("", NEXT)
    )
    ended = _truths(columns[roles[END]], roles[END], path)
    cut = np.zeros(len(ended), dtype=bool)
    if roles[TRUNCATED]:
        cut = _truths(columns[roles[TRUNCATED]], roles[TRUNCATED], path)
        ended = ended & ~cut if roles[END] in ONLY_DONE else ended
    if episode:
        cut |= _changes(np.array(columns[episode], dtype=str), episode, path) & ~ended
    taken, gained = np.array(columns[roles[ACTION]]), _numbers(columns[roles[REWARD]], roles[REWARD], path)
    return checked_log(
        [rows, taken, gained, after, ended, cut],
        source=Path(path).name,
        dimensions=dimensions,
        actions=None if like is None else like.actions,
    )


def _column_of(columns: Iterable[str], names: Sequence[str]) -> str:
    """The first of these names that is a column; empty if none is."""
    return next((name for name in names if name in columns), "")


def _changes(numbers: np.ndarray, name: str, path: str) -> np.ndarray:
    """Whether a row is the last of its episode, by their numbers; those of an episode should follow each other."""
    last = np.append(numbers[1:] != numbers[:-1], True)
    last[-1:] = False
    begun = numbers[np.append(True, last[:-1])]
    if len(np.unique(begun)) < len(begun):
        words, counts = np.unique(begun, return_counts=True)
        raise DistinguoError(
            f"The rows of {name} {one_line(str(words[counts.argmax()]))} in {path} are not together; sort the table "
            f"by {name} and time."
        )
    return last


def _numbers(cells: Sequence[Any], name: str, path: str) -> np.ndarray:
    column = attempt(np.array, cells, np.float64, otherwise=None)
    if column is not None:
        return np.asarray(column)
    for row, cell in enumerate(cells, 1):
        if attempt(float, cell, otherwise=None) is None:
            raise DistinguoError(
                f"Row {row} of {path} has {shown(cell)} as {name}, but a number is needed; leave such rows out, or "
                "repair them."
            )
    raise DistinguoError(f"The column '{name}' of {path} should have numbers, got {shown(cells[:3])}.")


TRUTHS = {"0": False, "0.0": False, "false": False, "1": True, "1.0": True, "true": True}


def _truths(cells: Sequence[Any], name: str, path: str) -> np.ndarray:
    words = [str(cell).strip().lower() for cell in cells]
    for row, word in enumerate(words, 1):
        if word not in TRUTHS:
            raise DistinguoError(
                f"Row {row} of {path} has '{one_line(word)}' as {name}; allowed are 0 and 1, or false and true."
            )
    return np.array([TRUTHS[word] for word in words], dtype=bool)
