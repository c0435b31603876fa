"""An agent as compiled code sees it: its world, its memory, and the progress of the trial.

Memories are tables: each array of a ``NamedTuple`` is declared once, with its type, shape and first values. Fresh
arrays, larger ones, and the check of arrays from a file follow from that.

>>> class Tally(NamedTuple):
...     counts: Annotated[np.ndarray, field(int, "rooms", 2)]
>>> fresh_arrays(Tally, rooms=3).counts.tolist()
[[0, 0], [0, 0], [0, 0]]
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.seam import part

ROOM = "room"  #: the axis of prototypes: rows are kept when there is room for more of them


class Field(NamedTuple):
    """The declaration of an array."""

    dtype: Any
    shape: tuple[Any, ...]  #: numbers, or the names of sizes
    first: Any  #: the value, or the values, that it begins with

    def shape_for(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape for these sizes."""
        return tuple(sizes[axis] if isinstance(axis, str) else axis for axis in self.shape)

    def array(self, sizes: Mapping[str, int]) -> np.ndarray:
        """Return the array in its first state."""
        made = np.zeros(self.shape_for(sizes), dtype=self.dtype)
        if self.first is not None:
            made[...] = self.first
        return made


def field(dtype: Any, *shape: Any, first: Any = None) -> Field:
    """Declare an array; ``first`` is broadcast to its shape."""
    return Field(np.dtype(dtype), shape, first)


@cache
def fields_of(kind: Any) -> Mapping[str, Field]:
    """Return the declared arrays of a ``NamedTuple`` class, by name."""
    hints = get_type_hints(kind, include_extras=True)
    notes = {name: get_args(hint)[1:] for name, hint in hints.items()}
    return {name: note[0] for name, note in notes.items() if note and isinstance(note[0], Field)}


def _declared(memory: Any) -> Mapping[str, Field]:
    kind: Any = type(memory)
    return fields_of(kind)


def fresh_arrays(kind: Any, given: Mapping[str, Any] | None = None, **sizes: int) -> Any:
    """Return a tuple of arrays in their first state; ``given`` are the fields that are not declared arrays."""
    fields = fields_of(kind)
    needed = sum(math.prod(f.shape_for(sizes)) * f.dtype.itemsize for f in fields.values())
    try:
        if needed > physical_memory():
            raise MemoryError
        return kind(**(given or {}), **{name: f.array(sizes) for name, f in fields.items()})
    except MemoryError:
        raise DistinguoError(
            f"The learner would need {needed / 2**30:,.1f} GiB of memory, which this machine does not have; lower "
            "the setting that says how much it keeps, such as learner.capacity."
        ) from None


def physical_memory() -> int:
    """The bytes of memory of this machine; very many where they are unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return sys.maxsize


def larger_arrays(memory: Any, given: Mapping[str, Any], size: int, **sizes: int) -> Any:
    """Return a copy for larger sizes that keeps the first ``size`` rows of every array with an axis of prototypes.

    Arrays whose shape does not depend on the room are shared; scratch arrays begin anew.
    """
    larger = fresh_arrays(type(memory), given, **sizes)
    kept = {}
    for name, f in _declared(memory).items():
        old, new = getattr(memory, name), getattr(larger, name)
        if f.shape[0] == ROOM:
            new[:size] = old[:size]
        elif new.shape == old.shape:
            kept[name] = old
    return larger._replace(**kept)


def check_arrays(memory: Any, **sizes: int) -> None:
    """Raise an error unless every declared array has its type and shape, so that compiled code stays inside it."""
    for name, f in _declared(memory).items():
        array, expected = getattr(memory, name), f.array(sizes)
        same = array.dtype == expected.dtype and array.shape == expected.shape
        if not same or not array.flags.c_contiguous:
            raise ValueError(f"{name} has an unexpected shape or type")


#: How a learner leaves a trial: it goes on, reached a terminal state, was stopped, paused, or cannot go on within
#: the steps left.
RUNNING, TERMINAL, CAPPED, PAUSED, SPENT = 0, 1, 2, 3, 4
NO_BUDGET = 2**62  #: steps left where there is no budget
NO_ACTION = -1
MOST_COUNTED = 2**53  #: counters of a run are less
LEAST, GREATEST = 0, 1  #: rows of ``Progress.extent``

#: Counters, as one record.
COUNTS = np.dtype(
    [
        ("trials", np.int64),  # begun
        ("trial_steps", np.int64),  # of all trials
        ("investigation_steps", np.int64),  # of all mini-trials
        ("length", np.int64),  # of the running trial so far
        ("action", np.int64),  # that it takes next
        ("gained", np.float64),  # the sum of its rewards
        ("attempt", np.int64),  # earlier attempts
        ("since", np.int64),  # trials before this attempt
    ],
    align=True,
)


class Progress(NamedTuple):
    """The progress of learning, for every learner; it continues when learning begins from scratch."""

    now: Annotated[np.ndarray, field(float, "width")]  #: the state of the running trial
    counts: Annotated[np.ndarray, field(COUNTS, 1)]
    extent: Annotated[
        np.ndarray, field(float, 2, "dimensions", first=[[np.inf], [-np.inf]])
    ]  #: the least and the greatest of each coordinate that was observed


def fresh_progress(width: int, dimensions: int) -> Progress:
    """Return the progress before the first trial.

    >>> fresh_progress(2, 2).counts["trials"].tolist()
    [0]
    """
    return fresh_arrays(Progress, width=width, dimensions=dimensions)


class Agent(NamedTuple):
    """A learner with its world and its memory."""

    world: Any  #: the task as learners see it (``tasks.world``)
    memory: Any
    settings: Any
    progress: Progress
    log: Any  #: the log of its reasons, or None
    rng: np.random.Generator


@part
def begin_counting(progress: Progress) -> None:
    """Begin to count the steps and rewards of a trial."""
    progress.counts["trials"][0] += 1
    progress.counts["length"][0] = 0
    progress.counts["gained"][0] = 0.0


@part
def widen(progress: Progress, seen: Any) -> None:
    """Widen the extent of observations."""
    for i in range(len(seen)):
        progress.extent[LEAST, i] = min(progress.extent[LEAST, i], seen[i])
        progress.extent[GREATEST, i] = max(progress.extent[GREATEST, i], seen[i])


@part
def luby(n: int) -> int:
    """Return the n-th number of 1, 1, 2, 1, 1, 2, 4, …: the length of the n-th attempt, in units of the first.

    Among all restart strategies without knowledge of the task, this one is within a small factor of the best.

    >>> [luby(n) for n in range(1, 8)]
    [1, 1, 2, 1, 1, 2, 4]
    """
    while True:
        power = 1
        while power <= n:
            power *= 2
        if n == power - 1:
            return power // 2
        n -= power // 2 - 1
