"""The schema of the representation file: what may stand in it, and the partition that it means.

A file names its format and version, the coordinates, and either ``voronoi`` prototypes with the primary of each
and the scale of each coordinate, or a tree of ``boxes``, or (since version 2) prototypes of exact ``categories``.
"""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from distinguo.representations.boxes import Boxes
from distinguo.representations.categories import Categories, categories
from distinguo.representations.voronoi import Voronoi, voronoi

Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
#: One mistake is enough: there may be a million of the same kind.
_ONE = Field(fail_fast=True)
Point = Annotated[list[Finite], _ONE]
Primary = Annotated[list[Annotated[int, Field(ge=0)]], _ONE]
Points = Annotated[list[Point], Field(min_length=1, max_length=1_000_000, fail_fast=True)]
Names = Annotated[list[str], Field(min_length=1, max_length=1000, fail_fast=True)]


#: A number is a number: not text that looks like one, not true or false, not NaN.
_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class _File(BaseModel):
    model_config = _STRICT
    format: Literal["distinguo-representation"]
    version: Literal[1, 2]  # a version that knows more may say the same as one that knew less
    dimensions: Names
    provenance: dict[str, Any] = {}

    @model_validator(mode="after")
    def _can_be_written_again(self) -> Self:
        try:
            json.dumps([self.dimensions, self.provenance], ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, RecursionError):
            raise ValueError("names or provenance hold a value that JSON cannot write again") from None
        return self


class VoronoiFile(_File):
    """The schema of a nearest-neighbour partition."""

    kind: Literal["voronoi"]
    scale: Annotated[list[Positive], _ONE]
    prototypes: Points
    primary: Primary

    @model_validator(mode="after")
    def _consistent(self) -> VoronoiFile:
        width = len(self.dimensions)
        if len(self.scale) != width or any(len(p) != width for p in self.prototypes):
            raise ValueError(f"every prototype and the scale should have {width} coordinates")
        if any(math.isinf(1.0 / w) for w in self.scale):
            raise ValueError("a scale is too small to divide by")
        _check_prototypes(self.prototypes, self.primary)
        return self

    def partition(self) -> Voronoi:
        """Return the partition that the file describes."""
        partition = voronoi(self.prototypes, self.scale)
        partition.primary[:] = self.primary
        return partition


class CategoriesFile(_File):
    """The schema of a partition of exact categories."""

    version: Literal[2]
    kind: Literal["categories"]
    prototypes: Points
    primary: Primary

    @model_validator(mode="after")
    def _consistent(self) -> CategoriesFile:
        width = len(self.dimensions)
        if any(len(p) != width for p in self.prototypes):
            raise ValueError(f"every prototype should have {width} coordinates")
        _check_prototypes(self.prototypes, self.primary)
        return self

    def partition(self) -> Categories:
        """Return the partition that the file describes."""
        partition = categories(self.prototypes)
        partition.primary[:] = self.primary
        return partition


def _check_prototypes(prototypes: list[list[float]], primary: list[int]) -> None:
    if len({tuple(p) for p in prototypes}) < len(prototypes):
        raise ValueError("there are duplicate prototypes")
    if len(primary) != len(prototypes):
        raise ValueError("there should be one primary per prototype")
    if any(p >= len(primary) or primary[p] != p for p in primary):
        raise ValueError("every primary should be the number of a prototype that is its own primary")


class CutNode(BaseModel):
    """A cut: states below it go to one node, the others to another."""

    model_config = _STRICT
    axis: Annotated[int, Field(ge=0)]
    cut: Finite
    below: int
    above: int

    def row(self) -> tuple[int, float, int, int]:
        """Return the node as a row of the columns of a tree."""
        return self.axis, self.cut, self.below, self.above


class LeafNode(BaseModel):
    """A leaf: the number of a region."""

    model_config = _STRICT
    region: Annotated[int, Field(ge=0)]

    def row(self) -> tuple[int, float, int, int]:
        """Return the node as a row of the columns of a tree."""
        return -1, 0.0, self.region, 0


class BoxesFile(_File):
    """The schema of a tree of boxes; node 0 is the root and children come after their parents."""

    kind: Literal["boxes"]
    low: Point
    high: Point
    nodes: Annotated[list[CutNode | LeafNode], Field(min_length=1, max_length=2_000_000, fail_fast=True)]

    @model_validator(mode="after")
    def _consistent(self) -> BoxesFile:
        width, count = len(self.dimensions), len(self.nodes)
        if len(self.low) != width or len(self.high) != width:
            raise ValueError(f"low and high should have {width} coordinates")
        if not all(a < b for a, b in zip(self.low, self.high, strict=True)):
            raise ValueError("low should be below high in every coordinate")
        children: list[int] = []
        for place, node in enumerate(self.nodes):
            if isinstance(node, CutNode):
                if node.axis >= width or not (place < node.below < count and place < node.above < count):
                    raise ValueError(f"node {place} cuts a coordinate or names a child that does not exist")
                children += [node.below, node.above]
        if sorted(children) != list(range(1, count)):
            raise ValueError("every node but the root should be the child of exactly one node")
        leaves = sorted(node.region for node in self.nodes if isinstance(node, LeafNode))
        if leaves != list(range(len(leaves))):
            raise ValueError("regions should be numbered 0, 1, 2, …, one per leaf")
        return self

    def partition(self) -> Boxes:
        """Return the partition that the file describes."""
        axis, cut, below, above = zip(*(node.row() for node in self.nodes), strict=True)
        return Boxes(
            np.array(axis, dtype=np.int64),
            np.array(cut, dtype=np.float64),
            np.array(below, dtype=np.int64),
            np.array(above, dtype=np.int64),
            np.array(self.low, dtype=np.float64),
            np.array(self.high, dtype=np.float64),
        )


AnyFile = Annotated[VoronoiFile | BoxesFile | CategoriesFile, Field(discriminator="kind")]
ADAPTER: TypeAdapter[VoronoiFile | BoxesFile | CategoriesFile] = TypeAdapter(AnyFile)
