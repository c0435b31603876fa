"""Learning curves on common checkpoints."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from distinguo.evaluation.statistics import Curve, checkpoints


def test_a_checkpoint_takes_the_last_measurement_before_it_and_the_last_one_the_last_of_all() -> None:
    curve = Curve([0, 700, 1200], [20.0, 90.0, 5e6], [0.0, 0.5, 1.0])
    asked = [0, 1, 700, 701, 1199, 1200]
    assert curve.at(asked).tolist() == [20.0, 20.0, 90.0, 90.0, 90.0, 5e6]
    assert curve.survival_at(asked).tolist() == [0.0, 0.0, 0.5, 0.5, 0.5, 1.0]
    assert curve.at([0, 1100]).tolist() == [20.0, 5e6]


@given(st.integers(1, 3000), st.integers(1, 700))
def test_checkpoints_go_from_nothing_to_the_end(steps: int, every: int) -> None:
    grid = checkpoints(steps, every)
    assert (grid[0], grid[-1]) == (0, steps)
    assert {b - a for a, b in pairwise(grid[:-1])} <= {every}
    assert 0 < grid[-1] - grid[-2] <= every
