"""What a certificate says: which tasks, which controller, which cells; each checked for making sense."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from distinguo.tasks.puck.puck import Puck

MOST_CELLS = 2**26

Finite = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
Actions = Annotated[list[Count], Field(min_length=1, max_length=30)]


class Strict(BaseModel):
    """A number is a number, nothing unknown is overlooked, and nothing changes later."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class TaskClaim(Strict):
    """The puck: each parameter from ``low`` to ``high``, and what may disturb every step."""

    name: Literal["puck"]
    low: dict[str, Finite]
    high: dict[str, Finite]
    disturbance: Annotated[list[Finite], Field(min_length=2, max_length=2)]

    @model_validator(mode="after")
    def _ranges(self) -> Self:
        if tuple(self.low) != Puck._fields or tuple(self.high) != Puck._fields:
            raise ValueError(f"a puck has the parameters {', '.join(Puck._fields)}")
        if (
            not all(0 < self.low[name] <= self.high[name] for name in Puck._fields)
            or min(self.disturbance) < 0
        ):
            raise ValueError("every range should be positive and in order")
        return self


class VoronoiClaim(Strict):
    """A greedy policy over prototypes: the actions, more than one where they are tied, of every region."""

    kind: Literal["voronoi"]
    prototypes: Annotated[
        list[Annotated[list[Finite], Field(min_length=2, max_length=2)]], Field(min_length=1)
    ]
    primary: list[Count]
    weight: Annotated[list[Finite], Field(min_length=2, max_length=2)]
    actions: list[Actions]

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if len(self.primary) != len(self.prototypes) or max(self.primary) >= len(self.actions):
            raise ValueError("every prototype should have a region, and every region its actions")
        return self


class BoxesClaim(Strict):
    """A greedy policy over a tree of boxes."""

    kind: Literal["boxes"]
    axis: list[int]
    cut: list[Finite]
    below: list[Count]
    above: list[Count]
    actions: list[Actions]

    @model_validator(mode="after")
    def _fit(self) -> Self:
        count = len(self.axis)
        if not count or {len(self.cut), len(self.below), len(self.above)} != {count}:
            raise ValueError("every node of the tree should have an axis, a cut and two children")
        for node in range(count):
            leaf, children = self.axis[node] < 0, (self.below[node], self.above[node])
            if leaf and self.below[node] >= len(self.actions):
                raise ValueError("every leaf should have its actions")
            if not leaf and (self.axis[node] > 1 or not all(node < child < count for child in children)):
                raise ValueError("every cut should be of a coordinate, and above its children")
        return self


class CellsClaim(Strict):
    """Cells of a grid in the coordinates ``matrix @ state``, as runs ``[row, first column, last column]``."""

    matrix: Annotated[list[Finite], Field(min_length=4, max_length=4)]
    low: Annotated[list[Finite], Field(min_length=2, max_length=2)]
    pitch: Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=2, max_length=2)]
    counts: Annotated[list[Annotated[int, Field(gt=0)]], Field(min_length=2, max_length=2)]
    runs: Annotated[list[Annotated[list[Count], Field(min_length=3, max_length=3)]], Field(min_length=1)]

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
