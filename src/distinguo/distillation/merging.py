"""Merge regions where one law does for both: from sampled amounts to laws.

The paper's learner knows what each sampled amount is worth in each of its regions. Two regions that take different
amounts need not be kept apart if a law ``u = clip(K s + b)`` hits the preferred range of both: its regret (section
2.2) is small in each. So regions are merged in pairs, the pair first whose common law loses least, until one is left.
``condense`` tries in the task which of these maps keep the return.

>>> from distinguo.representations.voronoi import voronoi
>>> wants = np.array([[0.0, -1.0, -2.0], [-1.0, 0.0, -1.0], [-2.0, -1.0, 0.0]])  # -1, 0 and 1
>>> line = Controller(voronoi([[-2.0], [0.0], [2.0]], [1.0]), wants)
>>> merged = merged_maps(line, np.array([[[0.0, -1.0]], [[0.0, 0.0]], [[0.0, 1.0]]]))
>>> [one.actions[:3].tolist() for one in merged.maps]                  # one law, then two
[[5, 5, 5], [3, 3, 4]]
>>> [[abs(round(x, 6)) for x in law] for law in merged.laws[5].tolist()]  # u = s / 2
[[0.5, 0.0]]
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.ranges import along, axis_lines, common_law
from distinguo.search.maps import PrototypeMap, prototype_map

MOST_REGIONS = 24  #: of a map whose regions are merged; the work grows with the square


class Merging(NamedTuple):
    """Maps of a controller's prototypes with fewer and fewer laws, and all laws that they choose from."""

    laws: np.ndarray  #: (laws, amounts, dimensions + 1) those of the controller first
    maps: list[PrototypeMap]  #: the one with the fewest laws first


def merged_maps(controller: Controller, sampled: np.ndarray) -> Merging:
    """What the regions of a controller merge into; its actions are the ``sampled`` amounts, as laws without gains."""
    partition, groups = controller.partition, controller.partition.regions.copy()
    laws, at = list(sampled), {}
    maps: list[PrototypeMap] = []
    merging = _Laws(controller, sampled[:, :, -1])
    while 1 < len(known := np.unique(groups)) <= MOST_REGIONS:
        pairs = list(combinations(known.tolist(), 2))
        losses = [merging.law_of((groups == one) | (groups == other))[1] for one, other in pairs]
        one, other = pairs[int(np.argmin(losses))]
        groups = np.where(groups == other, one, groups)
        for group in np.unique(groups):
            key = (groups == group).tobytes()
            if key not in at:
                at[key] = len(laws)
                laws.append(merging.law_of(groups == group)[0])
        actions = [at[(groups == group).tobytes()] for group in groups]
        maps.insert(0, prototype_map(partition.prototypes, actions, partition.scale))
    return Merging(np.array(laws), maps)


class _Laws:
    """The common laws of some of a controller's prototypes, each found once."""

    def __init__(self, controller: Controller, points: np.ndarray) -> None:
        partition = controller.partition
        self.places, self.profiles = partition.prototypes, controller.q[partition.regions]
        self.points, self.lines = points, axis_lines(points)
        self.found: dict[bytes, tuple[np.ndarray, float]] = {}

    def law_of(self, members: np.ndarray) -> tuple[np.ndarray, float]:
        """The law, a row for each amount, and the most that it loses at a prototype: one amount after the other."""
        key = members.tobytes()
        if key not in self.found:
            rows = [
                common_law(
                    self.places[members], self.profiles[members][:, line], along(self.points[line, axis])
                )
                for axis, line in enumerate(self.lines)
            ]
            self.found[key] = np.array([row.law for row in rows]), max(row.loss for row in rows)
        return self.found[key]


def only_used(taken: PrototypeMap, laws: np.ndarray) -> tuple[PrototypeMap, np.ndarray]:
    """A map and the laws that it uses, numbered anew.

    >>> laws = np.array([[[0.0, float(a)]] for a in range(3)])
    >>> small, used = only_used(prototype_map([[0.0], [1.0]], [2, 2], [1.0]), laws)
    >>> small.actions[:2].tolist(), used.tolist()
    ([0, 0], [[[0.0, 2.0]]])
    """
    used, actions = np.unique(taken.actions[: taken.size], return_inverse=True)
    return prototype_map(taken.prototypes, actions, taken.scale), laws[used]
