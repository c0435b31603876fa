"""What a run becomes when only its behaviour is wanted: a partition and one action per region."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.export.fingerprint import Fingerprint, fingerprint
from distinguo.representation.boxes import Boxes
from distinguo.representation.file import Representation
from distinguo.representation.geometry import extent_of
from distinguo.representation.partition import region
from distinguo.representation.voronoi import Voronoi
from distinguo.runs.folder import REPRESENTATION, VALUES, open_run
from distinguo.runs.run import Run


class Controller(NamedTuple):
    """A partition, the action values of its regions, and the words for coordinates and actions.

    >>> from distinguo.representation.voronoi import voronoi
    >>> two = Representation(voronoi([[1.0], [-1.0]], [1.0]), ("x",))
    >>> Controller(two, np.array([[0.0, -1.0], [-1.0, 0.0]]), ("left", "right")).decide((-0.3,))
    (1, 1)
    """

    representation: Representation
    q: np.ndarray  #: (rows, actions); the row of a region is its number
    actions: tuple[str, ...]
    task: str = ""
    low: tuple[float, ...] = ()  #: the extent of the observations, for the neighbourhood of regions
    high: tuple[float, ...] = ()
    certificate: Fingerprint | None = None

    @property
    def greedy(self) -> np.ndarray:
        """Return the action of every row of ``q``: the best, and of equally good ones the first."""
        return np.argmax(self.q, axis=1).astype(np.int64)

    @property
    def numbers(self) -> list[int]:
        """Return the numbers of the regions in ascending order; those of merged prototypes are left out."""
        partition = self.representation.partition
        if isinstance(partition, Boxes):
            return list(range(self.representation.regions))
        return np.unique(partition.primary[: partition.size[0]]).tolist()

    def decide(self, s: tuple[float, ...]) -> tuple[int, int]:
        """Return the region of an observation and the action taken there."""
        j = region(self.representation.partition, s)
        return j, int(self.greedy[j])


def controller_of(path: Path) -> Controller:
    """Read the controller in a run folder."""
    if (path / REPRESENTATION).is_file() and not (path / VALUES).is_file():
        raise DistinguoError(
            f"{path} has no {VALUES}, so no action is known for its regions; learn it to the end first."
        )
    run = open_run(path)
    if not np.isfinite(run.q).all():
        raise DistinguoError(f"{path / VALUES} holds an action value that is not a finite number.")
    return from_run(run)


def from_run(run: Run) -> Controller:
    """Return the controller of an opened run, with the certificate beside it if there is one."""
    spec = run.configuration.spec
    low, high = extent_of(run.representation.provenance, spec.low, spec.high)
    controller = Controller(run.representation, run.q, spec.actions, spec.name, low, high)
    return (
        controller
        if run.path is None
        else controller._replace(certificate=_certificate(controller, run.path))
    )


def _certificate(controller: Controller, path: Path) -> Fingerprint | None:
    partition = controller.representation.partition
    actions = {j: int(controller.greedy[j]) for j in controller.numbers}
    if isinstance(partition, Boxes):
        tables = {name: getattr(partition, name) for name in ("axis", "cut", "below", "above")}
        return fingerprint(path, tables, actions)
    size = partition.size[0]
    tables = {"prototypes": partition.prototypes[:size], "primary": partition.primary[:size]}
    weight = {"weight": partition.weight} if isinstance(partition, Voronoi) else {}
    return fingerprint(path, {**tables, **weight}, actions)
