"""Exact cells of the plane, and the planes through spaces of more dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from distinguo.representations.boxes import Boxes, count_leaves
from distinguo.representations.categories import Categories
from distinguo.representations.partition import lacking, prototypes_of
from distinguo.representations.voronoi import Voronoi

# Planes through a space, and which one to show of a partition with more than two dimensions.
#
# The two coordinates in which the regions differ most vary in the plane; all others are fixed at the *median
# prototype*, the one nearest to all others taken together. It was really observed, unlike the middle of each
# coordinate.


Pair = tuple[float, float]
MOST_COMPARED = 1000  #: prototypes compared to find the median one


class Plane(NamedTuple):
    """A plane through a space: the coordinates that vary in it, and a state that fixes all others.

    A space of one dimension has one coordinate that varies; its plane is a strip from 0 to 1.

    >>> Plane((0, 2), (5.0, 6.0, 7.0)).state(0.5, -0.5)
    (0.5, 6.0, -0.5)
    """

    axes: tuple[int, ...]
    at: tuple[float, ...]

    def state(self, x: float, y: float) -> tuple[float, ...]:
        """Return the state at a place of the plane."""
        varying = dict(zip(self.axes, (x, y), strict=False))
        return tuple(varying.get(i, c) for i, c in enumerate(self.at))

    @property
    def held(self) -> list[int]:
        """Return the coordinates that do not vary in the plane."""
        return [i for i in range(len(self.at)) if i not in self.axes]

    def corner(self, extreme: Sequence[float], beside: float) -> Pair:
        """Return the coordinates of the plane of an extreme state; ``beside`` is the edge of a strip."""
        x, y = (*(float(extreme[i]) for i in self.axes), beside)[:2]
        return x, y


@singledispatch
def main_plane(partition: Any) -> Plane | None:
    """Return the plane that shows most of a partition, if it has one.

    >>> from distinguo.representations.voronoi import voronoi
    >>> main_plane(voronoi([[0.0, 0.0, 1.0], [0.1, 5.0, 2.0], [0.2, 9.0, 4.0]], [1.0, 10.0, 10.0]))
    Plane(axes=(1, 2), at=(0.1, 5.0, 2.0))
    """
    return None


@main_plane.register(Voronoi)
def _(partition: Voronoi) -> Plane:
    rows = partition.prototypes[partition.primaries]
    some = _some(rows)

    def distances(row: np.ndarray) -> np.ndarray:
        return np.sqrt((((some - row) * partition.weight) ** 2).sum(axis=1))

    return Plane(_two_of((rows / partition.scale).std(axis=0)), _median(some, distances))


@main_plane.register(Categories)
def _(partition: Categories) -> Plane:
    rows = partition.prototypes[partition.primaries]
    kinds, some = [len(np.unique(column)) for column in rows.T], _some(rows)
    return Plane(_two_of(kinds), _median(some, lambda row: (some != row).sum(axis=1)))


@main_plane.register(Boxes)
def _(partition: Boxes) -> Plane:
    cuts = [int((partition.axis == i).sum()) for i in range(len(partition.low))]
    return Plane(_two_of(cuts), tuple(((partition.low + partition.high) / 2).tolist()))


def _two_of(spread: Sequence[float] | np.ndarray) -> tuple[int, ...]:
    """Return the two coordinates of largest spread, in order; the first of equal ones."""
    return tuple(sorted(np.argsort(-np.array(spread, dtype=float), kind="stable")[:2].tolist()))


def _median(rows: np.ndarray, distances: Callable[[np.ndarray], np.ndarray]) -> tuple[float, ...]:
    return tuple(rows[int(np.argmin([distances(row).sum() for row in rows]))].tolist())


def _some(rows: np.ndarray) -> np.ndarray:
    """Return rows to find the median one among: all, or a sample of every age if there are very many."""
    return rows[:: -(-len(rows) // MOST_COMPARED)]


@singledispatch
def landmarks(partition: Any) -> np.ndarray:
    """Return rows of states that a picture of the partition should include; by default its prototypes, if any."""
    prototypes = prototypes_of(partition)
    return np.empty(0) if prototypes is None else prototypes.points


@landmarks.register(Boxes)
def _(partition: Boxes) -> np.ndarray:
    return np.array([partition.low, partition.high])


def learned_extent(
    provenance: dict[str, Any], low: Sequence[float], high: Sequence[float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the extent that a representation was learned in, or else the task's, which may be infinite.

    >>> learned_extent({"extent": [[-1.0], [2.0]]}, [-np.inf], [np.inf])
    ((-1.0,), (2.0,))
    """
    try:
        corners = np.array(provenance.get("extent"), dtype=float)
    except (TypeError, ValueError):  # a file may contain anything
        corners = np.empty(0)
    if corners.shape != (2, len(low)) or not np.isfinite(corners).all() or (corners[0] > corners[1]).any():
        corners = np.array([low, high], dtype=float)
    lower, upper = corners.tolist()
    return tuple(lower), tuple(upper)


