"""Representations by name: the simple ones here, those of installed packages, and those of users."""

from __future__ import annotations

import inspect
import math
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from distinguo.errors import DistinguoError, call_user_code, did_you_mean, whole_number
from distinguo.features.feature import is_features
from distinguo.registry import REPRESENTATIONS, added, load_added
from distinguo.representations.boxes import Box, grid, tree
from distinguo.representations.check import check_partition
from distinguo.representations.declare import is_declared
from distinguo.representations.file import Representation
from distinguo.representations.partition import region
from distinguo.representations.voronoi import voronoi
from distinguo.seam import has_own
from distinguo.tasks.extent import Extent, task_extent
from distinguo.tasks.puck.analysis import DIAGONAL_SLOPE
from distinguo.tasks.spec import CATEGORIES, TaskSpec
from distinguo.tasks.task import observe, seeded, start

CHECKED_STATES = 200  #: states on which a user's partition is tried before it is used
F = TypeVar("F", bound=Callable[..., Any])


class _Builder(NamedTuple):
    function: Callable[..., Any]
    usage: str  #: how it is asked for


_builders: dict[str, _Builder] = {}


def representation(name: str, usage: str | None = None) -> Callable[[F], F]:
    """Register a function of a task and a seed that builds a representation, or a bare partition, under a name.

    Every place that takes a representation by name then finds it. A third parameter gets the text after a colon, as
    in ``grid:10x10``; ``usage`` shows an example.

    >>> from distinguo.representations.boxes import grid
    >>> @representation("strips", usage="strips:4")
    ... def strips(spec, seed, count):
    ...     return grid([int(count)] + [1] * (len(spec.dimensions) - 1), spec.low, spec.high)
    >>> from distinguo.tasks.catalog import task_spec
    >>> build_representation("strips:4", task_spec("puck"), seed=0).regions
    4
    """

    def register(function: F) -> F:
        if not re.fullmatch(r"[\w.-]+", name):
            raise DistinguoError(
                f"The name of a representation is made of letters, digits and dashes, got '{name}'."
            )
        _builders[name] = _Builder(function, usage or name)
        return function

    return register


def registered_name(what: Any) -> str:
    """Return the name of a builder, a partition or a class of partitions; one without a name is registered under
    its own.

    >>> from distinguo.representations.declare import FunctionPartition
    >>> registered_name(FunctionPartition(lambda s: 0, 1)), registered_name("grid:2x2")
    ('FunctionPartition', 'grid:2x2')
    """
    if isinstance(what, str):
        return what
    known = [name for name, builder in _builders.items() if builder.function is what]
    if known:
        return known[0]
    name = str(getattr(what, "__name__", type(what).__name__))
    is_builder = callable(what) and not isinstance(what, type) and not has_own(region, what)
    representation(name)(
        what if is_builder else lambda spec, seed: what() if isinstance(what, type) else what
    )
    return name


def representation_names() -> list[str]:
    """How to ask for each representation that has a name; a warning names those that cannot be imported.

    >>> representation_names()[:3]
    ['diagonal', 'grid:10x10', 'seeds']
    """
    for name in added(REPRESENTATIONS):
        try:
            _import_builder(name)
        except DistinguoError as error:
            warnings.warn(str(error), stacklevel=2)
    return [builder.usage for builder in _builders.values()]


def _import_builder(name: str) -> None:
    """Import the package that adds a representation, which may register it with more words."""
    if name not in _builders and name in added(REPRESENTATIONS):
        function = load_added(REPRESENTATIONS, name)
        if name not in _builders:
            representation(name)(function)


def build_representation(name: str, spec: TaskSpec, seed: int) -> Representation:
    """Build the representation of that name for a task.

    >>> from distinguo.tasks.catalog import task_spec
    >>> build_representation("grid:3x4", task_spec("puck"), seed=0).regions
    12
    >>> build_representation("diagnoal", task_spec("puck"), seed=0)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown representation 'diagnoal'; did you mean 'diagonal'?
    """
    word, colon, argument = name.partition(":")
    _import_builder(word)
    if word not in _builders:
        raise DistinguoError(f"Unknown representation '{name}'; {did_you_mean(name, representation_names())}")
    function = _builders[word].function
    arguments = [argument] if len(inspect.signature(function).parameters) > 2 else []
    if colon and not arguments:
        raise DistinguoError(f"The representation '{word}' takes nothing after a colon, got '{name}'.")
    built = call_user_code(f"The representation '{name}'", function, spec, seed, *arguments)
    return as_representation(built, spec, name)


