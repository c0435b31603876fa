"""Runs of any task with made-up regions: quick, and with as many of them as a test asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from distinguo.representations.categories import categories
from distinguo.representations.file import Representation
from distinguo.representations.voronoi import voronoi
from distinguo.runs.configuration import configure
from distinguo.runs.run import Run

#: What a learner would observe where a task does not say how far it extends.
OBSERVED = 3.0


def made_up(task: str, count: int, seed: int = 0, merged: float = 0.3) -> Run:
    """Return a run of a task with so many random prototypes, some of them merged, and arbitrary values."""
    pytest.importorskip("Box2D") if task.startswith("Lunar") else None
    configuration = configure(task)
    spec, rng = configuration.spec, np.random.default_rng(seed)
    low, high = (np.clip(side, -OBSERVED, OBSERVED) for side in (spec.low, spec.high))
    if spec.kind == "categories":
        low, high = np.array(spec.low), np.array(spec.high)
        rows = np.unique(rng.integers(low, high + 1, (count, len(low))), axis=0)
        partition: Any = categories(rng.permutation(rows))
    else:
        partition = voronoi(rng.uniform(low, high, (count, len(low))), high - low)
    size = int(partition.size[0])
    for p in range(1, size):
        if rng.random() < merged:
            partition.primary[p] = partition.primary[rng.integers(p)]
    provenance = {"task": task, "extent": [low.tolist(), high.tolist()]}
    q = rng.normal(0.0, 10.0, (size, len(spec.actions))).round(1)
    updates = rng.integers(0, 500, q.shape)
    representation = Representation(partition, spec.dimensions, provenance)
    return Run(configuration, representation, q, updates, {"solved": True}, [], [])
