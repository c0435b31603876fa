"""What is measured: 50 trials that hold for ever, over partitions of 2 to 10,000 prototypes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.evaluation.lockstep.voronoi import evaluate_lockstep
from distinguo.representation.voronoi import Voronoi, voronoi
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.puck.analysis import DIAGONAL_SLOPE
from distinguo.tasks.puck.puck import LEFT, Puck

LANES = 50  #: the tester's batch
LONG = 50_000  #: steps after which a trial is taken to hold
DRAWS = 40  #: of a partition, until one holds trials


class Problem(NamedTuple):
    """A partition whose policy holds the puck from all of the starts."""

    size: int
    task: Puck
    map: Voronoi
    q: np.ndarray
    starts: np.ndarray

    @property
    def policy(self) -> np.ndarray:
        """Return the action of each prototype."""
        return Controller(self.map, self.q).policy


def problem(size: int, seed: int = 0) -> Problem:
    """Draw prototypes until the policy that knows the side of the diagonal of each holds the puck.

    >>> problem(24).starts.shape
    (50, 2)
    """
    hill = task_spec("puck")
    low, high = np.array(hill.low), np.array(hill.high)
    rng = np.random.default_rng([seed, size])
    for _ in range(DRAWS):
        places = rng.uniform(low, high, (size, 2)) if size > 2 else np.array([[0.3, 0.6], [-0.3, -0.6]])
        left = places[:, 1] > DIAGONAL_SLOPE * places[:, 0]
        q = np.where(left[:, None] == (np.arange(2) == LEFT), 0.0, -1.0)
        starts = rng.uniform(low / 4, high / 4, (4 * LANES, 2))
        partition = voronoi(places, hill.scale)
        outcome = evaluate_lockstep(hill.task, Controller(partition, q, 0.0), starts, LONG)
        if outcome is not None and (~outcome.ended).sum() >= LANES:
            return Problem(size, hill.task, partition, q, starts[~outcome.ended][:LANES])
    raise AssertionError(f"no draw of {size} prototypes holds the puck; choose another seed than {seed}")
