"""A partition given by anybody's function of a state; it runs as plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from distinguo.errors import DistinguoError
from distinguo.representations.partition import count_regions, region
from distinguo.seam import implements_interpreted


class FunctionPartition(NamedTuple):
    """A function from a state to the number of its region, and how many regions there are.

    >>> halves = FunctionPartition(lambda s: int(s[0] > 0), regions=2)
    >>> region(halves, (0.5,))
    1
    """

    function: Callable[[tuple[float, ...]], int]
    regions: int


@implements_interpreted(region, FunctionPartition)
def answer_of(partition: FunctionPartition, s: tuple[float, ...]) -> int:
    """Ask the function, and check its answer."""
    j = int(partition.function(s))
    if not 0 <= j < partition.regions:
        raise DistinguoError(
            f"The partition gave region {j} for {s}; allowed are 0 to {partition.regions - 1}."
        )
    return j


@count_regions.register(FunctionPartition)
def _(partition: FunctionPartition) -> int:
    return partition.regions
