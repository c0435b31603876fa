"""What is made of a run that solved its task: a map for other learners, and the price of every distinction."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.learners.refinement.improvement import Improvement, OutOfStepsError
from distinguo.learners.refinement.prices import prices
from distinguo.learners.refinement.representation import map_of, representation_from
from distinguo.representations.voronoi import Voronoi
from distinguo.tasks.spec import TaskSpec

PRICE_STEPS = 1_000_000  #: at most; prices that take more are not told
_STREAM = 2  #: follows the seed in the key of the random numbers, so that they are not the learner's


class Refined(NamedTuple):
    """The map for other learners with its values, what it took, and the prices."""

    representation: Controller
    assured: bool  #: whether a fresh learner is to be expected at the threshold on it
    steps: int
    prices: list[dict[str, Any]]
    price_steps: int


def refine_controller(spec: TaskSpec, controller: Controller, seed: int) -> Refined | None:
    """Refine a controller; None where trials cannot be begun again from the same starts, or are too long."""
    if not spec.restorable or spec.stochastic != "no" or not isinstance(controller.partition, Voronoi):
        return None
    rng = np.random.default_rng([seed, _STREAM])
    try:
        settled = representation_from(spec, controller, rng)
    except OutOfStepsError:
        return None
    work = Improvement(spec, map_of(controller), spec.cap(10_000), rng, PRICE_STEPS)
    try:
        entries = prices(work, controller.partition.regions)
    except OutOfStepsError:
        entries = []
    return Refined(settled.controller, settled.assured, settled.steps, entries, work.steps)
