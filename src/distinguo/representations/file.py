"""The representation file: a partition, or features, as JSON that others can read.

It knows no task, no action and no value. Loading runs no code and checks sizes first. So a partition of a user's
own class has no file.
"""

from __future__ import annotations

import json
import math
from functools import singledispatch
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from distinguo.errors import DistinguoError, one_line, path_from
from distinguo.features.bases import Perceptron, RadialBases, TileCoding
from distinguo.features.feature import MOST_FEATURES, count_features, is_features
from distinguo.reading.files import MEBIBYTE, parse_json, read_bytes
from distinguo.representations.boxes import Boxes
from distinguo.representations.categories import Categories
from distinguo.representations.partition import count_regions, lacking, numbered, prototypes_of
from distinguo.representations.voronoi import Voronoi

FORMAT = "distinguo-representation"
VERSION = 4
#: The least version that a reader needs for each kind; a file names no higher one.
NEEDS = {"voronoi": 3, "boxes": 1, "categories": 3, "tiles": 4, "rbf": 4, "perceptron": 4}
LARGEST_FILE, HEAVIEST_FILE = 64 * MEBIBYTE, 512 * MEBIBYTE  #: bytes on the disk, and in memory


class Representation(NamedTuple):
    """A partition, or features, with the names of the coordinates and the provenance.

    >>> from distinguo.representations.voronoi import voronoi
    >>> maze = Representation(voronoi([[0.0, 1.0]], [1.0, 1.0]), ("x", "y"))
    >>> loads(dumps(maze)).dimensions
    ('x', 'y')
    """

    partition: Any
    dimensions: tuple[str, ...]
    provenance: dict[str, Any] = {}  # noqa: RUF012

    @property
    def regions(self) -> int:
        """Return the number of regions, or of features."""
        return count_features(self.partition) if self.of_features else count_regions(self.partition)

    @property
    def of_features(self) -> bool:
        """Whether it consists of overlapping features, so that states have no region."""
        return is_features(self.partition)

    def with_regions(self, purpose: str) -> Representation:
        """Return it if it has regions; else raise an error that says what they are needed for."""
        if self.of_features:
            raise DistinguoError(
                f"{purpose} needs regions, but {type(self.partition).__name__} are features that overlap; take a "
                "partition, such as grid:10x10."
            )
        return self

    @property
    def prototypes(self) -> int:
        """Return the number of prototypes, or of regions if there are no prototypes."""
        known = prototypes_of(self.partition)
        return self.regions if known is None else len(known.points)


def schema() -> dict[str, Any]:
    """Return the JSON schema of the file, for readers in other languages."""
    return ADAPTER.json_schema()


def dumps(representation: Representation) -> str:
    """Write a representation as JSON text."""
    return _pretty(content_of(representation))


def content_of(representation: Representation) -> dict[str, Any]:
    """The content of the file of a representation, as plain values."""
    body = file_content(representation.partition)
    head = {"format": FORMAT, "version": NEEDS[body["kind"]], "dimensions": list(representation.dimensions)}
    return {**head, **body, "provenance": representation.provenance}


@singledispatch
def file_content(partition: Any) -> dict[str, Any]:
    """The content of a file for a partition: its kind, and the fields of that kind."""
    raise lacking(
        partition,
        "cannot be written to a file",
        "files hold prototypes and boxes, and never name code: keep the code that builds it instead",
    )


def can_be_written(partition: Any) -> bool:
    """Whether a partition can be written to a file.

    >>> from distinguo.representations.declare import FunctionPartition
    >>> from distinguo.representations.voronoi import voronoi
    >>> can_be_written(voronoi([[0.0]], [1.0])), can_be_written(FunctionPartition(int, 2))
    (True, False)
    """
    return type(partition) in file_content.registry


def can_be_read_again(partition: Any) -> bool:
    """Whether the file of a partition could be read again; while learning, prototypes may be duplicates.

    >>> from distinguo.representations.voronoi import voronoi
    >>> can_be_read_again(voronoi([[0.0], [1.0]], [1.0])), can_be_read_again(voronoi([[0.5], [0.5]], [1.0]))
    (True, False)
    """
    prototypes = prototypes_of(partition)
    twice = prototypes is not None and len(np.unique(prototypes.points, axis=0)) < len(prototypes.points)
    return can_be_written(partition) and not twice