# Exact cells of the plane: of a partition in two dimensions, or of a slice through one of more.
#
# Where a plane cuts a Voronoi diagram, each prototype can be replaced by its projection on the plane (its *shadow*)
# with an *offset*, the squared distance between the two: a place belongs to the prototype for which the squared
# distance to the shadow plus the offset is least. The border between two of them is still a straight line (a power
# diagram), so cells are cut out of a frame line by line.
#
# Every library that we tried gave wrong cells now and then: for points on one circle, which symmetric tasks have
# many of (libgeos/geos, issue 1040), or for points very near each other. Here the two sides of a border are exact
# negatives of each other, so cells do not overlap.


Outline = tuple[Pair, ...]
Cells = list[tuple[int, Outline]]
#: Corners counter-clockwise: the place, and the prototype across the edge that begins there (-1: the frame).
Corners = list[tuple[float, float, int]]
FRAME = -1


def rectangle(low: Sequence[float], high: Sequence[float]) -> Outline:
    """Return the outline of a rectangle."""
    (x0, y0), (x1, y1) = low, high
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))


@singledispatch
def outlines(partition: Any, plane: Plane, low: Sequence[float], high: Sequence[float]) -> Cells:
    """Return the cells of a plane between two of its corners: the region that each belongs to, and its outline.

    An outline is a convex polygon, its corners counter-clockwise; it is empty if a cell does not meet the plane.
    """
    raise lacking(partition, "cannot be drawn", "give it a method outlines(self, plane, low, high)")


@outlines.register(Voronoi)
def _(partition: Voronoi, plane: Plane, low: Sequence[float], high: Sequence[float]) -> Cells:
    return list(zip(partition.regions.tolist(), voronoi_outlines(partition, plane, low, high), strict=True))


@outlines.register(Boxes)
def _(partition: Boxes, plane: Plane, low: Sequence[float], high: Sequence[float]) -> Cells:
    return list(enumerate(box_outlines(partition, plane)))


def voronoi_outlines(
    partition: Voronoi, plane: Plane, low: Sequence[float], high: Sequence[float]
) -> list[Outline]:
    """Return the outline of the cell of each prototype in a plane; an empty one if they do not meet.

    ``low`` and ``high`` are corners of the plane.

    >>> from distinguo.representations.voronoi import voronoi
    >>> two = voronoi([[0.0, 0.0, 0.0], [1.0, 0.0, 2.0]], [1.0, 1.0, 1.0])
    >>> voronoi_outlines(two, Plane((0, 1), (0.0, 0.0, 0.75)), (0.0, 0.0), (2.0, 1.0))[1]
    ((1.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0))
    """
    wide, tall = plane.corner(partition.scale.tolist(), 1.0)
    cells = voronoi_cells(partition, plane, low, high)
    return [tuple((x * wide, y * tall) for x, y, _ in cell) for cell in cells]


def voronoi_cells(
    partition: Voronoi, plane: Plane, low: Sequence[float], high: Sequence[float]
) -> list[Corners]:
    """Return the corners of the cells in a plane, in units of the scale."""
    units = plane.corner(partition.scale.tolist(), 1.0)
    frame: Corners = [(x / units[0], y / units[1], FRAME) for x, y in rectangle(low, high)]
    sites = shadows(partition, plane)
    return [_cell(sites, p, frame) for p in range(len(sites))]


def shadows(partition: Voronoi, plane: Plane) -> np.ndarray:
    """Return a row per prototype: its place in the plane, and its squared distance from the plane."""
    points = partition.prototypes
    sites = np.zeros((len(points), 3))
    for column, axis in enumerate(plane.axes):
        sites[:, column] = points[:, axis] / partition.scale[axis]
    for axis in plane.held:
        sites[:, 2] += ((plane.at[axis] - points[:, axis]) * partition.weight[axis]) ** 2
    return sites


