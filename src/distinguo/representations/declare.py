"""Declare a partition: a class with the methods ``region(self, s)`` and ``regions(self)``.

Other methods are optional capabilities, such as ``outlines`` to draw it. Each implements a generic function; other
modules add theirs with :func:`capability`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, overload

from distinguo.errors import DistinguoError, attempt, call_user_code
from distinguo.representations.geometry import landmarks, main_plane, outlines
from distinguo.representations.partition import (
    count_regions,
    has_labels,
    nearest,
    prototypes_of,
    region,
)
from distinguo.seam import implements, implements_interpreted

Kind = TypeVar("Kind", bound=type)

#: The generic that each method implements: at both speeds, or in Python only.
_COMPILED: dict[str, Any] = {"region": region, "nearest": nearest}
_PLAIN: dict[str, Any] = {
    "regions": count_regions,
    "has_labels": has_labels,
    "prototypes_of": prototypes_of,
    "main_plane": main_plane,
    "landmarks": landmarks,
    "outlines": outlines,
}
_REQUIRED = ("region", "regions")
_declared: list[type] = []


@overload
def partition(kind: Kind) -> Kind: ...
@overload
def partition(*, compiled: bool = True) -> Callable[[Kind], Kind]: ...
def partition(kind: Kind | None = None, *, compiled: bool = True) -> Kind | Callable[[Kind], Kind]:
    """Make a class a partition: ``region(self, s)`` is the region of a state, ``regions(self)`` how many there are.

    Regions are called 0, 1, 2, … The class is a ``NamedTuple`` of numbers and arrays, and ``region`` is compiled
    with the learner or the tester that runs on it; with ``compiled=False``, any class works, and it runs as plain
    Python. :func:`~distinguo.representations.check.check_partition` tests it.

    >>> from typing import NamedTuple
    >>> @partition
    ... class Rings(NamedTuple):
    ...     width: float = 1.0
    ...     def region(self, s):
    ...         return min(int(abs(s[0]) / self.width), 2)
    ...     def regions(self):
    ...         return 3
    >>> region(Rings(), (-1.5,)), count_regions(Rings())
    (1, 3)
    """
    if kind is None:
        return lambda kind: _declare(kind, compiled)
    return _declare(kind, compiled)


def _declare(kind: Kind, compiled: bool) -> Kind:
    for name in _REQUIRED:
        if not callable(getattr(kind, name, None)):
            raise DistinguoError(f"The partition {kind.__name__} has no method {name}; {_words(name)}.")
    if compiled and not (issubclass(kind, tuple) and hasattr(kind, "_fields")):
        raise DistinguoError(
            f"The partition {kind.__name__} is not a NamedTuple, so it cannot be compiled; make it one, or say "
            "@partition(compiled=False)."
        )
    for name, function in _COMPILED.items():
        _implement(kind, name, function, implements if compiled else implements_interpreted)
    for name, function in _PLAIN.items():
        _implement(kind, name, function, _in_python)
    _declared.append(kind)
    return kind


def _words(name: str) -> str:
    return {
        "region": "write region(self, s), which returns the region of a state: 0, 1, 2, …",
        "regions": "write regions(self), which returns how many regions there are",
    }[name]


def _implement(kind: type, name: str, function: Any, how: Callable[[Any, type], Any]) -> None:
    if callable(method := getattr(kind, name, None)):
        how(function, kind)(method)


def _in_python(function: Any, kind: type) -> Any:
    return lambda method: function.register(kind, method)


def is_declared(partition: Any) -> bool:
    """Whether the class of a partition was declared with ``@partition``."""
    return type(partition) in _declared


def capability(name: str, function: Any) -> None:
    """Let a method of that name implement a generic, also in classes declared before."""
    _PLAIN[name] = function
    for kind in _declared:
        _implement(kind, name, function, _in_python)


class FunctionPartition(NamedTuple):
    """A function from a state to the number of its region, and how many regions there are.

    >>> halves = FunctionPartition(lambda s: int(s[0] > 0), regions=2)
    >>> region(halves, (0.5,))
    1
    """

    function: Callable[[tuple[float, ...]], int]
    regions: int


@implements_interpreted(region, FunctionPartition)
def answer_of(partition: FunctionPartition, s: tuple[float, ...]) -> int:
    """Ask the function, and check its answer."""
    j = attempt(int, call_user_code("The partition", partition.function, s), otherwise=-1)
    if not 0 <= j < partition.regions:
        raise DistinguoError(
            f"The partition gave region {j} for {s}; allowed are 0 to {partition.regions - 1}."
        )
    return j


@count_regions.register(FunctionPartition)
def _(partition: FunctionPartition) -> int:
    return partition.regions
