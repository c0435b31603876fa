"""Controllers of the car in the valley to prove things about."""

from __future__ import annotations

import numpy as np

from distinguo.controller import Controller
from distinguo.evaluation.simulate import evaluate
from distinguo.representations.boxes import grid
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.mountain_car import MountainCar

CAR = MountainCar()
SCALE = (1.8, 0.14)
#: With the swing: to the right while it rolls right. The second prototype is a little farther, so that a car at rest
#: is not on the border.
SWING = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])


def swing(second: float = -0.0101):
    return voronoi([[-0.5, 0.01], [-0.5, second]], SCALE)


def swing_in_boxes():
    """The same with a border that a car at rest is above of."""
    return grid([1, 2], [-1.2, -0.071], [0.6, 0.0708]), SWING[::-1]


def random_policy(seed: int, prototypes: int = 24):
    """The swing over random prototypes, wrong in a few places, tied in others."""
    rng = np.random.default_rng(seed)
    places = rng.uniform((-1.2, -0.07), (0.6, 0.07), (prototypes, 2))
    q = np.where(places[:, 1:] > 0, SWING[0], SWING[1])
    q[rng.integers(prototypes)] = (1.0, 1.0, 0.0)
    return voronoi(places, SCALE), q


def steps_of(partition, q, xs, cap: int = 400) -> np.ndarray:
    """The steps of simulated trials from rest; ``cap`` where one has not arrived by then."""
    starts = np.column_stack([xs, np.zeros(len(xs))])
    outcome = evaluate(CAR, Controller(partition, q, 0.0), np.random.default_rng(0), starts, cap)
    return np.where(outcome.ended, outcome.lengths, cap)
