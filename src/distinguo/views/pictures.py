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
from distinguo.views.areas import MOST_BESIDE, Label, Segment, areas_of, numbers_in
from distinguo.views.slices import (
    ACROSS,
    MOST_CELLS,
    UPWARDS,
    coarse_cells,
    frame_of,
    names_of,
    note_of,
    plane_of,
)
from distinguo.views.tiles import Tiles, category_name, squares_of, tiles_of

BELOW, ABOVE = (
    0.33,
    0.1,
)  #: of a square; how far the mark of a prototype is below its middle, and its label above


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
    (('x (m)', 'v (m/s)'), True)
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
    labels: tuple[Label, ...] = ()  #: the number of its region in every area, or the names of categories
    #: words at 0, 1, 2, … of each axis; None for numbers
    ticks: tuple[tuple[str, ...] | None, tuple[str, ...] | None] = (None, None)
    borders: tuple[Segment, ...] = ()  #: between different regions; none if there are too many to draw
    plane: Plane = Plane((0, 1), (0.0, 0.0))  #: where in the space of observations this is
    trail: tuple[Pair, ...] = ()  #: the way of a trial over the map


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
        picture = _squares(representation, tiles_of(representation, spec, controller), behaviour)
    else:
        picture = _slice(representation, spec, plane_of(representation, spec, controller), behaviour)
    joined = picture if len(picture.cells) > MOST_CELLS else _with_areas(picture)
    return joined._replace(title=title, actions=() if controller is None else spec.actions)


class _Behaviour:
    """The action and the value of every region; without a controller none and zero."""

    def __init__(self, representation: Representation, controller: Controller | None) -> None:
        rows = representation.regions
        self.policy = np.full(rows, TIED) if controller is None else controller.policy
        self.values = np.zeros(rows) if controller is None else controller.q.max(axis=1)

    def cells(self, regions: Iterable[tuple[int, Outline]]) -> list[CellPicture]:
        return [CellPicture(o, j, int(self.policy[j]), float(self.values[j])) for j, o in regions]


def _slice(
    representation: Representation, spec: TaskSpec, plane: Plane, behaviour: _Behaviour
) -> PartitionPicture:
    low, high = frame_of(representation, spec, plane)
    note, names = note_of(plane, spec.dimensions), names_of(plane, spec.axes)
    places, primary = _prototypes_in(representation, plane)
    if representation.prototypes > MOST_CELLS and isinstance(representation.partition, Voronoi):
        cells = behaviour.cells(coarse_cells(representation.partition, plane, low, high))
        note = _joined(
            note, f"{representation.prototypes:,} prototypes, drawn by {ACROSS} x {UPWARDS} places"
        )
        places, primary = (), ()
    else:
        cells = behaviour.cells(outlines(representation.partition, plane, low, high))
    if plane.held:
        cells = [cell for cell in cells if cell.outline]
    return PartitionPicture(
        title="",
        axes=names,
        low=low,
        high=high,
        cells=tuple(cells),
        prototypes=places,
        primary=primary,
        actions=(),
        note=note,
        ticks=(None, None if names[1] else ()),
        plane=plane,
    )


def _with_areas(picture: PartitionPicture) -> PartitionPicture:
    """Join the cells of a region, and number its areas where nothing else is written in them."""
    cells = [(cell.outline, cell.region) for cell in picture.cells]
    areas = areas_of([o for o, _ in cells], [j for _, j in cells], picture.low, picture.high)
    if picture.labels:
        return picture._replace(borders=areas.borders)
    labels = numbers_in(areas, cells, picture.prototypes, picture.low, picture.high)
    small = sum(label.beside for label in labels)
    if small > MOST_BESIDE:
        labels = tuple(label for label in labels if not label.beside)
        picture = picture._replace(
            note=_joined(picture.note, f"{small} areas are too small for their number")
        )
    return picture._replace(borders=areas.borders, labels=labels)


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
    words = [f"{category_name(s.state[0])}\n({j})" for s, j in zip(tiles.squares, regions, strict=True)]
    labels = [Label(s.x, s.y + ABOVE, words[n], n) for n, s in enumerate(tiles.squares)]
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
        note=_joined(tiles.note, "in brackets the region") if named else tiles.note,
        labels=tuple(labels) if named else (),
        ticks=tiles.ticks,
    )


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


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
