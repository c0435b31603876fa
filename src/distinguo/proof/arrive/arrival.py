"""Starts from which a controller surely arrives, and within how many steps.

The box that trials start in is cut into pieces, and each is followed step by step, as strips, everywhere the
controller can take it; a strip that a boundary of the partition or the goal cuts is halved. If all that a piece
leads to has arrived after so many steps, every start of it arrives within them. Pieces that are not proven are halved
and tried again, so that what is left undecided is close around starts that fail, or nearly do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.actions import action_sets_of
from distinguo.proof.arrive.search import UNKNOWN, arrive_all, nothing_waiting
from distinguo.proof.arrive.strip import enclose_strip, first_states
from distinguo.proof.claims import controller_claim, task_claim
from distinguo.proof.schema import ArrivalCertificate, StartsClaim, domain_of
from distinguo.seam import has_own

PIECES = 128  #: pieces that the starts are cut into at first
ROUNDS = 5  #: how often what is not proven is halved
#: Of more halves than a few, the share that must be proven for another round to be worth it.
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
    """Put the halves of what was not proven in its place."""
    kept, replaced = np.flatnonzero(proof.proven), np.flatnonzero(~proof.proven)
    order = np.argsort(np.concatenate([kept, np.repeat(replaced, 2)]), kind="stable")
    boxes = np.concatenate([proof.boxes[kept], halves.boxes])[order]
    steps = np.concatenate([proof.steps[kept], halves.steps])[order]
    return Arrivals(boxes, steps, proof.strips + halves.strips)


def certified(task: Any, controller: Controller, proof: Arrivals) -> ArrivalCertificate | None:
    """Write down what was proven; None if it is nothing."""
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
    """Return in how many steps each box of states arrives, or ``UNKNOWN``, and the work that it took."""
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
