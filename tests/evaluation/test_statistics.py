"""Statistics over runs, against closed forms, brute force and simulation."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from distinguo.evaluation.statistics import (
    CONFIDENCE,
    interquartile_mean,
    interval,
    probability_better,
    stratified_interval,
)

numbers = st.integers(-50, 50).map(float)
few = st.lists(numbers, min_size=1, max_size=9).map(np.array)


def runs(count: int, checkpoints: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(100.0, 15.0, (count, checkpoints))


# Intervals of the mean.


def test_an_interval_has_one_end_per_checkpoint() -> None:
    low, high = interval(runs(10, 7, 0))
    assert low.shape == high.shape == (7,)


def test_a_single_run_is_its_own_interval() -> None:
    scores = runs(1, 4, 0)
    low, high = interval(scores)
    assert low.tolist() == high.tolist() == scores[0].tolist()


def test_an_interval_of_equal_runs_has_no_width() -> None:
    low, high = interval(np.full((10, 3), 5e6))
    assert low.tolist() == high.tolist() == [5e6] * 3


def test_an_interval_of_two_runs_by_hand() -> None:
    """Half of all resamples mix the two runs, a quarter each repeat one: the outermost 2.5 % are these."""
    low, high = interval(np.array([[10.0], [30.0]]))
    assert (low.tolist(), high.tolist()) == ([10.0], [30.0])


@settings(max_examples=20)
@given(st.integers(2, 12), st.integers(0, 999))
def test_an_interval_lies_about_the_mean_and_within_the_runs(count: int, seed: int) -> None:
    scores = runs(count, 3, seed)
    low, high = interval(scores)
    assert (scores.min(axis=0) <= low + 1e-9).all()
    assert (low < scores.mean(axis=0)).all()
    assert (scores.mean(axis=0) < high).all()
    assert (high - 1e-9 <= scores.max(axis=0)).all()


def test_runs_are_resampled_whole() -> None:
    """So checkpoints that tell the same of every run get the same interval."""
    scores = runs(8, 1, 3)
    low, high = interval(np.hstack([scores, 2 * scores, scores + 8]))
    assert low == pytest.approx([low[0], 2 * low[0], low[0] + 8])
    assert high == pytest.approx([high[0], 2 * high[0], high[0] + 8])


def test_a_curve_of_very_many_checkpoints_does_not_eat_the_machine() -> None:
    scores = np.tile(runs(10, 1, 0), 1500)
    tracemalloc.start()
    low, high = interval(scores)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 200 * 2**20  # all at once it would be more than 240 MB
    assert (np.unique(low).size, np.unique(high).size) == (1, 1)  # nor does the cut change a number


def test_the_same_seed_gives_the_same_interval() -> None:
    scores = runs(8, 2, 3)
    assert np.array_equal(interval(scores), interval(scores))
    assert not np.array_equal(interval(scores), interval(scores, seed=1))


def test_an_interval_is_as_wide_as_the_normal_approximation_says() -> None:
    scores = runs(400, 1, 1)
    error = scores[:, 0].std() / 20
    wanted = stats.norm.interval(CONFIDENCE, scores.mean(), error)
    assert np.ravel(interval(scores)) == pytest.approx(wanted, abs=0.25 * error)


def test_an_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    """A bootstrap over 20 runs is a little too sure of itself: about 93 % instead of 95 %."""
    ends = [interval(runs(20, 1, seed), seed) for seed in range(300)]
    share = np.mean([low[0] <= 100.0 <= high[0] for low, high in ends])
    assert 0.88 <= share <= 0.97


# The mean of the middle half.


def test_the_interquartile_mean_of_runs_in_any_order() -> None:
    scores = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 4.0], [4.0, 4.0], [5.0, 4.0], [600.0, 4.0], [7.0, 9.0]])
    shuffled = np.random.default_rng(0).permutation(scores)
    # of seven runs one is cut off at either end
    assert interquartile_mean(shuffled) == pytest.approx([np.mean([2, 3, 4, 5, 7]), np.mean([0, 4, 4, 4, 4])])


@given(st.integers(1, 20), st.integers(0, 999))
def test_the_interquartile_mean_is_that_of_what_is_left_after_cutting(count: int, seed: int) -> None:
    scores, cut = runs(count, 2, seed), count // 4
    middle = np.sort(scores, axis=0)[cut : count - cut]
    assert interquartile_mean(scores) == pytest.approx(middle.mean(axis=0))


# Several groups.


def test_groups_weigh_the_same_whatever_their_size() -> None:
    low, high = stratified_interval([np.full(40, 1.0), np.full(2, 4.0)])
    assert (low, high) == (2.5, 2.5)


def test_groups_are_resampled_within_themselves() -> None:
    """Between far groups nothing is mixed, so the distance between them adds no width."""
    near, noise = np.random.default_rng(0).normal(0.0, 1.0, (2, 12))
    low, high = stratified_interval([near, noise])
    far_low, far_high = stratified_interval([near, noise + 1000.0])
    assert (far_low, far_high) == pytest.approx((low + 500.0, high + 500.0))
    assert far_high - far_low < 2.0


def test_more_groups_of_the_same_noise_make_the_interval_narrower() -> None:
    groups = list(np.random.default_rng(1).normal(0.0, 1.0, (16, 10)))
    one, all_of_them = stratified_interval(groups[:1]), stratified_interval(groups)
    assert np.ptp(all_of_them) < 0.5 * np.ptp(one)
    assert all_of_them[0] < np.mean(groups) < all_of_them[1]


def test_one_group_gives_the_plain_interval() -> None:
    scores = runs(10, 1, 2)
    assert stratified_interval([scores[:, 0]]) == pytest.approx(np.ravel(interval(scores)))


def test_groups_of_a_single_run_have_no_spread_of_their_own() -> None:
    assert stratified_interval([np.array([1.0]), np.array([4.0])]) == (2.5, 2.5)
    low, high = stratified_interval([np.array([1.0]), np.array([4.0, 6.0])])
    assert (low, high) == (2.5, 3.5)


# Who is better.


@given(few, few)
def test_the_probability_of_being_better_by_counting_pairs(ours: np.ndarray, theirs: np.ndarray) -> None:
    pairs = list(itertools.product(ours, theirs))
    wins = sum(a > b for a, b in pairs) + 0.5 * sum(a == b for a, b in pairs)
    assert probability_better(ours, theirs) == pytest.approx(wins / len(pairs))
    assert probability_better(theirs, ours) == pytest.approx(1 - wins / len(pairs))


def test_runs_that_all_reach_the_cap_are_no_better_than_each_other() -> None:
    assert probability_better(np.full(10, 5e6), np.full(10, 5e6)) == 0.5
