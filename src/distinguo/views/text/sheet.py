"""The places of a coarse map: rows of states, with the words beside and below them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.representations.file import Representation
from distinguo.representations.partition import has_labels
from distinguo.tasks.spec import TaskSpec
from distinguo.views.slices import frame_of, names_of, note_of, plane_of
from distinguo.views.tiles import category_name, tiles_of

COLUMNS, ROWS = 64, 20
FEWEST_COLUMNS = 8
BESIDE = 7  #: cells of the words beside the rows, at the least
MOST_DECIMALS = 9

State = tuple[float, ...]


class Sheet(NamedTuple):
    """Rows of states from the top, each with the words beside it, and the words below them.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.catalog import task_spec
    >>> sheet = sheet_of(Representation(voronoi([[0.0, 0.0]], [4.8, 11.0]), ("x", "v")), task_spec("puck"))
    >>> sheet.rows[0][0], sheet.rows[0][1][0], sheet.left, sheet.right
    ('5.50', (-2.4, 5.5), '-2.40', '2.40')
    """

    axes: tuple[str, str]
    rows: tuple[tuple[str, tuple[State, ...]], ...]
    left: str  #: below the first column
    right: str  #: below the last one
    note: str  #: which part is shown, if not all


def sheet_of(
    representation: Representation,
    spec: TaskSpec,
    columns: int = COLUMNS,
    controller: Controller | None = None,
) -> Sheet:
    """Return the places of a map of any partition, of at most so many columns where coordinates are amounts."""
    if has_labels(representation.partition):
        return _of_categories(representation, spec, controller)
    plane = plane_of(representation, spec, controller)
    (x0, y0), (x1, y1) = frame_of(representation, spec, plane)
    names = names_of(plane, spec.dimensions)
    xs = np.linspace(x0, x1, columns).tolist()
    ys = np.linspace(y1, y0, ROWS).tolist() if names[1] else [0.5]
    rows = tuple((_number(y, y1 - y0) if names[1] else "", tuple(plane.state(x, y) for x in xs)) for y in ys)
    return Sheet(names, rows, _number(x0, x1 - x0), _number(x1, x1 - x0), note_of(plane, spec.dimensions))


def _number(value: float, width: float) -> str:
    """Write a place with as many digits as its axis asks for.

    >>> _number(5.5, 11.0), _number(-0.0663, 0.14)
    ('5.50', '-0.066')
    """
    if width >= 1e7:
        return f"{value:.3g}"
    decimals = min(max(2, 2 - math.floor(math.log10(width))), MOST_DECIMALS)
    return f"{value + 0.0:.{decimals}f}"  # minus zero is a zero here


def _of_categories(representation: Representation, spec: TaskSpec, controller: Controller | None) -> Sheet:
    tiles = tiles_of(representation, spec, controller)
    states: dict[int, list[State]] = {}
    for square in tiles.squares:
        states.setdefault(square.y, []).append(square.state)
    columns, beside = tiles.ticks
    rows = tuple(
        (beside[y] if beside else _from_to(states[y]), tuple(states[y])) for y in sorted(states, reverse=True)
    )
    left, right = (columns[0], columns[-1]) if columns else ("", "")
    return Sheet(tiles.axes, rows, left, right, tiles.note)


def _from_to(states: list[State]) -> str:
    """Name a row of categories by its ends.

    >>> _from_to([(0.0,), (1.0,), (2.0,)]), _from_to([(468.0,)])
    ('0…2', '468')
    """
    first, last = category_name(states[0][0]), category_name(states[-1][0])
    return first if first == last else f"{first}…{last}"
