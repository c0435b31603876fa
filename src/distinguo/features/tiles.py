"""Tile coding (the CMAC of Albus 1981): several grids over the same states, each a little displaced.

Every state lies in one tile of each tiling, so a weight is shared by the states of a tile, and two states share as
many weights as there are tilings that do not part them. There is no hashing: each tile has a weight of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError, shown, whole_number
from distinguo.features.extent import check_number, checked_box, checked_counts, product
from distinguo.features.feature import (
    MOST_FEATURES,
    activate,
    are_memberships,
    coordinates_of,
    count_features,
    room_needed,
)
from distinguo.seam import implements

Displacement = Literal["odd", "regular"]


class TileCoding(NamedTuple):
    """Tilings of equal tiles; the outermost tiles reach to infinity, so every state has one tile of each.

    >>> two = tiles(2, [2], low=[0.0], high=[1.0])  # tiles half as wide as the extent, displaced by half a tile
    >>> active, strengths = np.zeros(2, dtype=np.int64), np.zeros(2)
    >>> [activate(two, (x,), active, strengths) and active.tolist() for x in (0.1, 0.3, 0.6, 9.0)]
    [[0, 3], [0, 4], [1, 4], [2, 5]]
    """

    low: np.ndarray  #: (dimensions,) the lower corner of the first tiling
    width: np.ndarray  #: (dimensions,) of a tile
    counts: (
        np.ndarray
    )  #: (dimensions,) tiles of each tiling: one more than the extent holds, for the displacement
    offsets: np.ndarray  #: (tilings, dimensions) displacement downwards, in widths of a tile


def tiles(
    tilings: int,
    counts: Sequence[int],
    low: Sequence[float],
    high: Sequence[float],
    displacement: Displacement = "odd",
) -> TileCoding:
    """Lay so many tilings over the box from ``low`` to ``high``, each with ``counts[i]`` tiles along a coordinate.

    Tiling ``t`` of ``n`` is displaced by ``t/n`` of a tile: along every coordinate alike (``"regular"``, as in
    Albus's CMAC, which leaves artefacts along the diagonal), or by 1, 3, 5, … times as much along the first,
    second, third, … (``"odd"``, as Sutton and Barto recommend after Parks and Militzer), always modulo a tile.
    """
    lower, upper = checked_box("Tiles", low, high)
    number = checked_counts("Tiles", counts, len(lower))
    n = whole_number("The number of tilings", tilings, 1, MOST_FEATURES)
    if displacement not in ("odd", "regular"):
        raise DistinguoError(f"The displacement of tiles is 'odd' or 'regular', got {shown(displacement)}.")
    check_number("Tiles", n * product(number + 1))
    steps = 2 * np.arange(len(lower)) + 1 if displacement == "odd" else np.ones(len(lower), dtype=np.int64)
    offsets = (np.arange(n)[:, None] * steps % n) / n
    return TileCoding(lower, (upper - lower) / number, number + 1, offsets)


@implements(activate, TileCoding)
def tiles_at(features: TileCoding, s: tuple[float, ...], active: np.ndarray, strengths: np.ndarray) -> int:
    """Find the tile of each tiling, in row-major order within a tiling."""
    tilings = len(features.offsets)
    for t in range(tilings):
        place = t
        for i in range(len(s)):
            where = (s[i] - features.low[i]) / features.width[i] + features.offsets[t, i]
            last = float(features.counts[i] - 1)
            place = place * features.counts[i] + int(min(max(where, 0.0), last))
        active[t] = place
        strengths[t] = 1.0
    return tilings


@implements(are_memberships, TileCoding)
def _(features: TileCoding) -> bool:
    return True


@count_features.register(TileCoding)
def _(features: TileCoding) -> int:
    return len(features.offsets) * product(features.counts)


@room_needed.register(TileCoding)
def _(features: TileCoding) -> int:
    return len(features.offsets)


@coordinates_of.register(TileCoding)
def _(features: TileCoding) -> int:
    return len(features.low)
