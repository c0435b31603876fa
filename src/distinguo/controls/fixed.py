"""Plain baselines: the diagonal split, uniform grids, the paper's two seed points (section 4.2).

``near_start`` is a rule that is "blind with respect to the task requirements" (section 2.1): "states closest to the
initial state required the finest resolution" (Hu and Fellman 1996).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from distinguo.errors import DistinguoError, whole_number
from distinguo.representations.boxes import Box, grid, tree
from distinguo.representations.file import Representation
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.extent import Extent, task_extent
from distinguo.tasks.puck.analysis import DIAGONAL_SLOPE
from distinguo.tasks.spec import CATEGORIES, TaskSpec
from distinguo.tasks.task import observe, seeded, start


def with_provenance(spec: TaskSpec, partition: Any, control: str, **numbers: Any) -> Representation:
    """Return a partition of a task's states with the name of the control and the numbers that it was made by.

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
    """Part the states above the line ``v = slope * x`` (region 0) from those below it (region 1).

    The prototypes are each other's mirror images at the line. Mirroring is done where distances are measured: in
    coordinates divided by the scale, in which the line's normal is ``(-slope * width, height)``.

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


#: Boxes of the largest grid; more would take long to build, and no learner of ours fills them.
MOST_REGIONS = 100_000


def uniform(spec: TaskSpec, counts: Sequence[int] = (10, 10)) -> Representation:
    """Cut each coordinate of the task's extent into so many equal intervals.

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

    With ``levels`` intervals on each side, the widths are as 1, 1, 2, 4, …: a source gives the principle, not the
    ratio.

    >>> from distinguo.tasks.catalog import task_spec
    >>> near_start(task_spec("puck"), seed=0, levels=3).regions
    36
    """
    extent = extent_of_amounts(spec, seed, "near-start")
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
    """Return where a coordinate is cut, in order.

    >>> _doubling(-4.0, 8.0, 0.0, 3)
    [-2.0, -1.0, 0.0, 2.0, 4.0]
    """
    shares = [2.0**-k for k in range(1, count)]
    below = [first + (low - first) * share for share in shares]
    above = [first + (high - first) * share for share in reversed(shares)]
    return [*below, first, *above]


def extent_of_amounts(spec: TaskSpec, seed: int, name: str) -> Extent:
    """Return the extent of a task; refuse one whose observations are labels."""
    if spec.kind == CATEGORIES:
        raise DistinguoError(
            f"The representation '{name}' measures distances, but the observations of {spec.name} are labels; take a "
            "task whose coordinates are amounts."
        )
    return task_extent(spec, seed)
