"""What is measured: 50 trials that hold for ever, over partitions of 2 to 10,000 prototypes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.evaluation.lockstep.driver import evaluate_lockstep
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.puck.analysis import DIAGONAL_SLOPE
from distinguo.tasks.puck.puck import LEFT, Puck

BATCH = 50  #: the tester's
LONG = 50_000  #: steps after which a trial is taken to hold
DRAWS = 40  #: of a partition, until one holds trials


class Problem(NamedTuple):
    """A controller that holds the puck from all of the starts."""

    size: int  #: prototypes
    task: Puck
    controller: Controller
    starts: np.ndarray


def draw_problem(size: int, seed: int = 0) -> Problem:
    """Draw prototypes until the policy that knows the side of the diagonal of each holds the puck.

    >>> draw_problem(24).starts.shape
    (50, 2)
    """
    hill = task_spec("puck")
    low, high = np.array(hill.low), np.array(hill.high)
    rng = np.random.default_rng([seed, size])
    for _ in range(DRAWS):
        places = rng.uniform(low, high, (size, 2)) if size > 2 else np.array([[0.3, 0.6], [-0.3, -0.6]])
        to_the_left = places[:, 1] > DIAGONAL_SLOPE * places[:, 0]
        q = np.where(to_the_left[:, None] == (np.arange(2) == LEFT), 0.0, -1.0)
        starts = rng.uniform(low / 4, high / 4, (4 * BATCH, 2))
        controller = Controller(voronoi(places, hill.scale), q)
        outcome = evaluate_lockstep(hill.task, controller, starts, LONG)
        if outcome is not None and (~outcome.ended).sum() >= BATCH:
            return Problem(size, hill.task, controller, starts[~outcome.ended][:BATCH])
    raise AssertionError(f"no draw of {size} prototypes holds the puck; choose another seed than {seed}")
