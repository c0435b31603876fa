"""Pictures as values: what is to be drawn, computed from a run, before any pixel.

A partition of the plane is shown whole, one of more dimensions by a slice (views/slices.py), one of a single
dimension as a strip, and one of categories by squares (views/tiles.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from distinguo.representation import geometry
from distinguo.representation.boxes import Boxes
from distinguo.representation.categories import Categories
from distinguo.representation.file import Representation
from distinguo.representation.geometry import Plane
from distinguo.representation.partition import region
from distinguo.runs.run import Run
from distinguo.tasks.spec import TaskSpec
from distinguo.views.labels import Word, words_in
from distinguo.views.slices import Pair, frame_of, names_of, note_of, plane_of
from distinguo.views.tiles import Tiles, label, place_of, tiles_of

Outline = geometry.Outline
BELOW = 0.3  #: of a square; how far the mark of a prototype is below its label


class Cell(NamedTuple):
    """One Voronoi cell, box or category: its outline, the region it belongs to, and what the policy does there."""

    outline: Outline
    region: int
    action: int  #: -1 when nothing was learned there, or several actions are tied
    value: float


class PartitionPicture(NamedTuple):
    """A partition, or a slice of it, with the greedy action and the state value of each region.

    >>> import distinguo
    >>> picture = partition_picture(distinguo.learn("puck", seed=1))
    >>> picture.axes, len(picture.cells) == len(picture.prototypes)
    (('x', 'v'), True)
    """

    title: str
    axes: tuple[str, str]  #: the second is empty if there is none
    low: Pair
    high: Pair
    cells: tuple[Cell, ...]
    prototypes: tuple[Pair, ...]  #: those that lie in what is shown
    primary: tuple[bool, ...]  #: whether each prototype stands for its region
    actions: tuple[str, ...]  #: their names; none for a partition without values
    note: str = ""  #: which part of the partition is shown, if not all
    words: tuple[Word, ...] = ()
    ticks: tuple[tuple[str, ...] | None, tuple[str, ...] | None] = (
        None,
        None,
    )  #: words at 0, 1, 2, … of each axis; None for numbers


def partition_picture(run: Run) -> PartitionPicture:
    """Compute the picture of a run's partition."""
    regions = run.representation.regions
    size = f"{regions} region" if regions == 1 else f"{regions} regions"
    title = f"{run.configuration.spec.name}, seed {run.configuration.seed}: {size}"
    return representation_picture(run.representation, run.configuration.spec, title, run.q)


def representation_picture(
    representation: Representation, spec: TaskSpec, title: str, q: np.ndarray | None = None
) -> PartitionPicture:
    """Compute the picture of a partition, with what its values say if there are any."""
    values = np.zeros((representation.rows, len(spec.actions))) if q is None else q
    if isinstance(representation.partition, Categories):
        picture = _squares(representation, tiles_of(representation, spec), values)
    else:
        picture = _slice(representation, spec, values)
    return picture._replace(title=title, actions=() if q is None else spec.actions)


def policy(q: np.ndarray) -> tuple[int, float]:
    """Return the greedy action of a row of values, -1 if several are tied, and the state value.

    >>> policy(np.array([-1.0, 0.5])), policy(np.array([0.5, 0.5]))
    ((1, 0.5), (-1, 0.5))
    """
    best = np.flatnonzero(q == q.max())
    return (int(best[0]) if len(best) == 1 else -1), float(q.max())


def _slice(representation: Representation, spec: TaskSpec, q: np.ndarray) -> PartitionPicture:
    plane = plane_of(representation)
    low, high = frame_of(representation, spec, plane)
    outlines = _outlines(representation, plane, low, high)
    regions = _regions(representation)
    cells = [Cell(o, j, *policy(q[j])) for o, j in zip(outlines, regions, strict=True)]
    places, primary = _prototypes_in(representation, plane)
    words: tuple[Word, ...] = ()
    if plane.held:  # the marks of the prototypes are not there to tell the cells apart
        cells = [cell for cell in cells if cell.outline]
        numbered = [(cell.outline, str(cell.region)) for cell in cells]
        words = words_in(numbered, places, low, high)
    note, names = note_of(plane, spec.dimensions), names_of(plane, spec.dimensions)
    note += "; the numbers are regions" if words else ""
    ticks = (None, None if names[1] else ())
    return PartitionPicture("", names, low, high, tuple(cells), places, primary, (), note, words, ticks)


def _prototypes_in(representation: Representation, plane: Plane) -> tuple[tuple[Pair, ...], tuple[bool, ...]]:
    """Return the prototypes that lie in a plane, in the middle of a strip, and whether each stands for its region."""
    partition = representation.partition
    if isinstance(partition, Boxes):
        return (), ()
    rows = partition.prototypes[: representation.prototypes]
    shown = np.flatnonzero((rows[:, plane.held] == np.array(plane.at)[plane.held]).all(axis=1)).tolist()
    places = tuple(plane.corner(rows[p].tolist(), 0.5) for p in shown)
    return places, tuple(bool(partition.primary[p] == p) for p in shown)


def _regions(representation: Representation) -> list[int]:
    if isinstance(representation.partition, Boxes):
        return list(range(representation.regions))
    return representation.partition.primary[: representation.prototypes].tolist()


def cell_outlines(representation: Representation, low: Pair, high: Pair) -> list[Outline]:
    """Return the outline of every cell of a plane within a frame, in the order of the prototypes or leaves."""
    return _outlines(representation, Plane((0, 1), (0.0, 0.0)), low, high)


def _outlines(representation: Representation, plane: Plane, low: Pair, high: Pair) -> list[Outline]:
    if isinstance(representation.partition, Boxes):
        return geometry.box_outlines(representation.partition, plane)
    assert not isinstance(representation.partition, Categories)
    return geometry.voronoi_outlines(representation.partition, plane, low, high)


def _squares(representation: Representation, tiles: Tiles, q: np.ndarray) -> PartitionPicture:
    partition = representation.partition
    regions = [region(partition, square.state) for square in tiles.squares]
    cells = tuple(
        Cell(_square(square.x, square.y), j, *policy(q[j]))
        for square, j in zip(tiles.squares, regions, strict=True)
    )
    places, primary = _prototypes_among(representation, tiles)
    named = tiles.ticks == ((), ())
    labels = tuple(Word(s.x, s.y, label(s.state[0]), n) for n, s in enumerate(tiles.squares))
    low, high = (-0.5, -0.5), (tiles.columns - 0.5, tiles.rows - 0.5)
    return PartitionPicture(
        "",
        tiles.axes,
        low,
        high,
        cells,
        places,
        primary,
        (),
        tiles.note,
        labels if named else (),
        tiles.ticks,
    )


def _square(x: int, y: int) -> Outline:
    return geometry.rectangle((x - 0.5, y - 0.5), (x + 0.5, y + 0.5))


def _prototypes_among(
    representation: Representation, tiles: Tiles
) -> tuple[tuple[Pair, ...], tuple[bool, ...]]:
    """Return the places of the prototypes that are among the squares, and whether each stands for its region."""
    partition = representation.partition
    assert isinstance(partition, Categories)
    lower = BELOW if tiles.ticks == ((), ()) else 0.0
    found = [place_of(tiles, row) for row in partition.prototypes[: representation.prototypes].tolist()]
    shown = [(p, place) for p, place in enumerate(found) if place is not None]
    places = tuple((float(x), y - lower) for _, (x, y) in shown)
    return places, tuple(bool(partition.primary[p] == p) for p, _ in shown)
