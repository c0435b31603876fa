"""The part of a space that a picture shows: the two coordinates that matter most, a plane, the frame around it.

Of more than two coordinates those two are shown that matter most to what is done. A pair of regions is incompatible
when other actions are preferred in the one than in the other (Eq. 3 of the paper, for the regions' own values). It
*differs along* the coordinates that have at least an equal share of the squared distance between the two primary
prototypes. The coordinates along which most incompatible pairs differ are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from distinguo.controller import Controller
from distinguo.representations.file import Representation
from distinguo.representations.geometry import Cells, rectangle, shadows
from distinguo.representations.partition import has_labels, prototypes_of
from distinguo.representations.planes import Pair, Plane, landmarks, learned_extent, main_plane
from distinguo.representations.voronoi import Voronoi
from distinguo.tasks.spec import TaskSpec

MOST_HELD = 6  #: coordinates that a note names
MOST_CELLS = 2000  #: prototypes whose cells are drawn one by one
ACROSS, UPWARDS = 160, 120  #: places of a picture of more
MOST_PAIRED = 300  #: regions that are compared with each other; of more, some of every age


def plane_of(
    representation: Representation,
    spec: TaskSpec,
    controller: Controller | None = None,
) -> Plane:
    """Return the plane that shows most of a partition; in two dimensions the only one there is.

    With a controller it is that of the two coordinates that matter most to its decisions, else that of the two in
    which the prototypes differ most. Of a partition without prototypes it is what the partition says, or the first
    two coordinates through the middle of the task.
    """
    known = main_plane(representation.partition)
    if known is not None:
        votes = None if controller is None else votes_of(representation, controller)
        return known if votes is None else known._replace(axes=_most(votes))
    low, high = np.array(learned_extent(representation.provenance, spec.low, spec.high))
    middle = [sum(finite_span(np.array(ends))) / 2 for ends in zip(low, high, strict=True)]
    return Plane(tuple(range(min(2, len(middle)))), tuple(middle))


def votes_of(representation: Representation, controller: Controller) -> np.ndarray | None:
    """Return how many incompatible pairs of regions differ along each coordinate; None if there are no such pairs.

    Between coordinates of as many votes a fraction of one decides: their share of all that regions differ by.

    >>> from distinguo.representations.voronoi import voronoi
    >>> three = Representation(voronoi([[0, 0, 0], [0, 1, 9], [0, 2, 0.1]], [1.0, 1.0, 1.0]), ("a", "b", "c"))
    >>> votes_of(three, Controller(three.partition, np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))).round(2).tolist()
    [0.0, 1.03, 1.47]
    """
    prototypes = prototypes_of(representation.partition)
    if prototypes is None:
        return None
    some = np.arange(len(prototypes.primaries))[:: -(-len(prototypes.primaries) // MOST_PAIRED)]
    rows, sets = prototypes.points[prototypes.primaries[some]], controller.action_sets[some]
    one, other = np.nonzero(np.triu((sets[:, None] != sets[None]).any(axis=-1)))
    if has_labels(representation.partition):
        apart = (rows[one] != rows[other]).astype(float)
    else:
        apart = (rows[one] - rows[other]) / getattr(representation.partition, "scale", 1.0)
    votes = _differ_along(apart).sum(axis=0)
    if not votes.any():
        return None
    squares = (apart**2).sum(axis=0)
    return np.asarray(votes + 0.5 * squares / squares.sum())


def _differ_along(apart: np.ndarray) -> np.ndarray:
    """Return along which coordinates the two states of each pair differ, by the rows of their scaled differences.

    >>> _differ_along(np.array([[3.0, 0.1, -2.5, 1.0], [1.0, 1.0, 1.0, 1.0]])).tolist()
    [[True, False, True, False], [True, True, True, True]]
    """
    squares = apart**2
    equal_share = squares.mean(axis=-1, keepdims=True) * (1.0 - 1e-12)
    return np.asarray((squares > 0.0) & (squares >= equal_share))


def _most(votes: np.ndarray) -> tuple[int, ...]:
    """Return the two coordinates of most votes, in their order; of equal ones the first."""
    return tuple(sorted(np.argsort(-votes, kind="stable")[:2].tolist()))


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
    low, high = zip(*(finite_span(column) for column in corners.T), strict=True)
    return plane.corner(low, 0.0), plane.corner(high, 1.0)


def finite_span(values: np.ndarray) -> Pair:
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
