"""Definitions 1-9 by hand, against set-based definitions, compiled against plain, and their basic laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo import criteria
from distinguo.criteria import BEST, POLICY, VALUE
from distinguo.seam import kernel
from tests import oracle

# Eighths are exact in binary, so that boundaries are hit exactly and the laws hold without rounding.
eighths = st.integers(-16, 16).map(lambda n: n / 8)
reals = st.floats(-1e6, 1e6, allow_nan=False)
numbers = st.one_of(eighths, reals)
tolerances = st.one_of(st.integers(0, 8).map(lambda n: n / 8), st.floats(0.0, 10.0))


def profiles(count: int, entries: st.SearchStrategy[float] = numbers) -> st.SearchStrategy[list[np.ndarray]]:
    """Draw that many profiles over the same one to five actions."""
    sizes = st.integers(1, 5)
    return sizes.flatmap(lambda n: st.lists(vector(n, entries), min_size=count, max_size=count))


def vector(size: int, entries: st.SearchStrategy[float]) -> st.SearchStrategy[np.ndarray]:
    """Draw a vector of floats."""
    return st.lists(entries, min_size=size, max_size=size).map(np.array)


@st.composite
def neighbours(draw: st.DrawFn) -> list[np.ndarray]:
    """Draw two profiles of which the second is the first, moved by at most a quarter per action."""
    (first,) = draw(profiles(1, eighths))
    moves = draw(st.lists(st.sampled_from([-2, -1, 0, 0, 1, 2]), min_size=len(first), max_size=len(first)))
    return [first, first + np.array(moves) / 8]


pairs = st.one_of(profiles(2), neighbours())
exact_pairs = st.one_of(profiles(2, eighths), neighbours())
exact_tolerances = st.integers(0, 8).map(lambda n: n / 8)


def row(*entries: float) -> np.ndarray:
    """Make a profile."""
    return np.array(entries, dtype=float)


def members(chosen: np.ndarray) -> frozenset[int]:
    """Turn a vector of booleans into the set of its true places."""
    return frozenset(np.flatnonzero(chosen).tolist())


# By hand.


def test_action_values_are_weighted_features() -> None:
    weights = np.array([[1.0, -2.0, 0.5], [4.0, 8.0, 2.0]])
    assert criteria.action_values(weights, row(1, 0)).tolist() == [1.0, -2.0, 0.5], "a region's own row"
    assert criteria.action_values(weights, row(0.5, 0.25)).tolist() == [1.5, 1.0, 0.75]


@pytest.mark.parametrize(("q", "value"), [((-3.0,), -3.0), ((-2.0, -1.0, -4.0), -1.0), ((0.5, 0.5), 0.5)])
def test_state_value_is_the_best_action_value(q: tuple[float, ...], value: float) -> None:
    assert criteria.state_value(row(*q)) == value


@pytest.mark.parametrize(
    ("tolerance", "expected"),
    [(0.0, {1, 3}), (0.24, {1, 3}), (0.25, {1, 2, 3}), (1.25, {1, 2, 3}), (1.5, {0, 1, 2, 3})],
)
def test_preferred_includes_its_boundary(tolerance: float, expected: set[int]) -> None:
    assert members(criteria.preferred(row(-1.0, 0.5, 0.25, 0.5), tolerance)) == expected


def test_look_ahead() -> None:
    assert criteria.look_ahead(-1.0, 0.5, 3.0) == 0.5
    chances = row(0.25, 0.75)
    # 1/4 (2 + 1/2 * 4) + 3/4 (0 + 1/2 * -2)
    assert criteria.expected_look_ahead(row(2, 0), 0.5, row(4, -2), chances) == 0.25
    # 1/4 (2 + 1/2 * 4 + three times -1)
    assert criteria.sampled_look_ahead(row(2, 0, 0, 0), 0.5, row(4, -2, -2, -2)) == 0.25


ADEQUACY = [
    # q, q1, epsilon, delta, broken rules
    ((0.0, -1.0), (0.0, -1.0), 0.0, 0.0, 0),
    ((0.0, -1.0), (-0.25, -1.0), 0.25, 0.0, 0),  # the value errs by exactly epsilon
    ((0.0, -1.0), (-0.25, -1.0), 0.125, 0.0, VALUE),
    ((0.0, -1.0), (0.25, -1.0), 0.125, 0.0, VALUE),  # too pessimistic is wrong as well
    ((0.0, -0.5), (-0.25, 0.0), 0.25, 0.0, 0),  # the choice costs exactly epsilon
    ((0.0, -0.5), (-0.25, 0.0), 0.125, 0.0, POLICY),
    ((0.0, -0.5), (0.0, -0.5), 0.25, 0.25, 0),
    ((0.0, -0.25), (0.0, -0.5), 0.25, 0.25, POLICY),  # the second may be chosen: within delta, exactly
    ((0.0, -0.25), (0.0, -0.5), 0.25, 0.125, 0),  # the second may not be chosen
    ((0.0, -0.5), (-2.0, -1.0), 0.25, 0.0, POLICY | VALUE),
    ((0.0, -9.0), (0.0, -0.1), 0.25, 0.0, 0),  # an error that changes no choice
]


@pytest.mark.parametrize(("q", "q1", "epsilon", "delta", "broken"), ADEQUACY)
def test_adequacy(q: Any, q1: Any, epsilon: float, delta: float, broken: int) -> None:
    assert criteria.inadequacy(row(*q), row(*q1), epsilon, delta) == broken
    assert criteria.adequate(row(*q), row(*q1), epsilon, delta) is (broken == 0)


COMPATIBILITY = [
    # q1, q2, epsilon, delta, broken rules
    ((0.0, -1.0), (0.0, -9.0), 0.5, 0.5, 0),  # poor actions do not matter
    ((0.0, -0.5), (0.0, -1.0), 0.5, 0.5, POLICY),  # the second is good at one of them only, by a tie
    ((0.0, -2.0), (0.5, -2.0), 0.5, 0.5, 0),  # the values differ by exactly delta
    ((0.0, -2.0), (0.5, -2.0), 0.5, 0.25, VALUE),
    ((0.0, -0.25), (-0.25, 0.0), 0.5, 0.25, 0),  # delta is epsilon / 2: Eq. 5, the best may swap by a tie
    ((0.0, -0.25), (-0.25, 0.0), 0.5, 0.3125, BEST),  # just above: Eq. 6, the best must be the same
    ((0.0, -0.25), (0.0, -0.3125), 0.5, 0.25, BEST),  # Eq. 5 tells a tie within delta from a miss
    ((0.0, -0.25), (0.0, -0.3125), 0.5, 0.3125, 0),  # Eq. 6 does not
    ((0.0, 0.0), (0.0, -0.125), 0.5, 0.5, BEST),
    ((0.0, 0.0), (0.0, -0.125), 0.5, 0.0, BEST),
    ((0.0, -1.0), (-1.0, 0.0), 0.5, 0.5, POLICY | BEST),
    ((0.0, -1.0), (-2.0, -1.0), 0.5, 0.5, POLICY | VALUE | BEST),
]


@pytest.mark.parametrize(("q1", "q2", "epsilon", "delta", "broken"), COMPATIBILITY)
def test_compatibility(q1: Any, q2: Any, epsilon: float, delta: float, broken: int) -> None:
    for first, second in [(q1, q2), (q2, q1)]:
        assert criteria.incompatibility(row(*first), row(*second), epsilon, delta) == broken
        assert criteria.compatible(row(*first), row(*second), epsilon, delta) is (broken == 0)


def test_regret_and_stake() -> None:
    q, q1 = row(0.0, -0.25, -1.0), row(-0.5, -2.0, 1.0)
    assert criteria.incremental_regret(q, q1, 0.125) == 1.5
    assert criteria.incremental_regret(q, q1, 0.25) == 3.0, "the worst of the actions it might take"
    assert criteria.incremental_regret(q, q, 0.0) == 0.0
    assert criteria.stake(row(0.0, -1.0), row(-0.5, -1.0)) == 0.5, "the value"
    assert criteria.stake(row(0.0, -1.0), row(-0.75, 0.0)) == 1.0, "the dearer of the two choices"


# Against the set-based definitions, and compiled against plain.


@kernel
def compiled(q: Any, q1: Any, epsilon: float, delta: float) -> Any:
    """Call from compiled code what a kernel may call: the criteria that make no array."""
    numbers = (
        criteria.state_value(q),
        criteria.incremental_regret(q, q1, delta),
        criteria.stake(q, q1),
        criteria.expected_look_ahead(q, epsilon, q1, q),
    )
    codes = (criteria.inadequacy(q, q1, epsilon, delta), criteria.incompatibility(q, q1, epsilon, delta))
    truths = (criteria.adequate(q, q1, epsilon, delta), criteria.compatible(q, q1, epsilon, delta))
    return numbers, codes, truths


@given(pairs, tolerances, tolerances)
def test_criteria_agree_with_sets(pair: list[np.ndarray], epsilon: float, delta: float) -> None:
    (q, q1), (p, p1) = pair, [x.tolist() for x in pair]
    assert criteria.state_value(q) == oracle.v(p)
    assert members(criteria.preferred(q, delta)) == oracle.pref(p, delta)
    assert criteria.adequate(q, q1, epsilon, delta) == oracle.adequate(p, p1, epsilon, delta)
    assert criteria.compatible(q, q1, epsilon, delta) == oracle.compatible(p, p1, epsilon, delta)
    half = epsilon / 2
    assert criteria.compatible(q, q1, epsilon, half) == oracle.compatible(p, p1, epsilon, half)


@settings(deadline=None)
@given(pairs, tolerances, tolerances)
def test_compiled_criteria_are_the_plain_ones(pair: list[np.ndarray], epsilon: float, delta: float) -> None:
    assert compiled(*pair, epsilon, delta) == compiled.py_func(*pair, epsilon, delta)


# Laws.


@given(exact_pairs, exact_tolerances, exact_tolerances)
def test_laws(pair: list[np.ndarray], epsilon: float, delta: float) -> None:
    q, q1 = pair
    assert criteria.compatible(q, q, epsilon, delta), "reflexive"
    assert criteria.compatible(q, q1, epsilon, delta) == criteria.compatible(q1, q, epsilon, delta)
    assert criteria.stake(q, q1) == criteria.stake(q1, q) >= 0.0
    assert criteria.stake(q, q) == 0.0
    if criteria.adequate(q, q1, epsilon, delta):
        assert criteria.incremental_regret(q, q1, delta) <= epsilon
    policy = criteria.inadequacy(q, q1, epsilon, delta) & POLICY
    assert (criteria.incremental_regret(q, q1, delta) > epsilon) == bool(policy)


def test_compatibility_is_not_transitive() -> None:
    low, middle, high = row(0.0, -4.0), row(0.5, -4.0), row(1.0, -4.0)
    assert criteria.compatible(low, middle, 0.5, 0.5)
    assert criteria.compatible(middle, high, 0.5, 0.5)
    assert criteria.incompatibility(low, high, 0.5, 0.5) == VALUE
