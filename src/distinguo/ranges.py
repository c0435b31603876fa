"""The criteria where an action is an amount: Definitions 3, 8 and 9 over ranges, "future work" of section 5.1.

A profile has values at *sampled* amounts; between two samples that an edge joins it is linear. Finite actions are
samples without edges, and then every function here gives what :mod:`distinguo.criteria` gives, bit for bit.

>>> force = along([-1.0, 0.0, 1.0])
>>> here, there = np.array([0.0, -0.1, -0.8]), np.array([-0.8, -0.1, 0.0])  # one wants -1, the other 1
>>> [intervals(force, preferred_range(q, 0.2, force.edges)) for q in (here, np.array([-2.0, -0.4, 0.0]))]
[[(-1.0, 0.14285714285714285)], [(0.5, 1.0)]]
>>> common_amount(here, there, force)  # their ranges meet for an epsilon of 0.1
Common(amount=(0.0,), loss=0.1)

Elsewhere in a box of amounts, what is known of a profile is enclosed by how steep it can be (:func:`enclosed`).
docs/paper-explained.md derives all this; docs/theory.md has what it buys.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from distinguo.criteria import BEST, POLICY, VALUE, Vector, prefers, state_value
from distinguo.errors import DistinguoError, attempt, shown
from distinguo.seam import guarded, part


class Samples(NamedTuple):
    """Sampled amounts, and which of them are joined by an edge, along which profiles are linear."""

    points: np.ndarray  #: (samples, amounts)
    edges: np.ndarray  #: (edges, 2) places of samples


def separate(count: int) -> Samples:
    """Finite actions: nothing lies between them.

    >>> len(separate(3).edges)
    0
    """
    return Samples(np.arange(float(count))[:, None], np.zeros((0, 2), dtype=np.int64))


def along(amounts: Sequence[float] | np.ndarray) -> Samples:
    """Samples of one amount, in order.

    >>> along([-1.0, 0.0, 2.0]).edges.tolist()
    [[0, 1], [1, 2]]
    """
    return product_of([amounts])


def product_of(axes: Sequence[Sequence[float] | np.ndarray]) -> Samples:
    """Samples of several amounts: all combinations, joined along each axis.

    >>> product_of([(-1.0, 1.0), (0.0, 1.0)]).edges.tolist()
    [[0, 1], [0, 2], [1, 3], [2, 3]]
    """
    rows = [attempt(np.asarray, axis, float, otherwise=np.zeros(0)) for axis in axes]
    if not rows or not all(row.ndim == 1 and len(row) and (np.diff(row) > 0.0).all() for row in rows):
        raise DistinguoError(f"Amounts should be sampled in increasing order, got {shown(axes)}.")
    points = np.array(list(product(*rows)))
    places = np.arange(len(points)).reshape([len(row) for row in rows])
    edges = [
        np.stack([places.take(range(n - 1), axis).ravel(), places.take(range(1, n), axis).ravel()], axis=1)
        for axis, n in enumerate(places.shape)
    ]
    joined = np.concatenate(edges)
    return Samples(points, joined[np.lexsort((joined[:, 1], joined[:, 0]))])


def rays(centre: Sequence[float], ends: Sequence[Sequence[float]], count: int) -> Samples:
    """Samples of several amounts on straight rays from a centre, ``count`` on each: far fewer than a grid.

    >>> rays((0.0, 0.0), [(1.0, 0.0), (0.0, 1.0)], 1).points.tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    start, goals = np.asarray(centre, float), np.asarray(ends, float)
    shares = np.arange(1, count + 1)[:, None] / count
    points = np.concatenate([start[None], *(start + shares * (end - start) for end in goals)])
    edges = [
        (0 if n == 0 else first + n - 1, first + n) for first in _firsts(goals, count) for n in range(count)
    ]
    return Samples(points, np.array(edges, dtype=np.int64).reshape(-1, 2))


def _firsts(goals: np.ndarray, count: int) -> list[int]:
    return [1 + n * count for n in range(len(goals))]


def axis_lines(points: np.ndarray) -> list[list[int]]:
    """Samples on axes through the middle of a box: those on each axis, in order.

    >>> axis_lines(np.array([[0.0, 2.0], [-1.0, 2.0], [1.0, 2.0], [0.0, 0.0], [0.0, 4.0]]))
    [[1, 0, 2], [3, 0, 4]]
    """
    off = points != (points.min(axis=0) + points.max(axis=0)) / 2.0
    return [
        sorted(
            np.flatnonzero(~np.delete(off, axis, axis=1).any(axis=1)).tolist(), key=lambda a: points[a, axis]
        )
        for axis in range(points.shape[1])
    ]


