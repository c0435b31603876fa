"""The ideal representation: two regions, parted by a line through the origin (section 4.1, Figure 9)."""

from __future__ import annotations

import math

import numpy as np

from distinguo.controls.making import need_plane, with_provenance
from distinguo.errors import DistinguoError
from distinguo.representations.file import Representation
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.puck.analysis import DIAGONAL_SLOPE
from distinguo.tasks.spec import TaskSpec

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
