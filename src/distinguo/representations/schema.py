"""The schema of the representation file: what may stand in it, and the partition that it means.

A file names its format and version, the coordinates, and either ``voronoi`` prototypes with the scale of each
coordinate, or prototypes of exact ``categories`` (since version 2), or a tree of ``boxes``. Prototypes come with the
number of the region of each and the primary prototype of each region (since version 3). In place of a partition there
may be features: ``tiles``, ``rbf`` or a ``perceptron`` (since version 4).
"""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from distinguo.features.feature import MOST_FEATURES
from distinguo.features.perceptron import Perceptron
from distinguo.features.radial import RadialBases
from distinguo.features.tiles import TileCoding
from distinguo.representations.boxes import Boxes
from distinguo.representations.categories import Categories
from distinguo.representations.prototypes import numbered
from distinguo.representations.voronoi import Voronoi

Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
#: One mistake is enough: there may be a million of the same kind.
_ONE = Field(fail_fast=True)
Point = Annotated[list[Finite], _ONE]
Numbers = Annotated[list[Annotated[int, Field(ge=0)]], _ONE]
Points = Annotated[list[Point], Field(min_length=1, max_length=1_000_000, fail_fast=True)]
Names = Annotated[list[str], Field(min_length=1, max_length=1000, fail_fast=True)]


#: A number is a number: not text that looks like one, not true or false, not NaN.
_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class _File(BaseModel):
    model_config = _STRICT
    format: Literal["distinguo-representation"]
    version: Literal[1, 2, 3, 4]  # a version that knows more may say the same as one that knew less
    dimensions: Names
    provenance: dict[str, Any] = {}

    @model_validator(mode="after")
    def _can_be_written_again(self) -> Self:
        try:
            json.dumps([self.dimensions, self.provenance], ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, RecursionError):
            raise ValueError("names or provenance hold a value that JSON cannot write again") from None
        return self


class _PrototypesFile(_File):
    """What all partitions by nearest prototype say: the prototypes, and the regions that they make up."""

    prototypes: Points
    regions: Numbers
    primaries: Numbers

    @model_validator(mode="before")
    @classmethod
    def _numbered(cls, content: Any) -> Any:
        """Before version 3 a file named the primary prototype of each prototype, and numbered no regions."""
        if not isinstance(content, dict) or content.get("version") not in (1, 2):
            return content
        if {"regions", "primaries"} & set(content):
            raise ValueError("regions are numbered since version 3")
        known = {key: value for key, value in content.items() if key != "primary"}
        regions, primaries = _numbers_of(content.get("primary"))
        return {**known, "regions": regions, "primaries": primaries}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        width, count = len(self.dimensions), len(self.prototypes)
        if any(len(p) != width for p in self.prototypes):
            raise ValueError(f"every prototype should have {width} coordinates")
        if len({tuple(p) for p in self.prototypes}) < count:
            raise ValueError("there are duplicate prototypes")
        if len(self.regions) != count:
            raise ValueError("there should be one region, or in old files one primary, per prototype")
        if max(self.regions) >= len(self.primaries) or max(self.primaries) >= count:
            raise ValueError("there should be one primary per region, which is the number of a prototype")
        if any(self.regions[p] != j for j, p in enumerate(self.primaries)):
            raise ValueError("the primary of every region should be a prototype of that region")
        return self

    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        points = np.array(self.prototypes, dtype=np.float64)
        return points, np.array(self.regions, dtype=np.int64), np.array(self.primaries, dtype=np.int64)


def _numbers_of(primary: Any) -> tuple[list[int], list[int]]:
    """Return the region of each prototype and the primary of each region, of a file before version 3."""
    if not isinstance(primary, list) or any(type(p) is not int for p in primary):
        raise ValueError("there should be a list of the primary of each prototype")
    if any(not 0 <= p < len(primary) or primary[p] != p for p in primary):
        raise ValueError("every primary should be the number of a prototype that is its own primary")
    regions, primaries = numbered(len(primary), primary)
    return regions.tolist(), primaries.tolist()


