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
from distinguo.controls.making import need_plane, with_provenance
from distinguo.errors import DistinguoError
from distinguo.representations.boxes import Box, Boxes, tree
from distinguo.representations.file import Representation
from distinguo.tasks.puck.analysis import balance_point
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.spec import TaskSpec

#: Boxes after which a tolerance counts as too small.
MOST_REGIONS = 10_000


def controllability(
    spec: TaskSpec, tolerance: float | None = None, horizon: int | None = None
) -> Representation:
    """Halve boxes until the controllability error of each is below the tolerance.

    A box is halved across the coordinate that leaves the smaller sum of errors.

    >>> from distinguo.tasks.catalog import task_spec
    >>> controllability(task_spec("puck"), tolerance=0.2, horizon=10).regions
    16
    """
    need_plane(spec, "controllability")
    steps = quickest_failure(spec) if horizon is None else horizon
    limit = holdable_width(spec) if tolerance is None else tolerance
    if not limit > 0 or steps < 1:
        raise DistinguoError(
            f"The controllability analysis needs a positive tolerance and a horizon of at least one step, "
            f"got {limit} and {steps}."
        )
    return with_provenance(
        spec, _divided(spec, limit, steps), "controllability", tolerance=limit, horizon=steps
    )


def holdable_width(spec: TaskSpec) -> float:
    """Return how wide the zone is in which a puck at rest can be held, in widths of the space.

    >>> from distinguo.tasks.catalog import task_spec
    >>> round(holdable_width(task_spec("puck")), 3)
    0.223
    """
    if not isinstance(spec.task, Puck):
        raise DistinguoError(
            f"No rule is known for the tolerance of a controllability analysis of '{spec.name}'; give one."
        )
    return min(1.0, 2 * balance_point(spec.task) / spec.scale[0])


def _divided(spec: TaskSpec, tolerance: float, horizon: int) -> Boxes:
    known: dict[Box, float] = {}
    regions = 1

    def error(box: Box) -> float:
        if box not in known:  # a half is weighed when its whole is cut, and again when its own turn comes
            known[box] = controllability_error(spec, box, horizon)
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
        errors = [math.fsum(map(error, _halves(box, axis))) for axis in range(len(box[0]))]
        axis = errors.index(min(errors))
        return axis, _middle(box, axis)

    return tree(spec.low, spec.high, weakest)


def _middle(box: Box, axis: int) -> float:
    return (box[0][axis] + box[1][axis]) / 2


def _halves(box: Box, axis: int) -> tuple[Box, Box]:
    low, high, middle = list(box[0]), list(box[1]), _middle(box, axis)
    low[axis] = high[axis] = middle
    return (box[0], tuple(high)), (tuple(low), box[1])
