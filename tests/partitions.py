"""Prototypes of which some share a region, for tests of everything that stands on partitions."""

from __future__ import annotations

import numpy as np


def some_merged(rng: np.random.Generator, count: int, share: float = 0.3, first: int = 1) -> list[int]:
    """Return the primary of each of so many prototypes: itself, or for a share of them that of an older one."""
    primary = list(range(count))
    for p in range(first, count):
        if rng.random() < share:
            primary[p] = primary[rng.integers(p)]
    return primary
