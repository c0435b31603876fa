"""Criteria over ranges: the special case of finite actions, an exact slow oracle, and what a law may lose.

The oracle knows nothing of edges. It turns a range into *finite* actions: the samples, and the exact places (as
fractions) where a preferred range ends or two losses cross. Values are linear between samples, so that nothing
else can be least or best, and the finite definitions of ``tests/oracle.py`` then answer for the range.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from distinguo import criteria, ranges
from distinguo.criteria import BEST, POLICY, VALUE
from distinguo.errors import DistinguoError
from distinguo.ranges import (
    NEVER,
    SURE,
    along,
    enclosed,
    enclosed_common,
    preferred_range,
    product_of,
    separate,
)
from distinguo.seam import kernel
from tests import oracle

eighths = st.integers(-16, 16).map(lambda n: n / 8)
tolerances = st.integers(0, 8).map(lambda n: n / 8)
Row = list[float]


SIZES = st.integers(1, 6)


def rows(count: int, sizes: st.SearchStrategy[int] = SIZES) -> st.SearchStrategy[list[Row]]:
    """Draw that many profiles over as many samples."""
    return sizes.flatmap(
        lambda n: st.lists(st.lists(eighths, min_size=n, max_size=n), min_size=count, max_size=count)
    )


# ---- the special case: finite actions, bit for bit ---------------------------------------------------------


@given(rows(2), tolerances, tolerances)
def test_samples_without_edges_are_finite_actions(pair: list[Row], epsilon: float, delta: float) -> None:
    """Every function over ranges gives what today's gives, to the last bit."""
    q, q1 = map(np.array, pair)
    edges = separate(len(q)).edges
    assert ranges.regret_over(q, q1, delta, edges) == criteria.incremental_regret(q, q1, delta)
    assert ranges.inadequacy_over(q, q1, epsilon, delta, edges) == criteria.inadequacy(q, q1, epsilon, delta)
    assert ranges.incompatibility_over(q, q1, epsilon, delta, 0.0, edges) == criteria.incompatibility(
        q, q1, epsilon, delta
    )
    assert (preferred_range(q, delta, edges).points == criteria.preferred(q, delta)).all()


@settings(max_examples=30)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=4),
    st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=4),
)
def test_the_special_case_holds_for_any_floats(one: Row, other: Row) -> None:
    """Not only for fractions of few digits."""
    q, q1, edges = np.array(one), np.array(other), separate(4).edges
    assert ranges.regret_over(q, q1, 0.3, edges) == criteria.incremental_regret(q, q1, 0.3)
    assert ranges.incompatibility_over(q, q1, 0.3, 0.1, 0.0, edges) == criteria.incompatibility(
        q, q1, 0.3, 0.1
    )
    assert ranges.inadequacy_over(q, q1, 0.3, 0.1, edges) == criteria.inadequacy(q, q1, 0.3, 0.1)


# ---- the oracle --------------------------------------------------------------------------------------------


def critical(q: Sequence[Fraction], q1: Sequence[Fraction], floors: Sequence[Fraction]) -> list[Fraction]:
    """All amounts where something happens: samples, and where one profile meets a floor or two losses cross."""
    found = {Fraction(n) for n in range(len(q))}
    gap = [(max(q) - a) - (max(q1) - b) for a, b in zip(q, q1, strict=True)]
    for row, levels in ((q, floors), (q1, floors), (gap, [Fraction(0)])):
        for n, (a, b) in enumerate(pairwise(row)):
            found |= {n + (a - level) / (a - b) for level in levels if (a - level) * (b - level) < 0}
    return sorted(found)


def at(q: Sequence[Fraction], u: Fraction) -> Fraction:
    """The value of an amount, by exact interpolation."""
    n = min(int(u), len(q) - 2)
    return q[n] + (u - n) * (q[n + 1] - q[n]) if len(q) > 1 else q[0]