def _check(q: Any, other: Any, edges: Any, *tolerances: Any) -> None:
    """Raise unless two rows of values belong together and to the samples, and tolerances are numbers from 0."""
    rows = [attempt(np.asarray, row, float, otherwise=np.zeros(0)) for row in (q, other)]
    alike = rows[0].ndim == 1 and rows[0].shape == rows[1].shape and len(rows[0])
    if not alike or not np.isfinite(rows).all():
        raise DistinguoError(
            f"Two rows with as many finite numbers each are needed, got {shown(q)} and {shown(other)}."
        )
    if len(edges) and not (np.min(edges) >= 0 and np.max(edges) < len(rows[0])):
        raise DistinguoError(
            f"A profile needs a value for every sample: the edges name sample {int(np.max(edges))}, and there are "
            f"{len(rows[0])} values."
        )
    for tolerance in tolerances:
        if not (isinstance(tolerance, Real) and float(tolerance) >= 0.0):
            raise DistinguoError(f"Tolerances should be numbers from 0, got {shown(tolerance)}.")


# ---- Definitions 3 and 7: preferred ranges ------------------------------------------------------------------------


class PreferredRange(NamedTuple):
    """The amounts within a tolerance of the best: which samples, and which part of each edge."""

    points: np.ndarray  #: (samples,) booleans
    parts: np.ndarray  #: (edges, 2) from and to, as shares of the edge; NaN where there is none


@guarded(lambda q, tolerance, edges: _check(q, q, edges, tolerance))
def preferred_range(q: Vector, tolerance: float, edges: np.ndarray) -> PreferredRange:
    """Definitions 3 and 7: ``{u : Q(s, u) >= V(s) - tolerance}``. A profile is linear on an edge, so it has one part.

    >>> preferred_range(np.array([0.0, -1.0]), 0.25, along([0.0, 1.0]).edges).parts.tolist()
    [[0.0, 0.25]]
    """
    points = np.zeros(len(q), dtype=np.bool_)
    parts = np.full((len(edges), 2), np.nan)
    for a in range(len(q)):
        points[a] = prefers(q, a, tolerance)
    for n in range(len(edges)):
        i, j = edges[n, 0], edges[n, 1]
        if points[i] or points[j]:
            turn = _turn(q[i], q[j], state_value(q) - tolerance)
            parts[n, 0] = 0.0 if points[i] else turn
            parts[n, 1] = 1.0 if points[j] else turn
    return PreferredRange(points, parts)


@part
def _turn(one: float, other: float, floor: float) -> float:
    """Where a linear function from one value to another crosses the floor, as a share of the way."""
    return (one - floor) / (one - other) if one != other else 0.0


def intervals(samples: Samples, found: PreferredRange) -> list[tuple[float, float]]:
    """The preferred range of one amount as intervals from low to high.

    >>> intervals(along([0.0, 1.0, 2.0]), preferred_range(np.array([0.0, -1.0, 0.0]), 0.25, along([0, 1, 2]).edges))
    [(0.0, 0.25), (1.75, 2.0)]
    """
    at, (points, parts) = samples.points[:, 0], found
    pieces = [(float(at[a]), float(at[a])) for a in np.flatnonzero(points)]
    for (i, j), (start, end) in zip(samples.edges.tolist(), parts.tolist(), strict=True):
        if start == start:  # not NaN
            pieces.append((float(at[i] + start * (at[j] - at[i])), float(at[i] + end * (at[j] - at[i]))))
    merged: list[tuple[float, float]] = []
    for low, high in sorted(pieces):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


# ---- Definition 8 --------------------------------------------------------------------------------------------------


@part
def least_over(q: Vector, q1: Vector, tolerance: float, edges: np.ndarray) -> float:
    """The least that ``q1`` says of the amounts which ``q`` prefers: at a sample, or where a preferred part ends."""
    floor = state_value(q) - tolerance
    least = np.inf
    for a in range(len(q)):
        if prefers(q, a, tolerance):
            least = min(least, q1[a])
    for n in range(len(edges)):
        i, j = edges[n, 0], edges[n, 1]
        if prefers(q, i, tolerance) != prefers(q, j, tolerance):
            least = min(least, q1[i] + _turn(q[i], q[j], floor) * (q1[j] - q1[i]))
    return least


