"""The representation file: a partition, or features, as JSON that others can read.

It knows no task, no action and no value. Loading runs no code and checks sizes first; for that reason a partition of
somebody's own class has no file.
"""

from __future__ import annotations

import json
from functools import singledispatch
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from distinguo.errors import DistinguoError, one_line, path_from
from distinguo.features.feature import count_features, is_features
from distinguo.features.perceptron import Perceptron
from distinguo.features.radial import RadialBases
from distinguo.features.tiles import TileCoding
from distinguo.reading.documents import parse_json
from distinguo.reading.files import MEBIBYTE, read_bytes
from distinguo.representations.boxes import Boxes
from distinguo.representations.categories import Categories
from distinguo.representations.partition import count_regions, lacking, prototypes_of
from distinguo.representations.schema import ADAPTER
from distinguo.representations.voronoi import Voronoi

FORMAT = "distinguo-representation"
VERSION = 4
#: The version that a reader must know to read a kind: a file says no more than it needs.
NEEDS = {"voronoi": 3, "boxes": 1, "categories": 3, "tiles": 4, "rbf": 4, "perceptron": 4}
LARGEST_FILE, HEAVIEST_FILE = 64 * MEBIBYTE, 512 * MEBIBYTE  #: bytes on the disk, and in memory


class Representation(NamedTuple):
    """A partition with the names of its coordinates and where it came from; features may take its place.

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
        """Tell whether it groups states by features that overlap, so that no state has a region of its own."""
        return is_features(self.partition)

    def with_regions(self, purpose: str) -> Representation:
        """Return it if it parts states into regions, else say what these would be needed for."""
        if self.of_features:
            raise DistinguoError(
                f"{purpose} needs regions, but {type(self.partition).__name__} are features that overlap; take a "
                "partition, such as grid:10x10."
            )
        return self

    @property
    def prototypes(self) -> int:
        """Return the number of prototypes; for partitions without any the number of regions."""
        known = prototypes_of(self.partition)
        return self.regions if known is None else len(known.points)


def schema() -> dict[str, Any]:
    """Return the JSON schema of the file, for readers in other languages."""
    return ADAPTER.json_schema()


def dumps(representation: Representation) -> str:
    """Write a representation as JSON text."""
    return _pretty(content_of(representation))


def content_of(representation: Representation) -> dict[str, Any]:
    """Return what the file says of a representation, as plain values."""
    body = file_content(representation.partition)
    head = {"format": FORMAT, "version": NEEDS[body["kind"]], "dimensions": list(representation.dimensions)}
    return {**head, **body, "provenance": representation.provenance}


@singledispatch
def file_content(partition: Any) -> dict[str, Any]:
    """Return what a file says of a partition: its kind, and the fields of that kind."""
    raise lacking(
        partition,
        "cannot be written to a file",
        "files hold prototypes and boxes, and never name code: keep the code that builds it instead",
    )


def can_be_written(partition: Any) -> bool:
    """Tell whether there is a kind of file for a partition.

    >>> from distinguo.representations.declare import FunctionPartition
    >>> from distinguo.representations.voronoi import voronoi
    >>> can_be_written(voronoi([[0.0]], [1.0])), can_be_written(FunctionPartition(int, 2))
    (True, False)
    """
    return type(partition) in file_content.registry


def can_be_read_again(partition: Any) -> bool:
    """Tell whether a file of a partition would be opened: learners may meet the same prototype twice on the way.

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
