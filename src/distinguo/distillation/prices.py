"""The price of every distinction of a distilled map: what is lost if a region takes the action of its neighbour."""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.distillation.trials.trials import Contender, Trials
from distinguo.learners.refinement.improvement import PrototypeMap
from distinguo.learners.refinement.prices import STARTS


def neighbouring_prototypes(map_: PrototypeMap, seen: np.ndarray) -> list[tuple[int, int]]:
    """Return the pairs of prototypes between which some state that was seen lies: its nearest and the next.

    >>> line = PrototypeMap(np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 0]), np.array([1.0]))
    >>> neighbouring_prototypes(line, np.array([[0.1], [1.2], [1.9]]))
    [(0, 1), (1, 2)]
    """
    if len(map_.actions) < 2:
        return []
    pairs = set()
    for row in seen:
        far = (((map_.prototypes - row) / map_.scale) ** 2).sum(axis=1)
        i, j = np.argsort(far, kind="stable")[:2]
        pairs.add((int(min(i, j)), int(max(i, j))))
    return sorted(pairs)


def neighbour_prices(
    trials: Trials, map_: PrototypeMap, regions: np.ndarray, seen: np.ndarray, starts: list[int]
) -> list[dict[str, Any]]:
    """Return what is lost if two neighbours act alike, by which of their actions it costs less.

    ``regions`` are those of the prototypes.
    """
    pairs = [(i, j) for i, j in neighbouring_prototypes(map_, seen) if map_.actions[i] != map_.actions[j]]
    changed = [
        map_.with_action(given_up, int(map_.actions[kept]))
        for i, j in pairs
        for kept, given_up in ((i, j), (j, i))
    ]
    gained = trials.judge([Contender(one, starts[:STARTS]) for one in (map_, *changed)])
    means = [float(returns.mean()) for returns in gained]
    return [
        {
            "event": "price",
            "prototypes": [i, j],
            "regions": regions[[i, j]].tolist(),
            "actions": map_.actions[[i, j]].tolist(),
            "lost": means[0] - max(means[1 + 2 * n], means[2 + 2 * n]),
            "starts": STARTS,
        }
        for n, (i, j) in enumerate(pairs)
    ]
