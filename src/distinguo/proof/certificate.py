"""The certificate file: what is claimed, about which task and controller, and the cells that carry the proof.

A certificate is JSON with one line per key. It names every number that the claim depends on, so that a checker
needs nothing else. A file is read only if it is byte for byte what would be written for its content and its digest
agrees: one changed bit anywhere is noticed. (A forger can write a new digest; the checker finds false claims.)
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from distinguo.errors import DistinguoError, one_line
from distinguo.proof.schema import (
    ArrivalCertificate,
    Certificate,
    CoreCertificate,
    HoldCertificate,
    ProgramCertificate,
    ReturnCertificate,
)
from distinguo.reading.files import MEBIBYTE, parse_json, read_bytes

FORMAT, VERSION = "distinguo-certificate", 1
BEGINNING = f'{{"format": "{FORMAT}"'.encode()  #: of the file of any version
LARGEST_FILE = 64 * MEBIBYTE  #: bytes
#: What is claimed of a task, by its name.
KINDS: dict[str, type[Certificate]] = {
    "puck": HoldCertificate,
    "MountainCar-v0": ArrivalCertificate,
}


def certificate_text(certificate: Certificate) -> str:
    """Return a certificate as the text of its file.

    >>> from distinguo.proof.question import cells_claim, task_claim
    >>> from distinguo.proof.hold.puck import Puck, pucks
    >>> import numpy as np
    >>> cells = cells_claim((1, 0, 0, 1), (0, 0), (1, 1), np.ones((1, 1), dtype=bool))
    >>> one = HoldCertificate(task=task_claim(pucks(Puck())), controller=None, cells=cells)
    >>> read_certificate(certificate_text(one).encode()) == one
    True
    """
    body = (
        json.dumps(certificate.model_dump(), allow_nan=False)
        .replace('], "', '],\n"')
        .replace('}, "', '},\n"')
    )
    digest = hashlib.sha256(body.encode()).hexdigest()
    return f'{{"format": "{FORMAT}", "version": {VERSION}, "sha256": "{digest}", "claim":\n{body}}}\n'


def read_certificate(data: bytes, source: str = "certificate") -> Certificate:
    """Read a certificate; reject one that is not exactly as it was written.

    >>> read_certificate(b"{}", "mine.json")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: mine.json is not a distinguo certificate.
    """
    if len(data) > LARGEST_FILE:
        raise DistinguoError(f"{source} is larger than {LARGEST_FILE // 2**20} MiB; it was not read.")
    try:
        content = parse_json(data, source)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise DistinguoError(f"{source} is not a distinguo certificate.")
        if content.get("version") != VERSION:
            raise DistinguoError(
                f"{source} has another format version than {VERSION}, which this distinguo reads."
            )
        certificate = _kind(content.get("claim")).model_validate(content.get("claim"))
        whole = certificate_text(certificate).encode() == data
    except DistinguoError:
        raise
    except ValidationError as error:
        problem = one_line(error.errors()[0]["msg"].removeprefix("Value error, "))
        raise DistinguoError(f"{source} was damaged or changed after it was written: {problem}.") from None
    except (ValueError, RecursionError, OverflowError):
        whole = False
    if not whole:
        raise DistinguoError(
            f"{source} was damaged or changed after it was written: its digest does not agree."
        )
    return certificate


def _kind(claim: Any) -> type[Certificate]:
    """The class of certificate, by the task."""
    task = claim.get("task") if isinstance(claim, dict) else None
    if isinstance(task, dict) and "functions" in task:
        if "coordinates" in claim:
            return CoreCertificate
        return ReturnCertificate if "starts" in claim else ProgramCertificate
    name = task.get("name") if isinstance(task, dict) else None
    return KINDS.get(name, HoldCertificate) if isinstance(name, str) else HoldCertificate


def load_certificate(path: str | Path) -> Certificate:
    """Read a certificate file."""
    return read_certificate(read_bytes(path, LARGEST_FILE), str(path))
