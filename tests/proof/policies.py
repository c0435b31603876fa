"""Greedy policies to prove things about: the diagonal, and noisy ones over random prototypes and grids."""

from __future__ import annotations

import numpy as np

from distinguo.controls import diagonal
from distinguo.evaluation.training import fresh_training, train
from distinguo.representations.boxes import grid
from distinguo.representations.partition import count_regions
from distinguo.representations.voronoi import voronoi
from distinguo.settings import TesterSettings
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.extent import TEST, TRAINING, Extent

HILL = task_spec("puck")
EXTENT = Extent(HILL.low, HILL.high)
GOOD = np.array([[0.0, -1.0], [-1.0, 0.0]])  #: the values of the diagonal's two regions


def ideal():
    return diagonal(HILL).partition


def random_partition(seed: int, prototypes: int):
    """Random prototypes, some of them merged; or, for none, a grid of boxes."""
    rng = np.random.default_rng(seed)
    if not prototypes:
        return grid(rng.integers(4, 12, 2).tolist(), HILL.low, HILL.high)
    rows, primary = rng.uniform(HILL.low, HILL.high, (prototypes, 2)), list(range(prototypes))
    for p in range(0, prototypes, 7):
        primary[p] = primary[(p + 1) % prototypes]
    return voronoi(rows, HILL.scale, primary)


def trained(seed: int, prototypes: int, steps: int = 60_000):
    """A partition and the values that the tester's learner finds for it."""
    partition = random_partition(seed, prototypes)
    learner, rng, done = (
        fresh_training(count_regions(partition), 2, TesterSettings(), 5_000),
        np.random.default_rng(seed),
        0,
    )
    while done < steps:
        first = EXTENT.draw(rng, TRAINING, 1)[0]
        done += train(HILL.task, partition, learner, TesterSettings(), rng, first, 5_000)[0]
    return partition, learner.q


def starts(seed: int, count: int = 50) -> np.ndarray:
    return EXTENT.draw(np.random.default_rng(seed), TEST, count)
