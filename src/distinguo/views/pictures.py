"""Pictures as values: what is to be drawn, computed from a run, before any pixel.

A partition of the plane is shown whole, one of more dimensions as a slice, one of a single dimension as a strip, and
one of categories as squares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from distinguo.controller import TIED, Controller
from distinguo.errors import counted
from distinguo.representations.file import Representation
from distinguo.representations.geometry import (
    Cells,
    Outline,
    Pair,
    Plane,
    landmarks,
    learned_extent,
    main_plane,
    outlines,
    rectangle,
    shadows,
)
from distinguo.representations.partition import has_labels, prototypes_of, regions_of
from distinguo.representations.voronoi import Voronoi
from distinguo.runs.run import Run
from distinguo.tasks.amounts import laws_of
from distinguo.tasks.grids import DIRECTIONS, ENDS, FIELD_NAMES, STOPS, TAXI, TAXI_LABELS, grid_of
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.vocabulary import labels_of
from distinguo.views.areas import MOST_BESIDE, Label, Segment, areas_of, numbers_in

FINE = 61  #: places of a grid of amounts, in both directions
BELOW, ABOVE = (
    0.33,
    0.1,
)  #: of a square; how far below its middle a prototype's mark is, and how far above it the label
HEADING = 0.34  #: how far above its middle the label of a square with an arrow is


class CellPicture(NamedTuple):
    """One Voronoi cell, box or category: its outline, the region it belongs to, and what the policy does there."""

    outline: Outline
    region: int
    action: int  #: -1 if nothing was learned there or several actions are tied
    value: float


class PartitionPicture(NamedTuple):
    """A partition, or a slice of it, with the preferred action and the state value of each region.

    >>> import distinguo
    >>> picture = partition_picture(distinguo.learn("puck", seed=1))
    >>> picture.axes, len(picture.cells) == len(picture.prototypes)
    (('x (m)', 'v (m/s)'), True)
    """

    title: str
    axes: tuple[str, str]  #: the second is empty for a strip
    low: Pair
    high: Pair
    cells: tuple[CellPicture, ...]
    prototypes: tuple[Pair, ...]  #: those in the part that is shown
    primary: tuple[bool, ...]  #: whether each prototype stands for its region
    actions: tuple[str, ...]  #: their names; none for a partition without values
    note: str = ""  #: which part of the partition is shown, if not all
    labels: tuple[Label, ...] = ()  #: the number of its region in every area, or the names of categories
    #: words at 0, 1, 2, … of each axis; None for numbers
    ticks: tuple[tuple[str, ...] | None, tuple[str, ...] | None] = (None, None)
    borders: tuple[Segment, ...] = ()  #: between different regions; empty if there are too many to draw
    plane: Plane = Plane((0, 1), (0.0, 0.0))  #: the plane shown, in the space of observations
    trail: tuple[Pair, ...] = ()  #: the path of a trial over the map
    arrows: tuple[tuple[Pair, Pair], ...] = ()  #: of the actions on a grid: their middles and directions
    amounts: AmountField | None = None  #: where actions are laws
    ends: tuple[tuple[int, str], ...] = ()  #: cells where trials end, each with the letter of its field


class AmountField(NamedTuple):
    """What laws take on a grid of a plane: of one amount how much, of several the first two."""

    xs: np.ndarray
    ys: np.ndarray
    regions: np.ndarray  #: (ys, xs)
    taken: np.ndarray  #: (amounts, ys, xs)
    half: np.ndarray  #: (amounts,) half the range of each
    names: tuple[str, ...]

    @property
    def note(self) -> str:
        """What a drawing of it shows."""
        if len(self.names) == 1:
            return f"lines of equal {self.names[0]}"
        return f"arrows: {self.names[0]} to the right, {self.names[1]} upwards"


class ValuePicture(NamedTuple):
    """A partition coloured by the state value of its regions alone."""

    partition: PartitionPicture


def partition_picture(run: Run) -> PartitionPicture:
    """Compute the picture of a run's partition."""
    regions = run.representation.regions
    size = counted(regions, "region")
    title = f"{run.configuration.spec.name}, seed {run.configuration.seed}: {size}"
    return representation_picture(run.representation, run.configuration.spec, title, run.controller)


