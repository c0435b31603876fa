"""The contents of certificates: task, controller and states; each claim is validated.

Prover and checker share these classes and nothing else: a certificate is all that passes between them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from distinguo.tasks.mountain_car import MountainCar
from distinguo.tasks.puck.puck import Puck

MOST_CELLS = 2**26

#: Within these bounds no square, product or quotient of the program overflows; the checker's numbers never do.
LARGEST, LEAST = 1e60, 1e-60
Finite = Annotated[float, Field(allow_inf_nan=False, ge=-LARGEST, le=LARGEST)]
Positive = Annotated[float, Field(ge=LEAST, le=LARGEST)]
Count = Annotated[int, Field(ge=0)]
Two = Annotated[list[Finite], Field(min_length=2, max_length=2)]
Four = Annotated[list[Finite], Field(min_length=4, max_length=4)]
Actions = Annotated[list[Count], Field(min_length=1, max_length=30)]
#: One mistake is enough: there may be a million of the same kind.
_ONE = Field(fail_fast=True)
Counts = Annotated[list[Count], _ONE]
AllActions = Annotated[list[Actions], _ONE]
RowOfCells = Annotated[list[Count], Field(min_length=3, max_length=3)]
RunOfCells = Annotated[list[Count], Field(min_length=2, max_length=2)]


class Strict(BaseModel):
    """Strict types, no unknown fields, no changes later."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class PuckClaim(Strict):
    """The puck: each parameter from ``low`` to ``high``, and the disturbance of every step."""

    name: Literal["puck"]
    low: dict[str, Finite]
    high: dict[str, Finite]
    disturbance: Two

    @model_validator(mode="after")
    def _ranges(self) -> Self:
        if tuple(self.low) != Puck._fields or tuple(self.high) != Puck._fields:
            raise ValueError(f"a puck has the parameters {', '.join(Puck._fields)}")
        in_order = all(LEAST <= self.low[name] <= self.high[name] for name in Puck._fields)
        if not in_order or min(self.disturbance) < 0:
            raise ValueError("every range should be positive and in order")
        return self


class CarClaim(Strict):
    """The car in the valley, with these parameters."""

    name: Literal["MountainCar-v0"]
    parameters: dict[str, Finite]

    @model_validator(mode="after")
    def _sense(self) -> Self:
        car = self.parameters
        if tuple(car) != MountainCar._fields:
            raise ValueError(f"a car has the parameters {', '.join(MountainCar._fields)}")
        if not car["min_position"] < car["max_position"] or not car["max_speed"] > 0:
            raise ValueError("the car should have room to drive")
        if not min(car["force"], car["gravity"]) > 0:
            raise ValueError("force and gravity should be positive")
        return self


class VoronoiClaim(Strict):
    """A greedy policy over prototypes: the actions, more than one where they are tied, of every region."""

    kind: Literal["voronoi"]
    prototypes: Annotated[list[Two], Field(min_length=1, fail_fast=True)]
    primary: Counts  #: the region of each, which is a row of ``actions``
    weight: Annotated[list[Positive], Field(min_length=2, max_length=2)]
    actions: AllActions

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if len(self.primary) != len(self.prototypes) or max(self.primary) >= len(self.actions):
            raise ValueError("every prototype should have a region, and every region its actions")
        return self


class BoxesClaim(Strict):
    """A greedy policy over a tree of boxes."""

    AXES: ClassVar[int] = 2  #: coordinates that may be cut

    kind: Literal["boxes"]
    axis: Annotated[list[int], _ONE]
    cut: Annotated[list[Finite], _ONE]
    below: Counts
    above: Counts
    actions: AllActions

    @model_validator(mode="after")
    def _fit(self) -> Self:
        count = len(self.axis)
        if not count or {len(self.cut), len(self.below), len(self.above)} != {count}:
            raise ValueError("every node of the tree should have an axis, a cut and two children")
        for node in range(count):
            leaf, children = self.axis[node] < 0, (self.below[node], self.above[node])
            if leaf and self.below[node] >= len(self.actions):
                raise ValueError("every leaf should have its actions")
            if not leaf and (
                self.axis[node] >= self.AXES or not all(node < child < count for child in children)
            ):
                raise ValueError("every cut should be of a coordinate, and above its children")
        return self


ControllerClaim = Annotated[VoronoiClaim | BoxesClaim, Field(discriminator="kind")]


