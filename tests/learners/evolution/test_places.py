"""Numbers become maps: the nearest prototype has the greatest score."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.learners.evolution.places import (
    count_numbers,
    from_scores,
    most_numbers,
    prototypes_of_numbers,
)
from tests.nightly import so_many

CLOSE = 1e-6  #: differences of scores that rounding may turn round


@settings(max_examples=so_many(100, nightly=2_000), deadline=None)
@given(st.integers(1, 9), st.data())
def test_the_nearest_prototype_has_the_greatest_score(dimensions: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(2, dimensions + 1))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    slopes, offsets = (
        rng.normal(size=(count, dimensions)),
        rng.normal(size=count) * data.draw(st.sampled_from([0.0, 0.1, 1.0, 30.0])),
    )
    if data.draw(st.booleans()):
        slopes[0], offsets[0] = 0.0, 0.0  # as in a search
    prototypes = from_scores(slopes, offsets)
    points = rng.normal(size=(200, dimensions)) * 3.0
    scores = points @ slopes.T + offsets
    nearest = (((points[:, None] - prototypes) ** 2).sum(axis=2)).argmin(axis=1)
    scale = 1.0 + (prototypes**2).sum(axis=1).max()  # far prototypes of close scores are rounded
    behind = scores.max(axis=1) - scores[np.arange(len(points)), nearest]
    assert (behind <= CLOSE * scale).all()
    assert (behind == 0.0).mean() > 0.9


def test_more_prototypes_than_scores_allow_are_the_numbers_themselves() -> None:
    places, widths = prototypes_of_numbers(np.array([1.0, 2.0, 3.0, 0.0]), dimensions=1, prototypes=3)
    assert places.ravel().tolist() == [1.0, 2.0, 3.0]
    assert widths.tolist() == [1.0]


@pytest.mark.parametrize("dimensions", [1, 2, 4, 8])
def test_there_is_room_for_any_number_of_prototypes(dimensions: int) -> None:
    assert most_numbers(dimensions, 6) == max(count_numbers(dimensions, size) for size in range(2, 7))
    for size in range(2, 7):
        numbers = np.random.default_rng(size).normal(size=count_numbers(dimensions, size))
        places, widths = prototypes_of_numbers(numbers, dimensions, size)
        assert places.shape == (size, dimensions)
        assert widths.shape == (dimensions,)
