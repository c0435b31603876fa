"""The price of a distinction: what is lost where two neighbours act alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.distillation.distil import prices_of_neighbours
from distinguo.distillation.trials import CompiledTrials
from distinguo.search.maps import append_prototype, drop_prototype, prototype_map, set_action
from distinguo.search.prices import STARTS, neighbouring_prototypes
from distinguo.search.races import Contender
from distinguo.tasks.catalog import task_spec
from tests.distillation.common import CAR, SWINGING
from tests.nightly import so_many


@settings(max_examples=so_many(50, nightly=200))
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 3))
def test_neighbours_are_the_nearest_and_the_next(seed: int, size: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    map_ = prototype_map(
        rng.normal(size=(size, width)), np.zeros(size, dtype=int), np.exp(rng.normal(size=width))
    )
    seen = rng.normal(size=(10, width))
    expected = set()
    for row in seen:
        far = sorted((sum(((row - place) / map_.scale) ** 2), n) for n, place in enumerate(map_.prototypes))
        if size > 1:
            expected.add(tuple(sorted((far[0][1], far[1][1]))))
    assert neighbouring_prototypes(map_, seen) == sorted(expected)


def test_a_price_is_what_trials_lose() -> None:
    trials = CompiledTrials(task_spec(CAR), 200)
    third = SWINGING.changed(append_prototype, np.array([0.4, 0.0]), 2)
    seen = trials.follow(third, range(5)).seen
    starts = list(range(STARTS + 10))
    prices = prices_of_neighbours(trials, third, np.arange(3), seen, starts)
    assert [0, 1] in [price["prototypes"] for price in prices]
    assert all(third.actions[i] != third.actions[j] for i, j in (price["prototypes"] for price in prices))
    own = trials.judge([Contender(third, starts[:STARTS])])[0].mean()
    for price in prices:
        i, j = price["prototypes"]
        either = [third.changed(set_action, a, int(third.actions[b])) for a, b in ((j, i), (i, j))]
        best = max(trials.judge([Contender(one, starts[:STARTS])])[0].mean() for one in either)
        assert price["lost"] == pytest.approx(own - best)
        assert (price["event"], price["starts"]) == ("price", STARTS)
        assert price["actions"] == third.actions[[i, j]].tolist()
    assert max(price["lost"] for price in prices) > 10
    trials.close()


def test_one_prototype_has_nothing_to_tell_apart() -> None:
    trials = CompiledTrials(task_spec(CAR), 50)
    one = SWINGING.changed(drop_prototype, 0)
    assert neighbouring_prototypes(one, np.zeros((3, 2))) == []
    assert prices_of_neighbours(trials, one, np.arange(1), np.zeros((3, 2)), list(range(20))) == []
    trials.close()