class CellsClaim(Strict):
    """Cells of a grid in the coordinates ``matrix @ state``, as runs ``[row, first column, last column]``."""

    matrix: Four
    low: Two
    pitch: Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=2, max_length=2)]
    counts: Annotated[list[Annotated[int, Field(gt=0)]], Field(min_length=2, max_length=2)]
    runs: Annotated[list[RowOfCells], Field(min_length=1, fail_fast=True)]

    @model_validator(mode="after")
    def _fit(self) -> Self:
        rows, columns = self.counts
        if rows * columns > MOST_CELLS:
            raise ValueError(f"there should be at most {MOST_CELLS} cells")
        ends = [-1]
        for row, first, last in self.runs:
            ends += [row * columns + first, row * columns + last]
            if not (row < rows and first <= last < columns and ends[-3] < ends[-2]):
                raise ValueError("the runs should lie in the grid, in order")
        return self


class HoldCertificate(Strict):
    """The claim that no state of the cells ever leaves them or fails.

    With a controller, this holds for every choice among tied actions. Without one, it says that every cell has an
    action that keeps all of it in the cells.
    """

    task: PuckClaim
    controller: ControllerClaim | None
    cells: CellsClaim

    def alive(self) -> np.ndarray:
        """Which cells of the grid are certified."""
        alive = np.zeros(self.cells.counts, dtype=np.bool_)
        for row, first, last in self.cells.runs:
            alive[row, first : last + 1] = True
        return alive

    def __repr__(self) -> str:
        cells = sum(last - first + 1 for _, first, last in self.cells.runs)
        whose = "some controller" if self.controller is None else f"a {self.controller.kind} controller"
        return f"<certificate: {cells:,} cells of the {self.task.name} that {whose} never leaves>"

    __str__ = __repr__


class StartsClaim(Strict):
    """Boxes of starts, low x, high x, low v, high v, and the steps within which all of each arrive."""

    boxes: Annotated[list[Four], Field(min_length=1, fail_fast=True)]
    steps: Annotated[list[Annotated[int, Field(ge=1)]], _ONE]

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if len(self.steps) != len(self.boxes):
            raise ValueError("every box of starts should have its steps")
        if not all(box[0] <= box[1] and box[2] <= box[3] for box in self.boxes):
            raise ValueError("the sides of every box of starts should be in order")
        return self


class ArrivalCertificate(Strict):
    """The claim that every start of the boxes is at the goal after at most the given steps.

    It holds for every choice among tied actions.
    """

    task: CarClaim
    controller: ControllerClaim
    starts: StartsClaim
    domain: str  #: the starts in words

    @model_validator(mode="after")
    def _words(self) -> Self:
        if self.domain != domain_of(self.starts):
            raise ValueError("the words for the starts do not fit them")
        return self

    def __repr__(self) -> str:
        return f"<certificate: {self.task.name}, a {self.controller.kind} controller, {self.domain}>"

    __str__ = __repr__


def domain_of(starts: StartsClaim) -> str:
    """The starts, roughly, in words.

    >>> domain_of(StartsClaim(boxes=[[-0.6, -0.5, 0.0, 0.0], [-0.5, -0.4, 0.0, 0.0]], steps=[110, 120]))
    '2 boxes of starts between (-0.6, 0) and (-0.4, 0), at the goal within 120 steps'
    """
    low, high = ([f(box[i] for box in starts.boxes) for i in p] for f, p in ((min, (0, 2)), (max, (1, 3))))
    corners = " and ".join(f"({x:g}, {v:g})" for x, v in (low, high))
    count = len(starts.boxes)
    return f"{count} boxes of starts between {corners}, at the goal within {max(starts.steps)} steps"


# Any declared task: its own source.


MOST_DIMENSIONS = 5
MOST_STEPS = 64  #: that the images of a certificate may take
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
Source = Annotated[str, Field(max_length=100_000)]
Row = Annotated[list[Finite], Field(min_length=1, max_length=MOST_DIMENSIONS)]


class ProgramClaim(Strict):
    """A declared task: the source of its functions, and the range of each of its parameters."""

    name: Annotated[str, Field(max_length=200)]
    functions: dict[
        Name, Source
    ]  #: ``transition``, ``start``, ``observe`` if it has one, and those that they call
    names: dict[Name, Annotated[str, Field(max_length=100)]]  #: what other names mean: "numpy", "math.sin"
    constants: dict[Name, Finite | Annotated[list[Finite], Field(min_length=1, max_length=1000)]]
    low: dict[Name, Finite]
    high: dict[Name, Finite]
    dimensions: Annotated[int, Field(ge=1, le=MOST_DIMENSIONS)]
    actions: Annotated[int, Field(ge=1, le=30)]

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if list(self.low) != list(self.high) or not all(
            self.low[name] <= self.high[name] for name in self.low
        ):
            raise ValueError("every parameter should have a range, in order")
        if not {"transition", "start"} <= set(self.functions):
            raise ValueError("the functions transition and start should be there")
        return self


