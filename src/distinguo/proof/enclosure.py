"""The interface of a task to a proof: where can one step lead from anywhere in a cell?

A *cell* is a box in the task's own coordinates ``w = A s``, two linear combinations of the state. A task of two
dimensions whose trials should never end becomes provable by implementing, for its class
(``distinguo.seam.implements``):

``axes(task)``
    the matrix ``A`` as ``(a00, a01, a10, a11)``. Good axes keep the images of cells small: directions in which
    the step grows and shrinks.
``enclose(task, low, high, a)``
    a box ``low', high'`` that holds ``A s'`` for every state ``s`` of the cell, as the *floating-point* program
    computes ``s'``, and whether certainly no such step fails.
``extent(task)``
    the box in which a proof of the whole task should look for states that can be held. If it is too small, proofs
    are lost, but never soundness.
``widened(task, low, high, disturbance)``
    the set of tasks whose parameters lie between those of two dictionaries, and whose steps are off by at most a
    disturbance. The proof is about the returned set: it implements all of the above and ``question.task_claim``,
    and has the task in the middle of its ranges as ``middle``.

Tasks whose trials are meant to arrive somewhere are asked another question (``arrive.strip``).

The enclosure of the puck is in ``hold.puck``; put another task's next to it or next to the task.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from distinguo.errors import DistinguoError
from distinguo.seam import generic, generic_with_default, part

#: By how much, in units of a task's magnitudes, cells and images are widened. One step of the puck in floating point
#: is off by 2e-16 of them, and the bookkeeping of cells by 1e-12 at most (docs/proof.md, "Rounding").
SLACK = 1e-11

Pair = tuple[float, float]


@generic
def axes(task: Any) -> tuple[float, float, float, float]:
    """Return the matrix that turns a state into the coordinates of cells, row by row.

    >>> from distinguo.proof.hold.puck import Puck
    >>> [round(number, 3) for number in axes(Puck())]
    [2.425, 1.0, -2.425, 1.0]
    """
    raise NotImplementedError


@generic
def enclose(task: Any, low: Pair, high: Pair, a: int) -> tuple[Pair, Pair, bool]:
    """Return a box around the images of a cell under action ``a``, and whether no step from it can fail.

    >>> from distinguo.proof.hold.puck import Puck
    >>> low, high, stays = enclose(Puck(), (0.0, 0.0), (0.1, 0.1), 1)
    >>> [round(number, 3) for number in (*low, *high)], stays
    ([0.06, 0.06, 0.165, 0.155], True)
    """
    raise NotImplementedError


@generic
def extent(task: Any) -> tuple[Pair, Pair]:
    """Return the box, in the coordinates of cells, that holds the states worth a proof.

    >>> from distinguo.proof.hold.puck import Puck
    >>> low, high = extent(Puck())
    >>> bool(low[0] < -3 and high[0] > 3)
    True
    """
    raise NotImplementedError


@generic_with_default
def widened(task: Any, low: Mapping[str, float], high: Mapping[str, float], disturbance: Pair) -> Any:
    """Return the set of tasks with parameters in ranges, whose steps are off by at most a disturbance.

    Other parameters are the task's.

    >>> from distinguo.proof.hold.puck import Puck
    >>> widened(Puck(), {"mass": 0.9}, {"mass": 1.1}, (0.0, 0.01)).high.mass
    1.1
    """
    raise DistinguoError(
        f"There is no enclosure for a {type(task).__name__}, so nothing can be proven about it."
    )


# Cells: the boxes of an even grid in a task's own coordinates ``w = A s``.


class Grid(NamedTuple):
    """Cell ``(i, j)`` reaches from ``low + (i, j) * pitch`` to ``low + (i + 1, j + 1) * pitch``, edges included.

    The edges are real numbers, not their floating-point values.

    >>> from distinguo.proof.hold.puck import Puck
    >>> grid = grid_over(Puck(), (100, 50))
    >>> grid.counts, cell_of(grid, (0.01, 0.01))
    ((100, 50), (50, 25))
    """

    matrix: tuple[float, float, float, float]
    low: Pair
    pitch: Pair
    counts: tuple[int, int]


def grid_over(task: Any, counts: tuple[int, int], wider: float = 1.0) -> Grid:
    """Lay ``counts`` cells over the extent of a task, widened by a factor."""
    low, high = extent(task)
    # pitches of few binary digits: 0 is a multiple of them, and so is every edge
    pitch = tuple(_short(wider * (b - a) / n) for a, b, n in zip(low, high, counts, strict=True))
    corner = tuple(-(n // 2) * p for n, p in zip(counts, pitch, strict=True))
    return Grid(axes(task), (corner[0], corner[1]), (pitch[0], pitch[1]), counts)


def _short(number: float) -> float:
    """Round up to 12 binary digits."""
    mantissa, exponent = math.frexp(number)
    return math.ldexp(math.ceil(mantissa * 2**12), exponent - 12)


@part
def coordinates(matrix: tuple[float, float, float, float], s: Pair) -> Pair:
    """Return the coordinates ``A s`` of a state.

    >>> coordinates((1.0, 1.0, -1.0, 1.0), (2.0, 3.0))
    (5.0, 1.0)
    """
    return matrix[0] * s[0] + matrix[1] * s[1], matrix[2] * s[0] + matrix[3] * s[1]


@part
def state(matrix: tuple[float, float, float, float], w: Pair) -> Pair:
    """Return the state of some coordinates.

    >>> state((1.0, 1.0, -1.0, 1.0), (5.0, 1.0))
    (2.0, 3.0)
    """
    determinant = matrix[0] * matrix[3] - matrix[1] * matrix[2]
    return (
        (matrix[3] * w[0] - matrix[1] * w[1]) / determinant,
        (matrix[0] * w[1] - matrix[2] * w[0]) / determinant,
    )


@part
def cell_box(grid: Grid, i: int, j: int, rows: int, columns: int) -> tuple[Pair, Pair]:
    """Return the corners of a block of cells, widened against rounding.

    >>> cell_box(Grid((1.0, 0.0, 0.0, 1.0), (0.0, 0.0), (0.5, 0.5), (4, 4)), 1, 1, 1, 2)[1][1] > 1.5
    True
    """
    y0, z0 = grid.low[0] + i * grid.pitch[0], grid.low[1] + j * grid.pitch[1]
    y1, z1 = y0 + rows * grid.pitch[0], z0 + columns * grid.pitch[1]
    p = SLACK * (1.0 + abs(y0) + abs(y1))
    q = SLACK * (1.0 + abs(z0) + abs(z1))
    return (y0 - p, z0 - q), (y1 + p, z1 + q)


@part
def cover(grid: Grid, low: Pair, high: Pair) -> tuple[int, int, int, int]:
    """Return the first and last row and column of the cells that a box touches; row -1 if it leaves the grid.

    >>> four = Grid((1.0, 0.0, 0.0, 1.0), (0.0, 0.0), (0.5, 0.5), (4, 4))
    >>> cover(four, (0.1, 0.6), (0.4, 1.2)), cover(four, (-0.1, 0.6), (0.4, 1.2))
    ((0, 0, 1, 2), (-1, 0, 0, 0))
    """
    i0 = (low[0] - grid.low[0]) / grid.pitch[0]
    i1 = (high[0] - grid.low[0]) / grid.pitch[0]
    j0 = (low[1] - grid.low[1]) / grid.pitch[1]
    j1 = (high[1] - grid.low[1]) / grid.pitch[1]
    if not (i0 >= 0.0 and j0 >= 0.0 and i1 < grid.counts[0] and j1 < grid.counts[1]):
        return -1, 0, 0, 0
    return int(i0), int(i1), int(j0), int(j1)


@part
def around(w: Pair) -> tuple[Pair, Pair]:
    """Return a tiny box around coordinates that were computed in floating point.

    >>> around((0.0, 0.0))[1]
    (1e-11, 1e-11)
    """
    p, q = SLACK * (1.0 + abs(w[0])), SLACK * (1.0 + abs(w[1]))
    return (w[0] - p, w[1] - q), (w[0] + p, w[1] + q)


@part
def cell_of(grid: Grid, w: Pair) -> tuple[int, int]:
    """Return the cell of coordinates inside the grid."""
    return int((w[0] - grid.low[0]) / grid.pitch[0]), int((w[1] - grid.low[1]) / grid.pitch[1])