@file_content.register(Voronoi)
def _(partition: Voronoi) -> dict[str, Any]:
    return {"kind": "voronoi", "scale": partition.scale.tolist(), **_rows(partition)}


@file_content.register(Categories)
def _(partition: Categories) -> dict[str, Any]:
    return {"kind": "categories", **_rows(partition)}


def _rows(partition: Voronoi | Categories) -> dict[str, Any]:
    return {
        "prototypes": partition.prototypes.tolist(),
        "regions": partition.regions.tolist(),
        "primaries": partition.primaries.tolist(),
    }


@file_content.register(Boxes)
def _(partition: Boxes) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    columns = (partition.axis, partition.cut, partition.below, partition.above)
    for axis, cut, below, above in zip(*(column.tolist() for column in columns), strict=True):
        leaf = {"region": below}
        nodes.append(leaf if axis < 0 else {"axis": axis, "cut": cut, "below": below, "above": above})
    return {"kind": "boxes", "low": partition.low.tolist(), "high": partition.high.tolist(), "nodes": nodes}


@file_content.register(TileCoding)
def _(features: TileCoding) -> dict[str, Any]:
    return {"kind": "tiles", **_columns(features)}


@file_content.register(RadialBases)
def _(features: RadialBases) -> dict[str, Any]:
    return {"kind": "rbf", **_columns(features), "normalised": bool(features.normalised)}


@file_content.register(Perceptron)
def _(features: Perceptron) -> dict[str, Any]:
    return {"kind": "perceptron", **_columns(features)}


def _columns(features: Any) -> dict[str, Any]:
    """Return the arrays of features by their names, as lists."""
    return {name: column.tolist() for name, column in features._asdict().items() if np.ndim(column)}


def _pretty(content: dict[str, Any]) -> str:
    """One line per key, and one per row of a long list: readable and small."""
    lines = []
    for key, value in content.items():
        text = json.dumps(value, ensure_ascii=False)
        if isinstance(value, list) and value and isinstance(value[0], list | dict):
            text = "[\n" + ",\n".join("    " + json.dumps(row) for row in value) + "\n  ]"
        lines.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def loads(text: str | bytes, source: str = "representation") -> Representation:
    """Read a representation from JSON text; ``source`` names it in messages."""
    return of_content(parse_json(text, source, HEAVIEST_FILE), source)


def of_content(content: Any, source: str) -> Representation:
    """Return the representation that plain values describe, as :func:`content_of` gives them."""
    _check_head(content, source)
    try:
        parsed = ADAPTER.validate_python(content)
    except ValidationError as error:
        raise DistinguoError(f"{source} is not a valid representation: {_first_problem(error)}.") from None
    return Representation(parsed.partition(), tuple(parsed.dimensions), parsed.provenance)


def _check_head(content: Any, source: str) -> None:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DistinguoError(f"{source} is not a distinguo representation: its format should be '{FORMAT}'.")
    version = content.get("version")
    if isinstance(version, int) and version > VERSION:
        raise DistinguoError(
            f"{source} has format version {version}, but this distinguo reads up to {VERSION}; upgrade distinguo."
        )


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    place = ".".join(str(p) for p in problem["loc"] if p not in tuple(NEEDS))
    message = problem["msg"].removeprefix("Value error, ")
    return one_line(f"{place}: {message}" if place else message)


def load(path: str | Path) -> Representation:
    """Read a representation file."""
    path = path_from(path)
    return loads(read_bytes(path, LARGEST_FILE), str(path))


# The schema of the representation file, and the partition that it describes.
#
# A file names its format and version, the coordinates, and either ``voronoi`` prototypes with the scale of each
# coordinate, or prototypes of exact ``categories`` (since version 2), or a tree of ``boxes``. Prototypes come with
# the number of the region of each and the primary prototype of each region (since version 3). In place of a partition
# there may be features: ``tiles``, ``rbf`` or a ``perceptron`` (since version 4).


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
    version: Literal[1, 2, 3, 4]  # a file may name a later version than it needs
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
    """The fields of all partitions by nearest prototype: the prototypes, and the regions that they make up."""

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
    """The fields of features: columns with a number for each coordinate."""

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
