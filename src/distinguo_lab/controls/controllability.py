"""A representation that limits the loss of controllability, in the manner of Hu (1996; section 4.2.2, Figure 14).

"First, compute the worst-case deviations between possible trajectories of the agent that start from different
states; then divide the state-space into regions small enough that when this deviation is integrated over all pairs
  of states in a region, the resulting controllability error is less than a tolerance." The published boxes and their
tolerance are not at hand; the analysis of deviations and the two constants are ours:

- the horizon is the quickest failure from the start by a repeated action: the shortest time in which all is lost;
- the tolerance is the width of the zone in which a puck at rest can be held, from one balance point to the other:
  trajectories that part by more cannot both be held. It bounds the *average* deviation over pairs of states; to bound
  the integral, as the paper words it, is the other form, :func:`integrated_controllability`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from distinguo.controls import need_plane, with_provenance
from distinguo.errors import DistinguoError
from distinguo.representations.boxes import Box, Boxes, tree
from distinguo.representations.file import Representation
from distinguo.seam import kernel, part
from distinguo.tasks.puck.analysis import balance_point
from distinguo.tasks.puck.puck import Puck
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import actions, start, transition, unpack

NODES = 3  #: states per coordinate of a box in the average over pairs (Gauss-Legendre; ours)
LONGEST = 10_000  #: steps within which repeating an action must fail to give a horizon


class Trajectories(NamedTuple):
    """States that start together, and how far apart they have moved."""

    first: np.ndarray  #: (states, dimensions) their starts
    now: np.ndarray  #: (states, dimensions)
    ended: np.ndarray  #: (states,) whether their trajectories have ended
    weight: np.ndarray  #: (dimensions,) one over the widths of the space
    squared: np.ndarray  #: (states, states) the squares of the largest distances so far


def controllability_error(spec: TaskSpec, box: Box, horizon: int) -> float:
    """Return the average deviation over all pairs of states of a box.

    >>> from distinguo.tasks.catalog import task_spec
    >>> hill = task_spec("puck")
    >>> round(controllability_error(hill, ((0.0, 0.0), (1.2, 2.75)), horizon=54), 2)
    0.32
    """
    nodes, shares = np.polynomial.legendre.leggauss(NODES)
    low, high = np.array(box[0]), np.array(box[1])
    # Measured from the middle, mirrored boxes have mirrored states and cuts, to the last bit.
    states = (low + high) / 2 + (high - low) / 2 * _product(nodes, len(low))
    share = _product(shares / 2, len(low)).prod(axis=1)
    deviations = _deviations(spec, states, horizon)
    return float(share @ deviations @ share)


def _product(values: np.ndarray, dimensions: int) -> np.ndarray:
    mesh = np.meshgrid(*[values] * dimensions, indexing="ij")
    return np.column_stack([axis.ravel() for axis in mesh])


def _deviations(spec: TaskSpec, states: np.ndarray, horizon: int) -> np.ndarray:
    count = len(states)
    ended, squared = np.zeros(count, dtype=np.bool_), np.zeros((count, count))
    trajectories = Trajectories(states, states.copy(), ended, 1.0 / np.array(spec.scale), squared)
    send_all_sequences(spec.task, trajectories, horizon)
    return np.sqrt(squared)


@kernel
def send_all_sequences(task: Any, trajectories: Trajectories, horizon: int) -> None:
    """Run the states under each sequence of actions that changes at most once before the horizon."""
    for a in range(actions(task)):
        for b in range(actions(task)):
            for change in range(1, horizon + 1):
                if a != b or change == horizon:
                    _send(task, trajectories, horizon, a, b, change)


@part
def _send(task: Any, trajectories: Trajectories, horizon: int, a: int, b: int, change: int) -> None:
    """Take action ``a`` up to a step and ``b`` from there on."""
    for n in range(len(trajectories.now)):
        trajectories.ended[n] = False
        for i in range(len(trajectories.weight)):
            trajectories.now[n, i] = trajectories.first[n, i]
    _compare(trajectories)
    for step in range(horizon):
        for n in range(len(trajectories.now)):
            if not trajectories.ended[n]:
                s, _, trajectories.ended[n] = transition(
                    task, unpack(task, trajectories.now[n]), a if step < change else b
                )
                for i in range(len(s)):
                    trajectories.now[n, i] = s[i]
        _compare(trajectories)


@part
def _compare(trajectories: Trajectories) -> None:
    """Keep the largest distance of each pair."""
    for n in range(len(trajectories.now)):
        for m in range(n):
            distance = 0.0
            for i in range(len(trajectories.weight)):
                d = (trajectories.now[n, i] - trajectories.now[m, i]) * trajectories.weight[i]
                distance += d * d
            if distance > trajectories.squared[n, m]:
                trajectories.squared[n, m] = distance
                trajectories.squared[m, n] = distance


def quickest_failure(spec: TaskSpec) -> int:
    """Return the fewest steps in which repeating one action fails from the start.

    >>> from distinguo.tasks.catalog import task_spec
    >>> quickest_failure(task_spec("puck"))
    54
    """
    first = start(spec.task, np.random.default_rng(0))
    lengths = [_length(spec.task, first, a) for a in range(len(spec.actions))]
    if min(lengths) >= LONGEST:
        raise DistinguoError(
            f"No action repeated from the start of the task '{spec.name}' fails within {LONGEST:,} steps, so the "
            f"controllability analysis has no horizon; give one."
        )
    return min(lengths)


def _length(task: Any, s: tuple[float, ...], a: int) -> int:
    for length in range(1, LONGEST):
        s, _, terminal = transition(task, s, a)
        if terminal:
            return length
    return LONGEST


#: A tolerance that takes more boxes is too small.
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
    boxes = _divided(spec, limit, lambda box: controllability_error(spec, box, steps))
    return with_provenance(spec, boxes, "controllability", tolerance=limit, horizon=steps)


def integrated_controllability(spec: TaskSpec, tolerance: float) -> Representation:
    """Halve boxes until the deviation of each, integrated over all pairs of its states, is below the tolerance.

    Coordinates are divided by the widths of the space, so a whole space has pairs of measure 1.

    >>> from distinguo.tasks.catalog import task_spec
    >>> integrated_controllability(task_spec("puck"), 1e-3).regions
    26
    """
    need_plane(spec, "controllability")
    if not 0 < tolerance < math.inf:
        raise DistinguoError(f"The controllability analysis needs a positive tolerance, got {tolerance}.")
    steps = quickest_failure(spec)

    def error(box: Box) -> float:
        measure = np.prod((np.array(box[1]) - np.array(box[0])) / np.array(spec.scale))
        return controllability_error(spec, box, steps) * float(measure) ** 2

    boxes = _divided(spec, tolerance, error)
    return with_provenance(
        spec, boxes, "controllability", tolerance=tolerance, horizon=steps, integrated=True
    )


def holdable_width(spec: TaskSpec) -> float:
    """Return the width of the zone in which a puck at rest can be held, as a share of the space.

    >>> from distinguo.tasks.catalog import task_spec
    >>> round(holdable_width(task_spec("puck")), 3)
    0.223
    """
    if not isinstance(spec.task, Puck):
        raise DistinguoError(
            f"There is no default tolerance for a controllability analysis of '{spec.name}'; give one."
        )
    return min(1.0, 2 * balance_point(spec.task) / spec.scale[0])


def _divided(spec: TaskSpec, tolerance: float, error_of: Callable[[Box], float]) -> Boxes:
    error = cache(error_of)  # a half is needed when its box is cut, and again when it is cut itself
    regions = 1

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