def as_finite(one: Row, other: Row, *tolerance: float) -> tuple[list[Fraction], list[Fraction]]:
    """Two ranges as finite actions that decide the same questions."""
    q, q1 = ([Fraction(value) for value in row] for row in (one, other))
    floors = [oracle.v(row) - Fraction(t) for row in (q, q1) for t in tolerance]  # type: ignore[arg-type]
    places = critical(q, q1, floors)
    return [at(q, u) for u in places], [at(q1, u) for u in places]


@settings(max_examples=200)
@given(rows(2), tolerances, tolerances)
def test_ranges_agree_with_the_exact_oracle(pair: list[Row], epsilon: float, delta: float) -> None:
    """Definitions 8 and 9, regrets and common amounts, on profiles between samples."""
    q, q1 = map(np.array, pair)
    edges = along(np.arange(len(q))).edges
    f, f1 = as_finite(*pair, epsilon, delta, 0.0)
    good = oracle.pref(f, delta)  # type: ignore[arg-type]
    regret = max(f1) - min(f1[a] for a in good)
    assert ranges.regret_over(q, q1, delta, edges) == pytest.approx(float(regret), abs=1e-12)
    common = min(max(max(f) - a, max(f1) - b) for a, b in zip(f, f1, strict=True))
    assert ranges.common_loss(q, q1, edges)[0] == pytest.approx(float(common), abs=1e-12)
    assume(abs(regret - Fraction(epsilon)) > Fraction(1, 10**9) or regret.denominator <= 8)
    assert (ranges.inadequacy_over(q, q1, epsilon, delta, edges) == 0) == oracle.adequate(
        f, f1, epsilon, delta
    )  # type: ignore[arg-type]
    compatible = ranges.incompatibility_over(q, q1, epsilon, delta, 0.0, edges) == 0
    assert compatible == oracle.compatible(f, f1, epsilon, delta)  # type: ignore[arg-type]
    meet = bool(oracle.pref(f, epsilon) & oracle.pref(f1, epsilon))  # type: ignore[arg-type]
    if abs(common - Fraction(epsilon)) > Fraction(1, 10**9):
        assert meet == (not ranges.separation(q, q1, epsilon, 4.0, edges) & POLICY)


@given(rows(1), tolerances)
def test_intervals_are_the_preferred_range(drawn: list[Row], tolerance: float) -> None:
    """A dense sweep finds the same amounts; the best amount is always inside."""
    q, path = np.array(drawn[0]), along(np.arange(len(drawn[0])))
    found = ranges.intervals(path, preferred_range(q, tolerance, path.edges))
    assert all(low <= high for low, high in found)
    assert all(one[1] < other[0] for one, other in pairwise(found))
    for u in np.linspace(0, len(q) - 1, 97):
        loss = q.max() - ranges.value_at(q, u, path)
        inside = any(low - 1e-12 <= u <= high + 1e-12 for low, high in found)
        if abs(loss - tolerance) > 1e-9:
            assert inside == (loss < tolerance)


def test_compiled_code_gives_the_same() -> None:
    """Kernels call the same parts."""

    @kernel
    def both(q: Any, q1: Any, edges: Any) -> Any:
        return ranges.least_over(q, q1, 0.3, edges), ranges.common_loss(q, q1, edges)

    rng, path = np.random.default_rng(0), product_of([(0.0, 1.0, 3.0), (-1.0, 1.0)])
    for _ in range(20):
        q, q1 = rng.normal(size=(2, 6))
        plain = ranges.least_over(q, q1, 0.3, path.edges), ranges.common_loss(q, q1, path.edges)
        assert both(q, q1, path.edges) == plain


