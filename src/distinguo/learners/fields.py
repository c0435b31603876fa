"""Memories as tables: each array of a ``NamedTuple`` is declared once, with its type, shape and first values.

From the declaration follow fresh arrays, larger ones, and the check of arrays that come from a file.

>>> class Tally(NamedTuple):
...     counts: Annotated[np.ndarray, field(int, "rooms", 2)]
>>> fresh(Tally, rooms=3).counts.tolist()
[[0, 0], [0, 0], [0, 0]]
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import numpy as np

ROOM = "room"  #: the axis of prototypes: rows are kept when there is room for more of them

__all__ = ["ROOM", "Annotated", "Field", "check", "field", "fields_of", "fresh", "with_room"]


class Field(NamedTuple):
    """How an array is made."""

    dtype: Any
    shape: tuple[Any, ...]  #: numbers, or the names of sizes
    first: Any  #: the value, or the values, that it begins with

    def array(self, sizes: Mapping[str, int]) -> np.ndarray:
        """Return the array as it is in the beginning."""
        shape = tuple(sizes[axis] if isinstance(axis, str) else axis for axis in self.shape)
        made = np.zeros(shape, dtype=self.dtype)
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


def fresh(kind: Any, given: Mapping[str, Any] | None = None, **sizes: int) -> Any:
    """Return a tuple of arrays in their first state; ``given`` are the fields that are not declared arrays."""
    return kind(**(given or {}), **{name: f.array(sizes) for name, f in fields_of(kind).items()})


def with_room(memory: Any, given: Mapping[str, Any], size: int, **sizes: int) -> Any:
    """Return a copy for larger sizes that keeps the first ``size`` rows of every array with an axis of prototypes.

    Arrays whose shape does not depend on the room are shared; scratch arrays begin anew.
    """
    larger = fresh(type(memory), given, **sizes)
    kept = {}
    for name, f in _declared(memory).items():
        old, new = getattr(memory, name), getattr(larger, name)
        if f.shape[0] == ROOM:
            new[:size] = old[:size]
        elif new.shape == old.shape:
            kept[name] = old
    return larger._replace(**kept)


def check(memory: Any, **sizes: int) -> None:
    """Raise unless every declared array has its type and shape, so that compiled code cannot leave it."""
    for name, f in _declared(memory).items():
        array, expected = getattr(memory, name), f.array(sizes)
        same = array.dtype == expected.dtype and array.shape == expected.shape
        if not same or not array.flags.c_contiguous:
            raise ValueError(f"{name} has an unexpected shape or type")