class VoronoiFile(_PrototypesFile):
    """The schema of a nearest-neighbour partition."""

    kind: Literal["voronoi"]
    scale: Annotated[list[Positive], _ONE]

    @model_validator(mode="after")
    def _scaled(self) -> Self:
        if len(self.scale) != len(self.dimensions):
            raise ValueError(f"the scale should have {len(self.dimensions)} coordinates")
        if any(math.isinf(1.0 / w) for w in self.scale):
            raise ValueError("a scale is too small to divide by")
        return self

    def partition(self) -> Voronoi:
        """Return the partition that the file describes."""
        scale = np.array(self.scale, dtype=np.float64)
        return Voronoi(*self._arrays(), scale, 1.0 / scale)


class CategoriesFile(_PrototypesFile):
    """The schema of a partition of exact categories."""

    version: Literal[2, 3, 4]
    kind: Literal["categories"]

    def partition(self) -> Categories:
        """Return the partition that the file describes."""
        return Categories(*self._arrays())


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


class _FeaturesFile(_File):
    """What features say: a number for each coordinate, in several columns."""

    version: Literal[4]

    def _check_columns(self, features: int, *columns: list[Any]) -> None:
        width = len(self.dimensions)
        if any(len(column) != width for column in columns):
            raise ValueError(f"every column should have {width} numbers, one per coordinate")
        if features > MOST_FEATURES:
            raise ValueError(f"there may be {MOST_FEATURES:,} features at most")


Widths = Annotated[list[Positive], _ONE]
Counts = Annotated[list[Annotated[int, Field(ge=1, le=MOST_FEATURES)]], _ONE]


class TilesFile(_FeaturesFile):
    """The schema of tile coding."""

    kind: Literal["tiles"]
    low: Point
    width: Widths
    counts: Counts
    offsets: Points

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        features = len(self.offsets) * math.prod(self.counts)
        self._check_columns(features, self.low, self.width, self.counts, *self.offsets)
        if any(not 0.0 <= offset < 1.0 for row in self.offsets for offset in row):
            raise ValueError("offsets are parts of a tile, from 0 to below 1")
        return self

    def partition(self) -> TileCoding:
        """Return the features that the file describes."""
        return TileCoding(*map(np.array, (self.low, self.width, self.counts, self.offsets)))


class RadialFile(_FeaturesFile):
    """The schema of radial basis functions on a grid."""

    kind: Literal["rbf"]
    low: Point
    high: Point
    counts: Counts
    width: Widths
    normalised: bool

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self._check_columns(math.prod(self.counts), self.low, self.high, self.counts, self.width)
        spread = zip(self.low, self.high, self.counts, strict=True)
        if any(not (a < b or (a == b and n == 1)) for a, b, n in spread):
            raise ValueError("low should be below high in every coordinate with more than one centre")
        return self

    def partition(self) -> RadialBases:
        """Return the features that the file describes."""
        low, high, counts, width = map(np.array, (self.low, self.high, self.counts, self.width))
        return RadialBases(low, high, counts, width, self.normalised)


class PerceptronFile(_FeaturesFile):
    """The schema of a perceptron."""

    kind: Literal["perceptron"]
    middle: Point
    half: Widths
    normals: Annotated[list[Point], Field(max_length=MOST_FEATURES, fail_fast=True)]
    thresholds: Point

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self._check_columns(len(self.normals), self.middle, self.half, *self.normals)
        if len(self.normals) != len(self.thresholds):
            raise ValueError("there should be one threshold per normal")
        return self

    def partition(self) -> Perceptron:
        """Return the features that the file describes."""
        normals = np.array(self.normals, dtype=np.float64).reshape(-1, len(self.middle))
        return Perceptron(
            np.array(self.middle), np.array(self.half), normals, np.array(self.thresholds, dtype=np.float64)
        )


OneFile = VoronoiFile | BoxesFile | CategoriesFile | TilesFile | RadialFile | PerceptronFile
ADAPTER: TypeAdapter[OneFile] = TypeAdapter(Annotated[OneFile, Field(discriminator="kind")])
