"""The part of a space that a picture shows: a plane, the frame around it, and the labels in its cells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from distinguo.representations.file import Representation
from distinguo.representations.geometry import Cells, Outline, rectangle, shadows
from distinguo.representations.planes import Pair, Plane, landmarks, learned_extent, main_plane
from distinguo.representations.voronoi import Voronoi
from distinguo.tasks.spec import TaskSpec

MOST_HELD = 6  #: coordinates that a note names
MOST_CELLS = 2000  #: prototypes whose cells are drawn one by one
ACROSS, UPWARDS = 160, 120  #: places of a picture of more
ROOM = 0.025  #: of the frame; a label stands in a cell that reaches so far around its middle


def plane_of(representation: Representation, spec: TaskSpec) -> Plane:
    """Return the plane that shows most of a partition; in two dimensions the only one there is.

    Of a partition that knows of none it is that of the first two coordinates, through the middle of the task.
    """
    known = main_plane(representation.partition)
    if known is not None:
        return known
    low, high = np.array(learned_extent(representation.provenance, spec.low, spec.high))
    middle = [sum(_span(np.array(ends))) / 2 for ends in zip(low, high, strict=True)]
    return Plane(tuple(range(min(2, len(middle)))), tuple(middle))


def note_of(plane: Plane, names: Sequence[str]) -> str:
    """Say where a plane lies; nothing if it is all there is.

    >>> note_of(Plane((0, 2), (0.0, 0.123456, 0.0)), ("x", "v", "angle"))
    'slice at v = 0.1235'
    """
    held = [f"{names[i]} = {plane.at[i]:.4g}" for i in plane.held]
    more = [f"{len(held) - MOST_HELD} more"] if len(held) > MOST_HELD else []
    return "slice at " + ", ".join(held[:MOST_HELD] + more) if held else ""


def names_of(plane: Plane, names: Sequence[str]) -> tuple[str, str]:
    """Return the names of the coordinates across and upwards; a strip has none upwards."""
    x, y = (*(names[i] for i in plane.axes), "")[:2]
    return x, y


def frame_of(representation: Representation, spec: TaskSpec, plane: Plane) -> tuple[Pair, Pair]:
    """Return the extent of a task in a plane, widened so that every prototype can be seen.

    What is infinite is as wide as the prototypes and half as much again on either side.
    """
    extent = np.array(learned_extent(representation.provenance, spec.low, spec.high))
    corners = np.vstack([extent, landmarks(representation.partition).reshape(-1, extent.shape[1])])
    low, high = zip(*(_span(column) for column in corners.T), strict=True)
    return plane.corner(low, 0.0), plane.corner(high, 1.0)


def _span(values: np.ndarray) -> Pair:
    """Return the least and the greatest of some numbers, but never two infinite or equal ones."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    beyond = (high - low) / 2 or 0.5
    if low == high:
        return low - beyond, high + beyond
    return (
        low - beyond if (values == -np.inf).any() else low,
        high + beyond if (values == np.inf).any() else high,
    )


def coarse_cells(partition: Voronoi, plane: Plane, low: Pair, high: Pair) -> Cells:
    """Return a plane by a grid of places, as runs of the same region, for partitions of too many cells to draw each.

    >>> from distinguo.representations.voronoi import voronoi
    >>> halves = voronoi([[0.0, 0.0], [1.0, 0.0]], [1.0, 1.0])
    >>> cells = coarse_cells(halves, Plane((0, 1), (0.0, 0.0)), (0.0, 0.0), (1.0, 1.0))
    >>> len(cells) == 2 * UPWARDS, cells[0][1][0], cells[1][1][2]
    (True, (0.0, 0.0), (1.0, 0.008333333333333333))
    """
    xs, ys = np.linspace(low[0], high[0], ACROSS + 1), np.linspace(low[1], high[1], UPWARDS + 1)
    places = np.stack(np.meshgrid((xs[1:] + xs[:-1]) / 2, (ys[1:] + ys[:-1]) / 2), axis=-1).reshape(-1, 2)
    regions = regions_in(partition, plane, places).reshape(UPWARDS, ACROSS)
    cells = []
    for row, (bottom, top) in zip(regions, pairwise(ys.tolist()), strict=True):
        ends = [0, *(np.flatnonzero(np.diff(row)) + 1).tolist(), ACROSS]
        for a, b in pairwise(ends):
            cells.append((int(row[a]), rectangle((float(xs[a]), bottom), (float(xs[b]), top))))
    return cells


def regions_in(partition: Voronoi, plane: Plane, places: np.ndarray) -> np.ndarray:
    """Return the regions of places of a plane: the nearest of the prototypes' shadows, as far off as these are."""
    from scipy.spatial import cKDTree  # takes a while to load

    sites = shadows(partition, plane)
    units = np.array(plane.corner(partition.scale.tolist(), 1.0))
    off_plane = np.column_stack([places / units, np.zeros(len(places))])
    tree = cKDTree(np.column_stack([sites[:, :2], np.sqrt(sites[:, 2])]))
    return np.asarray(partition.regions[tree.query(off_plane)[1]])


class Label(NamedTuple):
    """A few letters in a picture: the number of a region, or the name of a category."""

    x: float
    y: float
    text: str
    cell: int  #: that it stands in


def labels_in(
    cells: Sequence[tuple[Outline, str]], marks: Sequence[Pair], low: Pair, high: Pair
) -> tuple[Label, ...]:
    """Return the labels for the middles of convex cells that have room for one, out of the way of marks.

    >>> square = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    >>> labels_in([(square, "7")], [], (0.0, 0.0), (2.0, 1.0))
    (Label(x=0.5, y=0.5, text='7', cell=0),)
    """
    middles = [_middle(outline, low, high) for outline, _ in cells]
    labels = [Label(*m, text, n) for n, (m, (_, text)) in enumerate(zip(middles, cells, strict=True)) if m]
    return tuple(_aside(label, marks, low, high) for label in labels)


def _middle(outline: Outline, low: Pair, high: Pair) -> Pair | None:
    """Return the middle of a cell, if there is room for a label around it."""
    corners = (np.array(outline) - low) / np.subtract(high, low)
    middle = corners.mean(axis=0)
    edges = np.roll(corners, -1, axis=0) - corners
    lengths = np.hypot(*edges.T)
    inward = edges[:, 0] * (middle - corners)[:, 1] - edges[:, 1] * (middle - corners)[:, 0]
    long = lengths > 1e-12
    if not long.any() or (inward[long] / lengths[long]).min() < ROOM:
        return None
    x, y = (middle * np.subtract(high, low) + low).tolist()
    return x, y


def _aside(label: Label, marks: Sequence[Pair], low: Pair, high: Pair) -> Label:
    """Move a label out of the way of the mark of a prototype."""
    wide, tall = high[0] - low[0], high[1] - low[1]
    near = any(abs(x - label.x) < ROOM * wide and abs(y - label.y) < ROOM * tall for x, y in marks)
    return label._replace(y=label.y - 1.5 * ROOM * tall) if near else label
