"""What the formats share: a controller with its labels, and its partition as tables."""

from __future__ import annotations

from collections.abc import Iterable
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

# A partition as tables: in C, with the body of the function that finds the region of ``s``, and as arrays.


WIDTH = 100  #: columns of a line of a table

_NEAREST = """\
    long best = 0;
    double best_distance = HUGE_VAL;
    for (long p = 0; p < {count}; p++) {{
        double distance = 0.0;
        for (int i = 0; i < {dimensions}; i++) {{
            const double d = (s[i] - {prefix}_prototypes[p][i]) * {prefix}_weight[i];
            distance += d * d;
        }}
        if (distance < best_distance) {{ /* of equally near ones the first */
            best = p;
            best_distance = distance;
        }}
    }}
    return (int){prefix}_regions[best];"""

_ALIKE = """\
    long best = 0;
    int least = {dimensions} + 1;
    for (long p = 0; p < {count}; p++) {{
        int different = 0;
        for (int i = 0; i < {dimensions}; i++) {{
            different += s[i] != {prefix}_prototypes[p][i]; /* labels: equal or not, never near */
        }}
        if (different < least) {{ /* of equally different ones the first */
            best = p;
            least = different;
        }}
    }}
    return (int){prefix}_regions[best];"""

_WALK = """\
    long node = 0;
    while ({prefix}_axis[node] >= 0) {{
        node = (long)(s[{prefix}_axis[node]] < {prefix}_cut[node] ? {prefix}_below[node] : {prefix}_above[node]);
    }}
    return (int){prefix}_below[node];"""


Code = tuple[list[str], str]  #: tables, and the body of the function


@singledispatch
def in_c(partition: Any, name: str) -> Code:
    """Return the tables of a partition and the body of its function; every name begins with ``name``.

    >>> from distinguo.representations.categories import categories
    >>> tables, body = in_c(categories([[3.0], [7.0]]), "lake")
    >>> print(tables[0].strip())
    static const double lake_prototypes[2][1] = {
        {3.0}, {7.0},
    };
    """
    raise lacking(
        partition, "cannot be written in C", "give it a method in_c(self, name), or export it as npz"
    )


@in_c.register(Boxes)
def _(partition: Boxes, name: str) -> Code:
    return _boxes(partition, name), _WALK.format(prefix=name)


@in_c.register(Categories)
def _(partition: Categories, name: str) -> Code:
    return _prototypes(partition, name), _ALIKE.format(**_names(partition, name))


@in_c.register(Voronoi)
def _(partition: Voronoi, name: str) -> Code:
    weight = table(f"double {name}_weight[{len(partition.weight)}]", map(_number, partition.weight.tolist()))
    return [weight, *_prototypes(partition, name)], _NEAREST.format(**_names(partition, name))


def _names(partition: Voronoi | Categories, name: str) -> dict[str, Any]:
    count, width = partition.prototypes.shape
    return {"prefix": name, "count": count, "dimensions": width}


def _prototypes(partition: Voronoi | Categories, name: str) -> list[str]:
    points = partition.prototypes
    rows = ["{" + ", ".join(map(_number, row)) + "}" for row in points.tolist()]
    return [
        table(f"double {name}_prototypes[{len(points)}][{points.shape[1]}]", rows),
        integers(f"{name}_regions", partition.regions),
    ]


def _boxes(partition: Boxes, name: str) -> list[str]:
    return [
        integers(f"{name}_axis", partition.axis),
        table(f"double {name}_cut[{len(partition.cut)}]", map(_number, partition.cut.tolist())),
        integers(f"{name}_below", partition.below),
        integers(f"{name}_above", partition.above),
    ]


def _number(value: float) -> str:
    """Write a double with the shortest digits that any compiler reads back exactly."""
    return repr(value)


def integers(name: str, values: np.ndarray) -> str:
    """Write whole numbers in the smallest type that holds them, as controllers run in small memories."""
    least, most = int(values.min()), int(values.max())
    kinds = [("signed char", 2**7), ("short", 2**15), ("long", 2**31)]
    kind = next(kind for kind, end in kinds if -end <= least and most < end)
    return table(f"{kind} {name}[{len(values)}]", map(str, values.tolist()))


def table(declaration: str, entries: Iterable[str]) -> str:
    """Write a constant table, several entries to a line."""
    lines, line = [], "   "
    for entry in entries:
        if len(line) + len(entry) + 2 > WIDTH and line.strip():
            lines.append(line)
            line = "   "
        line += f" {entry},"
    lines.append(line)
    return f"static const {declaration} = {{\n" + "\n".join(lines) + "\n};\n"


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
