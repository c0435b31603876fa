"""Partitions of categories as squares: every category, or those with a prototype and one square for all others."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.representations.file import Representation
from distinguo.representations.partition import prototypes_of
from distinguo.representations.planes import Plane
from distinguo.tasks.spec import TaskSpec
from distinguo.views.slices import names_of, note_of, plane_of

MOST_SQUARES = 144  #: shown one by one; of more categories only those with a prototype
MOST_PROTOTYPES = 400  #: of a single coordinate
MOST_ACROSS = 40  #: categories along one side of a plane
WIDEST_ROW = 12
OTHER = math.nan  #: differs from every prototype, as all categories without one do


class Square(NamedTuple):
    """One square: its place, and the category that it stands for."""

    x: int
    y: int
    state: tuple[float, ...]


class Tiles(NamedTuple):
    """Squares in rows, with the words beside them.

    >>> from distinguo.representations.categories import categories
    >>> from distinguo.tasks.catalog import task_spec
    >>> four = Representation(categories([[0.0], [14.0]]), ("o0",))
    >>> tiles = tiles_of(four, task_spec("FrozenLake-v1"))
    >>> tiles.columns, tiles.squares[-1]
    (4, Square(x=3, y=0, state=(15.0,)))
    """

    squares: tuple[Square, ...]
    columns: int
    rows: int
    axes: tuple[str, str]
    note: str
    #: beside columns and rows; none if every square has its label
    ticks: tuple[tuple[str, ...], tuple[str, ...]]


def tiles_of(representation: Representation, spec: TaskSpec, controller: Controller | None = None) -> Tiles:
    """Lay out the categories of a task; of more than two coordinates those that matter most to a controller."""
    prototypes = prototypes_of(representation.partition)
    points = np.empty((0, len(spec.dimensions))) if prototypes is None else prototypes.points
    if len(spec.dimensions) == 1:
        return _in_rows(points[:, 0], spec)
    return _in_a_plane(points, spec, plane_of(representation, spec, controller))


def category_name(value: float) -> str:
    """Return what a category is called in a picture.

    >>> category_name(3.0), category_name(OTHER)
    ('3', 'other')
    """
    return "other" if math.isnan(value) else f"{value:.6g}"


def _in_rows(prototypes: np.ndarray, spec: TaskSpec) -> Tiles:
    """Lay out the categories of a single coordinate row by row, from the top left, as one reads."""
    values = _values(prototypes, spec.low[0], spec.high[0], MOST_SQUARES, MOST_PROTOTYPES)
    columns = _columns(len(values))
    rows = -(-len(values) // columns)
    squares = tuple(Square(n % columns, rows - 1 - n // columns, (value,)) for n, value in enumerate(values))
    name = spec.axes[0]
    note = "" if len(prototypes) <= MOST_PROTOTYPES else f"the oldest {MOST_PROTOTYPES} prototypes"
    return Tiles(squares, columns, rows, (f"{name}, row by row", ""), note, ((), ()))


def _in_a_plane(prototypes: np.ndarray, spec: TaskSpec, plane: Plane) -> Tiles:
    """Lay out two coordinates across and upwards."""
    sides = [
        _values(prototypes[:, i], spec.low[i], spec.high[i], MOST_ACROSS, MOST_ACROSS) for i in plane.axes
    ]
    squares = tuple(
        Square(x, y, plane.state(a, b)) for y, b in enumerate(sides[1]) for x, a in enumerate(sides[0])
    )
    ticks = (tuple(map(category_name, sides[0])), tuple(map(category_name, sides[1])))
    names = names_of(plane, spec.axes)
    return Tiles(squares, len(sides[0]), len(sides[1]), names, note_of(plane, spec.dimensions), ticks)


def _values(prototypes: np.ndarray, low: float, high: float, most: int, most_own: int) -> list[float]:
    """Return all categories if they are few, else those of the oldest prototypes and one for all others."""
    own = sorted(dict.fromkeys(prototypes.tolist()[:most_own]))
    if high - low + 1 <= most:
        return sorted({*own, *np.arange(low, high + 1).tolist()})
    return [*own, OTHER]


def _columns(count: int) -> int:
    """Return how many squares to put in a row: many a task of categories is a rectangle, often a square one.

    >>> [_columns(n) for n in (2, 16, 48, 17, 144)]
    [2, 4, 12, 5, 12]
    """
    side = math.isqrt(count)
    if side * side == count:
        return side
    even = [c for c in range(2, WIDEST_ROW + 1) if count % c == 0 and c >= side]
    return max(even, default=math.ceil(math.sqrt(count)))


def squares_of(tiles: Tiles, prototypes: np.ndarray) -> list[tuple[int, int] | None]:
    """Return where each prototype is shown, if it is."""
    places = {square.state: (square.x, square.y) for square in reversed(tiles.squares)}
    return [places.get(tuple(row)) for row in prototypes.tolist()]
