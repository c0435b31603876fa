"""Pictures as values: what is to be drawn, computed from a run, before any pixel.

A partition of the plane is shown whole, one of more dimensions by a slice (views/slices.py), one of a single
dimension as a strip, and one of categories by squares (views/tiles.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from distinguo.controller import TIED, Controller
from distinguo.representations.file import Representation
from distinguo.representations.geometry import Outline, outlines, rectangle
from distinguo.representations.partition import has_labels, prototypes_of, regions_of
from distinguo.representations.planes import Pair, Plane
from distinguo.representations.voronoi import Voronoi
from distinguo.runs.run import Run
from distinguo.tasks.spec import TaskSpec
from distinguo.views.slices import (
    ACROSS,
    MOST_CELLS,
    UPWARDS,
    Label,
    coarse_cells,
    frame_of,
    labels_in,
    names_of,
    note_of,
    plane_of,
)
from distinguo.views.tiles import Tiles, category_name, squares_of, tiles_of

BELOW = 0.3  #: of a square; how far the mark of a prototype is below its label


class CellPicture(NamedTuple):
    """One Voronoi cell, box or category: its outline, the region it belongs to, and what the policy does there."""

    outline: Outline
    region: int
    action: int  #: -1 when nothing was learned there, or several actions are tied
    value: float


class PartitionPicture(NamedTuple):
    """A partition, or a slice of it, with the preferred action and the state value of each region.

    >>> import distinguo
    >>> picture = partition_picture(distinguo.learn("puck", seed=1))
    >>> picture.axes, len(picture.cells) == len(picture.prototypes)
    (('x', 'v'), True)
    """

    title: str
    axes: tuple[str, str]  #: the second is empty if there is none
    low: Pair
    high: Pair
    cells: tuple[CellPicture, ...]
    prototypes: tuple[Pair, ...]  #: those that lie in what is shown
    primary: tuple[bool, ...]  #: whether each prototype stands for its region
    actions: tuple[str, ...]  #: their names; none for a partition without values
    note: str = ""  #: which part of the partition is shown, if not all
    labels: tuple[Label, ...] = ()
    #: words at 0, 1, 2, … of each axis; None for numbers
    ticks: tuple[tuple[str, ...] | None, tuple[str, ...] | None] = (None, None)


class ValuePicture(NamedTuple):
    """A partition, to be coloured by the state value of its regions alone."""

    partition: PartitionPicture


def partition_picture(run: Run) -> PartitionPicture:
    """Compute the picture of a run's partition."""
    regions = run.representation.regions
    size = f"{regions} region" if regions == 1 else f"{regions} regions"
    title = f"{run.configuration.spec.name}, seed {run.configuration.seed}: {size}"
    return representation_picture(run.representation, run.configuration.spec, title, run.controller)


def representation_picture(
    representation: Representation, spec: TaskSpec, title: str, controller: Controller | None = None
) -> PartitionPicture:
    """Compute the picture of a partition, with what a controller does in its regions if there is one."""
    behaviour = _Behaviour(representation, controller)
    if has_labels(representation.partition):
        picture = _squares(representation, tiles_of(representation, spec), behaviour)
    else:
        picture = _slice(representation, spec, behaviour)
    return picture._replace(title=title, actions=() if controller is None else spec.actions)


class _Behaviour:
    """The action and the value of every region; without a controller none and zero."""

    def __init__(self, representation: Representation, controller: Controller | None) -> None:
        rows = representation.regions
        self.policy = np.full(rows, TIED) if controller is None else controller.policy
        self.values = np.zeros(rows) if controller is None else controller.q.max(axis=1)

    def cells(self, regions: Iterable[tuple[int, Outline]]) -> list[CellPicture]:
        return [CellPicture(o, j, int(self.policy[j]), float(self.values[j])) for j, o in regions]


