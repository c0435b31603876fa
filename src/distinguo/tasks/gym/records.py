"""Records of trials: seeds, actions, snapshots on the way, and the arrays that a checkpoint keeps of them.

The seed and the actions of a trial are enough to replay it; snapshots save replaying from the start.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

MOST_SNAPSHOTS = 1000
_NAMES = ("trials", "seeds", "moves", "offsets", "counters")


class TrialRecord:
    """The seed of a trial and its actions."""

    def __init__(self, seed: int, moves: Iterable[int] = ()) -> None:
        self.seed = seed
        self.moves = array("I", moves)
        #: a snapshot of its start and what was observed there, where its seed is not enough
        self.beginning: tuple[Any, tuple[float, ...]] | None = None
        self.stopped = False  #: whether the environment truncated it

    def cut(self, step: int) -> None:
        """Forget what came after this step."""
        if step < len(self.moves):
            del self.moves[step:]
            self.stopped = False


class Snapshots:
    """Snapshots by trial and step; the least recently used ones are dropped.

    >>> snapshots = Snapshots(most=2)
    >>> for step in (32, 64, 96):
    ...     snapshots.put(0, step, f"state at {step}")
    >>> snapshots.before(0, 70), snapshots.before(0, 64), snapshots.before(1, 70)
    ((64, 'state at 64'), None, None)
    """

    def __init__(self, most: int = MOST_SNAPSHOTS) -> None:
        self.most = most
        self.kept: OrderedDict[tuple[int, int], Any] = OrderedDict()
        self.steps: dict[int, set[int]] = {}

    def put(self, trial: int, step: int, snapshot: Any) -> None:
        """Keep a snapshot."""
        self.kept[trial, step] = snapshot
        self.kept.move_to_end((trial, step))
        self.steps.setdefault(trial, set()).add(step)
        if len(self.kept) > self.most:
            (oldest, at), _ = self.kept.popitem(last=False)
            self.steps[oldest].discard(at)

    def before(self, trial: int, step: int) -> tuple[int, Any] | None:
        """Return the last snapshot before this step: the step from it shows whether it was restored rightly."""
        nearest = max((at for at in self.steps.get(trial, ()) if at < step), default=None)
        if nearest is None:
            return None
        self.kept.move_to_end((trial, nearest))
        return nearest, self.kept[trial, nearest]

    def keep_only(self, trials: Iterable[int]) -> None:
        """Drop the snapshots of all other trials."""
        for trial in set(self.steps).difference(trials):
            for step in self.steps.pop(trial):
                del self.kept[trial, step]


def last_steps(states: np.ndarray) -> dict[int, int]:
    """Return the trials of these rows of states, and the last step that is needed of each.

    >>> last_steps(np.array([[4.0, 7.0, 0.1], [4.0, 2.0, 0.2], [-1.0, 9.0, 0.3]]))
    {4: 7}
    """
    last: dict[int, int] = {}
    for trial, step in np.asarray(states, dtype=np.float64)[:, :2].astype(np.int64).tolist():
        if trial >= 0:  # one cannot come back to a look-ahead
            last[trial] = max(step, last.get(trial, 0))
    return last


def arrays_of_trials(
    trials: Mapping[int, TrialRecord], last: Mapping[int, int], counters: list[int]
) -> dict[str, np.ndarray]:
    """Return trials as arrays, each up to the last step that is needed."""
    numbers = sorted(set(trials).intersection(last))
    moves = [np.array(trials[number].moves[: last[number]], dtype=np.uint32) for number in numbers]
    return {
        "trials": np.array(numbers, dtype=np.int64),
        "seeds": np.array([trials[number].seed for number in numbers], dtype=np.int64),
        "moves": np.concatenate([np.zeros(0, np.uint32), *moves]),
        "offsets": np.cumsum([0, *map(len, moves)], dtype=np.int64),
        "counters": np.array(counters, dtype=np.int64),
    }


def trials_of_arrays(
    arrays: Mapping[str, np.ndarray], count: int
) -> tuple[dict[int, TrialRecord], list[int]]:
    """Return the trials and the counters from arrays, everything checked; there are ``count`` actions."""
    trials, seeds, moves, offsets, counters = _of_whole_numbers(arrays)
    _require(len(trials) == len(seeds) == len(offsets) - 1, "its parts have different lengths")
    _require(len(counters) == 3 and min(counters) >= 0, "its counters are wrong")
    _require(offsets[0] == 0 and offsets[-1] == len(moves), "its offsets are wrong")
    _require(offsets == sorted(offsets), "its offsets are wrong")
    _require(all(0 <= move < count for move in moves), "it has an unknown action")
    _require(all(seed >= 0 for seed in seeds), "it has a negative seed")
    _require(len(set(trials)) == len(trials), "it has a trial twice")
    _require(all(0 <= number < counters[0] for number in trials), "it has an unknown trial")
    parts = zip(trials, seeds, offsets, offsets[1:], strict=False)
    return {number: TrialRecord(seed, moves[a:b]) for number, seed, a, b in parts}, counters


def _of_whole_numbers(arrays: Mapping[str, np.ndarray]) -> list[list[int]]:
    for name in _NAMES:
        _require(name in arrays, f"it lacks '{name}'")
        whole = arrays[name].ndim == 1 and arrays[name].dtype.kind in "iu"
        _require(whole, f"'{name}' is no row of whole numbers")
    return [arrays[name].tolist() for name in _NAMES]


def _require(truth: bool, trouble: str) -> None:
    if not truth:
        raise ValueError(f"The memory of trials is damaged: {trouble}.")
