"""A controller and all that a user of it should know: what its coordinates and actions are called, and more."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.exports.fingerprint import Fingerprint, fingerprint
from distinguo.exports.tables import certified_tables
from distinguo.representations.file import Representation
from distinguo.representations.partition import region_numbers
from distinguo.representations.planes import learned_extent
from distinguo.runs.folder import REPRESENTATION, VALUES, open_run
from distinguo.runs.run import Run


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
