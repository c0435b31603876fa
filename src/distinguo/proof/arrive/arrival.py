"""Starts from which a controller surely arrives, and within how many steps.

The box that trials start in is cut into pieces. Each piece is followed step by step, as strips, everywhere the
controller can take it; a strip that is cut by a boundary of the partition or the goal is halved. If everything that
a piece leads to has arrived after n steps, every start of it arrives within n steps. Pieces that are not proven are
halved and tried again, so that only starts that fail or nearly fail stay undecided.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.actions import ActionSets, Hexagon, action_sets_of, possible
from distinguo.proof.arrive.car import (
    ARRIVED,
    NEVER,
    Strip,
    blurred,
    enclose_strip,
    first_states,
    half,
    last_digits,
    ways,
)
from distinguo.proof.question import controller_claim, task_claim
from distinguo.proof.schema import ArrivalCertificate, StartsClaim, domain_of
from distinguo.seam import has_own, kernel, part
from distinguo.tasks.task import actions

PIECES = 128  #: pieces that the starts are cut into at first
ROUNDS = 5  #: how often unproven pieces are halved
#: The share of halves that must be proven for another round, if there are more than a few.
FEW, WORTH = 64, 0.1
BUDGET = 50_000  #: steps of strips that one piece may take
HORIZON = 200  #: steps after which a trial that has not arrived counts as lost


class Arrivals(NamedTuple):
    """Which starts surely arrive."""

    boxes: np.ndarray  #: (pieces, 4) low x, high x, low v, high v, in order and without gaps
    steps: np.ndarray  #: (pieces,) within how many steps each arrives, or ``UNKNOWN``
    strips: int  #: steps of strips that were enclosed

    @property
    def proven(self) -> np.ndarray:
        """Which pieces arrive."""
        return self.steps != UNKNOWN

    @property
    def weights(self) -> np.ndarray:
        """Return the share of each piece among all starts."""
        sides = np.column_stack([self.boxes[:, 1] - self.boxes[:, 0], self.boxes[:, 3] - self.boxes[:, 2]])
        sides[:, sides.max(axis=0) == 0.0] = 1.0
        sizes = sides.prod(axis=1)
        return sizes / sizes.sum()

    def share(self, steps: int) -> float:
        """Return the share of the starts that are proven to arrive within ``steps`` steps."""
        return 1.0 - float(self.weights[~self.proven | (self.steps > steps)].sum())

    def mean(self, lost: int) -> float:
        """An upper bound of the mean number of steps, if unproven trials are stopped after ``lost``."""
        return float((self.weights * np.where(self.proven, self.steps, lost)).sum())

    @property
    def longest(self) -> int:
        """Return the steps within which every proven start arrives."""
        return int(self.steps.max())


def arrivals(
    task: Any,
    controller: Controller,
    *,
    horizon: int = HORIZON,
    pieces: int = PIECES,
    rounds: int = ROUNDS,
) -> Arrivals:
    """Prove for as many starts as possible that the greedy policy arrives within ``horizon`` steps.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.mountain_car import MountainCar
    >>> with_the_swing = voronoi([[-0.5, 0.01], [-0.5, -0.0101]], [1.8, 0.14])
    >>> proof = arrivals(MountainCar(), Controller(with_the_swing, np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])))
    >>> proof.share(200), proof.longest
    (1.0, 125)
    """
    if not has_own(enclose_strip, task):
        raise DistinguoError(f"There is no way known to prove that a {type(task).__name__} arrives.")
    boxes = cut_evenly(*first_states(task), pieces)
    proof = Arrivals(boxes, *within(task, controller, boxes, horizon))
    for _ in range(rounds):
        if proof.proven.all():
            break
        halves = halved(proof.boxes[~proof.proven])
        steps, strips = within(task, controller, halves, horizon)
        proof = _refined(proof, Arrivals(halves, steps, strips))
        if len(steps) > FEW and (steps != UNKNOWN).mean() < WORTH:
            break
    return proof


def _refined(proof: Arrivals, halves: Arrivals) -> Arrivals:
    """Replace unproven pieces by their halves."""
    kept, replaced = np.flatnonzero(proof.proven), np.flatnonzero(~proof.proven)
    order = np.argsort(np.concatenate([kept, np.repeat(replaced, 2)]), kind="stable")
    boxes = np.concatenate([proof.boxes[kept], halves.boxes])[order]
    steps = np.concatenate([proof.steps[kept], halves.steps])[order]
    return Arrivals(boxes, steps, proof.strips + halves.strips)


def certified(task: Any, controller: Controller, proof: Arrivals) -> ArrivalCertificate | None:
    """Return a certificate of what was proven; None if nothing was."""
    if not proof.proven.any():
        return None
    starts = StartsClaim(boxes=proof.boxes[proof.proven].tolist(), steps=proof.steps[proof.proven].tolist())
    return ArrivalCertificate(
        task=task_claim(task),
        controller=controller_claim(controller),
        starts=starts,
        domain=domain_of(starts),
    )


def within(task: Any, controller: Controller, boxes: np.ndarray, horizon: int) -> tuple[np.ndarray, int]:
    """Return in how many steps each box of states arrives, or ``UNKNOWN``, and the number of strips enclosed."""
    waiting, steps = nothing_waiting(), np.full(len(boxes), UNKNOWN, dtype=np.int64)
    arrive_all(task, action_sets_of(controller), waiting, boxes, steps, horizon, BUDGET)
    return steps, int(waiting.used[1])


def cut_evenly(low: Any, high: Any, pieces: int) -> np.ndarray:
    """Cut a box along its longer side.

    >>> cut_evenly((0.0, 0.0), (1.0, 0.0), 2).tolist()
    [[0.0, 0.5, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0]]
    """
    axis = int(high[1] - low[1] > high[0] - low[0])
    edges = np.linspace(low[axis], high[axis], pieces + 1)
    boxes = np.tile(np.array([low[0], high[0], low[1], high[1]], dtype=np.float64), (pieces, 1))
    boxes[:, 2 * axis], boxes[:, 2 * axis + 1] = edges[:-1], edges[1:]
    return boxes


def halved(boxes: np.ndarray) -> np.ndarray:
    """Return the two halves of each box, cut across its longer side.

    >>> halved(np.array([[0.0, 1.0, 0.0, 0.0]])).tolist()
    [[0.0, 0.5, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0]]
    """
    low, high = boxes[:, ::2], boxes[:, 1::2]
    rows, axis = np.arange(len(boxes)), (high - low).argmax(axis=1)
    middle = 0.5 * (low[rows, axis] + high[rows, axis])
    halves = np.repeat(boxes, 2, axis=0)
    halves[2 * rows, 2 * axis + 1] = middle
    halves[2 * rows + 1, 2 * axis] = middle
    return halves


# Following strips of starts everywhere a controller can take them: the compiled part of ``arrival``.


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
    """Queue a strip; False if there is no room."""
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
    """Return the number of ways, over all possible actions, that states of a strip may go."""
    chosen = chosen_in(task, policy, strip)
    count = 0
    for a in range(actions(task)):
        if (chosen >> a) & 1:
            for way in range(ways(task)):
                count += enclose_strip(task, strip, a, way)[1] != NEVER
    return count


@part
def _worth_halving(task: Any, policy: ActionSets, strip: Strip, count: int) -> bool:
    """Whether some half of a strip goes fewer ways and is longer than its uncertainty."""
    if abs(strip.along[0]) <= strip.off[0] and abs(strip.along[1]) <= strip.off[1]:
        return False
    one = _count_ways(task, policy, half(strip, -1.0))
    return one < count or _count_ways(task, policy, half(strip, 1.0)) < count


@part
def _spread(task: Any, policy: ActionSets, waiting: Waiting, strip: Strip, steps: int) -> bool:
    """Queue everything that one step leads to; False if there is no room."""
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
    """Follow the queue until everything has arrived; return the steps, or ``UNKNOWN``."""
    longest = 0
    limit = waiting.used[1] + budget
    while waiting.used[0] > 0:
        strip, steps = _take(waiting)
        if steps == horizon or waiting.used[1] == limit:
            return UNKNOWN
        waiting.used[1] += 1
        longest = max(longest, steps + 1)
        count = _count_ways(task, policy, strip)
        if count == 0:  # every state goes somewhere, so these are not numbers
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
