"""The ledger of a distillation: its budget of environment steps, and a record of every answer that it was given.

A distillation is a function of its seed, its settings and the answers to its questions: the trials of maps and
teachers, and what a teacher says. Each answer is appended to a file of the folder as soon as it is there. A
distillation that was interrupted asks the same questions again; as long as the record knows them, nothing is run,
and the steps count as they did. So it ends as if it had never been interrupted.

The file begins with a line of its own; an entry is its length, a checksum, a digest of the question, the facts in
JSON and the arrays. What a kill left half written is cut off.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import struct
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.reading.files import MEBIBYTE, parse_json
from distinguo.writing import WriteError

Arrays = dict[str, np.ndarray]

RECORD = "answers.bin"
LARGEST_RECORD = 512 * MEBIBYTE  #: bytes; later answers are not kept, and are asked for again
FLUSH_SECONDS = 2.0  #: between two times that the record is flushed to the disk
_FIRST = b"distinguo answers 1\n"
_HEAD = struct.Struct("<QI")  #: bytes of an entry, and its checksum
_FACTS = struct.Struct("<I")  #: bytes of its facts
_KEY = 16  #: bytes of the digest of a question
_KINDS = ("<f8", "<i8", "|b1")  #: of arrays


class Count(NamedTuple):
    """The number of trials, and of their steps."""

    trials: int = 0
    steps: int = 0

    def more(self, trials: int, steps: int) -> Count:
        """Return the count plus these trials and steps."""
        return Count(self.trials + trials, self.steps + steps)


class BudgetEndedError(Exception):
    """The steps that are left do not suffice for what was asked."""


class KeptAnswer(NamedTuple):
    """The arrays of an answer and what it cost; ``ended`` if the budget ended before it was complete."""

    arrays: Arrays
    spent: Count
    ended: bool = False


class Ledger:
    """The steps that were taken, never more than the ceiling, and the record of answers, if there is a folder."""

    def __init__(self, budget: float = math.inf) -> None:
        self.budget = self.ceiling = budget
        self.count = Count()
        self.beside: Callable[[], int] = lambda: (
            0
        )  #: steps that are taken elsewhere and count against the budget
        self._record: Record | None = None
        self._asking = False

    @property
    def left(self) -> float:
        """The steps that may still be taken."""
        return max(0, self.ceiling - self.count.steps - self.beside())

    @property
    def is_replaying(self) -> bool:
        """Whether answers come from the record."""
        return self._record is not None and self._record.is_replaying

    @contextmanager
    def up_to(self, share: float) -> Iterator[None]:
        """Allow steps up to a share of the budget; those that were taken before count."""
        before = self.ceiling
        self.ceiling = self.budget if math.isinf(self.budget) else math.floor(share * self.budget)
        try:
            yield
        finally:
            self.ceiling = before

    def spend(self, trials: int, steps: int) -> None:
        """Count trials and steps."""
        self.count = self.count.more(trials, steps)

    def answer(
        self,
        question: Sequence[Any],
        run: Callable[[], Arrays],
        fits: Callable[[Arrays], bool] = lambda arrays: True,
    ) -> Arrays:
        """The answer to a question: from the record or, if it is not there, by running it.

        ``question`` are texts, numbers and arrays; ``fits`` says whether an answer can belong to it. A question
        within another is part of it.
        """
        if self._asking or self._record is None:
            return run()
        key = _digest(question)
        known = self._record.recall(key)
        if known is not None:
            if not known.ended and not _is_true(fits, known.arrays):
                raise self._record.damaged()
            self.spend(*known.spent)
        else:
            known = self._asked(run)
            self._record.keep(key, known)
        if known.ended:
            raise BudgetEndedError
        return known.arrays

    def _asked(self, run: Callable[[], Arrays]) -> KeptAnswer:
        before, self._asking = self.count, True
        arrays, ended = {}, False
        try:
            arrays = run()
        except BudgetEndedError:
            ended = True
        finally:
            self._asking = False
        after = self.count
        return KeptAnswer(arrays, Count(after.trials - before.trials, after.steps - before.steps), ended)

    def stop_keeping(self) -> None:
        """Keep no more answers: the work takes another course than it would have without a stop."""
        if self._record is not None:
            self._record.close()
            self._record = None

    @contextmanager
    def recorded_in(self, path: Path) -> Iterator[None]:
        """Take answers from a record, and append new ones to it; one without answers is removed."""
        self._record = Record(path)
        try:
            yield
        finally:
            self.stop_keeping()
            if path.exists() and path.stat().st_size <= len(_FIRST):
                path.unlink()


def _is_true(fits: Callable[[Arrays], bool], arrays: Arrays) -> bool:
    try:
        return fits(arrays)
    except (LookupError, TypeError, ValueError):  # it is of another shape
        return False


def _digest(question: Sequence[Any]) -> bytes:
    digest = hashlib.blake2b(digest_size=_KEY)
    for part in question:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype.str} {part.shape};".encode() + np.ascontiguousarray(part).tobytes())
        else:
            digest.update(f"{part!r};".encode())
    return digest.digest()


class Record:
    """Answers in a file, in the order of the questions; first they are read, then new ones are appended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            self._file = os.fdopen(os.open(path, flags, 0o644), "r+b", buffering=0)
        except OSError as error:
            raise DistinguoError(f"Cannot use {path}: {error.strerror or error}.") from None
        found = os.fstat(self._file.fileno())
        self._size, self.is_replaying, self._flushed = found.st_size, True, time.monotonic()
        if not stat.S_ISREG(found.st_mode) or self._size > LARGEST_RECORD:
            self.close()
            raise self.damaged()
        begun = self._file.read(len(_FIRST)) or b""
        if not _FIRST.startswith(begun):
            self.close()
            raise self.damaged()
        if begun != _FIRST:  # new, or a kill cut it off there
            self._cut(0)
            self._write(_FIRST)

    def damaged(self) -> DistinguoError:
        """The error for a record that cannot be used."""
        return DistinguoError(f"{self.path} is damaged; delete it to begin from the start.")

    def recall(self, key: bytes) -> KeptAnswer | None:
        """The next answer of the record; None if there are no more.

        If the next question is another one, the rest of the record is of no use.
        """
        if not self.is_replaying:
            return None
        place = self._file.tell()
        content = self._next()
        if content is None or content[:_KEY] != key:
            if content is not None:
                warnings.warn(
                    f"{self.path.parent} was interrupted, and its answers no longer fit from here on; they are asked "
                    "for again, and the result may differ from one that was never interrupted.",
                    stacklevel=2,
                )
            self._cut(place)
            return None
        try:
            return _unpacked(content[_KEY:])
        except (DistinguoError, LookupError, TypeError, ValueError, OverflowError):
            raise self.damaged() from None

    def _next(self) -> bytes | None:
        """The content of the next entry; None at the end, or where a kill cut it off."""
        head = self._file.read(_HEAD.size)
        if len(head) < _HEAD.size:
            return None
        length, checksum = _HEAD.unpack(head)
        if not _KEY <= length <= self._size - self._file.tell():
            return None
        content = self._file.read(length)
        return content if zlib.crc32(content) == checksum else None

    def _cut(self, place: int) -> None:
        """Drop what comes after a place, and go on from there."""
        self.is_replaying = False
        self._file.truncate(place)
        self._file.seek(place)
        self._size = place

    def keep(self, key: bytes, answer: KeptAnswer) -> None:
        """Append an answer, unless the record is full."""
        content = key + _packed(answer)
        if self._size + _HEAD.size + len(content) <= LARGEST_RECORD:
            self._write(_HEAD.pack(len(content), zlib.crc32(content)) + content)

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[self._file.write(left) or 0 :]
            self._size += len(data)
            if time.monotonic() - self._flushed > FLUSH_SECONDS:
                os.fsync(self._file.fileno())
                self._flushed = time.monotonic()
        except OSError as error:
            raise WriteError(
                f"Cannot write {self.path}: {error.strerror or error}; what was saved before is as it was."
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _packed(answer: KeptAnswer) -> bytes:
    arrays = {name: _plain(array) for name, array in answer.arrays.items()}
    facts = {
        "trials": answer.spent.trials,
        "steps": answer.spent.steps,
        "ended": answer.ended,
        "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()],
    }
    text = json.dumps(facts).encode()
    return b"".join([_FACTS.pack(len(text)), text, *(array.tobytes() for array in arrays.values())])


def _plain(array: np.ndarray) -> np.ndarray:
    kind = {"f": "<f8", "b": "|b1"}.get(array.dtype.kind, "<i8")
    return np.ascontiguousarray(array, dtype=kind).reshape(array.shape)


def _unpacked(content: bytes) -> KeptAnswer:
    (length,) = _FACTS.unpack(content[: _FACTS.size])
    place = _FACTS.size + length
    facts: Mapping[str, Any] = parse_json(content[_FACTS.size : place], RECORD)
    spent = Count(_whole(facts["trials"]), _whole(facts["steps"]))
    arrays: Arrays = {}
    for name, kind, shape in facts["arrays"]:
        if kind not in _KINDS:
            raise ValueError(kind)
        size = math.prod(_whole(n) for n in shape) * np.dtype(kind).itemsize
        part = np.frombuffer(content[place : place + size], np.uint8)
        arrays[str(name)] = (
            (part.astype(np.bool_) if kind == "|b1" else part.view(kind)).reshape(shape).copy()
        )
        place += size
    if place != len(content) or facts["ended"] not in (True, False):
        raise ValueError("its length is wrong")
    return KeptAnswer(arrays, spent, bool(facts["ended"]))


def _whole(number: Any) -> int:
    if type(number) is not int or not 0 <= number < 2**60:
        raise ValueError(number)
    return number
