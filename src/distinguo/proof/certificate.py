"""The certificate file: what is claimed, about which task and controller, and the cells that carry the proof.

A certificate is JSON with one line per key. It names every number that the claim depends on, so that a checker needs
nothing else. A file is read only if it is byte for byte what would be written for its content and its digest agrees:
one changed bit anywhere is noticed. (A forger can write a new digest; a false claim is the checker's to find.)
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, ValidationError

from distinguo.errors import DistinguoError
from distinguo.proof.arrive_schema import CAR, ArrivalCertificate
from distinguo.proof.schema import BoxesClaim, CellsClaim, Strict, TaskClaim, VoronoiClaim
from distinguo.representation.boxes import Boxes
from distinguo.representation.voronoi import Voronoi
from distinguo.tasks.puck.puck import Puck

FORMAT, VERSION = "distinguo-certificate", 1
LARGEST_FILE = 64 * 2**20  #: bytes


class Certificate(Strict):
    """The claim that no state of the cells ever leaves them or fails.

    With a controller this holds whatever it does among tied actions. Without one it says that in every cell there is
    an action that keeps all of it in the cells.
    """

    task: TaskClaim
    controller: Annotated[VoronoiClaim | BoxesClaim, Field(discriminator="kind")] | None
    cells: CellsClaim

    def alive(self) -> np.ndarray:
        """Return which cells of the grid are certified."""
        found = np.zeros(self.cells.counts, dtype=np.bool_)
        for row, first, last in self.cells.runs:
            found[row, first : last + 1] = True
        return found


def controller_claim(partition: Any, sets: np.ndarray) -> VoronoiClaim | BoxesClaim:
    """Return a greedy policy in the words of a certificate; ``sets`` has a bit per preferred action.

    >>> from distinguo.representation.voronoi import voronoi
    >>> controller_claim(voronoi([[1.0, 0.0], [-1.0, 0.0]], [1.0, 2.0]), np.array([1, 3])).actions
    [[0], [0, 1]]
    """
    actions = [[a for a in range(30) if int(bits) >> a & 1] for bits in sets]
    if isinstance(partition, Voronoi):
        size = int(partition.size[0])
        return VoronoiClaim(
            kind="voronoi",
            prototypes=partition.prototypes[:size].tolist(),
            primary=partition.primary[:size].tolist(),
            weight=partition.weight.tolist(),
            actions=actions[:size],
        )
    if isinstance(partition, Boxes):
        columns = {name: getattr(partition, name).tolist() for name in ("axis", "cut", "below", "above")}
        return BoxesClaim(kind="boxes", **columns, actions=actions)
    raise DistinguoError(
        f"Only Voronoi and box partitions can be certified, not a {type(partition).__name__}."
    )


def task_claim(low: Puck, high: Puck, disturbance: tuple[float, float]) -> TaskClaim:
    """Return a range of pucks in the words of a certificate.

    >>> task_claim(Puck(), Puck(), (0.0, 0.0)).low["beta"]
    0.3
    """
    first, last = ({k: float(v) for k, v in puck._asdict().items()} for puck in (low, high))
    return TaskClaim(name="puck", low=first, high=last, disturbance=[float(d) for d in disturbance])


def cells_claim(matrix: Any, low: Any, pitch: Any, alive: np.ndarray) -> CellsClaim:
    """Return a set of cells in the words of a certificate.

    >>> cells_claim((1, 0, 0, 1), (0, 0), (1, 1), np.array([[0, 1, 1], [1, 0, 1]], dtype=bool)).runs
    [[0, 1, 2], [1, 0, 0], [1, 2, 2]]
    """
    if not alive.any():
        raise DistinguoError("There is nothing to certify: no cell is held.")
    padded = np.pad(alive.astype(np.int8), ((0, 0), (1, 1)))
    rows, firsts = np.nonzero(np.diff(padded, axis=1) == 1)
    lasts = np.nonzero(np.diff(padded, axis=1) == -1)[1] - 1
    return CellsClaim(
        matrix=[float(number) for number in matrix],
        low=[float(number) for number in low],
        pitch=[float(number) for number in pitch],
        counts=list(alive.shape),
        runs=np.column_stack([rows, firsts, lasts]).tolist(),
    )


def dumps(certificate: Certificate | ArrivalCertificate) -> str:
    """Write a certificate as text.

    >>> cells = cells_claim((1, 0, 0, 1), (0, 0), (1, 1), np.ones((1, 1), dtype=bool))
    >>> one = Certificate(task=task_claim(Puck(), Puck(), (0.0, 0.0)), controller=None, cells=cells)
    >>> loads(dumps(one).encode()) == one
    True
    """
    body = (
        json.dumps(certificate.model_dump(), allow_nan=False)
        .replace('], "', '],\n"')
        .replace('}, "', '},\n"')
    )
    digest = hashlib.sha256(body.encode()).hexdigest()
    return f'{{"format": "{FORMAT}", "version": {VERSION}, "sha256": "{digest}", "claim":\n{body}}}\n'


def loads(data: bytes, source: str = "certificate") -> Certificate | ArrivalCertificate:
    """Read a certificate, refusing one that is not exactly as it was written.

    >>> loads(b"{}", "mine.json")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: mine.json is not a distinguo certificate.
    """
    try:
        content = json.loads(data)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise DistinguoError(f"{source} is not a distinguo certificate.")
        if content.get("version") != VERSION:
            raise DistinguoError(
                f"{source} has another format version than {VERSION}, which this distinguo reads."
            )
        certificate = _kind(content.get("claim")).model_validate(content.get("claim"))
        whole = dumps(certificate).encode() == data
    except DistinguoError:
        raise
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise DistinguoError(f"{source} was damaged or changed after it was written: {problem}.") from None
    except (ValueError, RecursionError, OverflowError):
        whole = False
    if not whole:
        raise DistinguoError(
            f"{source} was damaged or changed after it was written: its digest does not agree."
        )
    return certificate


def _kind(claim: Any) -> type[Certificate] | type[ArrivalCertificate]:
    """Tell by the task what is claimed of it."""
    task = claim.get("task") if isinstance(claim, dict) else None
    return ArrivalCertificate if isinstance(task, dict) and task.get("name") == CAR else Certificate


def load(path: str | Path) -> Certificate | ArrivalCertificate:
    """Read a certificate file."""
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise DistinguoError(f"{path} is larger than {LARGEST_FILE // 2**20} MiB; it was not read.")
        return loads(path.read_bytes(), str(path))
    except OSError as error:
        raise DistinguoError(f"Cannot read {path}: {error.strerror}.") from None
