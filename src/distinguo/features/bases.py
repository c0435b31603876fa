"""Features over a box of states: tile coding, radial basis functions, perceptrons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError, attempt, shown, whole_number
from distinguo.features.feature import (
    MOST_FEATURES,
    activate,
    are_memberships,
    coordinates_of,
    count_features,
    room_needed,
)
from distinguo.seam import implements, part

# Tile coding (the CMAC of Albus 1981): several grids over the same states, each a little displaced.
#
# Every state lies in one tile of each tiling. The states of a tile share its weight, so two states share as many
# weights as there are tilings that do not separate them. There is no hashing: each tile has its own weight.


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
    """Lay that many tilings over the box from ``low`` to ``high``, each with ``counts[i]`` tiles along a
    coordinate.

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


# Radial basis functions: bell curves whose centres lie on a grid.
#
# ``f_i(s) = exp(-1/2 sum_k ((s_k - c_ik) / w_k)^2)``, or divided by the sum over all centres when normalised. On a
# grid the exponential is a product of one factor per coordinate, so that ten by ten centres cost twenty exponentials.


class RadialBases(NamedTuple):
    """Bell curves on a grid of centres; a state beyond the grid counts as the nearest one within it.

    >>> three = radial_bases([3], low=[0.0], high=[1.0])
    >>> active, strengths = np.zeros(6, dtype=np.int64), np.zeros(6)
    >>> activate(three, (0.5,), active, strengths), strengths[:3].round(3).tolist()
    (3, [0.607, 1.0, 0.607])
    """

    low: np.ndarray  #: (dimensions,) the lowest centre
    high: np.ndarray  #: (dimensions,) the highest one
    counts: np.ndarray  #: (dimensions,) centres along each coordinate
    width: np.ndarray  #: (dimensions,) of the bell: its standard deviation
    normalised: bool = False  #: whether strengths add up to 1


def radial_bases(
    counts: Sequence[int],
    low: Sequence[float],
    high: Sequence[float],
    *,
    width: float = 1.0,
    normalised: bool = False,
) -> RadialBases:
    """Put ``counts[i]`` centres along each coordinate, at equal distances from ``low`` to ``high``.

    ``width`` is that of a bell in distances between centres. A single centre lies in the middle of the extent, and
    the extent replaces the distance.
    """
    lower, upper = checked_box("Radial basis functions", low, high)
    number = checked_counts("Radial basis functions", counts, len(lower))
    check_number("Radial basis functions", product(number))
    pitch = (upper - lower) / np.maximum(number - 1, 1)
    single = number == 1
    middle = (lower + upper) / 2
    return RadialBases(
        np.where(single, middle, lower),
        np.where(single, middle, upper),
        number,
        pitch * checked_width(width),
        bool(normalised),
    )


@implements(activate, RadialBases)
def bells_at(features: RadialBases, s: tuple[float, ...], active: np.ndarray, strengths: np.ndarray) -> int:
    """Multiply the factors of the coordinates, in row-major order of the centres."""
    count = 1
    strengths[0] = 1.0
    spare = len(strengths) - 1  # the factors of one coordinate are kept at the end of the row
    for i in range(len(s)):
        own = int(features.counts[i])
        for k in range(own):
            strengths[spare - k] = _factor(features, s[i], i, k)
        for back in range(count):
            j = count - 1 - back
            so_far = strengths[j]
            for k in range(own):
                strengths[j * own + own - 1 - k] = so_far * strengths[spare - (own - 1 - k)]
        count *= own
    for j in range(count):
        active[j] = j
    if features.normalised:
        total = 0.0
        for j in range(count):
            total += strengths[j]
        for j in range(count):
            strengths[j] /= total
    return count


@part
def _factor(features: RadialBases, x: float, i: int, k: int) -> float:
    """The factor of one coordinate for the bells whose centre is the k-th along it."""
    low, high = features.low[i], features.high[i]
    pitch = (high - low) / max(features.counts[i] - 1, 1)
    seen = min(max(x, low), high) if features.counts[i] > 1 else x
    away = (seen - (low + k * pitch)) / features.width[i]
    return math.exp(-0.5 * away * away)


@implements(are_memberships, RadialBases)
def _(features: RadialBases) -> bool:
    return True


@count_features.register(RadialBases)
def _(features: RadialBases) -> int:
    return product(features.counts)


@room_needed.register(RadialBases)
def _(features: RadialBases) -> int:
    return product(features.counts) + int(features.counts.max())


@coordinates_of.register(RadialBases)
def _(features: RadialBases) -> int:
    return len(features.low)


# A perceptron: a weighted sum of the scaled coordinates and a bias, and of threshold units if there are any.
#
# Without units it is the plain linear function of the state. Units are Rosenblatt's association layer: each responds
# with 1 on one side of a plane through the states, with 0 on the other, and is not learned.