# ---- elsewhere in the box ----------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 2), tolerances)
def test_enclosures_hold_for_any_profile_that_is_no_steeper(
    seed: int, amounts: int, tolerance: float
) -> None:
    """Sums of tents no steeper than the slope: what is called sure is preferred, what is called never is not."""
    rng = np.random.default_rng(seed)
    slope, tops, heights = (
        rng.uniform(0.5, 2.0, amounts),
        rng.uniform(-1, 1, (3, amounts)),
        rng.normal(size=3),
    )

    def q_of(u: np.ndarray) -> np.ndarray:
        return np.asarray((heights - np.abs(u[:, None] - tops) @ slope).max(axis=1))

    axis, box = np.linspace(-1.0, 1.0, 5), np.array([[-1.0] * amounts, [1.0] * amounts])
    samples = product_of([axis] * amounts)
    dense = rng.uniform(-1.0, 1.0, (1000, amounts))
    values = np.concatenate([q_of(dense), q_of(np.clip(tops, -1, 1))])
    best = float(values.max())
    found = enclosed(samples, q_of(samples.points), slope, tolerance, box, finest=1 / 8)
    assert found.value[0] <= best <= found.value[1]
    assert sum(map(found.share, (SURE, NEVER, ranges.UNDECIDED))) == pytest.approx(1.0)
    for u, loss in zip(dense, best - q_of(dense), strict=True):
        where = ((found.boxes[:, 0] <= u) & (u <= found.boxes[:, 1])).all(axis=1)
        verdicts = set(found.verdicts[where].tolist())
        assert verdicts
        assert SURE not in verdicts or loss <= tolerance + 1e-9
        if NEVER in verdicts:
            assert loss > tolerance - 1e-2  # the dense sample may miss the very best by this much


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6))
def test_the_enclosed_common_loss_contains_the_true_one(seed: int) -> None:
    """Two tents in two amounts: the true loss is known up to the dense sample."""
    rng = np.random.default_rng(seed)
    tops, slope = rng.uniform(-1, 1, (2, 2)), np.array([1.0, 0.5])
    axis, box = np.linspace(-1.0, 1.0, 9), np.array([[-1.0, -1.0], [1.0, 1.0]])
    samples = product_of([axis, axis])
    dense = np.concatenate([tops, tops.mean(axis=0)[None], rng.uniform(-1, 1, (4000, 2))])
    losses = [np.abs(dense - top) @ slope for top in tops]
    true = float(np.abs(tops[0] - tops[1]) @ slope) / 2.0  # half of the way between the tops
    assert np.maximum(*losses).min() >= true - 1e-12
    one, other = (-(np.abs(samples.points - top) @ slope) for top in tops)
    least, most = enclosed_common(samples, one, other, slope, box, finest=1 / 16)
    assert least <= true + 1e-9
    assert most >= true - 1e-9


# ---- laws --------------------------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5))
def test_no_law_of_a_fine_grid_beats_the_common_law(seed: int, count: int) -> None:
    """One number observed: all laws on a grid of gains and offsets, the slow way."""
    rng = np.random.default_rng(seed)
    force, states = along(np.linspace(-1.0, 1.0, 5)), rng.uniform(-1, 1, (count, 1))
    wants, steep = rng.uniform(-1, 1, count), rng.uniform(0.5, 2.0, (count, 2))
    gaps = force.points[:, 0] - wants[:, None]
    profiles = -np.where(gaps < 0, -gaps * steep[:, :1], gaps * steep[:, 1:])
    found = ranges.common_law(states, profiles, force)
    assert found.at_least <= found.loss
    assert found.loss - found.at_least < 1e-6  # concave profiles: ranges are intervals, so the bounds agree
    gains, offsets = (one.ravel() for one in np.meshgrid(np.linspace(-4, 4, 41), np.linspace(-2, 2, 41)))
    amounts = np.clip(gains[:, None] * states[:, 0] + offsets[:, None], -1.0, 1.0)
    losses = [row.max() - np.interp(amounts[:, n], force.points[:, 0], row) for n, row in enumerate(profiles)]
    assert found.loss <= np.max(losses, axis=0).min() + 1e-6