class PrototypesClaim(Strict):
    """A greedy policy over prototypes in any number of dimensions; ``actions`` are those of each prototype."""

    prototypes: Annotated[
        list[Annotated[list[Finite], Field(min_length=1, max_length=30)]], Field(min_length=1)
    ]
    weight: Annotated[list[Positive], Field(min_length=1, max_length=30)]
    actions: AllActions

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if len(self.actions) != len(self.prototypes):
            raise ValueError("every prototype should have its actions")
        if any(len(row) != len(self.weight) for row in self.prototypes):
            raise ValueError("every prototype should have a number for each weight")
        return self


class LawsClaim(PrototypesClaim):
    """A greedy policy over prototypes whose actions are laws: amounts ``K s + b`` of what is observed, clipped."""

    laws: Annotated[
        list[Annotated[list[Annotated[list[Finite], Field(max_length=31)]], Field(max_length=100)]],
        Field(min_length=1, max_length=30),
    ]  #: of each, a row for every amount: the gains, and the offset last
    low: Annotated[list[Finite], Field(min_length=1, max_length=100)]
    high: Annotated[list[Finite], Field(min_length=1, max_length=100)]
    single: bool  #: whether the program takes the amount as a number, not as a tuple

    @model_validator(mode="after")
    def _lawful(self) -> Self:
        amounts, numbers = len(self.low), len(self.weight) + 1
        if len(self.high) != amounts or not all(a < z for a, z in zip(self.low, self.high, strict=True)):
            raise ValueError("every amount should have a low and a high end, in order")
        if self.single and amounts > 1:
            raise ValueError("several amounts are no single number")
        if any(len(law) != amounts or {*map(len, law)} != {numbers} for law in self.laws):
            raise ValueError(
                "every law should have a gain for each observation and an offset, for every amount"
            )
        if max(max(row) for row in self.actions) >= len(self.laws):
            raise ValueError("every action should have its law")
        return self


class TreeClaim(BoxesClaim):
    """A greedy policy over a tree of boxes in any number of dimensions."""

    AXES: ClassVar[int] = 30

    kind: Literal["tree"]  # type: ignore[assignment]


class LatticeClaim(Strict):
    """Cells of a grid in the coordinates ``matrix @ state``, as runs ``[first, last]`` of cells in order."""

    matrix: Annotated[list[Row], Field(min_length=1, max_length=MOST_DIMENSIONS)]
    low: Row
    pitch: Annotated[list[Positive], Field(min_length=1, max_length=MOST_DIMENSIONS)]
    counts: Annotated[list[Annotated[int, Field(gt=0)]], Field(min_length=1, max_length=MOST_DIMENSIONS)]
    runs: Annotated[list[RunOfCells], Field(min_length=1, fail_fast=True)]

    @model_validator(mode="after")
    def _fit(self) -> Self:
        d = len(self.counts)
        if {len(self.matrix), len(self.low), len(self.pitch), *map(len, self.matrix)} != {d}:
            raise ValueError("matrix, low, pitch and counts should have the same number of dimensions")
        cells = math.prod(self.counts)
        if cells > MOST_CELLS:
            raise ValueError(f"there should be at most {MOST_CELLS} cells")
        end = -1
        for first, last in self.runs:
            if not end < first <= last < cells:
                raise ValueError("the runs should lie in the grid, in order")
            end = last
        return self

    def alive(self) -> np.ndarray:
        """Which cells of the grid are certified."""
        alive = np.zeros(math.prod(self.counts), dtype=np.bool_)
        for first, last in self.runs:
            alive[first : last + 1] = True
        return alive.reshape(self.counts)


