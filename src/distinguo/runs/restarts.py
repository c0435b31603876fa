"""Attempts from scratch, and the best of them: luck in the first trials should not decide a whole run."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from distinguo.learners.agent import Agent, Progress, luby
from distinguo.learners.learner import leaves, with_leaves
from distinguo.reading.arrays import PackedLines, read_lines
from distinguo.reading.files import parse_json

#: Events: another attempt began from scratch; the stage ended with an earlier attempt.
RESTART, RETURN = "restart", "return"
LAST = 2**63 - 1  #: later than every trial


def is_over(progress: Progress, restart: int) -> bool:
    """Whether an attempt has used up its trials."""
    if restart == 0:
        return False
    counts = progress.counts
    had = counts["trials"][0] - counts["since"][0]
    return bool(had >= restart * luby(int(counts["attempt"][0]) + 1))


class Best(NamedTuple):
    """The best attempt so far, its mean return, which attempt it was, and the trials until then."""

    score: float
    memory: Any
    attempt: int
    trials: int


def better(best: Best | None, score: float, agent: Agent) -> Best:
    """Return the better of the best attempt so far and this one; the earlier, if they are equal."""
    if best is not None and best.score >= score:
        return best
    copies = {name: array.copy() for name, array in leaves(agent.memory).items()}
    counts = agent.progress.counts
    memory = with_leaves(agent.memory, copies)
    return Best(score, memory, int(counts["attempt"][0]), int(counts["trials"][0]))


def returned_to(trial: int, attempt: int, until: int) -> dict[str, Any]:
    """Return the entry for the attempt that a stage ended with, and its last trial."""
    return {"event": RETURN, "trial": trial, "attempt": attempt, "until": until}


class Attempts:
    """Finds the entries on the present regions: those of one attempt, by their numbers.

    A learner that restarts by itself counts its attempts but writes no entry when one begins; all of its entries
    are in one list.
    """

    def __init__(self) -> None:
        self._trials = array("q")  # of every entry
        self._begun = [_Begun(0, None, LAST)]

    def note(self, entry: dict[str, Any]) -> None:
        """Record the next entry."""
        number, event = len(self._trials), entry["event"]
        self._trials.append(int(entry.get("trial", 0)))
        if event == RESTART:
            self._begun.append(_Begun(number + 1, None, LAST))
        elif event == RETURN:
            earlier = min(operator.index(entry["attempt"]), len(self._begun) - 1)
            if earlier < 0:
                raise ValueError("there is no such attempt")
            self._begun.append(_Begun(number + 1, earlier, operator.index(entry["until"])))

    def present(self) -> Sequence[int]:
        """Return the numbers of the entries of the last attempt, and of the attempt that it went back to."""
        parts: list[Sequence[int]] = []
        ends = [*(begun.first - 1 for begun in self._begun[1:]), len(self._trials)]
        attempt: int | None = len(self._begun) - 1
        until = LAST
        while attempt is not None:
            begun = self._begun[attempt]
            numbers = range(begun.first, ends[attempt])
            early = numbers if until == LAST else array("q", (n for n in numbers if self._trials[n] <= until))
            parts.append(early)
            until, attempt = min(until, begun.until), begun.earlier
        return parts[0] if len(parts) == 1 else array("q", chain.from_iterable(reversed(parts)))


class _Begun(NamedTuple):
    """An attempt: the number of its first entry, and which one it went back to, with its entries until then."""

    first: int
    earlier: int | None
    until: int


def of_these_regions(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries on the present regions.

    >>> of_these_regions([{"event": "split", "trial": 1}, {"event": "restart", "trial": 9}])
    []
    >>> of_these_regions([{"event": "kept", "trial": 1}, {"event": "kept", "trial": 9}, returned_to(9, 2, until=5)])
    [{'event': 'kept', 'trial': 1}]
    """
    attempts = Attempts()
    for entry in entries:
        attempts.note(entry)
    return [entries[n] for n in attempts.present()]


def read_reasons(path: Path, is_growing: bool = False) -> PackedLines[dict[str, Any]]:
    """Read the reasons of a run folder for the present regions."""
    attempts = Attempts()
    return read_lines(path, _entry, attempts.note, is_growing=is_growing).only(attempts.present())


def _entry(line: bytes) -> dict[str, Any]:
    entry = parse_json(line, "reason")
    if not isinstance(entry, dict) or not isinstance(entry["event"], str):
        raise ValueError("it is not a reason")
    return entry