@guarded(lambda q, q1, delta, edges: _check(q, q1, edges, delta))
def regret_over(q: Vector, q1: Vector, delta: float, edges: np.ndarray) -> float:
    """Section 2.2: the reward lost at a state by the worst amount that its region prefers.

    >>> regret_over(np.array([0.0, -1.0]), np.array([0.0, -2.0]), 0.25, along([0.0, 1.0]).edges)
    0.5
    """
    return float(state_value(q1) - least_over(q, q1, delta, edges))


@guarded(lambda q, q1, epsilon, delta, edges: _check(q, q1, edges, epsilon, delta))
def inadequacy_over(q: Vector, q1: Vector, epsilon: float, delta: float, edges: np.ndarray) -> int:
    """Definition 8: the rules of epsilon-adequacy that fail at a state, as bits ``POLICY`` and ``VALUE``."""
    broken = 0
    if not least_over(q, q1, delta, edges) >= state_value(q1) - epsilon:  # Eq. 1
        broken |= POLICY
    if not abs(state_value(q1) - state_value(q)) <= epsilon:  # Eq. 2
        broken |= VALUE
    return broken


# ---- Definition 9 --------------------------------------------------------------------------------------------------


@part
def prefers_alike(q1: Vector, q2: Vector, tolerance: float, slack: float, edges: np.ndarray) -> bool:
    """Whether each of two states prefers, up to the slack, what the other prefers; without slack, the same range."""
    allowed = tolerance + slack
    one = least_over(q1, q2, tolerance, edges) >= state_value(q2) - allowed
    return bool(one and least_over(q2, q1, tolerance, edges) >= state_value(q1) - allowed)


@guarded(lambda q1, q2, epsilon, delta, slack, edges: _check(q1, q2, edges, epsilon, delta, slack))
def incompatibility_over(
    q1: Vector, q2: Vector, epsilon: float, delta: float, slack: float, edges: np.ndarray
) -> int:
    """Definition 9: the rules that keep two states apart, as bits ``POLICY``, ``VALUE`` and ``BEST``.

    The ends of a range move with the state, so two ranges are hardly ever the same. With ``slack``, an amount that
    one state prefers may lose that much more in the other.

    >>> one, other = np.array([0.0, -0.5, -1.0]), np.array([0.0, -0.6, -1.2])
    >>> force = along([0.0, 1.0, 2.0])
    >>> incompatibility_over(one, other, 0.25, 0.25, 0.0, force.edges) == POLICY
    True
    >>> incompatibility_over(one, other, 0.25, 0.25, 0.1, force.edges)
    0
    """
    broken = 0
    tie = delta if delta <= epsilon / 2 else 0.0
    if not prefers_alike(q1, q2, epsilon, slack, edges):  # Eq. 3
        broken |= POLICY
    if not abs(state_value(q1) - state_value(q2)) <= delta:  # Eq. 4
        broken |= VALUE
    if not prefers_alike(q1, q2, tie, slack, edges):  # Eq. 5, or 6
        broken |= BEST
    return broken


class Common(NamedTuple):
    """The amount that loses least in the worse of two states, and what it loses there."""

    amount: tuple[float, ...]
    loss: float


@part
def common_loss(q1: Vector, q2: Vector, edges: np.ndarray) -> tuple[float, int, int, float]:
    """What the best common amount loses in the worse of two states, and where: on the way from a sample to another.

    Preferred ranges meet if and only if it loses at most epsilon.
    """
    v1, v2 = state_value(q1), state_value(q2)
    least, start, end, share = np.inf, 0, 0, 0.0
    for a in range(len(q1)):
        loss = max(v1 - q1[a], v2 - q2[a])
        if loss < least:
            least, start, end, share = loss, a, a, 0.0
    for n in range(len(edges)):
        i, j = edges[n, 0], edges[n, 1]
        before, after = (v1 - q1[i]) - (v2 - q2[i]), (v1 - q1[j]) - (v2 - q2[j])
        if (before < 0.0 < after) or (
            after < 0.0 < before
        ):  # one loses more at one end, the other at the other
            t = before / (before - after)
            loss = (v1 - q1[i]) + t * (q1[i] - q1[j])
            if loss < least:
                least, start, end, share = loss, i, j, t
    return least, start, end, share


