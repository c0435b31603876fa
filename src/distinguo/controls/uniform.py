"""The uniform grid (section 4.2.2: "a uniform 10 × 10 grid partitioning")."""

from __future__ import annotations

import math
from collections.abc import Sequence

from distinguo.controls.making import with_provenance
from distinguo.errors import DistinguoError
from distinguo.representations.boxes import grid
from distinguo.representations.file import Representation
from distinguo.tasks.spec import TaskSpec

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
