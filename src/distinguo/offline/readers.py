"""Logs from files and objects: CSV, npz, Parquet, a data set of Minari, the replay buffer of Stable-Baselines3."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from distinguo.errors import DistinguoError, attempt, one_line, path_from, shown
from distinguo.offline.log import ARRAYS, NEXT, Transitions, checked_log
from distinguo.reading.arrays import read_arrays
from distinguo.reading.files import MEBIBYTE, regular_file, too_large
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
HDF5, PICKLES = (".hdf5", ".h5"), (".pkl", ".pickle")
FILES = (".npz", ".parquet", *HDF5)  #: besides CSV
#: What a replay buffer of Stable-Baselines3 has.
BUFFER = ("observations", "actions", "rewards", "dones", "pos", "full")
ONLY_DONE = ("done", "dones")  #: also true where an episode was stopped


def load_log(data: Any, like: TaskSpec | None = None) -> Transitions:
    """Read logged transitions from a file, the folder of a Minari data set, arrays, a replay buffer or a log.

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
    if all(hasattr(data, name) for name in BUFFER):
        return _of_arrays(_of_buffer(data), "the replay buffer", like)
    if not isinstance(data, str | Path):
        raise DistinguoError(
            f"Data should be a file, a dictionary of arrays, a replay buffer or a log, got {shown(data)}; for arrays "
            f"give {', '.join(ARRAYS)}."
        )
    path = path_from(data)
    if path.is_dir():
        return _read_minari(path, like)
    readers = {
        ".csv": _read_csv,
        ".npz": _read_npz,
        ".parquet": _read_parquet,
        **dict.fromkeys(HDF5, _read_hdf5),
    }
    if path.suffix in PICKLES:
        raise DistinguoError(
            f"{path} is a pickle, which runs code when it is opened, so it is not read; if you trust it, open it "
            "yourself and save it as npz: model.load_replay_buffer(FILE), then "
            "distinguo.load_log(model.replay_buffer).save('log.npz')."
        )
    if path.suffix not in readers:
        raise DistinguoError(
            f"{path} is of a kind that is not read; allowed are {', '.join(readers)} and the folder of a Minari data "
            f"set. Save it with {SAVING}."
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


def _of_buffer(buffer: Any) -> dict[str, np.ndarray]:
    """The arrays of a replay buffer in the order of time, one environment after the other."""
    size = len(buffer.observations)
    order = np.arange(buffer.pos) if not buffer.full else (np.arange(size) + buffer.pos) % size
    following = getattr(buffer, "next_observations", None)
    if following is None:  # to save memory, each is the next row, and that of the newest is missing
        following, order = np.roll(buffer.observations, -1, axis=0), order[:-1]
    timeouts = getattr(buffer, "timeouts", np.zeros_like(buffer.dones)).astype(bool)
    cut = np.where(np.arange(len(order))[:, None] == len(order) - 1, True, timeouts[order])
    ended = buffer.dones[order].astype(bool) & ~timeouts[order]
    columns = (buffer.observations, buffer.actions, buffer.rewards, following)
    ordered = [*(np.asarray(column)[order] for column in columns), ended, cut]
    count = ordered[4].size
    turned = [np.swapaxes(column, 0, 1) for column in ordered]
    flat = [
        column.reshape(count, -1) if n in (0, 3) else column.reshape(-1) for n, column in enumerate(turned)
    ]
    return dict(zip(ARRAYS, flat, strict=True))


def _needed(module: str, path: Path, what: str) -> Any:
    """A library that only some logs need."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise DistinguoError(
            f"{path} is {what}, and {package} is not installed; run: pip install {package}"
        ) from None


def _minari_files(path: Path) -> list[Path]:
    return [one for one in (path / "data" / MAIN, path / MAIN) if one.is_file()]


def is_data_set(path: Path) -> bool:
    """Whether a folder is that of a Minari data set."""
    return bool(_minari_files(path))


def _read_minari(path: Path, like: TaskSpec | None) -> Transitions:
    """Read the data set in a folder, by its file."""
    found = _minari_files(path)
    if not found:
        raise DistinguoError(
            f"{path} is not the folder of a Minari data set in HDF5: it has no data/{MAIN}; name a folder such as "
            "~/.minari/datasets/NAME, or a file."
        )
    return _read_hdf5(found[0], like, path.name)


MAIN = "main_data.hdf5"  #: the file of a Minari data set


def _read_hdf5(path: Path, like: TaskSpec | None, name: str = "") -> Transitions:
    """Read the episodes of a Minari data set, or arrays at the top of the file, as D4RL has them."""
    h5py = _needed("h5py", path, "a file in HDF5")
    with regular_file(path, LARGEST_LOG) as raw:
        try:
            with h5py.File(raw, "r") as file:
                episodes = sorted((key for key in file if re.fullmatch(r"episode_\d+", key)), key=_number_of)
                if not episodes:
                    return _of_arrays({key: _whole(file[key]) for key in file}, path.name, like)
                parts = [_episode(file[key], f"{key} of {path.name}") for key in episodes]
        except (OSError, KeyError, RuntimeError) as error:
            raise DistinguoError(
                f"{path} is damaged or not in HDF5 ({one_line(str(error))}); take a whole copy."
            ) from None
    arrays = {key: np.concatenate([part[key] for part in parts]) for key in ARRAYS}
    return _of_arrays(arrays, name or path.name, like)


def _number_of(key: str) -> int:
    return int(key.rpartition("_")[2])


def _whole(data: Any) -> np.ndarray:
    """A whole data set of numbers; groups, such as observations with several parts, are none."""
    if not hasattr(data, "dtype") or data.dtype.kind not in "iufb" or data.nbytes > LARGEST_LOG:
        return np.zeros(0)
    return np.asarray(data[()])


def _episode(group: Any, where: str) -> dict[str, np.ndarray]:
    """The steps of an episode, which has one observation more than actions."""
    given = {
        key: _whole(group[key])
        for key in ("observations", "actions", "rewards", "terminations", "truncations")
    }
    seen, steps = given["observations"], len(given["rewards"])
    if seen.ndim < 1 or len(seen) != steps + 1 or any(len(given[key]) != steps for key in list(given)[1:]):
        raise DistinguoError(
            f"{where} should have arrays of numbers, with one observation more than actions, rewards, terminations "
            f"and truncations; got {', '.join(f'{len(array)} {key}' for key, array in given.items())}."
        )
    ended = given["terminations"].astype(bool)
    cut = given["truncations"].astype(bool)
    cut[-1:] = True  # the next episode begins elsewhere
    return dict(
        zip(ARRAYS, (seen[:-1], given["actions"], given["rewards"], seen[1:], ended, cut), strict=True)
    )


# ---- tables --------------------------------------------------------------------------------------------------------


def _read_csv(path: Path, like: TaskSpec | None) -> Transitions:
    with regular_file(path, LARGEST_LOG) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
        try:
            header, *rows = [*csv.reader(text)] or [[]]
        except (csv.Error, UnicodeDecodeError, ValueError) as error:
            raise DistinguoError(
                f"{path} is no table in CSV ({one_line(str(error))}); write it again, as text in UTF-8."
            ) from None
    header = [name.strip() for name in header]
    if len(header) < 2:
        found = f"one column, {shown(header[0])}" if header else "nothing"
        raise DistinguoError(
            f"{path} has {found}; write a table with a header, and commas between its cells."
        )
    twice = next((name for n, name in enumerate(header) if name in header[:n]), None)
    if twice is not None:
        raise DistinguoError(f"{path} has two columns '{one_line(twice)}'; give each a name of its own.")
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise DistinguoError(
                f"Line {number} of {path} has {len(row)} cells, but its header has {len(header)}; the table is cut "
                "off or damaged."
            )
    cells = zip(*rows, strict=True) if rows else [()] * len(header)
    return of_columns(dict(zip(header, cells, strict=True)), str(path), like)


def _read_parquet(path: Path, like: TaskSpec | None) -> Transitions:
    parquet = _needed("pyarrow.parquet", path, "a Parquet file")
    with regular_file(path, LARGEST_LOG) as raw:
        try:
            file = parquet.ParquetFile(raw)
            unpacked = sum(
                file.metadata.row_group(n).total_byte_size for n in range(file.metadata.num_row_groups)
            )
            if unpacked > LARGEST_LOG:
                raise too_large(path, LARGEST_LOG)
            table = file.read()
            columns = {name: table[name].to_numpy() for name in table.column_names}
        except DistinguoError:
            raise
        except (ValueError, OSError, NotImplementedError) as error:  # those of pyarrow are among them
            raise DistinguoError(
                f"{path} is damaged or not a Parquet file ({one_line(str(error))}); take a whole copy."
            ) from None
    return of_columns(columns, str(path), like)


def of_columns(columns: Mapping[str, Sequence[Any]], path: str, like: TaskSpec | None) -> Transitions:
    """A log of columns by name: one for each coordinate, one of the same name after ``next_``, and the others."""
    free = [name for name in columns if like is None or name not in like.dimensions]
    roles = {role: _column_of(free, (role, *others)) for role, others in COLUMNS.items()}
    episode = _column_of(free, EPISODE)
    others = {name for name in (*roles.values(), episode, *COUNTERS) if name}
    seen = [name for name in columns if name not in others and not name.startswith(NEXT)]
    dimensions = list(like.dimensions) if like is not None else seen
    wanted = [*dimensions, *(NEXT + name for name in dimensions)]
    if like is None:  # of a coordinate whose next observation is there, the observation should be, too
        wanted += [name.removeprefix(NEXT) for name in columns if name.startswith(NEXT)]
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
