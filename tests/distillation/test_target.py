"""What is to be kept: a share of what the teacher gains is compared start by start."""

from __future__ import annotations

import numpy as np
import pytest

from distinguo.distillation.descent import TargetReturn, remembered
from distinguo.distillation.distil import is_confirmed
from distinguo.distillation.trials import Trials, trials_of
from distinguo.search.races import Contender
from distinguo.tasks.catalog import task_spec
from tests.distillation.common import CAR, RESTING, STALLING, SWINGING

DRAWS = 20


@pytest.fixture(scope="module")
def trials() -> Trials:
    return trials_of(task_spec(CAR), 200)


def gains(trials: Trials, map_: object, starts: list[int]) -> np.ndarray:
    return trials.judge([Contender(map_, starts)])[0]  # type: ignore[arg-type]


def relative(trials: Trials) -> TargetReturn:
    """What SWINGING gains in some trials, less one in a hundred."""
    mean = float(gains(trials, SWINGING, list(range(100))).mean())
    return TargetReturn(mean - 0.01 * abs(mean), lambda starts: gains(trials, SWINGING, list(starts)), mean)


def test_a_map_that_does_as_its_teacher_does_keeps_its_return_in_every_draw(trials: Trials) -> None:
    target, plain = relative(trials), 0
    for draw in range(DRAWS):
        starts = list(range(1_000 + 100 * draw, 1_100 + 100 * draw))
        returns = gains(trials, SWINGING, starts)
        assert target.is_reached(target.compared(returns, starts))
        plain += TargetReturn(target.value).is_reached(returns)
    assert plain < 0.8 * DRAWS  # starts differ by more than the share that may be lost


@pytest.mark.parametrize("other", [RESTING, STALLING])
def test_a_map_that_is_worse_does_not(trials: Trials, other: object) -> None:
    target, starts = relative(trials), list(range(500, 600))
    assert not target.is_reached(target.compared(gains(trials, other, starts), starts))


def test_confirmation_compares_in_the_same_way(trials: Trials) -> None:
    target = relative(trials)
    numbers = iter(range(50_000, 10**6))
    seen = np.array([-200.0, -80.0])
    for map_, passes in ((SWINGING, True), (RESTING, False)):
        assert is_confirmed(trials, map_, target, seen, lambda n: [next(numbers) for _ in range(n)]) is passes


def test_a_teacher_is_followed_once_from_a_start() -> None:
    asked: list[int] = []

    def gained(starts: list[int]) -> np.ndarray:
        asked.extend(starts)
        return np.array(starts, dtype=float)

    once = remembered(gained)  # type: ignore[arg-type]
    assert once([3, 1, 3]).tolist() == [3.0, 1.0, 3.0]
    assert once([1, 2]).tolist() == [1.0, 2.0]
    assert asked == [3, 1, 2]
