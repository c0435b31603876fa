"""Following strips of starts everywhere a controller can take them: the compiled part of ``arrival``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.proof.actions import ActionSets, Hexagon, possible
from distinguo.proof.arrive.strip import (
    ARRIVED,
    NEVER,
    Strip,
    blurred,
    enclose_strip,
    half,
    last_digits,
    ways,
)
from distinguo.seam import kernel, part
from distinguo.tasks.task import actions

UNKNOWN = -1  #: steps of starts that are not proven to arrive
DEPTH = 4096  #: strips that may wait to be followed


class Waiting(NamedTuple):
    """Strips that are still to be followed, the last one first."""

    rows: np.ndarray  #: (DEPTH, 7) centre, along and off of each strip, and the steps that led to it
    used: np.ndarray  #: (2,) how many wait, and how many steps of strips were enclosed in all


def nothing_waiting() -> Waiting:
    """Make the arrays for a proof."""
    return Waiting(np.empty((DEPTH, 7)), np.zeros(2, dtype=np.int64))


@part
def strip_of(box: np.ndarray) -> Strip:
    """Return a strip that is a box of states, along its longer side; the box is low x, high x, low v, high v.

    >>> [float(number) for number in strip_of(np.array([0.0, 2.0, 0.0, 0.0])).along]
    [1.0, 0.0]
    """
    centre = (0.5 * (box[0] + box[1]), 0.5 * (box[2] + box[3]))
    # the middle is rounded, so it may be nearer to one end than to the other; the distances are rounded too
    x = max(box[1] - centre[0], centre[0] - box[0])
    v = max(box[3] - centre[1], centre[1] - box[2])
    off = (last_digits(centre[0], x), last_digits(centre[1], v))
    if x >= v:
        return Strip(centre, (x, 0.0), (off[0], v + off[1]))
    return Strip(centre, (0.0, v), (x + off[0], off[1]))


@part
def _put(waiting: Waiting, strip: Strip, steps: int) -> bool:
    """Let a strip wait; false if there is no room."""
    n = waiting.used[0]
    if n == len(waiting.rows):
        return False
    for i in range(2):
        waiting.rows[n, i] = strip.centre[i]
        waiting.rows[n, 2 + i] = strip.along[i]
        waiting.rows[n, 4 + i] = strip.off[i]
    waiting.rows[n, 6] = steps
    waiting.used[0] = n + 1
    return True


@part
def _take(waiting: Waiting) -> tuple[Strip, int]:
    """Return the strip that came last, and its steps."""
    n = waiting.used[0] - 1
    waiting.used[0] = n
    row = waiting.rows[n]
    return Strip((row[0], row[1]), (row[2], row[3]), (row[4], row[5])), int(row[6])


@part
def chosen_in(task: Any, policy: ActionSets, strip: Strip) -> int:
    """Return the actions that the policy may take, seeing an observation of a state of the strip."""
    blur = blurred(task, strip)
    second, third = (strip.off[0] + blur[0], 0.0), (0.0, strip.off[1] + blur[1])
    return possible(policy.partition, policy, Hexagon(strip.centre, strip.along, second, third))


@part
def _count_ways(task: Any, policy: ActionSets, strip: Strip) -> int:
    """Return in how many ways, of any possible action, some state of a strip may go."""
    chosen = chosen_in(task, policy, strip)
    count = 0
    for a in range(actions(task)):
        if (chosen >> a) & 1:
            for way in range(ways(task)):
                count += enclose_strip(task, strip, a, way)[1] != NEVER
    return count


@part
def _worth_halving(task: Any, policy: ActionSets, strip: Strip, count: int) -> bool:
    """Tell whether some half of a strip goes in fewer ways, and is not lost in what is unknown of it anyway."""
    if abs(strip.along[0]) <= strip.off[0] and abs(strip.along[1]) <= strip.off[1]:
        return False
    one = _count_ways(task, policy, half(strip, -1.0))
    return one < count or _count_ways(task, policy, half(strip, 1.0)) < count


@part
def _spread(task: Any, policy: ActionSets, waiting: Waiting, strip: Strip, steps: int) -> bool:
    """Let everything wait that one step leads to; false if there is no room."""
    chosen = chosen_in(task, policy, strip)
    for a in range(actions(task)):
        for way in range(ways(task)):
            if (chosen >> a) & 1:
                image, known = enclose_strip(task, strip, a, way)
                if known != NEVER and known != ARRIVED and not _put(waiting, image, steps + 1):
                    return False
    return True


@part
def _arrives(task: Any, policy: ActionSets, waiting: Waiting, horizon: int, budget: int) -> int:
    """Follow what waits until all of it has arrived: the steps that suffice, or ``UNKNOWN``."""
    longest = 0
    limit = waiting.used[1] + budget
    while waiting.used[0] > 0:
        strip, steps = _take(waiting)
        if steps == horizon or waiting.used[1] == limit:
            return UNKNOWN
        waiting.used[1] += 1
        longest = max(longest, steps + 1)
        count = _count_ways(task, policy, strip)
        if count == 0:  # every state goes somewhere, so these are no numbers
            return UNKNOWN
        if count > 1 and _worth_halving(task, policy, strip, count):
            going = _put(waiting, half(strip, -1.0), steps) and _put(waiting, half(strip, 1.0), steps)
        else:
            going = _spread(task, policy, waiting, strip, steps)
        if not going:
            return UNKNOWN
    return longest


@kernel
def arrive_all(
    task: Any,
    policy: ActionSets,
    waiting: Waiting,
    boxes: np.ndarray,
    steps: np.ndarray,
    horizon: int,
    budget: int,
) -> None:
    """Find, for each box of starts, in how many steps all of it has arrived."""
    for n in range(len(boxes)):
        waiting.used[0] = 0
        _put(waiting, strip_of(boxes[n]), 0)
        steps[n] = _arrives(task, policy, waiting, horizon, budget)
