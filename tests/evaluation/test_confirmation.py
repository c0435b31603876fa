"""The sequential test of a mean return: its error rates both ways, by simulation and by exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distinguo.evaluation.confirmation import (
    FAILED,
    OPEN,
    PASSED,
    ReturnQuestion,
    capital,
    judge,
    lower_bound,
    will_repeat,
)
from tests.nightly import so_many

RUNS = so_many(50, nightly=2000)
CART = ReturnQuestion(threshold=475.0, least=0.0, greatest=500.0)
CAR = ReturnQuestion(threshold=-110.0, least=-200.0, greatest=-83.0)
PATIENT = {"steps": 10**9, "most": 120}  #: so that only the strict error counts
Draw = Callable[[np.random.Generator, int], np.ndarray]


def all_or_nothing(mean: float) -> Draw:
    """Return trials of 500 or of nothing."""
    return lambda rng, count: np.where(rng.random(count) < mean / 500.0, 500.0, 0.0)


def half_or_all(mean: float) -> Draw:
    """Return trials of 500 or of 250."""
    return lambda rng, count: np.where(rng.random(count) < (mean - 250.0) / 250.0, 500.0, 250.0)


def bell(mean: float) -> Draw:
    """Return trials like a bell that is cut off alike on both sides, so that its mean is known."""
    return lambda rng, count: np.clip(rng.normal(mean, 20.0, count), mean - 25.0, mean + 25.0)


def cars(mean: float) -> Draw:
    """Return trials of 85 to 105 steps, some of 120, and as many of 200 as make that mean."""
    good = 0.8 * 95.0 + 0.2 * 120.0
    fails = (-mean - good) / (200.0 - good)

    def draw(rng: np.random.Generator, count: int) -> np.ndarray:
        usual = np.where(rng.random(count) < 0.8, rng.integers(85, 106, count), 120)
        return -np.where(rng.random(count) < fails, 200, usual).astype(float)

    return draw


def outcomes(question: ReturnQuestion, draw: Draw, seed: int = 0) -> tuple[list[str], list[int]]:
    """Judge many policies after each of their trials, later every fifth: the answers, and the steps until then."""
    answers, used = [], []
    rng = np.random.default_rng(seed)
    for _ in range(RUNS):
        values = draw(rng, 1_000).tolist()
        costs = np.cumsum(np.abs(values)).astype(int).tolist()  # in these tasks a step gains or costs one
        answer, count = OPEN, 0
        while answer == OPEN:
            count += 1 if count < 30 else 5
            steps = costs[count - 1]
            answer = judge(values[:count], steps, question)
        answers.append(answer)
        used.append(steps)
    return answers, used


def share(answers: list[str], wanted: str) -> float:
    return answers.count(wanted) / len(answers)


def at_most(chance: float) -> float:
    """Return a share that is rarely exceeded by events of this chance: three standard errors more."""
    return chance + 3.0 * (chance * (1.0 - chance) / RUNS) ** 0.5


JUST_BELOW = {
    "all or nothing": (CART, all_or_nothing(474.5)),
    "half or all": (CART, half_or_all(474.5)),
    "bell": (CART, bell(474.5)),
    "cars": (CAR, cars(-110.2)),
}
CLEARLY_ABOVE = {
    "all": (CART, all_or_nothing(500.0), 14_000),
    "nearly all": (CART, half_or_all(499.0), 14_500),
    "bell": (CART, bell(495.0), 18_500),
    "cars": (CAR, cars(-102.0), 11_000),
}


@pytest.mark.parametrize("name", JUST_BELOW)
def test_a_policy_just_below_the_threshold_rarely_passes(name: str) -> None:
    question, draw = JUST_BELOW[name]
    answers, steps = outcomes(question, draw)
    assert share(answers, PASSED) <= at_most(question.weakest)
    early = [a == PASSED and n < question.steps for a, n in zip(answers, steps, strict=True)]
    assert np.mean(early) <= at_most(question.error)


@pytest.mark.parametrize("draw", [all_or_nothing(475.0), half_or_all(475.0)], ids=["nothing", "half"])
def test_with_steps_enough_only_one_in_twenty_passes(draw: Draw) -> None:
    """However often one looks; a stake twice as high would let pass one in five."""
    answers, _ = outcomes(CART._replace(**PATIENT), draw)
    assert share(answers, PASSED) <= at_most(0.05)


def test_the_chance_of_an_error_is_what_it_says_to_the_last_percent() -> None:
    """All or nothing at 475 passes by a row of successes: no shorter than errs once in 20, and hardly longer."""
    patient = CART._replace(**PATIENT)
    row = next(n for n in range(1, 200) if judge([500.0] * n, 500 * n, patient) == PASSED)
    least = CART.bar / 500.0  # the share of successes that is just too few
    assert 0.03 < least**row <= 0.05
    weak = next(n for n in range(1, 200) if judge([500.0] * n, 14_000, CART) == PASSED)
    assert 0.15 < least**weak <= 0.25


@pytest.mark.parametrize("name", CLEARLY_ABOVE)
def test_a_policy_clearly_above_passes_soon(name: str) -> None:
    question, draw, soon = CLEARLY_ABOVE[name]
    answers, steps = outcomes(question, draw)
    assert share(answers, PASSED) >= 0.8
    assert np.median(steps) <= soon


@pytest.mark.parametrize(
    ("question", "draw"), [(CART, all_or_nothing(50.0)), (CART, bell(400.0)), (CAR, cars(-150.0))]
)
def test_a_hopeless_policy_is_found_out_soon(question: ReturnQuestion, draw: Draw) -> None:
    answers, steps = outcomes(question, draw)
    assert share(answers, PASSED) <= 0.01
    assert np.median(steps) <= 0.25 * question.steps


def test_a_policy_at_the_threshold_is_rarely_turned_down_as_hopeless() -> None:
    """The bets against it win with a chance of at most 0.2; what is left ends without an answer."""
    endless = CART._replace(**PATIENT, error=1e-9, weakest=1e-9)
    rng, refused = np.random.default_rng(1), 0
    for _ in range(RUNS):
        values = half_or_all(475.0)(rng, 60).tolist()
        refused += any(judge(values[:n], 0, endless) == FAILED for n in range(2, 61))
    assert refused / RUNS <= at_most(endless.refusal)


# The capital.

returns = st.lists(st.floats(-2000.0, 500.0), max_size=20)


@given(returns, st.floats(1.0, 1000.0))
def test_capital_is_never_negative_and_never_comes_back(values: list[float], room: float) -> None:
    money = [capital(values[:n], 475.0, room) for n in range(len(values) + 1)]
    assert all(m >= 0.0 for m in money)
    assert all(b == 0.0 for a, b in pairwise(money) if a == 0.0)


def test_a_return_below_all_that_was_known_takes_all_the_capital() -> None:
    """Two disasters must not make a fortune, as two negative factors would."""
    good = [500.0] * 40
    assert capital([*good, -1_000.0], 475.0, 475.0) == 0.0
    assert capital([*good, -1_000.0, -100_000.0, *[500.0] * 300], 475.0, 475.0) == 0.0
    assert judge([*good, -100_000.0, *[500.0] * 60], 70_000, CART._replace(error=1e-9)) == FAILED


@pytest.mark.parametrize("mean", [100.0, 300.0, 475.0])
def test_a_fair_bet_is_not_expected_to_gain(mean: float) -> None:
    """Exactly: the mean over both outcomes of a trial, for two trials in a row."""
    p = mean / 500.0
    chances = {500.0: p, 0.0: 1.0 - p}
    expected = sum(chances[a] * chances[b] * capital([a, b], mean, mean) for a in chances for b in chances)
    assert expected == pytest.approx(1.0)


@given(returns)
def test_what_is_known_beforehand_decides_the_stake(values: list[float]) -> None:
    """The stake of a trial does not depend on its own return: the capital after it is linear in that."""
    room = 2500.0
    low, high = (capital([*values, x], 475.0, room) for x in (0.0, 400.0))
    assert capital([*values, 200.0], 475.0, room) == pytest.approx((low + high) / 2)


# Bounds.


def test_a_lower_bound_covers_the_mean_whenever_one_looks() -> None:
    rng, missed = np.random.default_rng(2), 0
    for _ in range(RUNS):
        values = half_or_all(475.0)(rng, 60).tolist()
        missed += any(lower_bound(values[:n], least=250.0) > 475.0 for n in (10, 30, 60))
    assert missed / RUNS <= at_most(0.05)


def test_a_lower_bound_comes_near_the_mean() -> None:
    values = half_or_all(490.0)(np.random.default_rng(3), 400).tolist()
    assert 460.0 < lower_bound(values, least=250.0) < np.mean(values)  # 467.5
    few = lower_bound(values[:20], least=250.0)
    assert few < lower_bound(values, least=250.0)


def test_what_does_not_vary_repeats_and_one_trial_says_nothing() -> None:
    assert will_repeat([475.0, 475.0], 475.0)
    assert not will_repeat([500.0], 475.0)
    assert not will_repeat([500.0, 452.0] * 5, 475.0)  # the mean is above, but not surely
    assert will_repeat([500.0, 452.0] * 500, 470.5)
    assert not will_repeat([500.0, 452.0] * 500, 474.0)  # a hundred others may vary by more than these
    assert judge([500.0], 500, CART._replace(error=1.0)) == OPEN


def test_a_confirmation_always_comes_to_an_end() -> None:
    assert judge([475.0] * 55, 69_999, CART) == OPEN
    assert judge([474.0, 476.0] * 28, 70_000, CART) == FAILED
    assert (
        judge([475.0] * 56, 70_000, CART) == PASSED
    )  # none was below it, and a threshold is a mean that will do
    assert judge([470.0] * 10, 100, CART._replace(most=10)) == FAILED
    assert (
        judge([500.0] * 10, 5_000, CART._replace(most=10)) == PASSED
    )  # who allows but few is content with few


def test_a_threshold_at_the_least_return_leaves_room() -> None:
    """As where every trial so far was a success, or the threshold is zero."""
    for threshold, least in ((0.0, 0.0), (-110.0, -90.0), (475.0, np.inf)):
        question = ReturnQuestion(threshold, least, threshold + 10.0)
        assert question.room > 0.0
        assert judge([threshold + 10.0] * 5, 10, question) in (OPEN, PASSED)