def test_helly_three_intervals_that_meet_in_pairs_have_a_common_amount() -> None:
    """What finite actions lack: for one amount and single intervals, pairs suffice (docs/theory.md)."""
    force, epsilon, checked = along([0.0, 1.0, 2.0, 3.0]), 0.25, 0
    rng = np.random.default_rng(5)
    for _ in range(300):
        tops = rng.uniform(0, 3, 3)
        qs = [np.round(-np.abs(force.points[:, 0] - top) * 0.2, 3) for top in tops]
        if any(ranges.separation(a, b, epsilon, 9.0, force.edges) for a, b in combinations(qs, 2)):
            continue
        pieces = [ranges.intervals(force, preferred_range(q, epsilon, force.edges)) for q in qs]
        assert all(len(piece) == 1 for piece in pieces)
        assert max(piece[0][0] for piece in pieces) <= min(piece[0][1] for piece in pieces) + 1e-9
        checked += 1
    assert checked > 50
    rows_ = [
        np.array(row) for row in ([0.0, 0.0, -1.0], [0.0, -1.0, 0.0], [-1.0, 0.0, 0.0])
    ]  # finite actions
    none = separate(3).edges
    assert all(ranges.separation(a, b, 0.5, 9.0, none) == 0 for a, b in combinations(rows_, 2))
    assert not np.all([criteria.preferred(row, 0.5) for row in rows_], axis=0).any()


# ---- theorems ----------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 5), st.integers(2, 4), st.sampled_from([0.0, 0.1, 0.3, 1.0]))
def test_regions_of_compatible_ranges_are_adequate(seed: int, samples: int, count: int, noise: float) -> None:
    """Eqs. 3 and 6 with slack for all pairs: what the average prefers loses at most epsilon + slack in each."""
    rng = np.random.default_rng(seed)
    group = rng.normal(size=samples) + noise * rng.normal(size=(count, samples))
    edges, epsilon = along(np.arange(samples)).edges, float(rng.uniform(0.0, 2.0))
    pairs = list(combinations(group, 2))
    for slack in np.linspace(0.0, epsilon, 9).tolist():  # the least that makes all pairs compatible
        broken = [ranges.incompatibility_over(a, b, epsilon, epsilon, slack, edges) for a, b in pairs]
        if not any(bits & (POLICY | BEST) for bits in broken):
            average = rng.dirichlet(np.ones(count)) @ group
            for q1 in group:
                assert ranges.regret_over(average, q1, epsilon - slack, edges) <= epsilon + slack + 1e-9
            return