def _cell(sites: np.ndarray, p: int, frame: Corners) -> Corners:
    """Cut away what belongs to prototypes other than ``p``; the oldest of equal prototypes has the cell."""
    cell, reach = frame, _reach(sites, p)
    here = tuple(sites[p].tolist())
    for q in np.argsort(reach, kind="stable").tolist():
        if reach[q] > max((math.dist(here[:2], corner[:2]) for corner in cell), default=math.inf):
            break  # the others are too far to cut anything off
        if q != p:
            cell = [] if reach[q] == -math.inf else _nearer(cell, here, tuple(sites[q].tolist()), q)
        if not cell:
            break
    return cell


def _reach(sites: np.ndarray, p: int) -> np.ndarray:
    """How far the border with each other prototype is from ``p``; negative if ``p`` lies beyond it."""
    apart = np.hypot(*(sites[:, :2] - sites[p, :2]).T)
    lead = sites[:, 2] - sites[p, 2]
    with np.errstate(all="ignore"):
        reach = apart / 2 + lead / (2 * apart)
    younger = np.arange(len(sites)) >= p
    reach[apart == 0] = np.where((lead > 0) | ((lead == 0) & younger), np.inf, -np.inf)[apart == 0]
    return reach


def _nearer(cell: Corners, here: tuple[float, ...], other: tuple[float, ...], q: int) -> Corners:
    """Return the part of a convex cell that is nearer to one site than to another, number ``q``."""
    (x0, y0, c0), (x1, y1, c1) = here, other
    lead = (c1 - c0) / 2
    side = [(x - (x0 + x1) / 2) * (x1 - x0) + (y - (y0 + y1) / 2) * (y1 - y0) - lead for x, y, _ in cell]
    kept: Corners = []
    for i, ((xa, ya, across), (xb, yb, _)) in enumerate(zip(cell, [*cell[1:], cell[0]], strict=True)):
        a, b = side[i], side[(i + 1) % len(cell)]
        if a <= 0:
            kept.append((xa, ya, across))
        if (a > 0) != (b > 0):
            share = a / (a - b)
            kept.append((xa + share * (xb - xa), ya + share * (yb - ya), across if a > 0 else q))
    return kept


def shared_edges(cells: Iterable[Corners], shortest: float) -> set[tuple[int, int]]:
    """Return the pairs of prototypes whose cells share an edge that is longer than ``shortest``.

    >>> from distinguo.representations.voronoi import voronoi
    >>> row = voronoi([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], [1.0, 1.0])
    >>> sorted(shared_edges(voronoi_cells(row, Plane((0, 1), (0.0, 0.0)), (0, 0), (2, 1)), 1e-9))
    [(0, 1), (1, 2)]
    """
    pairs = set()
    for p, cell in enumerate(cells):
        for (xa, ya, q), (xb, yb, _) in zip(cell, [*cell[1:], *cell[:1]], strict=True):
            if q != FRAME and math.hypot(xb - xa, yb - ya) > shortest:
                pairs.add((min(p, q), max(p, q)))
    return pairs


def box_outlines(partition: Boxes, plane: Plane) -> list[Outline]:
    """Return the outline of each region in a plane, within the nominal extent; empty if they do not meet.

    >>> from distinguo.representations.boxes import grid
    >>> box_outlines(grid([1, 2], [0.0, 0.0], [1.0, 2.0]), Plane((1,), (0.5, 0.0)))
    [((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)), ((1.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0))]
    """
    outlines: list[Outline] = [()] * count_leaves(partition)
    whole = (plane.corner(partition.low.tolist(), 0.0), plane.corner(partition.high.tolist(), 1.0))
    todo = [(0, *whole)]
    while todo:
        node, low, high = todo.pop()
        if partition.axis[node] < 0:
            outlines[int(partition.below[node])] = rectangle(low, high)
        else:
            todo += _halves(partition, node, plane, low, high)
    return outlines


def _halves(partition: Boxes, node: int, plane: Plane, low: Pair, high: Pair) -> list[tuple[int, Pair, Pair]]:
    """Return the children of a node that a rectangle of the plane meets, each with its part of the rectangle."""
    axis, cut = int(partition.axis[node]), float(partition.cut[node])
    below, above = int(partition.below[node]), int(partition.above[node])
    if axis not in plane.axes:
        return [(below if plane.at[axis] < cut else above, low, high)]
    way = plane.axes.index(axis)
    cut = min(max(cut, low[way]), high[way])
    return [(below, low, _with(high, way, cut)), (above, _with(low, way, cut), high)]


def _with(corner: Pair, way: int, value: float) -> Pair:
    return (value, corner[1]) if way == 0 else (corner[0], value)
