"""A controller and all that a user of it should know: what its coordinates and actions are called, and more."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.exports.tables import certified_tables
from distinguo.reading.arrays import read_arrays
from distinguo.reading.documents import read_json
from distinguo.reading.files import MEBIBYTE, read_bytes
from distinguo.representations.file import Representation
from distinguo.representations.partition import region_numbers
from distinguo.representations.planes import learned_extent
from distinguo.runs.folder import REPRESENTATION, VALUES, open_run
from distinguo.runs.run import Run

CERTIFICATES = ("certificate.json", "certificate.npz")
LARGEST_CERTIFICATE = 64 * MEBIBYTE  #: bytes


class Fingerprint(NamedTuple):
    """The name and the SHA-256 of a certificate, and the domain that it claims, in words.

    >>> Fingerprint("certificate.json", "ab" * 32).domain
    ''
    """

    file: str
    sha256: str
    domain: str = ""


def fingerprint(
    path: Path, tables: Mapping[str, np.ndarray], actions: Mapping[int, int]
) -> Fingerprint | None:
    """Return the fingerprint of the certificate in a folder, if there is one for these tables and actions."""
    for name in CERTIFICATES:
        file = path / name
        if not file.is_file():
            continue
        claim = _read(file)
        if claim is not None and _is_about(claim.get("controller"), tables, actions):
            return Fingerprint(
                name, hashlib.sha256(read_bytes(file, LARGEST_CERTIFICATE)).hexdigest(), _domain(claim)
            )
    return None


def _read(file: Path) -> dict[str, Any] | None:
    """Return what a certificate claims; None if it cannot be read."""
    try:
        content: Any = read_arrays(file) if file.suffix == ".npz" else read_json(file, LARGEST_CERTIFICATE)
    except DistinguoError:
        return None
    claim = content.get("claim", content) if isinstance(content, dict) else None
    return claim if isinstance(claim, dict) else None


def _is_about(claim: Any, tables: Mapping[str, np.ndarray], actions: Mapping[int, int]) -> bool:
    """Tell whether a claim is about this controller, or does not say which one it is about."""
    if not isinstance(claim, dict):
        return True
    try:
        same = all(np.array_equal(np.array(claim[name]), table) for name, table in tables.items())
        return same and all(action in claim["actions"][j] for j, action in actions.items())
    except (KeyError, IndexError, TypeError, ValueError):
        return False


def _domain(claim: Mapping[str, Any]) -> str:
    cells = claim.get("cells")
    if isinstance(cells, dict):
        grid = {key: value for key, value in cells.items() if key != "runs"}
        return f"{_count(cells.get('runs'))} cells of the grid {_text(grid)}"
    if "domain" in claim:
        return _text(claim["domain"])
    return f"{_text(claim['low'])} to {_text(claim['high'])}" if {"low", "high"} <= set(claim) else ""


def _count(runs: Any) -> int:
    try:
        return sum(last - first + 1 for _, first, last in runs)
    except (TypeError, ValueError):
        return 0


def _text(value: Any, most: int = 300) -> str:
    plain = value.tolist() if isinstance(value, np.ndarray) else value
    return (plain if isinstance(plain, str) else json.dumps(plain))[:most]


class LabelledController(NamedTuple):
    """A controller with the names of its coordinates and actions.

    >>> from distinguo.representations.voronoi import voronoi
    >>> two = Controller(voronoi([[1.0], [-1.0]], [1.0]), np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> named = LabelledController(two, ("x",), ("left", "right"))
    >>> named.actions[named.controller.action((-0.3,))]
    'right'
    """

    controller: Controller
    dimensions: tuple[str, ...]
    actions: tuple[str, ...]
    task: str = ""
    low: tuple[float, ...] = ()  #: the extent of the observations, for the neighbourhood of regions
    high: tuple[float, ...] = ()
    provenance: dict[str, Any] = {}  # noqa: RUF012
    certificate: Fingerprint | None = None

    @property
    def representation(self) -> Representation:
        """Return the partition with its names, as it is written to a file."""
        return Representation(self.controller.partition, self.dimensions, self.provenance)

    @property
    def numbers(self) -> list[int]:
        """Return the numbers of the regions in ascending order; those of merged prototypes are left out."""
        return region_numbers(self.controller.partition).tolist()


def labelled(run: Run) -> LabelledController:
    """Return the controller of a run, with the certificate in its folder if there is one."""
    spec, representation = run.configuration.spec, run.representation
    if not np.isfinite(run.q).all():
        raise DistinguoError(
            f"{'The run' if run.path is None else run.path / VALUES} holds an action value that is not a finite "
            "number."
        )
    low, high = learned_extent(representation.provenance, spec.low, spec.high)
    plain = LabelledController(
        run.controller,
        representation.dimensions,
        spec.actions,
        spec.name,
        low,
        high,
        representation.provenance,
    )
    return plain if run.path is None else plain._replace(certificate=_certificate(plain, run.path))


def open_controller(path: Path) -> LabelledController:
    """Read the controller in a run folder."""
    if (path / REPRESENTATION).is_file() and not (path / VALUES).is_file():
        raise DistinguoError(
            f"{path} has no {VALUES}, so no action is known for its regions; learn it to the end first."
        )
    return labelled(open_run(path))


def _certificate(named: LabelledController, path: Path) -> Fingerprint | None:
    greedy = named.controller.greedy
    actions = {j: int(greedy[j]) for j in named.numbers}
    return fingerprint(path, certified_tables(named.controller.partition), actions)