def representation_picture(
    representation: Representation, spec: TaskSpec, title: str, controller: Controller | None = None
) -> PartitionPicture:
    """Compute the picture of a partition, with the actions of a controller if there is one."""
    behaviour = _Behaviour(representation, controller)
    if has_labels(representation.partition):
        picture = _squares(representation, spec, tiles_of(representation, spec, controller), behaviour)
    else:
        picture = _slice(representation, spec, plane_of(representation, spec, controller), behaviour)
    joined = picture if len(picture.cells) > MOST_CELLS else _with_areas(picture)
    if controller is not None and laws_of(spec) is not None:
        joined = _with_amounts(joined, representation, spec, behaviour.policy)
    return joined._replace(title=title, actions=() if controller is None else spec.actions)


def _with_amounts(
    picture: PartitionPicture, representation: Representation, spec: TaskSpec, policy: np.ndarray
) -> PartitionPicture:
    """Add what laws take; values of such maps name laws only, so they have no shades."""
    known = laws_of(spec)
    assert known is not None
    assert spec.amounts is not None
    if len(picture.plane.axes) < 2:
        return picture
    xs, ys = (np.linspace(*ends, FINE) for ends in zip(picture.low, picture.high, strict=True))
    states = np.array([picture.plane.state(x, y) for y in ys for x in xs])
    regions = regions_of(representation.partition, states)
    inputs = np.column_stack([states, np.ones(len(states))])
    taken = np.einsum("nj,nij->in", inputs, known.table[policy[regions]])
    taken = np.clip(taken, known.low[:, None], known.high[:, None])
    shape = len(ys), len(xs)
    field = AmountField(
        xs,
        ys,
        regions.reshape(shape),
        taken.reshape(-1, *shape),
        (known.high - known.low) / 2.0,
        spec.amounts.names,
    )
    return picture._replace(amounts=field)


class _Behaviour:
    """The action and the value of every region; without a controller, -1 and 0."""

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
    """Join the cells of each region, and number its areas unless they have other labels."""
    cells = [(cell.outline, cell.region) for cell in picture.cells]
    areas = areas_of([o for o, _ in cells], [j for _, j in cells], picture.low, picture.high)
    if picture.labels or picture.arrows:
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
    """Return the prototypes of a plane or, along its middle, of a strip, and whether each is primary."""
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


def _squares(
    representation: Representation, spec: TaskSpec, tiles: Tiles, behaviour: _Behaviour
) -> PartitionPicture:
    partition, named = representation.partition, tiles.ticks == ((), ())
    places, primary = _prototypes_among(representation, tiles, BELOW if named else 0.0)
    regions = regions_of(partition, np.array([square.state for square in tiles.squares])).tolist()
    cells = behaviour.cells((j, _square(s.x, s.y)) for j, s in zip(regions, tiles.squares, strict=True))
    picture = PartitionPicture(
        title="",
        axes=tiles.axes,
        low=(-0.5, -0.5),
        high=(tiles.columns - 0.5, tiles.rows - 0.5),
        cells=tuple(cells),
        prototypes=places,
        primary=primary,
        actions=(),
        note=_joined(tiles.note, "in brackets the region") if named else tiles.note,
        ticks=tiles.ticks,
    )
    if tiles.fields:
        return _with_fields(picture, spec, tiles, named)
    words = [f"{category_name(s.state[0])}\n({j})" for s, j in zip(tiles.squares, regions, strict=True)]
    labels = [Label(s.x, s.y + ABOVE, words[n], n) for n, s in enumerate(tiles.squares)]
    return picture._replace(labels=tuple(labels) if named else ())


