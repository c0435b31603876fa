"""The paper's learner where an action is an amount: a bracket of sampled amounts, finer where regret may be.

The paper leaves such tasks to future work, which "will require criteria that consider how the *range* of action
affects the overall reward" (section 5.1). Figures 1-6 stay as they are. Actions are samples of the amounts: the ends
of each range and the middle at first, all on axes through the middle. Between two samples a profile is linear, and
states are kept apart by the criteria over ranges (:mod:`distinguo.ranges`). Where a concave profile could exceed its
best sample by more than epsilon, the amount halfway is sampled, too.

>>> from distinguo.tasks.spec import Amounts
>>> fresh_bracket(Amounts((-2.0,), (2.0,), ("u",), True)).points.tolist()
[[-2.0], [0.0], [2.0]]
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from distinguo.criteria import Vector
from distinguo.errors import DistinguoError
from distinguo.learners.agent import fresh_arrays
from distinguo.learners.driver import first_action, get_action, locate, look_back, pauses
from distinguo.learners.economy.figures import is_adequate
from distinguo.learners.economy.memory import (
    Memory,
    checked_memory,
    current_epsilon,
    forget_stack,
    rules_apart,
    sizes_of,
    with_room,
)
from distinguo.ranges import axis_lines, inadequacy_over, incompatibility_over
from distinguo.representations.growing import primary_rows
from distinguo.seam import implements
from distinguo.tasks.amounts import MOST_LAWS
from distinguo.tasks.spec import Amounts

EVERY = 8  #: sessions between two refinements
FINEST = 1 / 16  #: of a range: two samples are not closer
SHARES = np.arange(1, 16) / 16.0  #: of an edge: the places at which a concave profile is bounded
MOST_AMOUNTS = (MOST_LAWS - 1) // 2  #: of which there is room for both ends and the middle


class Bracket(NamedTuple):
    """The sampled amounts, and which of them are neighbours on an axis."""

    points: np.ndarray  #: (actions, amounts)
    edges: np.ndarray  #: (edges, 2)
    refined: np.ndarray  #: (1,) the sessions before the last refinement


_tuple_of: Any = NamedTuple
#: The fields of the paper's memory, and the bracket.
RangeMemory = _tuple_of(
    "RangeMemory", [*get_type_hints(Memory, include_extras=True).items(), ("bracket", Bracket)]
)


def with_bracket(memory: Memory, bracket: Bracket) -> Any:
    """The memory of the paper's learner with a bracket of amounts."""
    return RangeMemory(*memory, bracket)


def without_bracket(memory: Any) -> Memory:
    """The memory as the paper's learner has it."""
    return Memory(*memory[:-1])


def fresh_bracket(box: Amounts) -> Bracket:
    """The ends of every range, and the middle."""
    low, high = np.array(box.low), np.array(box.high)
    if len(low) > MOST_AMOUNTS:
        raise DistinguoError(
            f"The learner 'economy' investigates at most {MOST_AMOUNTS} amounts, one after the other, and this task "
            f"takes {len(low)}; take --learner evolution."
        )
    middle = (low + high) / 2.0
    points = [middle]
    for axis in range(len(low)):
        for end in (low, high):
            point = middle.copy()
            point[axis] = end[axis]
            points.append(point)
    if len(low) == 1:
        points = sorted(points, key=lambda point: float(point[0]))
    return _bracket(np.array(points), 0)


def _bracket(points: np.ndarray, refined: int) -> Bracket:
    edges = [pair for line in axis_lines(points) for pair in pairwise(line)]
    return Bracket(points, np.array(edges, dtype=np.int64).reshape(-1, 2), np.array([refined]))


def possible_gains(q: np.ndarray, at: np.ndarray) -> np.ndarray:
    """By how much a concave profile can exceed its best sample on each edge of a line, for rows of values.

    On an edge it lies below the lines through the two samples on its left, and through the two on its right.

    >>> at = np.array([-1.0, 0.0, 1.0])
    >>> possible_gains(np.array([[0.0, 1.0, 2.0], [-1.0, 0.0, -1.0]]), at).round(2).tolist()
    [[0.0, 0.0], [0.94, 0.94]]
    """
    gains = np.empty((len(q), len(at) - 1))
    slopes = np.diff(q, axis=1) / np.diff(at)
    for n in range(len(at) - 1):
        xs = at[n] + SHARES * (at[n + 1] - at[n])
        bound = np.full((len(q), len(xs)), np.inf)
        if n > 0:
            bound = np.minimum(bound, q[:, n, None] + slopes[:, n - 1, None] * (xs - at[n]))
        if n + 2 < len(at):
            bound = np.minimum(bound, q[:, n + 1, None] + slopes[:, n + 1, None] * (xs - at[n + 1]))
        gains[:, n] = bound.max(axis=1) - q.max(axis=1)
    return np.maximum(gains, 0.0)


