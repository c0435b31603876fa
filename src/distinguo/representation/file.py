"""The representation file: a partition as JSON that others can read.

A file names its format and version, the coordinates, and either ``voronoi`` prototypes with the primary of each
and the scale of each coordinate, or a tree of ``boxes``, or (since version 2) prototypes of exact ``categories``.
It knows no task, no action and no value. Loading runs no code and checks sizes first.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from distinguo.errors import DistinguoError
from distinguo.representation.boxes import Boxes, count_leaves
from distinguo.representation.categories import Categories, categories
from distinguo.representation.prototypes import count_regions
from distinguo.representation.voronoi import Voronoi, voronoi

FORMAT = "distinguo-representation"
VERSION = 2
#: The version that a reader must know to read a kind: a file says no more than it needs.
NEEDS = {"voronoi": 1, "boxes": 1, "categories": 2}
LARGEST_FILE = 64 * 2**20  #: bytes

Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Names = Annotated[list[str], Field(min_length=1, max_length=1000)]


class Representation(NamedTuple):
    """A partition with the names of its coordinates and where it came from.

    >>> from distinguo.representation.voronoi import voronoi
    >>> maze = Representation(voronoi([[0.0, 1.0]], [1.0, 1.0]), ("x", "y"))
    >>> loads(dumps(maze)).dimensions
    ('x', 'y')
    """

    partition: Voronoi | Boxes | Categories
    dimensions: tuple[str, ...]
    provenance: dict[str, Any] = {}  # noqa: RUF012

    @property
    def regions(self) -> int:
        """Return the number of regions."""
        if isinstance(self.partition, Boxes):
            return count_leaves(self.partition)
        return int(count_regions(self.partition))

    @property
    def prototypes(self) -> int:
        """Return the number of prototypes; for boxes the number of leaves."""
        return self.regions if isinstance(self.partition, Boxes) else int(self.partition.size[0])

    @property
    def rows(self) -> int:
        """Return how many rows a table of action values indexed by region must have."""
        return self.prototypes


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
    scale: list[Positive]
    prototypes: Annotated[list[list[Finite]], Field(min_length=1, max_length=1_000_000)]
    primary: list[Annotated[int, Field(ge=0)]]

    @model_validator(mode="after")
    def _consistent(self) -> VoronoiFile:
        width = len(self.dimensions)
        if len(self.scale) != width or any(len(p) != width for p in self.prototypes):
            raise ValueError(f"every prototype and the scale should have {width} coordinates")
        if any(math.isinf(1.0 / w) for w in self.scale):
            raise ValueError("a scale is too small to divide by")
        _check_prototypes(self.prototypes, self.primary)
        return self


class CategoriesFile(_File):
    """The schema of a partition of exact categories."""

    version: Literal[2]
    kind: Literal["categories"]
    prototypes: Annotated[list[list[Finite]], Field(min_length=1, max_length=1_000_000)]
    primary: list[Annotated[int, Field(ge=0)]]

    @model_validator(mode="after")
    def _consistent(self) -> CategoriesFile:
        width = len(self.dimensions)
        if any(len(p) != width for p in self.prototypes):
            raise ValueError(f"every prototype should have {width} coordinates")
        _check_prototypes(self.prototypes, self.primary)
        return self


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


class LeafNode(BaseModel):
    """A leaf: the number of a region."""

    model_config = _STRICT
    region: Annotated[int, Field(ge=0)]


class BoxesFile(_File):
    """The schema of a tree of boxes; node 0 is the root and children come after their parents."""

    kind: Literal["boxes"]
    low: list[Finite]
    high: list[Finite]
    nodes: Annotated[list[CutNode | LeafNode], Field(min_length=1, max_length=2_000_000)]

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


AnyFile = Annotated[VoronoiFile | BoxesFile | CategoriesFile, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[VoronoiFile | BoxesFile | CategoriesFile] = TypeAdapter(AnyFile)


def schema() -> dict[str, Any]:
    """Return the JSON schema of the file, for readers in other languages."""
    return _ADAPTER.json_schema()


def dumps(representation: Representation) -> str:
    """Write a representation as JSON text."""
    body = _write(representation.partition)
    head = {"format": FORMAT, "version": NEEDS[body["kind"]], "dimensions": list(representation.dimensions)}
    return _pretty({**head, **body, "provenance": representation.provenance})


def _write(partition: Voronoi | Boxes | Categories) -> dict[str, Any]:
    if isinstance(partition, Boxes):
        return _write_boxes(partition)
    size = partition.size[0]
    rows = {
        "prototypes": partition.prototypes[:size].tolist(),
        "primary": partition.primary[:size].tolist(),
    }
    if isinstance(partition, Categories):
        return {"kind": "categories", **rows}
    return {"kind": "voronoi", "scale": partition.scale.tolist(), **rows}


def _write_boxes(partition: Boxes) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    columns = (partition.axis, partition.cut, partition.below, partition.above)
    for axis, cut, below, above in zip(*(column.tolist() for column in columns), strict=True):
        leaf = {"region": below}
        nodes.append(leaf if axis < 0 else {"axis": axis, "cut": cut, "below": below, "above": above})
    return {"kind": "boxes", "low": partition.low.tolist(), "high": partition.high.tolist(), "nodes": nodes}


def _pretty(content: dict[str, Any]) -> str:
    """One line per key, and one per row of a long list: readable by hand, and small."""
    lines = []
    for key, value in content.items():
        text = json.dumps(value, ensure_ascii=False)
        if isinstance(value, list) and value and isinstance(value[0], list | dict):
            text = "[\n" + ",\n".join("    " + json.dumps(row) for row in value) + "\n  ]"
        lines.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def loads(text: str | bytes, source: str = "representation") -> Representation:
    """Read a representation from JSON text; ``source`` names it in messages."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise DistinguoError(
            f"{source} is not a whole JSON file (damaged{where}); take a copy that was not cut off."
        ) from None
    _check_head(content, source)
    try:
        parsed = _ADAPTER.validate_python(content)
    except ValidationError as error:
        raise DistinguoError(f"{source} is not a valid representation: {_first_problem(error)}.") from None
    return Representation(_read(parsed), tuple(parsed.dimensions), parsed.provenance)


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
    return f"{_line(place)}: {_line(message)}" if place else _line(message)