def _with_fields(picture: PartitionPicture, spec: TaskSpec, tiles: Tiles, named: bool) -> PartitionPicture:
    """Add arrows for the actions on a grid, and the names of fields where trials end, in place of regions."""
    arrows, ends, labels = [], [], []
    for n, (square, letter, cell) in enumerate(zip(tiles.squares, tiles.fields, picture.cells, strict=True)):
        number = category_name(square.state[0])
        if letter in ENDS:
            ends.append((n, letter))
            labels.append(Label(square.x, square.y, FIELD_NAMES[letter], n))
            continue
        name = spec.actions[cell.action] if cell.action >= 0 else ""
        if name in DIRECTIONS:
            way = (float(DIRECTIONS[name][0]), float(DIRECTIONS[name][1]))
            arrows.append(((float(square.x), float(square.y)), way))
        elif not named and name:
            labels.append(Label(square.x, square.y, spec.actions[cell.action][0].upper(), n))
        if named:
            labels.append(Label(square.x, square.y + HEADING, f"{number} ({cell.region})", n))
    cells = [cell._replace(action=TIED) if n in dict(ends) else cell for n, cell in enumerate(picture.cells)]
    shown = picture._replace(cells=tuple(cells), arrows=tuple(arrows), ends=tuple(ends), labels=tuple(labels))
    return shown if named else shown._replace(prototypes=(), primary=())


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _square(x: int, y: int) -> Outline:
    return rectangle((x - 0.5, y - 0.5), (x + 0.5, y + 0.5))


def _prototypes_among(
    representation: Representation, tiles: Tiles, below: float
) -> tuple[tuple[Pair, ...], tuple[bool, ...]]:
    """Return the places of the prototypes that have a square, and whether each is primary."""
    prototypes = prototypes_of(representation.partition)
    if prototypes is None:
        return (), ()
    squares = squares_of(tiles, prototypes.points)
    shown = [(p, place) for p, place in enumerate(squares) if place is not None]
    places = tuple((float(x), y - below) for _, (x, y) in shown)
    return places, tuple(bool(prototypes.is_primary[p]) for p, _ in shown)


# The part of a space that a picture shows: the two coordinates that matter most, their plane, and its frame.
#
# If there are more than two coordinates, the two that matter most to the policy are shown. A pair of regions is
# incompatible if their preferred actions differ (Eq. 3 of the paper, for the regions' own values). It
# *differs along* the coordinates that have at least an equal share of the squared distance between the two primary
# prototypes. The coordinates along which most incompatible pairs differ are shown.


MOST_NAMES = 10  #: actions in a legend; if there are more, only those that occur
MOST_HELD = 6  #: coordinates that a note names
MOST_CELLS = 2000  #: prototypes; above this a picture is drawn by a grid
ACROSS, UPWARDS = 160, 120  #: places of that grid
MOST_PAIRED = 300  #: regions compared with each other; if there are more, a sample of every age


def plane_of(
    representation: Representation,
    spec: TaskSpec,
    controller: Controller | None = None,
) -> Plane:
    """Return the plane that shows most of a partition; in two dimensions it is the whole space.

    With a controller its axes are the two coordinates that matter most to the decisions, otherwise the two in which
    the prototypes differ most. A partition without prototypes may name its plane; by default it is that of the first
    two coordinates, through the middle of the task's extent.
    """
    known = main_plane(representation.partition)
    if known is not None:
        votes = None if controller is None else votes_of(representation, controller)
        return known if votes is None else known._replace(axes=_most(votes))
    low, high = np.array(learned_extent(representation.provenance, spec.low, spec.high))
    middle = [sum(finite_span(np.array(ends))) / 2 for ends in zip(low, high, strict=True)]
    return Plane(tuple(range(min(2, len(middle)))), tuple(middle))