def refine_bracket(memory: Any, settings: Any) -> Any:
    """The memory with one amount more, halfway between two, if some region may gain more than epsilon by it."""
    bracket, sessions = memory.bracket, int(memory.counters["sessions"][0])
    points = bracket.points
    if len(points) >= MOST_LAWS or sessions < bracket.refined[0] + EVERY:
        return memory
    memory = memory._replace(bracket=bracket._replace(refined=np.array([sessions])))
    rows = primary_rows(memory.partition)
    known = rows[(memory.updates[rows] >= settings.min_updates).all(axis=1)]
    if not len(known):
        return memory
    best, between, width = current_epsilon(memory, settings), None, np.ptp(points, axis=0)
    for axis, line in enumerate(axis_lines(points)):
        at = points[line, axis]
        gains = possible_gains(memory.q[known][:, line], at).max(axis=0)
        gains[np.diff(at) / 2.0 < FINEST * width[axis]] = 0.0
        if gains.max() > best:
            best, n = float(gains.max()), int(gains.argmax())
            between = line[n], line[n + 1]
    return memory if between is None else _with_sample(memory, settings, *between, sessions)


def _with_sample(memory: Any, settings: Any, i: int, j: int, sessions: int) -> Any:
    """The memory with the amount halfway between two samples; regions are investigated anew."""
    plain, points = without_bracket(memory), memory.bracket.points
    count = len(points)
    sizes = sizes_of(plain.partition, count + 1, plain.states.shape[1])
    wider = fresh_arrays(Memory, {"partition": plain.partition}, **sizes)
    for name, new in wider._asdict().items():
        old = getattr(plain, name)
        if name != "partition" and new.shape == old.shape:
            new[...] = old
        elif name != "partition":
            new[:, :count] = old
    wider.q[:, count] = (plain.q[:, i] + plain.q[:, j]) / 2.0
    wider.updates[:, count] = np.minimum(
        np.minimum(plain.updates[:, i], plain.updates[:, j]), settings.reduced_updates
    )
    wider.investigated[:] = False
    return with_bracket(wider, _bracket(np.vstack([points, (points[i] + points[j]) / 2.0]), sessions))


def sampled_laws(memory: Any, dimensions: int) -> np.ndarray:
    """The sampled amounts as laws without gains."""
    points = memory.bracket.points
    table = np.zeros((*points.shape, dimensions + 1))
    table[:, :, -1] = points
    return table


# ---- Figures 1-6 with the criteria over ranges ---------------------------------------------------------------------


@implements(is_adequate, RangeMemory)
def _adequate_over(memory: Any, q: Vector, q1: Vector, epsilon: float, delta: float) -> bool:
    return inadequacy_over(q, q1, epsilon, delta, memory.bracket.edges) == 0


@implements(rules_apart, RangeMemory)
def _rules_over(memory: Any, q1: Vector, q2: Vector, epsilon: float) -> int:
    return incompatibility_over(q1, q2, epsilon, epsilon, epsilon, memory.bracket.edges)


@with_room.register(RangeMemory)
def _with_room(memory: Any, room: int) -> Any:
    return (
        memory
        if len(memory.q) >= room
        else with_bracket(with_room(without_bracket(memory), room), memory.bracket)
    )


@forget_stack.register(RangeMemory)
def _forget_stack(memory: Any) -> None:
    memory.pushed_at[:] = 0


@checked_memory.register(RangeMemory)
def _checked(memory: Any) -> Any:
    checked_memory(without_bracket(memory))
    points, bracket = memory.bracket.points, memory.bracket
    if points.ndim != 2 or len(points) != memory.q.shape[1] or not np.isfinite(points).all():
        raise ValueError("the sampled amounts are inconsistent")
    expected = _bracket(points, 0)
    if any(
        mine.dtype != like.dtype or mine.shape != like.shape or not mine.flags.c_contiguous
        for mine, like in zip(bracket, expected, strict=True)
    ) or not np.array_equal(bracket.edges, expected.edges):
        raise ValueError("the sampled amounts are inconsistent")
    return memory


def take_the_figures(parts: Any) -> None:
    """Let the driver call for this memory what it calls for the paper's own."""
    for of, body in zip((locate, first_action, get_action, pauses, look_back), parts, strict=True):
        implements(of, RangeMemory)(body)