def _slice(representation: Representation, spec: TaskSpec, behaviour: _Behaviour) -> PartitionPicture:
    plane = plane_of(representation, spec)
    low, high = frame_of(representation, spec, plane)
    note, names = note_of(plane, spec.dimensions), names_of(plane, spec.dimensions)
    ticks = (None, None if names[1] else ())
    if representation.prototypes > MOST_CELLS and isinstance(representation.partition, Voronoi):
        cells = behaviour.cells(coarse_cells(representation.partition, plane, low, high))
        words = f"{representation.prototypes:,} prototypes, drawn by {ACROSS} x {UPWARDS} places"
        note = f"{note}; {words}" if note else words
        return PartitionPicture("", names, low, high, tuple(cells), (), (), (), note, (), ticks)
    cells = behaviour.cells(outlines(representation.partition, plane, low, high))
    places, primary = _prototypes_in(representation, plane)
    labels: tuple[Label, ...] = ()
    if plane.held:  # the marks of the prototypes are not there to tell the cells apart
        cells = [cell for cell in cells if cell.outline]
        labels = labels_in([(cell.outline, str(cell.region)) for cell in cells], places, low, high)
    note += "; the numbers are regions" if labels else ""
    return PartitionPicture("", names, low, high, tuple(cells), places, primary, (), note, labels, ticks)


def _prototypes_in(representation: Representation, plane: Plane) -> tuple[tuple[Pair, ...], tuple[bool, ...]]:
    """Return the prototypes that lie in a plane, in the middle of a strip, and whether each stands for its region."""
    prototypes = prototypes_of(representation.partition)
    if prototypes is None:
        return (), ()
    rows = prototypes.points
    shown = np.flatnonzero((rows[:, plane.held] == np.array(plane.at)[plane.held]).all(axis=1))
    places = tuple(plane.corner(row, 0.5) for row in rows[shown].tolist())
    return places, tuple(prototypes.is_primary[shown].tolist())


def cell_outlines(representation: Representation, low: Pair, high: Pair) -> list[Outline]:
    """Return the outline of every cell of a plane within a frame, in the order of the prototypes or leaves."""
    plane = Plane((0, 1), (0.0, 0.0))
    return [outline for _, outline in outlines(representation.partition, plane, low, high)]


def _squares(representation: Representation, tiles: Tiles, behaviour: _Behaviour) -> PartitionPicture:
    partition, named = representation.partition, tiles.ticks == ((), ())
    places, primary = _prototypes_among(representation, tiles, BELOW if named else 0.0)
    regions = regions_of(partition, np.array([square.state for square in tiles.squares])).tolist()
    labels = [Label(s.x, s.y, category_name(s.state[0]), n) for n, s in enumerate(tiles.squares)]
    return PartitionPicture(
        title="",
        axes=tiles.axes,
        low=(-0.5, -0.5),
        high=(tiles.columns - 0.5, tiles.rows - 0.5),
        cells=tuple(
            behaviour.cells((j, _square(s.x, s.y)) for j, s in zip(regions, tiles.squares, strict=True))
        ),
        prototypes=places,
        primary=primary,
        actions=(),
        note=tiles.note,
        labels=tuple(labels) if named else (),
        ticks=tiles.ticks,
    )


def _square(x: int, y: int) -> Outline:
    return rectangle((x - 0.5, y - 0.5), (x + 0.5, y + 0.5))


def _prototypes_among(
    representation: Representation, tiles: Tiles, below: float
) -> tuple[tuple[Pair, ...], tuple[bool, ...]]:
    """Return the places of the prototypes that are among the squares, and whether each stands for its region."""
    prototypes = prototypes_of(representation.partition)
    if prototypes is None:
        return (), ()
    squares = squares_of(tiles, prototypes.points)
    shown = [(p, place) for p, place in enumerate(squares) if place is not None]
    places = tuple((float(x), y - below) for _, (x, y) in shown)
    return places, tuple(bool(prototypes.is_primary[p]) for p, _ in shown)