def common_amount(q1: Vector, q2: Vector, samples: Samples) -> Common:
    """The best common amount of two states: do their preferred ranges meet, and at which cost?"""
    _check(q1, q2, samples.edges)
    loss, i, j, share = common_loss(np.asarray(q1, float), np.asarray(q2, float), samples.edges)
    amount = samples.points[i] + share * (samples.points[j] - samples.points[i])
    return Common(tuple(amount.tolist()), float(loss))


@guarded(lambda q1, q2, epsilon, delta, edges: _check(q1, q2, edges, epsilon, delta))
def separation(q1: Vector, q2: Vector, epsilon: float, delta: float, edges: np.ndarray) -> int:
    """Which rules keep two states apart if a region takes their common amount: ``POLICY``, ``VALUE``, or none.

    That is what Definition 8 needs of a region; Definition 9 asks for more, as a region that averages values may
    take any amount that one of its states prefers.

    >>> separation(np.array([0.0, -0.1, -0.8]), np.array([-0.8, -0.1, 0.0]), 0.1, 0.1, along([-1, 0, 1]).edges)
    0
    """
    broken = 0
    if not common_loss(q1, q2, edges)[0] <= epsilon:
        broken |= POLICY
    if not abs(state_value(q1) - state_value(q2)) <= delta:
        broken |= VALUE
    return broken


# ---- laws: an amount that depends on the state ---------------------------------------------------------------------


class CommonLaw(NamedTuple):
    """The law that loses least in the worst of some states, what it loses, and what any law must lose."""

    law: tuple[float, ...]  #: a gain for each number observed, and the offset
    loss: float
    at_least: float  #: equal to ``loss``, up to the last bisection, if every preferred range is one interval


def value_at(q: Vector, u: float, samples: Samples) -> float:
    """The value of one amount by a profile, clipped to the samples.

    >>> value_at(np.array([0.0, -1.0]), 0.25, along([0.0, 1.0]))
    -0.25
    """
    return float(np.interp(u, samples.points[:, 0], q))


def law_regret(
    law: Sequence[float] | np.ndarray, s: Sequence[float] | np.ndarray, q1: Vector, samples: Samples
) -> float:
    """Section 2.2: the reward lost at a state by the amount that a law takes there.

    >>> law_regret((2.0, 0.5), (0.25,), np.array([0.0, -1.0]), along([0.0, 1.0]))  # it takes 1
    1.0
    """
    *gains, offset = law
    return float(state_value(q1) - value_at(q1, float(np.dot(gains, s) + offset), samples))


BISECTIONS = 40  #: of what a common law may lose


def common_law(states: Any, profiles: Any, samples: Samples) -> CommonLaw:
    """The best law of one amount for several states: ``K s + b``, clipped to the samples.

    A law may lose ``tau`` if it hits, in each state, the range of amounts that lose at most ``tau``: two linear
    inequalities per state, or one where the range reaches an end of the samples. So the least ``tau`` is found by
    bisection over linear programs. A range of several intervals is taken as the one around the best amount, which
    may cost too much, and as its hull, which bounds what any law must lose.

    >>> force = along([-1.0, 0.0, 1.0])
    >>> wants = [[0.0, -1.0, -2.0], [-1.0, 0.0, -1.0], [-2.0, -1.0, 0.0]]   # -1, 0 and 1
    >>> found = common_law([[-2.0], [0.0], [2.0]], wants, force)
    >>> found.loss < 1e-9
    True
    """
    seen, rows = np.asarray(states, float), np.asarray(profiles, float)
    if seen.ndim != 2 or rows.ndim != 2 or len(seen) != len(rows) or not len(seen):
        raise DistinguoError(
            f"A common law needs states and as many profiles, got shapes {seen.shape} and {rows.shape}."
        )
    if samples.points.shape[1] != 1 or rows.shape[1] != len(samples.points):
        raise DistinguoError(
            f"A common law is of one amount, with a value for each of its {len(samples.points)} samples, got "
            f"{rows.shape[1]} values of {samples.points.shape[1]} amounts."
        )
    inputs = np.column_stack([seen, np.ones(len(seen))])
    law, loss = _best_law(inputs, rows, samples, whole=False)
    _, at_least = _best_law(inputs, rows, samples, whole=True)
    worst = max(law_regret(law, s, q, samples) for s, q in zip(seen, rows, strict=True))
    return CommonLaw(tuple(law.tolist()), worst, min(at_least, loss, worst))