class Plant:
    """States on a line and one amount: rewards and probabilities that are linear between samples of the amount."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.count, self.samples = int(rng.integers(2, 6)), int(rng.integers(2, 5))
        self.gamma = float(rng.choice([0.5, 0.9]))
        self.path = along(np.linspace(-1.0, 1.0, self.samples))
        self.x = rng.uniform(-1, 1, self.count)
        self.rewards = rng.uniform(-1, 1, (self.count, self.samples))
        self.next = rng.dirichlet(np.ones(self.count), (self.count, self.samples))

    def look_ahead(self, v: np.ndarray) -> np.ndarray:
        """Q1 of every state at every sample."""
        return np.asarray(self.rewards + self.gamma * self.next @ v)

    def best(self) -> np.ndarray:
        """V* by value iteration: what is linear in the amount is best at a sample."""
        v = np.zeros(self.count)
        for _ in range(400):
            v = self.look_ahead(v).max(axis=1)
        return v

    def worth(self, amounts: np.ndarray) -> np.ndarray:
        """V of the policy that takes these amounts, one for each state, by linear equations."""
        at_ = self.path.points[:, 0]
        weights = np.array([np.interp(amounts, at_, unit) for unit in np.eye(self.samples)]).T
        rewards = (weights * self.rewards).sum(axis=1)
        return np.linalg.solve(
            np.eye(self.count) - self.gamma * np.einsum("sa,sat->st", weights, self.next), rewards
        )


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9))
def test_what_a_law_may_lose_is_bounded(seed: int) -> None:
    """The identity and both bounds of docs/theory.md, with regrets of laws in regions with any values."""
    rng = np.random.default_rng(seed)
    plant = Plant(rng)
    groups = rng.integers(0, 2, plant.count)
    best, values = plant.best(), rng.normal(size=2)
    v = best[0] + values[groups] * rng.choice([0.05, 0.5])
    laws = rng.normal(size=(2, 2)) * 2.0
    q1 = plant.look_ahead(v)
    laws_here = laws[groups]
    amounts = np.clip(laws_here[:, 0] * plant.x + laws_here[:, 1], -1.0, 1.0)
    regrets = np.array(
        [
            ranges.law_regret(law, (x,), row, plant.path)
            for law, x, row in zip(laws_here, plant.x, q1, strict=True)
        ]
    )
    errors = v - q1.max(axis=1)
    gained = plant.worth(amounts)
    steps = [np.interp(amounts, plant.path.points[:, 0], unit) for unit in np.eye(plant.samples)]
    moves = np.einsum("sa,sat->st", np.array(steps).T, plant.next)
    sums = np.linalg.solve(np.eye(plant.count) - plant.gamma * moves, errors + regrets)
    assert v - gained == pytest.approx(sums)  # the identity
    n = criteria.horizon(plant.gamma)
    over, under, regret = max(errors.max(), 0.0), max(-errors.min(), 0.0), regrets.max()
    assert (v - gained).max() <= criteria.promise_bound(over, regret, n) + 1e-9
    assert (best - gained).max() <= criteria.loss_bound(over, under, regret, n) + 1e-9


def test_the_bounds_of_laws_cannot_be_smaller() -> None:
    """One state for ever, a law that is off by the regret, and a value that is too high: equality."""
    force, gamma, off = along([-1.0, 0.0, 1.0]), 0.9, 0.25
    q1 = np.array([-1.0, 0.0, -1.0])  # rewards of a state that stays, plus gamma times its value of 0
    regret = ranges.law_regret((0.0, off), (3.0,), q1, force)
    assert regret == off
    assert off / (1 - gamma) == pytest.approx(criteria.promise_bound(0.0, regret, criteria.horizon(gamma)))


# ---- wrong arguments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: product_of([(1.0, 0.0)]), "increasing order"),
        (lambda: ranges.regret_over([0.0], [0.0, 1.0], 0.0, separate(1).edges), "Two rows"),
        (
            lambda: ranges.regret_over(np.zeros(2), np.zeros(2), 0.0, along([0, 1, 2]).edges),
            "a value for every",
        ),
        (lambda: ranges.separation(np.zeros(2), np.zeros(2), -1.0, 0.0, along([0, 1]).edges), "from 0"),
        (lambda: enclosed(along([0.0, 1.0]), [0.0, 9.0], [1.0], 0.1, [(0.0,), (1.0,)]), "steeper"),
        (lambda: enclosed(along([0.0, 1.0]), [0.0, 0.0], [1.0], 0.1, [(1.0,), (0.0,)]), "low < high"),
        (lambda: ranges.common_law([[0.0]], [[0.0, 1.0]], product_of([(0.0,), (0.0, 1.0)])), "one amount"),
    ],
)
def test_wrong_arguments_get_a_sentence(call: Any, sentence: str) -> None:
    """What is wrong, and what was given."""
    with pytest.raises(DistinguoError, match=sentence):
        call()


def test_value_rules_are_those_of_finite_actions() -> None:
    """Values do not depend on what lies between samples."""
    q, edges = np.array([0.0, -1.0]), along([0, 1]).edges
    assert ranges.separation(q, q - 0.5, 1.0, 0.25, edges) == VALUE
