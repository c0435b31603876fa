"""What the formats share: a controller with its labels, and its partition as tables."""

from __future__ import annotations

from functools import singledispatch
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.verify import Cited, cited_in
from distinguo.representations.boxes import Boxes
from distinguo.representations.categories import Categories
from distinguo.representations.declare import capability
from distinguo.representations.file import Representation
from distinguo.representations.geometry import learned_extent
from distinguo.representations.partition import lacking
from distinguo.representations.voronoi import Voronoi
from distinguo.runs.folder import REPRESENTATION, VALUES, open_run
from distinguo.runs.run import Run
from distinguo.tasks.amounts import Laws, laws_of

# What a partition says of itself: in C, if it is one's own, and as arrays.

Code = tuple[list[str], str]  #: tables, and the body of the function


@singledispatch
def in_c(partition: Any, name: str) -> Code:
    """The tables in C of a partition of one's own, and the body of the function that finds the region of ``s``.

    Every name begins with ``name``. The partitions that come with distinguo are written down in ``decision``.
    """
    raise lacking(
        partition, "cannot be written in C", "give it a method in_c(self, name), or export it as npz"
    )


@singledispatch
def arrays_of(partition: Any) -> dict[str, np.ndarray]:
    """Return the arrays that a partition consists of, by name.

    A Voronoi partition is ``prototypes``, the ``regions`` that they belong to, the ``primaries`` of these, ``scale``
    and ``weight``, one of categories the first three; one of boxes is the columns of its tree.
    """
    raise lacking(partition, "cannot be written as arrays", "give it a method arrays_of(self)")


@arrays_of.register(Voronoi)
@arrays_of.register(Categories)
@arrays_of.register(Boxes)
def _(partition: Any) -> dict[str, np.ndarray]:
    return dict(partition._asdict())


capability("in_c", in_c)
capability("arrays_of", arrays_of)


# A controller with all that its user should know: the names of its coordinates and actions, and more.


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
    amounts: tuple[tuple[float, ...], ...] = ()  #: the continuous action of each level, if actions are levels
    laws: Laws | None = None  #: that say how much, if actions are laws

    @property
    def representation(self) -> Representation:
        """Return the partition with its names, as it is written to a file."""
        return Representation(self.controller.partition, self.dimensions, self.provenance)


def labelled(run: Run) -> LabelledController:
    """Return the controller of a run, with the checked certificates of its folder."""
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
        laws=laws_of(spec),
    )
    if run.path is None:
        return plain
    return plain._replace(certificates=cited_in(run.path, run.controller, spec.task))


def _amounts(levels: Any) -> tuple[tuple[float, ...], ...]:
    """Return listed levels as rows of numbers.

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
