"""Starts from which a controller surely arrives, and within how many steps.

The box that trials start in is cut into pieces, and each is followed step by step, as strips, everywhere the
controller can take it; a strip that a boundary of the partition or the goal cuts is halved. If all that a piece
leads to has arrived after so many steps, every start of it arrives within them. Pieces that are not proven are halved
and tried again, so that what is left undecided is close around starts that fail, or nearly do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.actions import action_bits, room
from distinguo.proof.arrive.follow import UNKNOWN, arrive_all, make_desk
from distinguo.proof.arrive.strip import first_states
from distinguo.proof.arrive_schema import CAR, ArrivalCertificate, CarClaim, StartsClaim, domain_of
from distinguo.proof.certificate import controller_claim
from distinguo.proof.questions import ARRIVES, question_about

PIECES = 128  #: pieces that the starts are cut into at first
ROUNDS = 5  #: how often what is not proven is halved
FEW, WORTH = (
    64,
    0.1,
)  #: of more halves than a few, the share that must be proven for another round to be worth it
BUDGET = 50_000  #: steps of strips that one piece may take
HORIZON = 200  #: steps after which a trial that has not arrived counts as lost


class Arrivals(NamedTuple):
    """Which starts surely arrive."""

    boxes: np.ndarray  #: (pieces, 4) low x, high x, low v, high v, in order and without gaps
    steps: np.ndarray  #: (pieces,) within how many steps each arrives, or ``UNKNOWN``
    strips: int  #: steps of strips that were enclosed

    @property
    def proven(self) -> np.ndarray:
        """Return which pieces arrive."""
        return self.steps != UNKNOWN

    @property
    def weights(self) -> np.ndarray:
        """Return the share of each piece among all starts."""
        sides = np.column_stack([self.boxes[:, 1] - self.boxes[:, 0], self.boxes[:, 3] - self.boxes[:, 2]])
        sides[:, sides.max(axis=0) == 0.0] = 1.0
        sizes = sides.prod(axis=1)
        return sizes / sizes.sum()

    def share(self, steps: int) -> float:
        """Return the share of the starts that are proven to arrive within so many steps."""
        return 1.0 - float(self.weights[~self.proven | (self.steps > steps)].sum())

    def mean(self, lost: int) -> float:
        """Return what the mean number of steps certainly does not exceed, if others are stopped after ``lost``."""
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
    """Prove for as many starts as can be that the greedy policy arrives within ``horizon`` steps.

    >>> from distinguo.representation.voronoi import voronoi
    >>> from distinguo.tasks.mountain_car import MountainCar
    >>> with_the_swing = voronoi([[-0.5, 0.01], [-0.5, -0.0101]], [1.8, 0.14])
    >>> found = arrivals(MountainCar(), Controller(with_the_swing, np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])))
    >>> found.share(200), found.longest
    (1.0, 125)
    """
    if question_about(task) != ARRIVES:
        raise DistinguoError(f"There is no way known to prove that a {type(task).__name__} arrives.")
    boxes = cut_evenly(*first_states(task), pieces)
    found = Arrivals(boxes, *within(task, controller, boxes, horizon))
    for _ in range(rounds):
        if found.proven.all():
            break
        boxes = halved(found.boxes[~found.proven])
        steps, strips = within(task, controller, boxes, horizon)
        found = _refined(found, boxes, steps, strips)
        if len(steps) > FEW and (steps != UNKNOWN).mean() < WORTH:
            break
    return found


def _refined(found: Arrivals, boxes: np.ndarray, steps: np.ndarray, strips: int) -> Arrivals:
    """Put the halves of what was not proven in its place."""
    kept, left = np.flatnonzero(found.proven), np.flatnonzero(~found.proven)
    order = np.argsort(np.concatenate([kept, np.repeat(left, 2)]), kind="stable")
    every = np.concatenate([found.boxes[kept], boxes])[order]
    return Arrivals(every, np.concatenate([found.steps[kept], steps])[order], found.strips + strips)


def certified(task: Any, controller: Controller, found: Arrivals) -> ArrivalCertificate | None:
    """Write down what was proven; None if it is nothing."""
    if not found.proven.any():
        return None
    starts = StartsClaim(boxes=found.boxes[found.proven].tolist(), steps=found.steps[found.proven].tolist())
    try:
        car = CarClaim(name=CAR, parameters={name: float(value) for name, value in task._asdict().items()})
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise DistinguoError(f"There is no certificate for this task: {problem}.") from None
    claim = controller_claim(controller.partition, action_bits(controller))
    return ArrivalCertificate(task=car, controller=claim, starts=starts, domain=domain_of(starts))


def within(task: Any, controller: Controller, boxes: np.ndarray, horizon: int) -> tuple[np.ndarray, int]:
    """Return in how many steps each box of states arrives, or ``UNKNOWN``, and the work that it took."""
    partition = controller.partition
    room(partition)  # says which partitions can be proven, before anything is compiled
    sets = action_bits(controller)
    desk, steps = make_desk(partition, len(sets)), np.full(len(boxes), UNKNOWN, dtype=np.int64)
    arrive_all(task, partition, sets, desk, boxes, steps, horizon, BUDGET)
    return steps, int(desk.used[1])


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
