"""A representation that limits the loss of controllability, in the manner of Hu (1996; section 4.2.2, Figure 14).

"First, compute the worst-case deviations between possible trajectories of the agent that start from different
states; then divide the state-space into regions small enough that when this deviation is integrated over all pairs
of states in a region, the resulting controllability error is less than a tolerance." The published boxes and their
tolerance are not at hand; the analysis (``controls.deviation``) and the two constants are ours:

- the horizon is the quickest failure from the start by a repeated action: the shortest time in which all is lost;
- the tolerance is the width of the zone in which a puck at rest can be held, from one balance point to the other:
  trajectories that part by more cannot both be held.
"""

from __future__ import annotations

import math

from distinguo.controls.deviation import controllability_error, quickest_failure
from distinguo.controls.making import made, need_plane
from distinguo.errors import DistinguoError
from distinguo.representation.boxes import Box, Boxes, tree
from distinguo.representation.file import Representation
from distinguo.tasks.puck import Puck
from distinguo.tasks.puck_analysis import balance_point
from distinguo.tasks.world import World

#: Boxes after which a tolerance counts as too small.
MOST_REGIONS = 10_000


def controllability(
    world: World, tolerance: float | None = None, horizon: int | None = None
) -> Representation:
    """Halve boxes until the controllability error of each is below the tolerance.

    A box is halved across the coordinate that leaves the smaller sum of errors.

    >>> from distinguo.tasks.catalog import world
    >>> controllability(world("puck"), tolerance=0.2, horizon=10).regions
    16
    """
    need_plane(world, "controllability")
    steps = quickest_failure(world) if horizon is None else horizon
    limit = holdable_width(world) if tolerance is None else tolerance
    if not limit > 0 or steps < 1:
        raise DistinguoError(
            f"The controllability analysis needs a positive tolerance and a horizon of at least one step, "
            f"got {limit} and {steps}."
        )
    return made(world, _divided(world, limit, steps), "controllability", tolerance=limit, horizon=steps)


def holdable_width(world: World) -> float:
    """Return how wide the zone is in which a puck at rest can be held, in widths of the space.

    >>> from distinguo.tasks.catalog import world
    >>> round(holdable_width(world("puck")), 3)
    0.223
    """
    if not isinstance(world.task, Puck):
        raise DistinguoError(
            f"No rule is known for the tolerance of a controllability analysis of '{world.name}'; give one."
        )
    return min(1.0, 2 * balance_point(world.task) / world.scale[0])


def _divided(world: World, tolerance: float, horizon: int) -> Boxes:
    known: dict[Box, float] = {}
    regions = 1

    def error(box: Box) -> float:
        if box not in known:  # a half is weighed when its whole is cut, and again when its own turn comes
            known[box] = controllability_error(world, box, horizon)
        return known[box]

    def weakest(box: Box, depth: int) -> tuple[int, float] | None:
        nonlocal regions
        if error(box) < tolerance:
            return None
        regions += 1
        if regions > MOST_REGIONS:
            raise DistinguoError(
                f"A controllability error below {tolerance} takes more than {MOST_REGIONS:,} regions; "
                f"give a larger tolerance."
            )
        left = [math.fsum(map(error, _halves(box, axis))) for axis in range(len(box[0]))]
        axis = left.index(min(left))
        return axis, _middle(box, axis)

    return tree(world.low, world.high, weakest)


def _middle(box: Box, axis: int) -> float:
    return (box[0][axis] + box[1][axis]) / 2


def _halves(box: Box, axis: int) -> tuple[Box, Box]:
    low, high, middle = list(box[0]), list(box[1]), _middle(box, axis)
    low[axis] = high[axis] = middle
    return (box[0], tuple(high)), (tuple(low), box[1])
