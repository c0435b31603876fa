"""A log: transitions ``(s, a, r, s', end)`` in the order of time, checked before anything is learned from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError, attempt, one_line, path_from, shown
from distinguo.tasks.spec import LARGEST
from distinguo.writing import pack_arrays, write_atomically

MOST_TRANSITIONS = 5_000_000
MOST_ACTIONS = 1_000
SHORTEST = 2  #: transitions
NEXT = "next_"  #: begins the name of a column of next observations
#: The arrays of an npz file, in the order of the columns of a log.
ARRAYS = ("observations", "actions", "rewards", "next_observations", "ends", "truncations")
#: Two numbers that differ by less than this share of a coordinate's width are the same, printed with few digits.
SAME = 1e-4
COLUMNS = "the observation, action, reward, next observation and end of each step"


class Transitions(NamedTuple):
    """Logged transitions; build one with :func:`checked_log`.

    >>> log = checked_log([[[0.0], [1.0]], [0, 1], [0.0, -1.0], [[1.0], [2.0]], [False, True]])
    >>> len(log.action), log.episodes.tolist(), log.starts.tolist()
    (2, [0, 0], [[0.0]])
    """

    source: str  #: the name of the file
    before: np.ndarray  #: (transitions, dimensions) the observations
    action: np.ndarray  #: (transitions,) the numbers of the actions
    reward: np.ndarray
    after: np.ndarray  #: (transitions, dimensions) the next observations
    ended: np.ndarray  #: whether the next observation is terminal
    cut: np.ndarray  #: whether an episode was stopped after the step, though it is not terminal
    dimensions: tuple[str, ...]  #: the names of the coordinates
    actions: tuple[str, ...]  #: the names of the actions

    @property
    def name(self) -> str:
        """The name of the task that is made of the log: never that of a task in a program."""
        return self.source if "." in self.source else f"log.{self.source}"

    @property
    def last(self) -> np.ndarray:
        """Whether a transition is the last of its episode; the log may stop within one."""
        last: np.ndarray = self.ended | self.cut
        return last

    @property
    def episodes(self) -> np.ndarray:
        """The number of the episode of each transition, from 0."""
        return np.concatenate([[0], np.cumsum(self.last[:-1])]).astype(np.int64)

    @property
    def starts(self) -> np.ndarray:
        """The first observation of each episode."""
        return self.before[np.concatenate([[True], self.last[:-1]])]

    @property
    def returns(self) -> np.ndarray:
        """The sum of rewards of each episode, the last of which may be cut off."""
        return np.bincount(self.episodes, weights=self.reward)

    def save(self, path: str | Path) -> Path:
        """Write the log: CSV if the name ends so, else npz; :func:`distinguo.load_log` reads both."""
        place = path_from(path)
        write_atomically(place, self._text() if place.suffix == ".csv" else pack_arrays(self.arrays()))
        return place

    def arrays(self) -> dict[str, np.ndarray]:
        """The columns by their names in an npz file."""
        columns = (self.before, self.action, self.reward, self.after, self.ended, self.cut)
        names = {"dimensions": np.array(self.dimensions), "action_names": np.array(self.actions)}
        return {**dict(zip(ARRAYS, columns, strict=True)), **names}

    def _text(self) -> str:
        following = [f"{NEXT}{name}" for name in self.dimensions]
        lines = [",".join([*self.dimensions, "action", "reward", *following, "end", "truncated"])]
        for s, a, r, s_next, end, cut in zip(*list(self.arrays().values())[:6], strict=True):
            numbers = [
                *map(repr, map(float, s)),
                self.actions[a],
                repr(float(r)),
                *map(repr, map(float, s_next)),
            ]
            lines.append(",".join([*numbers, str(int(end)), str(int(cut))]))
        return "\n".join(lines) + "\n"


def checked_log(
    columns: Sequence[Any],
    *,
    source: str = "The data",
    dimensions: Sequence[str] | None = None,
    actions: Sequence[str] | None = None,
) -> Transitions:
    """Return a log of the columns ``before`` to ``ended`` or ``cut``, or say what is wrong with them."""
    before, action, reward, after, ended, cut = (*columns, None)[:6]
    rows, following = _rows(before, "observations", source), _rows(after, "next observations", source)
    count, width = rows.shape
    if following.shape != rows.shape:
        raise DistinguoError(
            f"{source} has observations of shape {rows.shape} but next observations of shape {following.shape}; give "
            f"{COLUMNS}."
        )
    if not SHORTEST <= count <= MOST_TRANSITIONS:
        raise DistinguoError(
            f"{source} has {count:,} transitions, but {SHORTEST} to {MOST_TRANSITIONS:,} are allowed."
        )
    ends = _flags(ended, "end", count, source)
    stops = np.zeros(count, dtype=bool) if cut is None else _flags(cut, "truncated", count, source)
    taken, names = _numbered(action, count, actions, source)
    gained = _column(reward, "reward", count, source)
    coordinates = [f"s{i}" for i in range(width)] if dimensions is None else map(str, dimensions)
    log = Transitions(
        source, rows, taken, gained, following, ends, stops & ~ends, tuple(coordinates), tuple(names)
    )
    if len(log.dimensions) != width or len(set(log.dimensions)) < width:
        raise DistinguoError(
            f"{source} has {width} coordinates, but they are named {shown(log.dimensions)}; give each a name."
        )
    _check_order(log)
    return log


def _rows(given: Any, what: str, source: str) -> np.ndarray:
    """Rows of finite numbers."""
    array = attempt(np.asarray, given, otherwise=np.zeros(0))
    if array.ndim == 1 and array.dtype.kind in "iuf":
        array = array.reshape(-1, 1)
    if array.dtype.kind not in "iufb" or array.ndim < 2 or not array.size:
        raise DistinguoError(
            f"{source} should have rows of numbers as {what}, got {_kind(array, given)}; give a row for every step."
        )
    rows = np.ascontiguousarray(array.reshape(len(array), -1), dtype=np.float64)
    bad = ~(np.abs(rows) <= LARGEST)
    if bad.any():
        n, i = map(int, np.argwhere(bad)[0])
        raise DistinguoError(
            f"Row {n + 1} of {source} has {rows[n, i]} as coordinate {i + 1} of its {what}; every number should be "
            f"finite and at most {LARGEST:g}: leave such rows out, or repair them."
        )
    return rows


def _kind(array: np.ndarray, given: Any) -> str:
    return shown(given) if not array.size else f"an array of {array.dtype.name} of shape {array.shape}"


def _column(given: Any, what: str, count: int, source: str) -> np.ndarray:
    """A finite number for each transition."""
    array = attempt(np.asarray, given, otherwise=np.zeros(0))
    array = array.reshape(-1) if array.ndim == 2 and array.shape[1] == 1 else array
    if array.dtype.kind not in "iufb" or array.shape != (count,):
        raise DistinguoError(
            f"{source} should have a number as {what} for each of its {count:,} transitions, got "
            f"{_kind(array, given)}."
        )
    column = np.ascontiguousarray(array, dtype=np.float64)
    bad = np.flatnonzero(~(np.abs(column) <= LARGEST))
    if len(bad):
        raise DistinguoError(
            f"Row {bad[0] + 1} of {source} has {column[bad[0]]} as {what}; every number should be finite and at "
            f"most {LARGEST:g}: leave such rows out, or repair them."
        )
    return column


def _flags(given: Any, what: str, count: int, source: str) -> np.ndarray:
    """A yes or no for each transition."""
    column = _column(given, what, count, source)
    bad = np.flatnonzero((column != 0.0) & (column != 1.0))
    if len(bad):
        raise DistinguoError(
            f"Row {bad[0] + 1} of {source} has {column[bad[0]]:g} as {what}; allowed are 0 and 1, or false and true."
        )
    flags: np.ndarray = column == 1.0
    return flags


def _numbered(
    given: Any, count: int, names: Sequence[str] | None, source: str
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The numbers of the actions, and their names."""
    array = attempt(np.asarray, given, otherwise=np.zeros(0))
    array = array.reshape(-1) if array.ndim == 2 and array.shape[1] == 1 else array
    if array.dtype == object and all(
        isinstance(word, str) for word in array.flat
    ):  # of Parquet, or of pandas
        array = array.astype(str)
    if array.shape != (count,) or array.dtype.kind not in "iufbUS":
        raise DistinguoError(
            f"{source} should have one action for each of its {count:,} transitions, got {_kind(array, given)}; "
            "several amounts at once are not supported: log the number of one of a few actions."
        )
    if array.dtype.kind in "US":
        return _named(array.astype(str), names, source)
    numbers = array.astype(np.float64)
    most = MOST_ACTIONS if names is None else len(names)
    bad = np.flatnonzero(~((numbers >= 0) & (numbers < most) & (numbers == np.floor(numbers))))
    if len(bad):
        raise DistinguoError(
            f"Row {bad[0] + 1} of {source} has the action {numbers[bad[0]]:g}; allowed are whole numbers from 0 to "
            f"{most - 1}. Amounts such as a torque are not supported: log the number of one of a few levels."
        )
    found = int(numbers.max()) + 1
    return numbers.astype(np.int64), tuple(names or (f"a{a}" for a in range(found)))


