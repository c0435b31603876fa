"""The uniform grid (section 4.2.2: "a uniform 10 × 10 grid partitioning")."""

from __future__ import annotations

import math
from collections.abc import Sequence

from distinguo.controls.making import made
from distinguo.errors import DistinguoError
from distinguo.representation.boxes import grid
from distinguo.representation.file import Representation
from distinguo.tasks.world import World

#: Boxes of the largest grid; more would take long to build, and no learner of ours fills them.
MOST_REGIONS = 100_000


def uniform(world: World, counts: Sequence[int] = (10, 10)) -> Representation:
    """Cut each coordinate of the world's extent into so many equal intervals.

    >>> from distinguo.tasks.catalog import world
    >>> uniform(world("puck"), (10, 10)).regions
    100
    """
    _check(world, counts)
    return made(world, grid(counts, world.low, world.high), "grid", counts=list(counts))


def _check(world: World, counts: Sequence[int]) -> None:
    text = "x".join(map(str, counts))
    if len(counts) != len(world.dimensions):
        raise DistinguoError(
            f"A grid needs one count per coordinate ({', '.join(world.dimensions)}), got {len(counts)} in '{text}'."
        )
    if min(counts) < 1 or math.prod(counts) > MOST_REGIONS:
        raise DistinguoError(f"A grid has from 1 to {MOST_REGIONS:,} boxes, got '{text}'.")