def as_representation(built: Any, spec: TaskSpec, name: str) -> Representation:
    """A representation as it is; a bare partition with the coordinates of the task."""
    if isinstance(built, Representation):
        return built
    if not has_own(region, built) and not is_features(built):
        raise DistinguoError(
            f"'{name}' should be a representation, a partition (dg.partition makes one) or features, got a value of "
            f"the class {type(built).__name__}."
        )
    if is_declared(built):  # compiled code does not check its answers
        check_partition(built, *_finite(spec), states=CHECKED_STATES)
    return with_provenance(spec, built, name)


def _finite(spec: TaskSpec) -> tuple[list[float], list[float]]:
    """Return the extent of a task, with finite numbers in place of infinite bounds."""
    low = [a if math.isfinite(a) else -1.0 for a in spec.low]
    high = [b if math.isfinite(b) else 1.0 for b in spec.high]
    return low, [max(a + 1e-9, b) for a, b in zip(low, high, strict=True)]


@representation("diagonal")
def _diagonal(spec: TaskSpec, seed: int) -> Representation:
    return diagonal(spec)


@representation("grid", usage="grid:10x10")
def _grid(spec: TaskSpec, seed: int, counts: str) -> Representation:
    if not re.fullmatch(r"\d{1,6}(x\d{1,6})*", counts, re.ASCII):
        raise DistinguoError(
            "A grid is written with a number of intervals per coordinate, as in grid:10x10, got "
            f"'grid:{counts}'."
        )
    return uniform(spec, [int(count) for count in counts.split("x")])


@representation("seeds")
def _seeds(spec: TaskSpec, seed: int) -> Representation:
    return seed_points(spec)


@representation("near-start", usage="near-start:3")
def _near_start(spec: TaskSpec, seed: int, levels: str) -> Representation:
    return near_start(spec, seed, whole_argument("near-start", levels, 3))


def whole_argument(name: str, text: str, usual: int) -> int:
    """Return the number after the colon, or the usual one if there is none."""
    if not re.fullmatch(r"\d{0,6}", text, re.ASCII):
        raise DistinguoError(
            f"{name} is followed by a whole number, as in {name}:{usual}, got '{name}:{text}'."
        )
    return int(text or usual)


# Plain baselines: the diagonal split, uniform grids, the paper's two seed points (section 4.2).
#
# ``near_start`` is a rule that is "blind with respect to the task requirements" (section 2.1): "states closest to the
# initial state required the finest resolution" (Hu and Fellman 1996).


def with_provenance(spec: TaskSpec, partition: Any, control: str, **numbers: Any) -> Representation:
    """Return a partition with the name of the control and the parameters that it was made with.

    >>> from distinguo.representations.boxes import grid
    >>> from distinguo.tasks.catalog import task_spec
    >>> hill = task_spec("puck")
    >>> with_provenance(hill, grid([1, 2], hill.low, hill.high), "grid", counts=[1, 2]).provenance["counts"]
    [1, 2]
    """
    provenance = {"task": spec.name, "parameters": dict(spec.parameters), "control": control, **numbers}
    return Representation(partition, spec.dimensions, provenance)


def need_plane(spec: TaskSpec, control: str) -> None:
    """Raise an error unless the states of a task are points of a plane.

    >>> from distinguo.tasks.catalog import task_spec
    >>> need_plane(task_spec("puck")._replace(dimensions=("x", "y", "z")), "diagonal")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: The control 'diagonal' is made for two coordinates, but the task 'puck' has 3.
    """
    if len(spec.dimensions) != 2:
        raise DistinguoError(
            f"The control '{control}' is made for two coordinates, but the task '{spec.name}' has "
            f"{len(spec.dimensions)}."
        )


#: How far the two prototypes lie from the line, in widths of the space. Any distance gives the same regions; at this
#: one both prototypes lie inside the space whatever the slope.
REACH = 0.25


def diagonal(spec: TaskSpec, slope: float = DIAGONAL_SLOPE) -> Representation:
    """Separate the states above the line ``v = slope * x`` (region 0) from those below it (region 1).

    The prototypes mirror each other at the line. They are mirrored where distances are measured, in coordinates
    divided by the scale; there the line's normal is ``(-slope * width, height)``.

    >>> from distinguo.representations.partition import region
    >>> from distinguo.tasks.catalog import task_spec
    >>> two = diagonal(task_spec("puck")).partition
    >>> [region(two, s) for s in [(1.0, -1.76), (1.0, -1.77), (-1.0, 1.77), (-1.0, 1.76)]]
    [0, 1, 0, 1]
    """
    need_plane(spec, "diagonal")
    if not math.isfinite(slope):
        raise DistinguoError(f"The slope of the diagonal should be a finite number, got {slope}.")
    width, height = spec.scale
    normal = np.array([-slope * width, height]) / math.hypot(slope * width, height)
    above = REACH * normal * (width, height)  # back to the task's own units
    return with_provenance(spec, voronoi([above, -above], spec.scale), "diagonal", slope=slope)