def _named(words: np.ndarray, names: Sequence[str] | None, source: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """The numbers of actions that are given by words: all by name, or all by number."""
    given = set(words.tolist())
    if all(map(str.isdecimal, given)) and not (names is not None and given <= set(names)):
        return _numbered(words.astype(np.int64), len(words), names, source)
    known = tuple(names or sorted(given))
    if names is None and any(map(str.isdecimal, given)) and any(map(str.isidentifier, given)):
        raise DistinguoError(
            f"{source} has actions by number and by name, {shown(list(known))}; use one way for all rows."
        )
    places = {word: a for a, word in enumerate(known)}
    for n, word in enumerate(words.tolist()):
        if word not in places:
            raise DistinguoError(
                f"Row {n + 1} of {source} has the action '{one_line(word)}'; allowed are {', '.join(known)}, or "
                "numbers in all rows."
            )
    if len(known) > MOST_ACTIONS:
        raise DistinguoError(
            f"{source} has {len(known):,} different actions, and at most {MOST_ACTIONS:,} are allowed."
        )
    return np.array([places[word] for word in words.tolist()]), known


def _check_order(log: Transitions) -> None:
    """Reject rows that are not in the order of time: within an episode, a step begins where the last one led."""
    width = np.ptp(np.vstack([log.before, log.after]), axis=0)
    apart = (np.abs(log.before[1:] - log.after[:-1]) > SAME * width).any(axis=1) & ~log.last[:-1]
    bad = np.flatnonzero(apart)
    if len(bad):
        n = int(bad[0])
        raise DistinguoError(
            f"Row {n + 1} of {log.source} leads to {_point(log.after[n])} and does not end its episode, but row "
            f"{n + 2} begins at {_point(log.before[n + 1])} ({len(bad):,} such rows): sort the rows by episode and "
            "time, and mark the last row of an episode that was stopped by a column 'truncated'."
        )


def _point(row: np.ndarray) -> str:
    return "(" + ", ".join(f"{x:z.4g}" for x in row[:6]) + (", …)" if len(row) > 6 else ")")