def _best_law(
    inputs: np.ndarray, rows: np.ndarray, samples: Samples, whole: bool
) -> tuple[np.ndarray, float]:
    low, high = 0.0, float((rows.max(axis=1) - rows.min(axis=1)).max())
    law = _law_within(inputs, rows, samples, 0.0, whole)
    if law is not None:
        return law, 0.0
    law = np.zeros(inputs.shape[1])
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        found = _law_within(inputs, rows, samples, middle, whole)
        if found is None:
            low = middle
        else:
            law, high = found, middle
    return law, high if not whole else low


def _law_within(
    inputs: np.ndarray, rows: np.ndarray, samples: Samples, loss: float, whole: bool
) -> np.ndarray | None:
    """A law that loses at most so much in every state, or None; the one farthest from where it would lose more."""
    from scipy.optimize import linprog  # imported here: it takes a quarter of a second

    at, sides, limits = samples.points[:, 0], [], []
    for x, q in zip(inputs, rows, strict=True):
        found = intervals(samples, preferred_range(q, loss, samples.edges))
        best = float(at[q.argmax()])
        least, most = (found[0][0], found[-1][1]) if whole else next(f for f in found if f[0] <= best <= f[1])
        if least > at[0]:
            sides.append([*-x, 1.0])
            limits.append(-least)
        if most < at[-1]:
            sides.append([*x, 1.0])
            limits.append(most)
    count = inputs.shape[1]
    if not sides:
        return np.zeros(count)
    room = [*[(None, None)] * count, (0.0, float(at[-1] - at[0]))]  # of the law, and of its distance
    found = linprog([*np.zeros(count), -1.0], np.array(sides), np.array(limits), bounds=room)
    return np.asarray(found.x[:-1]) if found.status == 0 else None


# ---- elsewhere in the box: enclosures ------------------------------------------------------------------------------

SURE, NEVER, UNDECIDED = 1, 0, -1  #: whether the amounts of a box are preferred
FINEST = 1 / 32  #: of the whole box: smaller boxes are not halved again
#: How much finer V is bounded than ranges are: all of them depend on it, and few boxes can be best.
FINER = 64
ROUNDING = 1e-12  #: relative: what additions of a few numbers may be off by


class Enclosed(NamedTuple):
    """What is certain of a preferred range: boxes of amounts that make up the whole box, and a verdict on each."""

    boxes: np.ndarray  #: (boxes, 2, amounts) low and high
    verdicts: np.ndarray  #: (boxes,) SURE, NEVER or UNDECIDED
    value: tuple[float, float]  #: V lies between these

    def share(self, verdict: int) -> float:
        """How much of the whole box has a verdict."""
        sizes = np.prod(self.boxes[:, 1] - self.boxes[:, 0], axis=1)
        return float(sizes[self.verdicts == verdict].sum() / sizes.sum())