def _line(text: str, most: int = 160) -> str:
    """Make words that come from a file fit for a message."""
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return shown if len(shown) <= most else shown[:most] + "…"


def _read(parsed: VoronoiFile | BoxesFile | CategoriesFile) -> Voronoi | Boxes | Categories:
    if isinstance(parsed, BoxesFile):
        return _read_boxes(parsed)
    given = parsed.prototypes
    partition: Any = categories(given) if isinstance(parsed, CategoriesFile) else voronoi(given, parsed.scale)
    partition.primary[:] = parsed.primary
    return partition


def _read_boxes(parsed: BoxesFile) -> Boxes:
    rows = [
        (n.axis, n.cut, n.below, n.above) if isinstance(n, CutNode) else (-1, 0.0, n.region, 0)
        for n in parsed.nodes
    ]
    axis, cut, below, above = zip(*rows, strict=True)
    return Boxes(
        np.array(axis, dtype=np.int64),
        np.array(cut, dtype=np.float64),
        np.array(below, dtype=np.int64),
        np.array(above, dtype=np.int64),
        np.array(parsed.low, dtype=np.float64),
        np.array(parsed.high, dtype=np.float64),
    )


def load(path: str | Path) -> Representation:
    """Read a representation file."""
    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            raise DistinguoError(f"{path} is not a file.")
        if path.stat().st_size > LARGEST_FILE:
            raise DistinguoError(f"{path} is larger than {LARGEST_FILE // 2**20} MiB; it was not read.")
        return loads(path.read_bytes(), str(path))
    except OSError as error:
        raise DistinguoError(f"Cannot read {path}: {error.strerror}.") from None