#: The most boxes of a grid; more would take long to build, and no learner of ours could fill them.
MOST_REGIONS = 100_000


def uniform(spec: TaskSpec, counts: Sequence[int] = (10, 10)) -> Representation:
    """Cut each coordinate of the task's extent into equal intervals.

    >>> from distinguo.tasks.catalog import task_spec
    >>> uniform(task_spec("puck"), (10, 10)).regions
    100
    """
    _check(spec, counts)
    return with_provenance(spec, grid(counts, spec.low, spec.high), "grid", counts=list(counts))


def _check(spec: TaskSpec, counts: Sequence[int]) -> None:
    text = "x".join(map(str, counts))
    if len(counts) != len(spec.dimensions):
        raise DistinguoError(
            f"A grid needs one count per coordinate ({', '.join(spec.dimensions)}), got {len(counts)} in '{text}'."
        )
    if min(counts) < 1 or math.prod(counts) > MOST_REGIONS:
        raise DistinguoError(f"A grid has from 1 to {MOST_REGIONS:,} boxes, got '{text}'.")


#: "the two (x, v)-space points (0.2680, 0.6200) and (-0.2680, -0.6200)" (paper, section 4.2.1).
PAPER_SEEDS = ((0.2680, 0.6200), (-0.2680, -0.6200))


def seed_points(spec: TaskSpec) -> Representation:
    """Return the seed representation of the paper's second experiment, before anything is learned.

    >>> from distinguo.tasks.catalog import task_spec
    >>> seed_points(task_spec("puck")).regions
    2
    """
    need_plane(spec, "seeds")
    return with_provenance(spec, voronoi(PAPER_SEEDS, spec.scale), "seeds")


def near_start(spec: TaskSpec, seed: int, levels: int = 3) -> Representation:
    """Cut each coordinate at the first observation, and on both sides at distances that double up to the bounds.

    With ``levels`` intervals on each side, the widths are in the ratio 1, 1, 2, 4, … The source gives the
    principle, not the ratio.

    >>> from distinguo.tasks.catalog import task_spec
    >>> near_start(task_spec("puck"), seed=0, levels=3).regions
    36
    """
    extent = extent_of_numbers(spec, seed, "near-start")
    count = whole_number("The levels of near-start", levels, 1, 20)
    if (2 * count) ** len(extent.low) > MOST_REGIONS:
        raise DistinguoError(
            f"near-start:{count} would have {2 * count} intervals for each of {len(extent.low)} coordinates, more "
            f"than {MOST_REGIONS:,} boxes in all; take fewer levels."
        )
    first = _first(spec, seed)
    edges = [_doubling(*ends, count) for ends in zip(extent.low, extent.high, first, strict=True)]

    def cut(box: Box, depth: int) -> tuple[int, float] | None:
        for axis, places in enumerate(edges):
            inside = [place for place in places if box[0][axis] < place < box[1][axis]]
            if inside:
                return axis, inside[len(inside) // 2]
        return None

    return with_provenance(spec, tree(extent.low, extent.high, cut), "near-start", levels=count)


def _first(spec: TaskSpec, seed: int) -> tuple[float, ...]:
    task = seeded(spec.task, seed)
    return observe(task, start(task, np.random.default_rng(seed)))


def _doubling(low: float, high: float, first: float, count: int) -> list[float]:
    """Where a coordinate is cut, in order.

    >>> _doubling(-4.0, 8.0, 0.0, 3)
    [-2.0, -1.0, 0.0, 2.0, 4.0]
    """
    shares = [2.0**-k for k in range(1, count)]
    below = [first + (low - first) * share for share in shares]
    above = [first + (high - first) * share for share in reversed(shares)]
    return [*below, first, *above]


def extent_of_numbers(spec: TaskSpec, seed: int, name: str) -> Extent:
    """Return the extent of a task; refuse one whose observations are labels."""
    if spec.kind == CATEGORIES:
        raise DistinguoError(
            f"The representation '{name}' measures distances, but the observations of {spec.name} are labels; take a "
            "task that observes numbers."
        )
    return task_extent(spec, seed)
