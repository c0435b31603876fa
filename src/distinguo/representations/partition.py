"""What a partition is: anything that says in which region a state falls, and how many regions there are.

These two, :func:`region` and :func:`count_regions`, are all that testing needs. Everything else is a *capability*:
a function with an implementation per class. Some have a default; for the others, :func:`lacking` makes the error.
Capabilities of the plane are in ``geometry``, the one of being written to a file in ``file``; ``declare`` takes all
of them from a class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba.extending import overload
from numba.np.unsafe.ndarray import to_fixed_tuple

from distinguo.errors import DistinguoError, attempt, shown
from distinguo.features.feature import activate, are_memberships, coordinates_of, count_features, room_needed
from distinguo.seam import at_speed, generic, implements, kernel

State = tuple[float, ...] | np.ndarray  #: as tasks have it, or a row as learners have it


@generic
def region(partition: Any, s: State) -> int:
    """Return the region of the state-space that ``s`` falls in: 0, 1, 2, … below :func:`count_regions`."""
    raise NotImplementedError


@generic
def nearest(partition: Any, s: State) -> int:
    """Return the index of the prototype nearest to ``s``; the oldest of equally near ones."""
    raise NotImplementedError


def lacking(partition: Any, what: str, remedy: str) -> DistinguoError:
    """Return the error for a partition that lacks a capability.

    >>> raise lacking(3, "cannot be drawn", "give it a method outlines")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: A partition of the class int cannot be drawn; give it a method outlines.
    """
    return DistinguoError(f"A partition of the class {type(partition).__name__} {what}; {remedy}.")


@singledispatch
def count_regions(partition: Any) -> int:
    """Return the number of regions, simple and compound."""
    raise lacking(partition, "does not say how many regions it has", "give it a method regions(self)")


@singledispatch
def has_labels(partition: Any) -> bool:
    """Whether coordinates are exact labels, such as the number of a category; by default they are numbers."""
    return False


class Prototypes(NamedTuple):
    """The states that stand for the regions of a partition by nearest prototype."""

    points: np.ndarray  #: (prototypes, dimensions)
    regions: np.ndarray  #: (prototypes,) the region of each
    primaries: np.ndarray  #: (regions,) the primary prototype of each region

    @property
    def is_primary(self) -> np.ndarray:
        """Which prototypes stand for their region."""
        return self.primaries[self.regions] == np.arange(len(self.regions))


@singledispatch
def prototypes_of(partition: Any) -> Prototypes | None:
    """Return the prototypes of a partition; by default it has none."""
    return None


@singledispatch
def count_dimensions(partition: Any) -> int | None:
    """How many coordinates its states have; None if unknown."""
    return None


def checked_point(partition: Any, s: Any) -> tuple[float, ...]:
    """Return an observation as a tuple of finite floats of the right length, or raise an error.

    >>> from distinguo.representations.voronoi import voronoi
    >>> checked_point(voronoi([[0.0, 1.0]], [1.0, 1.0]), (0.5,))
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: An observation should be a sequence of 2 finite numbers, got (0.5,).
    """
    width = count_dimensions(partition)
    point: tuple[float, ...] = () if isinstance(s, str | bytes) else attempt(_as_floats, s, otherwise=())
    if not point or (width is not None and len(point) != width) or not all(map(math.isfinite, point)):
        count = "" if width is None else f"{width} "
        raise DistinguoError(f"An observation should be a sequence of {count}finite numbers, got {shown(s)}.")
    return point


def _as_floats(s: Any) -> tuple[float, ...]:
    return tuple(float(x) if not isinstance(x, str | bytes) else math.nan for x in s)


WIDEST = 200  #: coordinates for which looking up rows is compiled: tuples of more take long to compile


def regions_of(partition: Any, rows: np.ndarray) -> np.ndarray:
    """Return the region of every row of observations, compiled where the partition is.

    >>> from distinguo.representations.voronoi import voronoi
    >>> regions_of(voronoi([[0.0, 0.0], [1.0, 1.0]], [1.0, 1.0]), np.array([[0.9, 0.8], [0.1, 0.2]]))
    array([1, 0])
    """
    regions, width = np.empty(len(rows), dtype=np.int64), rows.shape[1]
    fill = at_speed(_fill_regions, partition) if width <= WIDEST else _fill_regions.py_func
    fill(partition, rows, (0.0,) * width, regions)
    return regions


@kernel
def _fill_regions(partition: Any, rows: np.ndarray, like: State, regions: np.ndarray) -> None:
    for n in range(len(rows)):
        regions[n] = region(partition, as_state(like, rows[n], 0))


def as_state(like: State, row: np.ndarray, first: int) -> State:
    """Return a row as a tuple as long as ``like``: an implementation of ``region`` may unpack it."""
    return tuple(row[first:].tolist())


@overload(as_state, jit_options={"nogil": True, "error_model": "numpy"}, strict=False)
def _as_state_compiled(like: Any, row: Any, first: Any) -> Any:
    count = len(like)
    return lambda like, row, first: to_fixed_tuple(row[first : first + count], count)  # type: ignore[call-arg]


class OneHot(NamedTuple):
    """A partition as features: one for each region, 1 for the states that fall in it and 0 for all others.

    >>> from distinguo.features.feature import vector_of
    >>> from distinguo.representations.voronoi import voronoi
    >>> vector_of(OneHot(voronoi([[0.0], [1.0], [2.0]], [1.0])), (0.9,))
    array([0., 1., 0.])
    """

    partition: Any


@implements(activate, OneHot)
def only_region(features: OneHot, s: State, active: np.ndarray, strengths: np.ndarray) -> int:
    """Only the region of the observation responds."""
    active[0] = region(features.partition, s)
    strengths[0] = 1.0
    return 1


@implements(are_memberships, OneHot)
def _(features: OneHot) -> bool:
    return True


@count_features.register(OneHot)
def _(features: OneHot) -> int:
    return count_regions(features.partition)


@room_needed.register(OneHot)
def _(features: OneHot) -> int:
    return 1


@coordinates_of.register(OneHot)
def _(features: OneHot) -> int | None:
    return count_dimensions(features.partition)


# What all partitions by nearest prototype share: regions made of prototypes, and their numbers.
#
# Their fields ``prototypes``, ``regions`` and ``primaries`` mean the same; only "nearest" differs.


Kind = TypeVar("Kind", bound=type)


def numbered(count: int, primary: Sequence[int] | np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the region of each of ``count`` prototypes, and the primary prototype of each region.

    This is the one place where regions get their numbers: 0, 1, 2, … in the order of their primaries. ``primary``
    names the primary prototype of each prototype; without it every prototype is a region of its own.

    >>> regions, primaries = numbered(4, [2, 1, 2, 1])
    >>> regions.tolist(), primaries.tolist()
    ([1, 0, 1, 0], [1, 2])
    """
    rows = np.arange(count)
    belongs_to = rows if primary is None else np.array(primary, dtype=np.int64)
    primaries = np.flatnonzero(belongs_to == rows)
    numbers = np.full(count, -1)
    numbers[primaries] = np.arange(len(primaries))
    return numbers[belongs_to], primaries


def by_prototypes(kind: Kind) -> Kind:
    """Give a class with these three fields the capabilities of partitions by nearest prototype."""
    prototypes_of.register(kind, _prototypes)
    count_regions.register(kind, lambda partition: len(partition.primaries))
    count_dimensions.register(kind, lambda partition: partition.prototypes.shape[1])
    return kind


def _prototypes(partition: Any) -> Prototypes:
    return Prototypes(partition.prototypes, partition.regions, partition.primaries)