def votes_of(representation: Representation, controller: Controller) -> np.ndarray | None:
    """Return the number of incompatible pairs of regions that differ along each coordinate; None without such pairs.

    A fraction of a vote breaks ties: the coordinate's share of all differences between regions.

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
    """Return for each row of scaled differences the coordinates along which its two states differ.

    >>> _differ_along(np.array([[3.0, 0.1, -2.5, 1.0], [1.0, 1.0, 1.0, 1.0]])).tolist()
    [[True, False, True, False], [True, True, True, True]]
    """
    squares = apart**2
    equal_share = squares.mean(axis=-1, keepdims=True) * (1.0 - 1e-12)
    return np.asarray((squares > 0.0) & (squares >= equal_share))


def _most(votes: np.ndarray) -> tuple[int, ...]:
    """Return the two coordinates with most votes, in their order; ties go to the first."""
    return tuple(sorted(np.argsort(-votes, kind="stable")[:2].tolist()))


def note_of(plane: Plane, names: Sequence[str]) -> str:
    """Describe where a plane lies; empty if it is the whole space.

    >>> note_of(Plane((0, 2), (0.0, 0.123456, 0.0)), ("x", "v", "angle"))
    'slice at v = 0.1235'
    """
    held = [f"{names[i]} = {plane.at[i]:z.4g}" for i in plane.held]
    more = [f"{len(held) - MOST_HELD} more"] if len(held) > MOST_HELD else []
    return "slice at " + ", ".join(held[:MOST_HELD] + more) if held else ""


def names_of(plane: Plane, names: Sequence[str]) -> tuple[str, str]:
    """Return the labels of both axes; a strip has none upwards."""
    x, y = (*(names[i] for i in plane.axes), "")[:2]
    return x, y


def frame_of(representation: Representation, spec: TaskSpec, plane: Plane) -> tuple[Pair, Pair]:
    """Return the extent of a task in a plane, widened so that every prototype can be seen.

    An infinite side gets the range of the prototypes and half as much again on either side.
    """
    extent = np.array(learned_extent(representation.provenance, spec.low, spec.high))
    corners = np.vstack([extent, landmarks(representation.partition).reshape(-1, extent.shape[1])])
    low, high = zip(*(finite_span(column) for column in corners.T), strict=True)
    return plane.corner(low, 0.0), plane.corner(high, 1.0)


def finite_span(values: np.ndarray) -> Pair:
    """Return the least and the greatest of some numbers, made finite and different."""
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
    """Return the cells of a plane by a grid, joined along rows, for partitions with too many cells to draw each.

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
    """Return the regions of places in a plane, by the projected prototypes and their distance from it."""
    from scipy.spatial import cKDTree  # takes a while to load

    sites = shadows(partition, plane)
    units = np.array(plane.corner(partition.scale.tolist(), 1.0))
    off_plane = np.column_stack([places / units, np.zeros(len(places))])
    tree = cKDTree(np.column_stack([sites[:, :2], np.sqrt(sites[:, 2])]))
    return np.asarray(partition.regions[tree.query(off_plane)[1]])


# Partitions of categories as squares: every category, or those with a prototype and one square for all the others.


MOST_SQUARES = 144  #: categories that are all shown; if there are more, only those with a prototype
MOST_PROTOTYPES = 400  #: of a single coordinate
MOST_ACROSS = 40  #: categories along one side of a plane
WIDEST_ROW = 12
OTHER = math.nan  #: stands for all categories without a prototype: it equals none


class Square(NamedTuple):
    """One square: its place, and the category that it stands for."""

    x: int
    y: int
    state: tuple[float, ...]


class Tiles(NamedTuple):
    """Squares in rows, with the words beside them.

    >>> from distinguo.representations.categories import categories
    >>> from distinguo.tasks.catalog import task_spec
    >>> four = Representation(categories([[0.0], [14.0]]), ("o0",))
    >>> tiles = tiles_of(four, task_spec("FrozenLake-v1"))
    >>> tiles.columns, tiles.squares[-1]
    (4, Square(x=3, y=0, state=(15.0,)))
    """

    squares: tuple[Square, ...]
    columns: int
    rows: int
    axes: tuple[str, str]
    note: str
    #: beside columns and rows; None if every square has its label
    ticks: tuple[tuple[str, ...], tuple[str, ...]]
    fields: tuple[str, ...] = ()  #: the letter of each square, if they are the fields of a grid


def tiles_of(representation: Representation, spec: TaskSpec, controller: Controller | None = None) -> Tiles:
    """Lay out the categories of a task; if there are more than two coordinates, by the two that matter most."""
    prototypes = prototypes_of(representation.partition)
    points = np.empty((0, len(spec.dimensions))) if prototypes is None else prototypes.points
    if spec.name == TAXI and len(spec.high) == 1 and spec.high[0] == TAXI_LABELS - 1:
        return _town(spec)
    if len(spec.dimensions) == 1:
        return _in_rows(points[:, 0], spec)
    return _in_a_plane(points, spec, plane_of(representation, spec, controller))