class ProgramCertificate(Strict):
    """The claim that no state of the cells ever fails.

    From every state of the cells, and for every choice among tied actions and every draw of noise, the program is in
    the cells again within ``steps`` steps, and does not fail before. Without a controller, it says that every cell
    has an action with which this is so, held until it is in the cells again.
    """

    task: ProgramClaim
    controller: PrototypesClaim | LawsClaim | TreeClaim | None
    steps: Annotated[int, Field(ge=1, le=MOST_STEPS)]
    cells: LatticeClaim
    all_starts: bool  #: whether it also claims that every start lies in the cells

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if len(self.cells.counts) != self.task.dimensions:
            raise ValueError("the cells should have the dimensions of the task")
        if self.controller and max(max(row) for row in self.controller.actions) >= self.task.actions:
            raise ValueError("the controller takes actions that the task lacks")
        return self

    def __repr__(self) -> str:
        cells = sum(last - first + 1 for first, last in self.cells.runs)
        whose = "some" if self.controller is None else "a"
        return f"<certificate: {cells:,} cells of {self.task.name} from which {whose} controller never fails>"

    __str__ = __repr__


LEAF, UNPROVEN = (
    -1,
    -2,
)  #: in a tree of starts: a piece of which something is claimed, and one of which nothing is


class StartTree(Strict):
    """Boxes of starts, cut into pieces by halving, and what is claimed of each piece.

    ``cuts`` walks through the tree of each box, the lower half first: the coordinate that is halved, or what kind of
    piece it is. ``returns`` and ``steps`` have a number for each proven piece, in this order.
    """

    low: Annotated[list[Row], Field(min_length=1, max_length=1000)]
    high: Annotated[list[Row], Field(min_length=1, max_length=1000)]
    cuts: Annotated[list[int], Field(min_length=1, max_length=2**22, fail_fast=True)]
    returns: Annotated[list[Finite], Field(min_length=1, fail_fast=True)]  #: at least this
    steps: Annotated[list[Count], _ONE]  #: it has ended after at most so many; 0 if it may still be running

    @model_validator(mode="after")
    def _fit(self) -> Self:
        d = len(self.low[0])
        if len(self.low) != len(self.high) or {*map(len, self.low), *map(len, self.high)} != {d}:
            raise ValueError("every box of starts should have a low and a high number for each coordinate")
        if any(
            low > high
            for box in zip(self.low, self.high, strict=True)
            for low, high in zip(*box, strict=True)
        ):
            raise ValueError("the sides of every box of starts should be in order")
        if not all(UNPROVEN <= cut < d for cut in self.cuts):
            raise ValueError("a cut should be a coordinate, or say what kind of piece it is")
        if not self.cuts.count(LEAF) == len(self.returns) == len(self.steps):
            raise ValueError("every proven piece should have a return and its steps")
        if sum(1 if cut < 0 else -1 for cut in self.cuts) != len(self.low):
            raise ValueError("the tree should have a piece for every end")
        return self

    def pieces(self) -> Iterator[tuple[tuple[list[float], list[float]], int]]:
        """Every piece, as its corners, with its number among the proven ones; -1 if nothing is claimed."""
        cuts, number = iter(self.cuts), 0
        for box in zip(self.low, self.high, strict=True):
            todo = [(list(box[0]), list(box[1]))]
            while todo:
                low, high = todo.pop()
                cut = next(cuts, UNPROVEN)
                if cut < 0:
                    yield (low, high), (number if cut == LEAF else -1)
                    number += cut == LEAF
                    continue
                middle = low[cut] + 0.5 * (high[cut] - low[cut])
                todo.append(([*low[:cut], middle, *low[cut + 1 :]], high))
                todo.append((low, [*high[:cut], middle, *high[cut + 1 :]]))


class ReturnCertificate(Strict):
    """The claim that trials from some pieces of the starts gain at least so much, or end within so many steps.

    For every start of a piece, every choice among tied actions and every draw of noise: the sum of the rewards, until
    the trial ends or is stopped after ``limit`` steps, is at least the return of the piece.
    """

    task: ProgramClaim
    controller: PrototypesClaim | LawsClaim | TreeClaim
    limit: Annotated[int, Field(ge=1, le=100_000)]
    starts: StartTree
    all_starts: bool  #: whether it also claims that every start lies in a proven piece

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if len(self.starts.low[0]) != self.task.dimensions:
            raise ValueError("the starts should have the dimensions of the task")
        if max(max(row) for row in self.controller.actions) >= self.task.actions:
            raise ValueError("the controller takes actions that the task lacks")
        if max(self.starts.steps) > self.limit:
            raise ValueError("no piece should take longer than the limit")
        if self.all_starts and UNPROVEN in self.starts.cuts:
            raise ValueError("a claim about all starts should leave out none")
        return self

    @property
    def domain(self) -> str:
        """The starts, roughly, in words."""
        starts = self.starts
        whole = "all starts" if self.all_starts else counted_starts(len(starts.returns))
        ends = "" if min(starts.steps) == 0 else f", ended within {max(starts.steps)} steps"
        least = f"a return of at least {min(starts.returns):g} in {self.limit} steps"
        return f"{whole} of {self.task.name}: {least}{ends}"

    def __repr__(self) -> str:
        return f"<certificate: {self.domain}>"

    __str__ = __repr__