class Steepness(NamedTuple):
    """A profile known at samples, and how steep it can be: ``|Q(u) - Q(w)| <= sum_i slope_i |u_i - w_i|``."""

    points: np.ndarray  #: (samples, amounts)
    q: np.ndarray  #: (samples,)
    slope: np.ndarray  #: (amounts,)

    def bounds(self, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest that the profile can be anywhere in each of some boxes."""
        far = np.maximum(boxes[:, None, 1] - self.points, self.points - boxes[:, None, 0]) @ self.slope
        pad = ROUNDING * (np.abs(self.q).max() + far.max())
        return (self.q - far).max(axis=1) - pad, (self.q + far).min(axis=1) + pad


def enclosed(
    samples: Samples, q: Any, slope: Any, tolerance: float, box: Any, finest: float = FINEST
) -> Enclosed:
    """Enclose the preferred range of a profile in a box of amounts: surely preferred, surely not, undecided.

    >>> found = enclosed(along([-1.0, 0.0, 1.0]), [-1.0, 0.0, -1.0], [1.0], 0.25, [(-1.0,), (1.0,)])
    >>> found.share(SURE), found.share(NEVER), found.share(UNDECIDED)
    (0.1875, 0.6875, 0.125)
    """
    known = _steepness(samples, q, slope, tolerance, box)
    whole = np.asarray(box, float)[None]
    greatest = max(float(known.q.max()), _highest(known, whole, finest))
    floor, waiting, done, verdicts = float(known.q.max()) - tolerance, whole, [], []
    while len(waiting):
        low, high = known.bounds(waiting)
        verdict = np.where(low >= greatest - tolerance, SURE, np.where(high < floor, NEVER, UNDECIDED))
        open_, small = verdict == UNDECIDED, _is_small(waiting, whole[0], finest)
        done.append(waiting[~open_ | small])
        verdicts.append(verdict[~open_ | small])
        waiting = _halved(waiting[open_ & ~small], whole[0])
    return Enclosed(np.concatenate(done), np.concatenate(verdicts), (float(known.q.max()), greatest))


def enclosed_common(
    samples: Samples, q1: Any, q2: Any, slope: Any, box: Any, finest: float = FINEST
) -> tuple[float, float]:
    """Bounds of what the best common amount of two states loses, anywhere in a box of amounts.

    >>> least, most = enclosed_common(along([-1.0, 1.0]), [0.0, -2.0], [-2.0, 0.0], [1.0], [(-1.0,), (1.0,)])
    >>> least <= 1.0 <= most < 1.1
    True
    """
    one, other = (_steepness(samples, q, slope, 0.0, box) for q in (q1, q2))
    whole = np.asarray(box, float)[None]
    v = [(float(known.q.max()), _highest(known, whole, finest)) for known in (one, other)]
    most, least, waiting = np.inf, np.inf, whole
    while len(waiting):
        centres = waiting.mean(axis=1, keepdims=True).repeat(2, axis=1)
        there = [known.bounds(centres)[0] for known in (one, other)]
        most = min(most, float(np.maximum(v[0][1] - there[0], v[1][1] - there[1]).min()))
        tops = [known.bounds(waiting)[1] for known in (one, other)]
        can = np.maximum(np.maximum(v[0][0] - tops[0], v[1][0] - tops[1]), 0.0)
        small = _is_small(waiting, whole[0], finest)
        least = min(least, float(can[small].min(initial=np.inf)))
        waiting = _halved(waiting[~small & (can < most)], whole[0])
    return min(least, most), most


def _steepness(samples: Samples, q: Any, slope: Any, tolerance: float, box: Any) -> Steepness:
    _check(q, q, samples.edges, tolerance)
    steep, whole = np.asarray(slope, float), np.asarray(box, float)
    count = samples.points.shape[1]
    if steep.shape != (count,) or not ((steep >= 0.0) & np.isfinite(steep)).all():
        raise DistinguoError(
            f"The slope should be {count} finite number{'s' * (count > 1)} from 0, one for each amount, got "
            f"{shown(slope)}."
        )
    if whole.shape != (2, count) or not (np.isfinite(whole).all() and (whole[0] < whole[1]).all()):
        raise DistinguoError(
            f"The box of amounts should be two rows of {count}, low < high, got {shown(box)}."
        )
    known, values = samples.points, np.asarray(q, float)
    for (i, j), gap in zip(samples.edges, np.abs(np.diff(known[samples.edges], axis=1))[:, 0], strict=True):
        if abs(values[i] - values[j]) > float(gap @ steep) * (1.0 + ROUNDING):
            raise DistinguoError(
                f"The profile is steeper than the slope {shown(slope)} allows between the amounts "
                f"{known[i].tolist()} and {known[j].tolist()}; give a greater slope."
            )
    return Steepness(known, values, steep)


def _highest(known: Steepness, whole: np.ndarray, finest: float) -> float:
    """The most that V can be: the best of all boxes, halved as long as they could be better than the others."""
    most, waiting = float(known.q.max()), whole
    while len(waiting):
        high = known.bounds(waiting)[1]
        small = _is_small(waiting, whole[0], finest / FINER)
        most = max(most, float(high[small].max(initial=-np.inf)))
        waiting = _halved(waiting[~small & (high > most)], whole[0])
    return most


def _is_small(boxes: np.ndarray, whole: np.ndarray, finest: float) -> np.ndarray:
    shares = (boxes[:, 1] - boxes[:, 0]) / (whole[1] - whole[0])
    return np.asarray(shares.max(axis=1) <= finest * (1.0 + ROUNDING))


def _halved(boxes: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Halve each box across its relatively longest side."""
    if not len(boxes):
        return boxes
    rows = np.arange(len(boxes))
    side = ((boxes[:, 1] - boxes[:, 0]) / (whole[1] - whole[0])).argmax(axis=1)
    middle = boxes[rows, :, side].mean(axis=1)
    left, right = boxes.copy(), boxes.copy()
    left[rows, 1, side] = right[rows, 0, side] = middle
    return np.concatenate([left, right])
