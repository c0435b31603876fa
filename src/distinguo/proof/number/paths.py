"""The paths of a program over sets of numbers: where a comparison is undecided for a cell, both ways are followed.

The program runs as plain Python. Whenever it asks for the truth of an :class:`Undecided` comparison, the run takes
one way with the cells that may go it, and the other way is run again from the beginning, with the other cells.

>>> import numpy as np
>>> from distinguo.proof.number.form import Form
>>> cells = Form.of_cells(np.array([[1.0, 2.0, 3.0]]), np.array([[0.6]]))[0]
>>> def program(x):
...     return "high" if x > 2.0 else "low"
>>> sorted((path.result, path.rows.tolist()) for path in paths(lambda rows: program(cells.at(rows)), 3))
[('high', [1, 2]), ('low', [0, 1])]
"""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

MOST_PATHS = 4096  #: of one program; each loop that forks at every turn would otherwise never end


class Path(NamedTuple):
    """One way through a program."""

    rows: np.ndarray  #: the cells that may go this way
    result: Any
    kept: np.ndarray  #: where these are among the cells that the way was run with
    lost: np.ndarray  #: the cells for which the program may compute something that is not a number
    limits: list[
        tuple[Any, Any]
    ]  #: numbers of all cells it was run with; the first of a pair is not above the second
    why: str = ""  #: what it may do then, and in which line


class TooManyPathsError(Exception):
    """A program that forks without end."""


class _Ended(Exception):  # noqa: N818 - no error
    """No cell goes this way."""


class _Run(threading.local):
    """The way that is being run in this thread."""

    mask: np.ndarray | None = None
    decisions: list[bool]
    others: list[tuple[list[bool], np.ndarray]]
    made = 0
    lost: np.ndarray
    limits: list[tuple[Any, Any]]
    why = ""


_run = _Run()


def lose(undefined: np.ndarray, what: str) -> None:
    """Note that an operation may not be defined for some cells: they are lost, and the others go on.

    ``what`` says what the program may do there, such as "divide by 0".
    """
    if _run.mask is None:
        if undefined.any():
            raise ArithmeticError("an operation that may not be defined, outside of a run")
        return
    bad = _run.mask & undefined
    if bad.any():
        _run.lost = _run.lost | bad
        _run.why = _run.why or f"{what} in line {_line_of_the_program()}"
        _run.mask = _run.mask & ~bad
        if not _run.mask.any():
            raise _Ended


def limit(less: Any, more: Any) -> None:
    """Note that, on this way, a number is not above another."""
    if _run.mask is not None:
        _run.limits.append((less, more))


def _line_of_the_program() -> int:
    """The line that is being run of the first function outside of this package."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("distinguo.proof"):
        frame = frame.f_back
    return 0 if frame is None else frame.f_lineno


class Undecided:
    """The truth of a comparison for every cell: where it may be true, and where it must be."""

    def __init__(
        self, may: np.ndarray, must: np.ndarray, narrow: Callable[[bool], None] | None = None
    ) -> None:
        self.may, self.must, self.narrow = may, must, narrow
        self.answer: bool | None = None

    def __bool__(self) -> bool:
        if self.answer is None:
            self.answer = _decide(self.may, ~self.must)
            if self.narrow is not None and (self.may & ~self.must).any():
                self.narrow(self.answer)
        return self.answer

    def __and__(self, other: Any) -> Undecided:
        other = _as_undecided(other, self)
        return Undecided(self.may & other.may, self.must & other.must)

    def __or__(self, other: Any) -> Undecided:
        other = _as_undecided(other, self)
        return Undecided(self.may | other.may, self.must | other.must)

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Undecided:
        return Undecided(~self.must, ~self.may)


def _as_undecided(value: Any, like: Undecided) -> Undecided:
    if isinstance(value, Undecided):
        return value
    known = np.full(len(like.may), bool(value))
    return Undecided(known, known)


def _decide(may_be_true: np.ndarray, may_be_false: np.ndarray) -> bool:
    if _run.mask is None:
        raise RuntimeError("an undecided comparison outside of a run")
    yes, no = _run.mask & may_be_true, _run.mask & may_be_false
    if _run.made < len(_run.decisions):
        answer = _run.decisions[_run.made]
    else:
        answer = bool(yes.sum() >= no.sum())
        if yes.any() and no.any():
            _run.others.append(([*_run.decisions, not answer], no if answer else yes))
        _run.decisions.append(answer)
    _run.made += 1
    _run.mask = yes if answer else no
    if not _run.mask.any():
        raise _Ended
    return answer


def paths(program: Callable[[np.ndarray], Any], count: int) -> Iterator[Path]:
    """Run a program for ``count`` cells, each way with the cells that may go it."""
    todo: list[tuple[list[bool], np.ndarray]] = [([], np.arange(count))]
    run = 0
    while todo:
        decisions, rows = todo.pop()
        run += 1
        if run > MOST_PATHS:
            raise TooManyPathsError
        outer = _run.mask
        _run.mask, _run.decisions, _run.others, _run.made = np.ones(len(rows), bool), decisions, [], 0
        _run.lost, _run.limits, _run.why = np.zeros(len(rows), bool), [], ""
        result, kept = None, np.zeros(0, dtype=np.int64)
        try:
            result = program(rows)
            kept = np.flatnonzero(_run.mask)
        except _Ended:
            pass
        finally:
            _run.mask = outer
        todo += [(other, rows[mask]) for other, mask in _run.others]
        yield Path(rows[kept], result, kept, rows[_run.lost], _run.limits, _run.why)