# Slow systems: a tube of sets from all starts, and a core that they come back to.

Schedule = Annotated[
    list[Annotated[int, Field(ge=1, le=MOST_STEPS)]], Field(max_length=20_000, fail_fast=True)
]
Place = Annotated[int, Field(ge=-(2**20), le=2**20)]
RowOfPlaces = Annotated[list[Place], Field(min_length=3, max_length=3)]
FEWEST, MOST_DIRECTIONS = 8, 1024


class CoordinatesClaim(Strict):
    """Coordinates ``matrix @ (state - origin)``; the first two are in cells, the others slow."""

    origin: Row
    matrix: Annotated[list[Row], Field(min_length=3, max_length=4)]
    pitch: Annotated[list[Annotated[float, Field(ge=1e-6, le=1e6)]], Field(min_length=2, max_length=2)]
    directions: Annotated[int, Field(ge=2, le=MOST_DIRECTIONS)]  #: of the supports of the slow coordinates

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if {len(self.origin), *map(len, self.matrix)} != {len(self.matrix)}:
            raise ValueError("origin and matrix should have the same number of dimensions")
        if self.directions != 2 if len(self.matrix) == 3 else self.directions % 4 or self.directions < FEWEST:
            raise ValueError("the directions should be two, or go evenly around")
        return self


class LegClaim(Strict):
    """How long sets are followed before each rounding, and the set that they then lie in.

    The set are all states of its fast cells, runs ``[row, first, last]``, whose slow coordinates have these supports.
    """

    schedule: Schedule
    cells: Annotated[list[RowOfPlaces], Field(min_length=1, max_length=100_000, fail_fast=True)]
    supports: Annotated[list[Finite], Field(min_length=2, max_length=MOST_DIRECTIONS, fail_fast=True)]

    def places(self) -> np.ndarray:
        """The fast cells, a row each."""
        parts = [[(row, column) for column in range(first, last + 1)] for row, first, last in self.cells]
        return np.array([place for part in parts for place in part], dtype=np.int64)

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if any(first > last for _, first, last in self.cells):
            raise ValueError("the runs should be in order")
        if sum(last - first + 1 for _, first, last in self.cells) > 2**20:
            raise ValueError("there should be at most 2**20 fast cells")
        return self


class CoreCertificate(Strict):
    """The claim that no trial fails, from any start, and whatever the controller does among tied actions.

    Its sets hold all states that can be reached: leg by leg, and then those of the last schedule. If it ``closes``,
    these lie in the set of the last leg again, so no trial ever fails; if not, none fails within all of these steps.
    With a ``reward``, each of these steps earns it.
    """

    task: ProgramClaim
    controller: PrototypesClaim
    coordinates: CoordinatesClaim
    legs: Annotated[list[LegClaim], Field(max_length=1000)]
    schedule: Schedule
    closes: bool
    reward: Finite | None

    @property
    def steps(self) -> int:
        """The steps within which no trial fails; with a core none ever does."""
        return sum(sum(leg.schedule) for leg in self.legs) + sum(self.schedule)

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if len(self.coordinates.matrix) != self.task.dimensions:
            raise ValueError("the coordinates should have the dimensions of the task")
        if any(len(leg.supports) != self.coordinates.directions for leg in self.legs):
            raise ValueError("every set should have a support for each direction")
        if not self.schedule or (self.closes and not self.legs):
            raise ValueError("what closes should have a set to come back to, and steps")
        if max(max(row) for row in self.controller.actions) >= self.task.actions:
            raise ValueError("the controller takes actions that the task lacks")
        return self

    def __repr__(self) -> str:
        when = "ever" if self.closes else f"within {self.steps} steps"
        return f"<certificate: from no start of {self.task.name} a controller {when} fails>"

    __str__ = __repr__


def counted_starts(pieces: int) -> str:
    """Some of the starts, in words."""
    return f"{pieces} pieces of the starts" if pieces > 1 else "a piece of the starts"


Certificate = HoldCertificate | ArrivalCertificate | ProgramCertificate | ReturnCertificate | CoreCertificate
