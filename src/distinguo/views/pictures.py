"""Pictures as values: what is to be drawn, computed from a run, before any pixel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.lab.folder import Run
from distinguo.representation.boxes import Boxes, leaf_boxes
from distinguo.representation.file import Representation
from distinguo.representation.voronoi import Voronoi
from distinguo.tasks.world import World

Outline = tuple[tuple[float, float], ...]


class Cell(NamedTuple):
    """One Voronoi cell or box: its outline, the region it belongs to, and what the policy does there."""

    outline: Outline
    region: int
    action: int  #: -1 when nothing was learned there, or several actions are tied
    value: float


class PartitionPicture(NamedTuple):
    """A two-dimensional partition with the greedy action and the state value of each region.

    >>> import distinguo
    >>> picture = partition_picture(distinguo.learn("puck", seed=1))
    >>> picture.axes, len(picture.cells) == len(picture.prototypes)
    (('x', 'v'), True)
    """

    title: str
    axes: tuple[str, str]
    low: tuple[float, float]
    high: tuple[float, float]
    cells: tuple[Cell, ...]
    prototypes: tuple[tuple[float, float], ...]
    primary: tuple[bool, ...]  #: whether each prototype stands for its region
    actions: tuple[str, ...]  #: their names; none for a partition without values


def partition_picture(run: Run) -> PartitionPicture:
    """Compute the picture of a run's partition."""
    title = (
        f"{run.configuration.world.name}, seed {run.configuration.seed}: {run.representation.regions} regions"
    )
    return representation_picture(run.representation, run.configuration.world, title, run.q)


def representation_picture(
    representation: Representation, world: World, title: str, q: np.ndarray | None = None
) -> PartitionPicture:
    """Compute the picture of a partition, with what its values say if there are any."""
    if len(world.dimensions) != 2:
        raise DistinguoError(
            f"Only partitions of two dimensions can be drawn, {world.name} has {world.dimensions}."
        )
    low, high = _frame(representation, world.low, world.high)
    outlines = cell_outlines(representation, low, high)
    regions = _regions(representation)
    values = np.zeros((representation.rows, len(world.actions))) if q is None else q
    cells = tuple(Cell(o, j, *_policy(values[j])) for o, j in zip(outlines, regions, strict=True))
    prototypes: tuple[tuple[float, float], ...] = ()
    primary: tuple[bool, ...] = ()
    if isinstance(representation.partition, Voronoi):
        prototypes = tuple((float(x), float(y)) for x, y in representation.partition.prototypes)
        primary = tuple(p == j for p, j in enumerate(regions))
    axes = (world.dimensions[0], world.dimensions[1])
    return PartitionPicture(
        title, axes, low, high, cells, prototypes, primary, world.actions if q is not None else ()
    )


def _policy(q: np.ndarray) -> tuple[int, float]:
    best = np.flatnonzero(q == q.max())
    return (int(best[0]) if len(best) == 1 else -1), float(q.max())


def _frame(
    representation: Representation, low: tuple[float, ...], high: tuple[float, ...]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the extent of the task, widened so that every prototype can be seen."""
    corners = np.array([low, high], dtype=float)
    if isinstance(representation.partition, Voronoi):
        corners = np.vstack([corners, representation.partition.prototypes])
    (x0, y0), (x1, y1) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
    return (x0, y0), (x1, y1)


def _regions(representation: Representation) -> list[int]:
    if isinstance(representation.partition, Voronoi):
        return representation.partition.primary.tolist()
    return list(range(representation.regions))


def cell_outlines(
    representation: Representation, low: tuple[float, float], high: tuple[float, float]
) -> list[Outline]:
    """Return the outline of every cell within a frame, in the order of the prototypes or leaves."""
    if isinstance(representation.partition, Boxes):
        return [_rectangle(a, b) for a, b in leaf_boxes(representation.partition)]
    scale = representation.partition.scale
    points = representation.partition.prototypes / scale
    frame = _rectangle(*(np.array([low, high]) / scale).tolist())
    return [_unscaled(_voronoi_cell(points, p, frame), scale) for p in range(len(points))]


def _rectangle(low: Sequence[float], high: Sequence[float]) -> Outline:
    (x0, y0), (x1, y1) = low, high
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))


def _unscaled(outline: Outline, scale: np.ndarray) -> Outline:
    return tuple((x * float(scale[0]), y * float(scale[1])) for x, y in outline)


def _voronoi_cell(points: np.ndarray, p: int, frame: Outline) -> Outline:
    """Cut from the frame what is nearer to other points than to point ``p``, the nearest of them first.

    Of the libraries tried, each gave wrong cells now and then: for points on one circle, which a task with
    symmetries has many of (libgeos/geos, issue 1040), or for points that are very near to each other. Here the
    two sides of a border are each other's negative to the last bit, so cells do not overlap. Of points at one
    place the oldest has the cell.
    """
    cell, place = frame, tuple(points[p].tolist())
    distances = np.hypot(*(points - points[p]).T)
    for q in np.argsort(distances, kind="stable").tolist():
        if distances[q] > 2 * max((math.dist(place, corner) for corner in cell), default=0.0):
            break  # no other point is near enough to cut anything off
        if distances[q] == 0.0 and q < p:
            return ()
        if q != p:
            cell = _nearer(cell, place, tuple(points[q].tolist()))
    return cell


def _nearer(outline: Outline, place: tuple[float, ...], other: tuple[float, ...]) -> Outline:
    """Return the part of a convex outline that is at least as near to a place as to another."""
    (x0, y0), (x1, y1) = place, other
    side = [(x - (x0 + x1) / 2) * (x1 - x0) + (y - (y0 + y1) / 2) * (y1 - y0) for x, y in outline]
    kept: list[tuple[float, float]] = []
    for i, here in enumerate(side):
        before = side[i - 1]
        if (here > 0) != (before > 0):
            share = before / (before - here)
            (xa, ya), (xb, yb) = outline[i - 1], outline[i]
            kept.append((xa + share * (xb - xa), ya + share * (yb - ya)))
        if here <= 0:
            kept.append(outline[i])
    return tuple(kept)
