"""The price of a distinction: what is lost if two regions are made one, by which of their actions it costs less."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from distinguo.learners.refinement.improvement import Improvement

STARTS = 20  #: new trials that prices are measured by


def prices(work: Improvement, regions: np.ndarray) -> list[dict[str, Any]]:
    """Return what each distinction between prototypes is worth, by trials from the same starts with and without it.

    ``regions`` are the regions of the prototypes.

    >>> from distinguo.learners.refinement.improvement import PrototypeMap
    >>> from distinguo.tasks.catalog import task_spec
    >>> swing = PrototypeMap(np.array([[-0.5, 0.02], [-0.5, -0.02]]), np.array([2, 0]), np.array([1.8, 0.14]))
    >>> car = Improvement(task_spec("MountainCar-v0"), swing, 200, np.random.default_rng(0))
    >>> [(price["regions"], price["actions"], price["lost"] > 50) for price in prices(car, np.arange(2))]
    [([0, 1], [2, 0], True)]
    """
    trails = work.fresh_trails(STARTS)
    before = float(np.mean([trail.total for trail in trails]))
    entries = []
    for i, j in combinations(range(len(work.map.actions)), 2):
        if work.map.actions[i] == work.map.actions[j]:  # they are one region
            continue
        after = max(_without_distinction(work, i, j, trails), _without_distinction(work, j, i, trails))
        entries.append(
            {
                "event": "price",
                "prototypes": [i, j],
                "regions": regions[[i, j]].tolist(),
                "actions": work.map.actions[[i, j]].tolist(),
                "lost": before - after,
                "starts": STARTS,
            }
        )
    return entries


def _without_distinction(work: Improvement, kept: int, given_up: int, trails: list[Any]) -> float:
    """Return the mean return if one region takes the action of another."""
    merged = work.map.with_action(given_up, int(work.map.actions[kept]))
    return float(np.mean([trail.total for trail in work.rerun_all(merged, trails)]))
