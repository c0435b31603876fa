"""The price of a distinction: the loss if two regions take the same action, the better of their two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from distinguo.search.maps import PrototypeMap, set_action

STARTS = 20  #: new trials that prices are measured with

Means = Callable[
    [Sequence[PrototypeMap]], Sequence[float]
]  #: from maps to their mean returns on common starts


def prices(
    given: PrototypeMap,
    regions: np.ndarray,
    pairs: Sequence[tuple[int, int]],
    means: Means,
    starts: int = STARTS,
) -> list[dict[str, Any]]:
    """The loss if the prototypes of each pair act alike; pairs with the same action are left out.

    ``regions`` are the regions of the prototypes, ``starts`` the number of trials behind each mean.

    >>> from distinguo.search.maps import prototype_map
    >>> line = prototype_map([[0.0], [1.0]], [0, 1], [1.0])
    >>> [price["lost"] for price in prices(line, np.arange(2), [(0, 1)], lambda maps: [9.0, 4.0, 6.0])]
    [3.0]
    """
    actions = given.actions
    priced = [(i, j) for i, j in pairs if actions[i] != actions[j]]
    alike = [
        given.changed(set_action, given_up, int(actions[kept]))
        for i, j in priced
        for kept, given_up in ((i, j), (j, i))
    ]
    whole, *rest = means([given, *alike])
    return [
        {
            "event": "price",
            "prototypes": [i, j],
            "regions": regions[[i, j]].tolist(),
            "actions": actions[[i, j]].tolist(),
            "lost": whole - max(rest[2 * n], rest[2 * n + 1]),
            "starts": starts,
        }
        for n, (i, j) in enumerate(priced)
    ]


def all_pairs(given: PrototypeMap) -> list[tuple[int, int]]:
    """Return all pairs of prototypes."""
    return list(combinations(range(given.size), 2))


def neighbouring_prototypes(given: PrototypeMap, seen: np.ndarray) -> list[tuple[int, int]]:
    """Return the pairs of prototypes that some observation lies between: its nearest and the next.

    >>> from distinguo.search.maps import prototype_map
    >>> line = prototype_map([[0.0], [1.0], [2.0]], [0, 1, 0], [1.0])
    >>> neighbouring_prototypes(line, np.array([[0.1], [1.2], [1.9]]))
    [(0, 1), (1, 2)]
    """
    if given.size < 2:
        return []
    pairs = set()
    for row in seen:
        far = (((given.prototypes - row) / given.scale) ** 2).sum(axis=1)
        i, j = np.argsort(far, kind="stable")[:2]
        pairs.add((int(min(i, j)), int(max(i, j))))
    return sorted(pairs)
