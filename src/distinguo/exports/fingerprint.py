"""The certificate beside a run, as far as a user of its controller should know of it.

It is named by its hash and by what it claims. Whether the claim holds is for the checker of certificates to say; but
a certificate that speaks of another controller is not mentioned at all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.runs.files import read_arrays

CERTIFICATES = ("certificate.json", "certificate.npz")


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
            return Fingerprint(name, hashlib.sha256(file.read_bytes()).hexdigest(), _domain(claim))
    return None


def _read(file: Path) -> dict[str, Any] | None:
    """Return what a certificate claims; None if it cannot be read."""
    try:
        content: Any = read_arrays(file) if file.suffix == ".npz" else json.loads(file.read_bytes())
    except (DistinguoError, ValueError, RecursionError):
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
