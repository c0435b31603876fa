"""A controller and all that a user of it should know: what its coordinates and actions are called, and more."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.representations.file import Representation
from distinguo.representations.planes import learned_extent
from distinguo.runs.folder import REPRESENTATION, VALUES, open_run
from distinguo.runs.run import Run
from distinguo.study.certificates import Cited, cited_in


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
    certificates: Cited = Cited(None)  #: what is proven of it
    amounts: tuple[
        tuple[float, ...], ...
    ] = ()  #: what each action is, where it is a level of something continuous

    @property
    def representation(self) -> Representation:
        """Return the partition with its names, as it is written to a file."""
        return Representation(self.controller.partition, self.dimensions, self.provenance)


def labelled(run: Run) -> LabelledController:
    """Return the controller of a run, with what the certificates in its folder are worth."""
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
        amounts=_amounts(spec.parameters.get("levels")),
    )
    if run.path is None:
        return plain
    return plain._replace(certificates=cited_in(run.path, run.controller, spec.task))


def _amounts(levels: Any) -> tuple[tuple[float, ...], ...]:
    """Return levels that are listed as rows of numbers.

    >>> _amounts([-2.0, 0.5]), _amounts([[0.0, 1.0]]), _amounts(3)
    (((-2.0,), (0.5,)), ((0.0, 1.0),), ())
    """
    listed = levels if isinstance(levels, list | tuple) else []
    return tuple(tuple(np.ravel(one).astype(float).tolist()) for one in listed)


def open_controller(path: Path) -> LabelledController:
    """Read the controller in a run folder."""
    if (path / REPRESENTATION).is_file() and not (path / VALUES).is_file():
        raise DistinguoError(
            f"{path} has no {VALUES}, so no action is known for its regions; learn it to the end first."
        )
    return labelled(open_run(path))