def category_name(value: float) -> str:
    """Return the name of a category in a picture.

    >>> category_name(3.0), category_name(OTHER)
    ('3', 'other')
    """
    return "other" if math.isnan(value) else f"{value:z.6g}"


def _town(spec: TaskSpec) -> Tiles:
    """Lay out the taxi's situations: its town once for every passenger and destination."""
    labels, side = labels_of(spec), 5
    squares = []
    for value in range(TAXI_LABELS):
        passenger, destination, row, column = labels.read((float(value),))
        if labels.is_met((float(value),)):
            x, y = passenger * (side + 1) + column, (len(STOPS) - destination) * (side + 1) - 2 - row
            squares.append(Square(x, y, (float(value),)))
    panels = [len(facet.values) for facet in labels.facets[:2]]
    columns, rows = (count * (side + 1) - 1 for count in panels)
    ticks = [[""] * columns, [""] * rows]
    for side_ticks, facet, names in zip(ticks, labels.facets, (1, -1), strict=False):
        for n, words in enumerate(facet.values[::names]):
            side_ticks[n * (side + 1) + side // 2] = words
    fields = ("F",) * len(squares)
    return Tiles(
        tuple(squares),
        columns,
        rows,
        ("passenger", "destination"),
        "",
        (tuple(ticks[0]), tuple(ticks[1])),
        fields,
    )


def _in_rows(prototypes: np.ndarray, spec: TaskSpec) -> Tiles:
    """Lay out the categories of a single coordinate row by row, from the top left."""
    values = _values(prototypes, spec.low[0], spec.high[0], MOST_SQUARES, MOST_PROTOTYPES)
    grid = grid_of(spec)
    columns = len(grid[0]) if grid and sum(map(len, grid)) == len(values) else _columns(len(values))
    rows = -(-len(values) // columns)
    squares = tuple(Square(n % columns, rows - 1 - n // columns, (value,)) for n, value in enumerate(values))
    name = spec.axes[0]
    note = "" if len(prototypes) <= MOST_PROTOTYPES else f"the oldest {MOST_PROTOTYPES} prototypes"
    fields = tuple("".join(grid)) if grid and sum(map(len, grid)) == len(values) else ()
    return Tiles(squares, columns, rows, (f"{name}, row by row", ""), note, ((), ()), fields)


def _in_a_plane(prototypes: np.ndarray, spec: TaskSpec, plane: Plane) -> Tiles:
    """Lay out two coordinates across and upwards."""
    sides = [
        _values(prototypes[:, i], spec.low[i], spec.high[i], MOST_ACROSS, MOST_ACROSS) for i in plane.axes
    ]
    squares = tuple(
        Square(x, y, plane.state(a, b)) for y, b in enumerate(sides[1]) for x, a in enumerate(sides[0])
    )
    ticks = (tuple(map(category_name, sides[0])), tuple(map(category_name, sides[1])))
    names = names_of(plane, spec.axes)
    return Tiles(squares, len(sides[0]), len(sides[1]), names, note_of(plane, spec.dimensions), ticks)


def _values(prototypes: np.ndarray, low: float, high: float, most: int, most_own: int) -> list[float]:
    """Return all categories if they are few, otherwise those of the oldest prototypes and one for all the others."""
    own = sorted(dict.fromkeys(prototypes.tolist()[:most_own]))
    if high - low + 1 <= most:
        return sorted({*own, *np.arange(low, high + 1).tolist()})
    return [*own, OTHER]


def _columns(count: int) -> int:
    """Return the number of squares in a row: many tasks of categories are rectangles, often square ones.

    >>> [_columns(n) for n in (2, 16, 48, 17, 144)]
    [2, 4, 12, 5, 12]
    """
    side = math.isqrt(count)
    if side * side == count:
        return side
    even = [c for c in range(2, WIDEST_ROW + 1) if count % c == 0 and c >= side]
    return max(even, default=math.ceil(math.sqrt(count)))


def squares_of(tiles: Tiles, prototypes: np.ndarray) -> list[tuple[int, int] | None]:
    """Return the square of each prototype that has one."""
    places = {square.state: (square.x, square.y) for square in reversed(tiles.squares)}
    return [places.get(tuple(row)) for row in prototypes.tolist()]
