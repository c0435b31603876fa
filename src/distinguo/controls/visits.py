"""The two trials that VRDP builds its boxes from (section 4.2.2), as the cells of a fine grid they come through."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller, choose
from distinguo.controls.uniform import uniform
from distinguo.errors import DistinguoError
from distinguo.evaluation.qlearning import train
from distinguo.representations.boxes import Boxes, count_leaves, grid
from distinguo.representations.partition import region
from distinguo.seam import kernel
from distinguo.settings import TesterSettings
from distinguo.tasks.extent import TRAINING, Extent
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import start, transition, unpack

#: "succeeded in keeping the puck in the center of the hill for over 100,000 steps" (paper, section 4.2.2).
HOLD = 100_000
#: "a system with the uniform 10 × 10 partitioning of the space" (paper, section 4.2.2).
COUNTS = (10, 10)
#: Training steps after which the system of the successful trial gives up; it needs some thousands (ours).
EFFORT = 1_000_000


class VisitedCells(NamedTuple):
    """A trial, seen through the cells of a grid."""

    visited: np.ndarray  #: (cells,) whether the trial came through each cell; a terminal state is in none
    length: int
    fell: bool


@kernel
def follow_through(
    task: Any,
    controller: Controller,
    rng: np.random.Generator,
    now: np.ndarray,
    steps: int,
    cells: Boxes,
    visited: np.ndarray,
) -> tuple[int, bool]:
    """Follow the frozen greedy policy from ``now``, marking the cells that the trial comes through."""
    s = unpack(task, now)
    length = 0
    terminal = False
    while not terminal and length < steps:
        visited[region(cells, s)] = True
        a = choose(controller.q[region(controller.partition, s)], controller.delta, rng)
        s, _, terminal = transition(task, s, a)
        length += 1
    return length, terminal


def failed_trial(spec: TaskSpec, cells: Boxes) -> VisitedCells:
    """Repeat the last action (the puck's push to the right) from the start: the policy of a single box.

    >>> from distinguo.tasks.catalog import task_spec
    >>> hill = task_spec("puck")
    >>> failed_trial(hill, grid([64, 64], hill.low, hill.high)).length
    54
    """
    last = np.zeros((1, len(spec.actions)))
    last[0, -1] = 1.0
    single = grid([1] * len(spec.dimensions), spec.low, spec.high)
    trial = _trial(spec, Controller(single, last), np.random.default_rng(0), cells)
    if not trial.fell:
        raise DistinguoError(
            f"VRDP begins with a trial that fails, but repeating the action '{spec.actions[-1]}' in the task "
            f"'{spec.name}' held for {HOLD:,} steps."
        )
    return trial


def successful_trial(spec: TaskSpec, cells: Boxes, seed: int) -> VisitedCells:
    """Train the tester's learner on the 10 × 10 grid until its greedy trial from the start holds 100,000 steps.

    The greedy trial is tried after every training trial, with learning turned off.

    >>> from distinguo.tasks.catalog import task_spec
    >>> hill = task_spec("puck")
    >>> successful_trial(hill, grid([64, 64], hill.low, hill.high), seed=1).length
    100000
    """
    coarse, settings = uniform(spec, COUNTS), TesterSettings()
    q = np.zeros((coarse.rows, len(spec.actions)))
    rng, extent, steps = np.random.default_rng(seed), Extent(spec.low, spec.high), 0
    while steps < EFFORT:
        first = extent.draw(rng, TRAINING, 1)[0]
        steps += train(spec.task, coarse.partition, q, settings, rng, first, settings.training_cap)[0]
        trial = _trial(spec, Controller(coarse.partition, q), rng, cells)
        if not trial.fell:
            return trial
    raise DistinguoError(
        f"With seed {seed} no greedy trial on the 10 × 10 grid held {HOLD:,} steps of the task '{spec.name}' "
        f"within {EFFORT:,} training steps, so VRDP has no successful trial; try another seed."
    )


def _trial(spec: TaskSpec, controller: Controller, rng: np.random.Generator, cells: Boxes) -> VisitedCells:
    visited = np.zeros(count_leaves(cells), dtype=np.bool_)
    now = np.array(start(spec.task, rng))
    length, fell = follow_through(spec.task, controller, rng, now, HOLD, cells, visited)
    return VisitedCells(visited, int(length), bool(fell))
