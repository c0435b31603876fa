"""Which plane to show of a space that has more than two dimensions.

The two coordinates in which the regions differ most vary in the plane; all others are held where the *median
prototype* has them, the one that is nearest to all others taken together. It was really observed, which cannot be
said of the middle of each coordinate for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from distinguo.representation.boxes import Boxes
from distinguo.representation.categories import Categories
from distinguo.representation.file import Representation
from distinguo.representation.geometry import Plane, extent_of
from distinguo.tasks.spec import TaskSpec

MOST_HELD = 6  #: coordinates that a note names
Pair = tuple[float, float]


def plane_of(representation: Representation) -> Plane:
    """Return the plane that shows most of a partition; in two dimensions the only one there is.

    >>> from distinguo.representation.voronoi import voronoi
    >>> rows = [[0.0, 0.0, 1.0], [0.1, 5.0, 2.0], [0.2, 9.0, 4.0]]
    >>> plane_of(Representation(voronoi(rows, [1.0, 10.0, 10.0]), ("x", "y", "z")))
    Plane(axes=(1, 2), at=(0.1, 5.0, 2.0))
    """
    if isinstance(representation.partition, Boxes):
        return _most_cut(representation.partition)
    rows = primaries(representation.partition)
    different = _different(representation.partition)
    return Plane(_two_of(_spread(representation.partition)), tuple(_median(rows, different).tolist()))


def primaries(partition: Any) -> np.ndarray:
    """Return the prototypes that stand for their regions."""
    size = int(partition.size[0])
    return partition.prototypes[:size][partition.primary[:size] == np.arange(size)]


def _most_cut(partition: Boxes) -> Plane:
    cuts = [int((partition.axis == i).sum()) for i in range(len(partition.low))]
    return Plane(_two_of(cuts), tuple(((partition.low + partition.high) / 2).tolist()))


def _two_of(spread: Sequence[float]) -> tuple[int, ...]:
    """Return the two coordinates of largest spread in their order; of equal ones the first."""
    return tuple(sorted(np.argsort(-np.array(spread, dtype=float), kind="stable")[:2].tolist()))


def _spread(partition: Any) -> list[float]:
    """Return how much the regions differ in each coordinate: its deviation, or its number of categories."""
    rows = primaries(partition)
    if isinstance(partition, Categories):
        return [float(len(np.unique(column))) for column in rows.T]
    return (rows / partition.scale).std(axis=0).tolist()


def _different(partition: Any) -> Any:
    """Return how far the rows are from one of them."""
    if isinstance(partition, Categories):
        return lambda rows, row: (rows != row).sum(axis=1)
    return lambda rows, row: np.sqrt((((rows - row) * partition.weight) ** 2).sum(axis=1))


def _median(rows: np.ndarray, different: Any) -> np.ndarray:
    return rows[int(np.argmin([different(rows, row).sum() for row in rows]))]


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
    partition = representation.partition
    extent = extent_of(representation.provenance, spec.low, spec.high)
    if isinstance(partition, Boxes):
        corners = np.vstack([extent, partition.low, partition.high])
    else:
        corners = np.vstack([extent, partition.prototypes[: representation.prototypes]])
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
