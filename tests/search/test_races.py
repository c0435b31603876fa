"""Races on common starts: what falls behind is given up, what is as good never is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from distinguo.search.maps import prototype_map
from distinguo.search.races import FEWEST, FIRST_LOOKS, Candidate, Contender, is_hopeless, judged

ONE = prototype_map([[0.0]], [0], [1.0])


def returns_of(starts: Any) -> np.ndarray:
    return np.array([float(n % 7) for n in starts])


def test_without_something_to_beat_all_starts_are_run() -> None:
    asked: list[list[int]] = []

    def run(starts: Any) -> np.ndarray:
        asked.append(list(starts))
        return returns_of(starts)

    assert judged(Contender(ONE, range(30)), run).tolist() == returns_of(range(30)).tolist()
    assert asked == [list(range(30))]


@pytest.mark.parametrize("looks", range(4))
def test_what_falls_behind_is_given_up_at_the_next_look(looks: int) -> None:
    before = (0, *FIRST_LOOKS)[looks]

    def run(starts: Any) -> np.ndarray:
        return np.array([returns_of([n])[0] - (1_000.0 if n >= before else -1.0) for n in starts])

    given_up = judged(Contender(ONE, range(40), returns_of(range(40))), run)
    assert len(given_up) == (*FIRST_LOOKS, 40)[looks]


def test_what_is_equal_or_better_is_never_given_up() -> None:
    present = returns_of(range(40))
    for more in (0.0, 0.5):
        kept = judged(Contender(ONE, range(40), present), lambda starts, more=more: returns_of(starts) + more)
        assert kept.tolist() == (present + more).tolist()


def test_clearly_behind_means_five_trials() -> None:
    behind = judged(Contender(ONE, range(40), returns_of(range(40)) + 1.0), returns_of)
    assert len(behind) == FIRST_LOOKS[0]


@pytest.mark.parametrize("behind", range(FEWEST, 12))
def test_one_by_one_it_is_given_up_as_soon_as_it_is_hopeless(behind: int) -> None:
    """What is looked at after every trial never runs one more than it has to."""

    def run(starts: Any) -> np.ndarray:
        assert len(starts) <= FEWEST
        return np.array([1.0 if n < behind - FEWEST else -1_000.0 + n for n in starts])

    returns = judged(Contender(ONE, range(40), np.zeros(40)), run, looks=range(FEWEST, 40))
    hopeless = [is_hopeless(returns[:n]) for n in range(1, len(returns) + 1)]
    assert hopeless == [False] * (len(returns) - 1) + [True]
    assert FEWEST <= len(returns) < 40


def test_a_candidate_knows_its_size_mean_and_error() -> None:
    candidate = Candidate(ONE, np.array([1.0, 2.0]))
    assert (candidate.size, candidate.mean, candidate.error) == (1, 1.5, pytest.approx(0.5))
