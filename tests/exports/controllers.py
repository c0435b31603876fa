"""Controllers to export: random ones, and ones with states exactly on their borders."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.exports.tables import LabelledController
from distinguo.representations.boxes import Boxes, tree
from distinguo.representations.categories import Categories, categories
from distinguo.representations.partition import count_regions
from distinguo.representations.voronoi import Voronoi, voronoi
from tests.partitions import some_merged

#: Sixteenths have exact products and sums: two prototypes can be exactly equally near.
STEP = 0.0625


def voronoi_controller(
    rng: np.random.Generator, count: int, dimensions: int, actions: int = 3
) -> LabelledController:
    lattice = rng.permutation(np.array(list(itertools.product(range(-8, 9), repeat=min(dimensions, 3)))))
    rows = np.zeros((count, dimensions))
    rows[:, : lattice.shape[1]] = lattice[:count] * (4 * STEP)
    rows[:, 3:] = rng.integers(-8, 9, rows[:, 3:].shape) * (4 * STEP)
    scale = ([1.0, 4.0, 0.5, 2.0] * 2)[:dimensions]
    return controller(voronoi(rows, scale, some_merged(rng, count, first=2)), rng, actions)


def categories_controller(rng: np.random.Generator, count: int, dimensions: int) -> LabelledController:
    """Return a controller of labels from -3 to 3, so that many states differ equally from several prototypes."""
    labels = rng.permutation(np.array(list(itertools.product(range(-3, 4), repeat=dimensions))))
    return controller(categories(labels[:count].astype(float), some_merged(rng, count, first=2)), rng, 4)


def width_of(partition: Any) -> int:
    return len(partition.low) if isinstance(partition, Boxes) else partition.prototypes.shape[1]


def boxes_controller(rng: np.random.Generator, depth: int, dimensions: int) -> LabelledController:
    def cut(box: Any, level: int) -> tuple[int, float] | None:
        axis = int(rng.integers(dimensions))
        low, high = box[0][axis] / STEP, box[1][axis] / STEP
        if level >= depth or high - low < 2 or rng.random() < 0.1:
            return None
        return axis, float(rng.integers(int(low) + 1, int(high))) * STEP

    return controller(tree([-2.0] * dimensions, [2.0] * dimensions, cut), rng, 2)


def controller(
    partition: Voronoi | Boxes | Categories, rng: np.random.Generator, actions: int
) -> LabelledController:
    dimensions = tuple(f"c{i}" for i in range(width_of(partition)))
    q = rng.integers(-3, 3, (count_regions(partition), actions)).astype(
        float
    )  # with ties, of which the first should be taken
    names = tuple("abcdef"[:actions])
    return LabelledController(Controller(partition, q), dimensions, names, "test", provenance={"seed": 1})


def states_for(partition: Voronoi | Boxes | Categories, rng: np.random.Generator, count: int) -> np.ndarray:
    """Return random states, half of them on the lattice on which borders lie, and a few extreme ones."""
    width = width_of(partition)
    states = rng.uniform(-3, 3, (count, width))
    states[: count // 2] = rng.integers(-48, 49, (count // 2, width)) * STEP
    if isinstance(partition, Categories):
        states[: count // 2] = rng.integers(-4, 5, (count // 2, width))
    extremes = [np.inf, -np.inf, np.nan, 1e300, -0.0, 5e-324]
    states[-len(extremes) :] = np.array(extremes)[:, None]
    return states