class Perceptron(NamedTuple):
    """Feature 0 is the bias, always 1; then the coordinates, from -1 to 1 over the extent; then the units.

    >>> linear = perceptron(low=[0.0, 0.0], high=[1.0, 4.0])
    >>> active, strengths = np.zeros(3, dtype=np.int64), np.zeros(3)
    >>> activate(linear, (1.0, 1.0), active, strengths), strengths.tolist()
    (3, [1.0, 1.0, -0.5])
    """

    middle: np.ndarray  #: (dimensions,) of the extent
    half: np.ndarray  #: (dimensions,) half its width
    normals: np.ndarray  #: (units, dimensions) of the planes of the units, in scaled coordinates
    thresholds: np.ndarray  #: (units,) where along its normal a plane lies


def perceptron(low: Sequence[float], high: Sequence[float], units: int = 0, seed: int = 0) -> Perceptron:
    """Make a perceptron over the box from ``low`` to ``high``, with that many threshold units.

    The plane of a unit has a direction drawn at random and goes through a state drawn at random from the box, both
    in scaled coordinates: in the sources, the wiring of the association layer is random.
    """
    lower, upper = checked_box("Perceptrons", low, high)
    count = whole_number("The number of units", units, 0, MOST_FEATURES)
    rng = np.random.default_rng(whole_number("The seed", seed))
    directions = rng.normal(size=(count, len(lower)))
    normals = directions / np.sqrt((directions**2).sum(axis=1, keepdims=True))
    through = rng.uniform(-1.0, 1.0, (count, len(lower)))
    return Perceptron((lower + upper) / 2, (upper - lower) / 2, normals, (normals * through).sum(axis=1))


@implements(activate, Perceptron)
def units_at(features: Perceptron, s: tuple[float, ...], active: np.ndarray, strengths: np.ndarray) -> int:
    """Scale the coordinates and ask every unit on which side of its plane they lie."""
    dimensions, units = len(features.middle), len(features.thresholds)
    strengths[0] = 1.0
    for i in range(dimensions):
        strengths[1 + i] = (s[i] - features.middle[i]) / features.half[i]
    for u in range(units):
        along = 0.0
        for i in range(dimensions):
            along += features.normals[u, i] * strengths[1 + i]
        strengths[1 + dimensions + u] = 1.0 if along >= features.thresholds[u] else 0.0
    count = 1 + dimensions + units
    for n in range(count):
        active[n] = n
    return count


@count_features.register(Perceptron)
def _(features: Perceptron) -> int:
    return 1 + len(features.middle) + len(features.thresholds)


@coordinates_of.register(Perceptron)
def _(features: Perceptron) -> int:
    return len(features.middle)


# What all features share: the box of states that they cover, and its checks.


def checked_box(what: str, low: Any, high: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the two corners of a box as arrays, or say what is wrong with them.

    >>> checked_box("Tiles", [0], [0])
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Tiles need a finite low and a higher end for each coordinate, got [0] and [0].
    """
    ends = [attempt(np.array, end, np.float64, otherwise=np.zeros(0)) for end in (low, high)]
    alike = ends[0].ndim == 1 and ends[0].shape == ends[1].shape and len(ends[0]) > 0
    if not alike or not np.isfinite(ends).all() or not (ends[0] < ends[1]).all():
        raise DistinguoError(
            f"{what} need a finite low and a higher end for each coordinate, got {shown(low)} and {shown(high)}."
        )
    return ends[0], ends[1]


def checked_counts(what: str, counts: Any, dimensions: int) -> np.ndarray:
    """Return one whole number from 1 per coordinate, or say what is wrong with them."""
    given = list(counts) if isinstance(counts, Sequence | np.ndarray) and not isinstance(counts, str) else []
    if len(given) != dimensions:
        raise DistinguoError(f"{what} need {dimensions} counts, one per coordinate, got {shown(counts)}.")
    return np.array([whole_number(f"A count of {what.lower()}", n, 1, MOST_FEATURES) for n in given])


def checked_width(width: Any) -> float:
    """Return the width of a bell in distances between centres, or say what is wrong with it."""
    if isinstance(width, bool) or not isinstance(width, Real) or not 0.01 <= float(width) <= 100.0:
        raise DistinguoError(
            "The width of radial basis functions is a number from 0.01 to 100, in distances between centres, got "
            f"{shown(width)}."
        )
    return float(width)


def check_number(what: str, features: int) -> None:
    """Reject too many features."""
    if features > MOST_FEATURES:
        raise DistinguoError(
            f"{what} may have {MOST_FEATURES:,} features at most, got {features:,}; take fewer."
        )


def product(counts: np.ndarray) -> int:
    """Return the product of counts as a Python number, which cannot overflow."""
    return math.prod(counts.tolist())
