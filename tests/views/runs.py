"""Runs of any task with made-up regions: quick, and with as many of them as a test asks for."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete

from distinguo.representations.categories import categories
from distinguo.representations.file import Representation
from distinguo.representations.voronoi import voronoi
from distinguo.runs.configuration import configure
from distinguo.runs.run import Run
from tests.partitions import some_merged

#: What a learner would observe where a task does not say how far it extends.
OBSERVED = 3.0
EIGHT = "tests/Glider-v0"  #: a task of eight coordinates and four actions, as LunarLander has


class Glider(gymnasium.Env[np.ndarray, int]):
    """Falls slowly; each action turns two of the coordinates into each other. It lands after fifty steps."""

    observation_space = Box(-OBSERVED, OBSERVED, shape=(8,), dtype=np.float64)
    action_space = Discrete(4)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.place, self.steps = self.np_random.uniform(-1.0, 1.0, 8), 0
        return self.place.copy(), {}

    def step(self, action: int) -> Any:
        x, y = self.place[2 * action : 2 * action + 2]
        self.place[2 * action : 2 * action + 2] = 0.8 * x - 0.6 * y, 0.6 * x + 0.8 * y
        self.steps += 1
        return self.place.copy(), float(self.place[::2].sum()), self.steps >= 50, False, {}


gymnasium.register(EIGHT, Glider)


def made_up(task: str, count: int, seed: int = 0, merged: float = 0.3) -> Run:
    """Return a run of a task with so many random prototypes, some of them merged, and arbitrary values."""
    configuration = configure(task)
    spec, rng = configuration.spec, np.random.default_rng(seed)
    low, high = (np.clip(side, -OBSERVED, OBSERVED) for side in (spec.low, spec.high))
    if spec.kind == "categories":
        low, high = np.array(spec.low), np.array(spec.high)
        rows = np.unique(rng.integers(low, high + 1, (count, len(low))), axis=0)
        partition: Any = categories(rng.permutation(rows), some_merged(rng, len(rows), merged))
    else:
        rows = rng.uniform(low, high, (count, len(low)))
        partition = voronoi(rows, high - low, some_merged(rng, count, merged))
    provenance = {"task": task, "extent": [low.tolist(), high.tolist()]}
    q = rng.normal(0.0, 10.0, (len(partition.primaries), len(spec.actions))).round(1)
    updates = rng.integers(0, 500, q.shape)
    representation = Representation(partition, spec.dimensions, provenance)
    return Run(configuration, representation, q, updates, {"solved": True}, [], [])
