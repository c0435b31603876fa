"""The least ε at which two profiles are compatible, against a literal reading of Definition 9."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from distinguo.criteria import compatible
from distinguo.explanations.distinctions import EQUAL, HALF, merging_epsilon
from tests import oracle

NUMBERS = st.floats(-1e6, 1e6) | st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.1, 0.3, 1e-300, -5e-324])
PAIRS = st.integers(1, 4).flatmap(
    lambda n: st.tuples(*[st.lists(NUMBERS, min_size=n, max_size=n) for _ in range(2)])
)
GREATEST = 1e9  #: more than any difference between two numbers above


@given(PAIRS, st.sampled_from([EQUAL, HALF]))
@example(([0.1, 0.3], [0.3, 0.1]), EQUAL)
@example(([0.0, -0.8], [-0.3, -0.8]), EQUAL)
def test_at_that_epsilon_they_are_compatible_and_just_below_they_are_not(
    pair: tuple[list[float], list[float]], share: float
) -> None:
    first, second = (np.array(row) for row in pair)
    epsilon = merging_epsilon(first, second, share)
    if epsilon is None:
        assert not compatible(first, second, GREATEST, share * GREATEST)
        return
    assert compatible(first, second, epsilon, share * epsilon)
    if epsilon > 0.0:
        below = math.nextafter(epsilon, -math.inf)
        assert not compatible(first, second, below, share * below)


@given(PAIRS, st.sampled_from([EQUAL, HALF]), st.lists(st.floats(0.0, 1.0), max_size=30))
def test_below_it_they_are_never_compatible(
    pair: tuple[list[float], list[float]], share: float, parts: list[float]
) -> None:
    """By a transcription of Definition 9 that shares nothing with the package, at any ε that is less."""
    least = merging_epsilon(np.array(pair[0]), np.array(pair[1]), share)
    for part in parts:
        epsilon = part * (GREATEST if least is None else least)
        if least is None or epsilon < least:
            assert not oracle.compatible(pair[0], pair[1], epsilon, share * epsilon)


@given(PAIRS)
def test_the_rule_of_figure_6_merges_at_some_epsilon_just_if_the_best_actions_are_the_same(
    pair: tuple[list[float], list[float]],
) -> None:
    alike = oracle.pref(pair[0], 0.0) == oracle.pref(pair[1], 0.0)
    assert (merging_epsilon(np.array(pair[0]), np.array(pair[1])) is not None) == alike
    assert merging_epsilon(np.array(pair[0]), np.array(pair[1]), HALF) is not None


def test_twins_need_no_tolerance() -> None:
    assert merging_epsilon(np.array([0.5, -1.0]), np.array([0.5, -1.0])) == 0.0


def test_they_may_part_again_above_it() -> None:
    """Preferred actions join one by one: compatibility is not a matter of a single bound."""
    first, second = np.array([0.0, -0.8]), np.array([-0.3, -0.8])
    assert merging_epsilon(first, second) == pytest.approx(0.3)
    assert not compatible(first, second, 0.6, 0.6)
