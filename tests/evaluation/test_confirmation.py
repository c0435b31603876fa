"""The sequential test of a mean return: its error rates both ways, by simulation and by exact arithmetic."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import gymnasium
import numpy as np
import pytest
from benchmarks.confirmation import LAWS, Law, falsely_solved, outcome, upper
from hypothesis import given
from hypothesis import strategies as st

import distinguo as dg
from distinguo.evaluation.confirmation import (
    FAILED,
    OPEN,
    PASSED,
    SHARES,
    STAKES,
    UNDECIDED,
    ReturnQuestion,
    answers,
    is_reached,
    judge,
    log_capital,
    lower_bound,
    spent_error,
    trials_to_pass,
)
from tests.nightly import so_many

RUNS = so_many(60, nightly=2000)
CART = ReturnQuestion(threshold=475.0, least=9.0, greatest=500.0)
CAR = ReturnQuestion(threshold=-110.0, least=-200.0, greatest=-83.0)
PURE = CART._replace(steps=10**9, most=1_000)  #: nothing but the evidence ends it


def capital(returns: Sequence[float], bar: float, least: float) -> float:
    """An oracle: the sum over the stakes, each multiplied out trial by trial."""
    total = 0.0
    for stake, share in zip(STAKES.tolist(), SHARES.tolist(), strict=True):
        money = share
        for value in returns:
            money *= 0.0 if value < least else 1.0 + stake * (value - bar) / (bar - least)
        total += money
    return total


returns = st.lists(st.floats(9.0, 500.0), min_size=1, max_size=30)


@given(returns, st.floats(20.0, 480.0))
def test_the_capital_is_what_the_bets_leave(values: list[float], bar: float) -> None:
    paths = np.exp(log_capital(np.array(values), bar, 9.0))
    assert paths == pytest.approx([capital(values[:n], bar, 9.0) for n in range(1, len(values) + 1)])
    assert (paths >= 0.0).all()


def test_the_capital_agrees_with_another_package() -> None:
    """``confseq.betting.betting_mart`` 0.0.11 at the same stakes, its processes added up by their shares."""
    theirs = [
        1.052557874886201,
        1.1082121305416666,
        0.19142635702549526,
        0.19609630646202647,
        0.16032958818492993,
    ]
    theirs += [
        0.16403017860534402,
        0.1678394145203583,
        0.16911668344229774,
        0.1196757653562627,
        0.12216422892843479,
    ]
    seen = np.array([500.0, 500.0, 9.0, 500.0, 250.0, 500.0, 500.0, 480.0, 100.0, 500.0])
    assert np.exp(log_capital(seen, 470.34, 9.0)) == pytest.approx(theirs, rel=1e-14)


@pytest.mark.parametrize("mean", [100.0, 300.0, 470.0])
def test_a_fair_bet_is_not_expected_to_gain(mean: float) -> None:
    """Exactly: the mean over all outcomes of three trials is the stake that one began with."""
    p = (mean - 9.0) / 491.0
    chances = {500.0: p, 9.0: 1.0 - p}
    expected = sum(
        math.prod(chances[x] for x in three) * math.exp(log_capital(np.array(three), mean, 9.0)[-1])
        for three in itertools.product(chances, repeat=3)
    )
    assert expected == pytest.approx(1.0)


def test_the_chance_of_an_error_is_what_it_says() -> None:
    """500 or 9 at the bar passes early only by a row of successes: no shorter than errs as often as it may."""
    row = next(n for n in range(1, 200) if judge([500.0] * n, 500 * n, PURE) == PASSED)
    success = (CART.bar - 9.0) / 491.0
    assert 0.025 < success**row <= 0.05
    assert row == PURE.perfect


def test_all_claims_of_a_run_share_one_error() -> None:
    assert sum(spent_error(claim) for claim in range(1, 10_000)) == pytest.approx(0.05, abs=1e-5)
    assert sum(spent_error(claim, 0.99) for claim in range(1, 10_000)) <= 0.01
    assert all(spent_error(n) > spent_error(n + 1) for n in range(1, 30))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_runs_of_claims_are_rarely_wrong(law: Law) -> None:
    """At most one run in twenty, whatever the law; a test that spent no error would err in most of them."""
    rng = np.random.default_rng(7)
    wrong = sum(falsely_solved(law, so_many(5, 20), rng) for _ in range(RUNS))
    assert wrong / RUNS <= 0.05 + 3.0 * math.sqrt(0.05 * 0.95 / RUNS)


def test_without_spending_many_claims_would_be_wrong() -> None:
    """What the rule above guards against: the full error at every claim."""
    rng, law = np.random.default_rng(8), LAWS[0]
    question = law.question()._replace(error=0.25)
    wrong = sum(
        any(outcome(law, question.bar, question, rng)[0] == PASSED for _ in range(8)) for _ in range(30)
    )
    assert wrong >= 15


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_good_policy_passes_and_one_above_the_threshold_is_rarely_refused(law: Law) -> None:
    rng, question = np.random.default_rng(9), law.question()._replace(error=spent_error(1))
    best = [outcome(law, law.means[0], question, rng, final=True)[0] for _ in range(10)]
    assert best.count(PASSED) >= 9
    above = min(law.threshold + 0.1 * max(law.greatest - law.threshold, 0.0), law.means[0])
    said = [outcome(law, above, question, rng, final=True)[0] for _ in range(RUNS)]
    assert upper(said.count(FAILED), RUNS) <= 0.05 + 2.0 / math.sqrt(RUNS)
    hopeless = law.threshold - 0.5 * (law.threshold - law.means[1])
    assert [outcome(law, hopeless, question, rng)[0] for _ in range(10)].count(PASSED) == 0


def test_a_perfect_cart_pole_takes_at_most_30_000_steps() -> None:
    assert 500 * CART._replace(error=spent_error(1)).perfect <= 30_000


# The three answers.


def test_a_return_below_all_before_ends_the_test_undecided() -> None:
    good = [500.0] * 40
    assert judge([*good, 8.9], 20_009, CART) == UNDECIDED
    assert judge([*good, 9.0], 20_009, CART) == OPEN
    assert judge([*good, -1e5, *good], 40_000, CART) == UNDECIDED  # two disasters do not make a fortune
    assert judge([8.0] * 5, 40, CART, final=True) == OPEN  # a mean is reported of 20 at least


def test_a_test_ends_undecided_when_its_trials_are_used_up() -> None:
    at_the_bar = [455.0, 495.0] * 200
    steps = CART.steps
    assert judge(at_the_bar[: 3 * CART.perfect], steps, CART) == UNDECIDED
    assert (
        judge(at_the_bar[: 3 * CART.perfect - 1], steps, CART) == OPEN
    )  # long trials: not before a perfect one
    assert judge(at_the_bar[: 3 * CART.perfect], steps - 1, CART) == OPEN
    assert judge([476.0] * 10, 100, CART._replace(most=10)) == UNDECIDED  # few trials prove little


def test_a_claim_that_would_take_too_long_is_given_up_and_a_final_test_is_not() -> None:
    half = [500.0, 430.0] * 8
    assert judge(half, 7_440, CART._replace(is_claim=True)) == UNDECIDED
    assert judge(half, 7_440, CART) == OPEN
    assert judge([500.0] * 16, 8_000, CART._replace(is_claim=True)) == OPEN


def test_a_claim_may_be_asked_to_repeat_itself() -> None:
    """What is above the bar, and perhaps below the threshold, is sent back while it can become better."""
    scraping = np.array([455.0, 496.0] * 800)  # 475.5 on average
    asked = CART._replace(is_claim=True, again=300, steps=10**9)
    assert PASSED in answers(scraping, 0, CART._replace(steps=10**9))
    assert PASSED not in answers(scraping, 0, asked)
    assert judge([500.0] * 60, 30_000, asked) == PASSED


def test_how_many_trials_are_missing_is_told() -> None:
    some = [500.0] * 20
    missing = round(trials_to_pass(some, CART))
    assert judge([*some, *[500.0] * (missing + 1)], 500 * (missing + 21), CART) == PASSED
    assert trials_to_pass([400.0] * 20, CART) == math.inf


def test_a_threshold_at_the_least_or_the_greatest_return_leaves_room() -> None:
    """As where every trial so far was a success, or the threshold is zero."""
    for threshold, least in ((0.0, 0.0), (-110.0, -90.0), (475.0, np.inf)):
        question = ReturnQuestion(threshold, least, threshold + 10.0)
        assert question.floor < question.bar < threshold
        assert judge([threshold + 10.0] * 5, 10, question) in (OPEN, PASSED)
    top = ReturnQuestion(1.0, 0.0, 1.0)
    assert top.perfect < 100
    assert judge([1.0] * top.perfect, 10, top) == PASSED


def test_the_bar_does_not_follow_the_worst_trial() -> None:
    assert ReturnQuestion(200.0, -10_000.0, 260.0).bar == 198.0


@given(returns)
def test_an_answer_depends_on_the_trials_so_far_only(values: list[float]) -> None:
    whole = answers(np.array(values), 0, CART)
    assert whole.tolist() == [judge(values[:n], 0, CART) for n in range(1, len(values) + 1)]


# Tests of others than learning runs, and bounds.


def test_a_search_begins_anew_with_the_wider_range() -> None:
    """A low return once ends a test; the next allows for it."""
    seen, drawn = np.array([300.0, 500.0]), itertools.chain([9.0], itertools.repeat(500.0))
    assert is_reached(475.0, seen, lambda: ([next(drawn)], 500))
    assert not is_reached(475.0, seen, lambda: ([450.0, 440.0], 890))


def test_a_lower_bound_covers_the_mean_whenever_one_looks() -> None:
    rng, missed = np.random.default_rng(2), 0
    for _ in range(RUNS):
        values = LAWS[1].draw(rng, 475.0, 60).tolist()
        missed += any(lower_bound(values[:n], least=250.0) > 475.0 for n in (10, 30, 60))
    assert missed / RUNS <= 0.05 + 3.0 * math.sqrt(0.05 * 0.95 / RUNS)


def test_a_lower_bound_comes_near_the_mean() -> None:
    values = LAWS[1].draw(np.random.default_rng(3), 490.0, 400).tolist()
    assert 460.0 < lower_bound(values, least=250.0) < np.mean(values)
    assert lower_bound(values[:20], least=250.0) < lower_bound(values, least=250.0)
    assert lower_bound([-1e98] * 5, least=-1e98) == -1e98


def test_one_trial_decides_where_all_are_the_same() -> None:
    cliff = ReturnQuestion(-13.0, -2_000.0, -13.0, certain=True)
    assert judge([-13.0], 13, cliff) == PASSED
    assert judge([-14.0], 14, cliff) == FAILED
    assert judge([-13.0], 13, cliff._replace(certain=False)) == OPEN


def test_a_threshold_close_to_zero_does_not_take_the_tolerance_away() -> None:
    assert ReturnQuestion(0.001, -10.0, 5.0).bar == pytest.approx(0.001 - 0.01 * 4.999)
    assert ReturnQuestion(-0.06, -10.0, -0.05, spread=3.0).bar == pytest.approx(-0.09)


@pytest.mark.parametrize(("slippery", "certain"), [(False, True), (True, False)])
def test_only_a_deterministic_task_with_one_start_is_certain(slippery: bool, certain: bool) -> None:
    lake = gymnasium.make("FrozenLake-v1", is_slippery=slippery)
    run = dg.learn(lake, seed=1, threshold=0.9, settings={"stage.steps": 2_000, "stage.confirm": 30})
    assert run.solved == certain
    assert (run.summary["confirmation_trials"] == 1) == certain
    if certain:
        assert run.summary["score_low"] == run.summary["score"] == 1.0


def test_a_final_test_that_cannot_fail_ends_when_it_is_hopeless() -> None:
    """No return before was above 0, so those of 1 rule a refutation out: 20 trials say enough."""
    question = ReturnQuestion(threshold=0.8, least=0.0, greatest=0.0)
    returns = [0.0, 1.0, 0.0, 0.0, 0.0] * 4
    assert judge(returns[:19], 1_900, question, final=True) == OPEN
    assert judge(returns, 2_000, question, final=True) == UNDECIDED
    near = [1.0, 0.0, 1.0, 1.0, 1.0] * 8
    assert judge(near, 4_000, question, final=True) == OPEN
