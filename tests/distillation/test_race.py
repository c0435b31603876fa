"""Changes on probation, what the starts decide, and how new trials confirm a map."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from distinguo.distillation.costs import plain_label
from distinguo.distillation.descent import Race, TargetReturn, aim
from distinguo.distillation.distil import is_confirmed
from distinguo.distillation.fit import Lesson
from distinguo.distillation.trials import CompiledTrials
from distinguo.search.maps import move_prototype
from distinguo.search.races import Contender
from distinguo.tasks.catalog import task_spec
from tests.distillation.common import CAR, RESTING, STALLING, SWINGING, SWINGS, bits


@pytest.fixture(scope="module")
def trials() -> Iterator[CompiledTrials]:
    car = CompiledTrials(task_spec(CAR), 200)
    yield car
    car.close()


def race(trials: CompiledTrials, seed: int = 0, starts: int = 12) -> Race:
    followed = trials.follow_teacher(SWINGS.predict, range(4))
    lesson = Lesson(followed.seen, *plain_label(followed.taken, 3))
    return Race(trials, lesson, list(range(100, 100 + starts)), np.random.default_rng(seed))


# ---- a race --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("begun", [RESTING, STALLING, SWINGING], ids=["resting", "stalling", "swinging"])
def test_a_generation_is_never_worse_on_its_starts(trials: CompiledTrials, begun: Any) -> None:
    work = race(trials)
    present = work.measured(begun)
    first = present.mean
    for _ in range(12):
        better = work.generation(present, 6)
        assert better.mean >= present.mean
        np.testing.assert_array_equal(better.returns, work.measured(better.map).returns)
        assert better.size == 2  # of the same size
        present = better
    assert work.proposals == 72
    assert (present.mean > first) == (work.kept > 0)


def test_a_race_finds_something_better(trials: CompiledTrials) -> None:
    work = race(trials, seed=1)
    present = work.measured(RESTING)
    assert present.mean == -200.0
    for _ in range(25):
        present = work.generation(present, 8)
    assert present.mean > -190.0


def test_a_race_leaves_what_it_was_given(trials: CompiledTrials) -> None:
    work = race(trials)
    before = bits(STALLING)
    work.generation(work.measured(STALLING), 20)
    assert bits(STALLING) == before


def test_the_seed_decides(trials: CompiledTrials) -> None:
    def raced(seed: int) -> Any:
        work = race(trials, seed)
        return work.generation(work.measured(STALLING), 20).map

    one, same, other = raced(1), raced(1), raced(2)
    assert bits(one) == bits(same) != bits(other)


def test_the_best_of_many_is_the_best(trials: CompiledTrials) -> None:
    work = race(trials)
    for maps in ([RESTING, SWINGING], [RESTING, STALLING, RESTING, SWINGING, RESTING, STALLING]):
        assert work.best_of(maps).map is SWINGING
    np.testing.assert_array_equal(work.best_of([SWINGING]).returns, work.measured(SWINGING).returns)


def test_the_teacher_draws_a_prototype_towards_a_mistake(trials: CompiledTrials) -> None:
    work = race(trials)
    shifted = SWINGING
    for p, place in enumerate(SWINGING.prototypes + np.array([0.0, 0.03])):
        shifted = shifted.changed(move_prototype, p, place)
    taught = work._taught(shifted)
    assert taught is not None
    moved = np.flatnonzero((taught.prototypes != shifted.prototypes).any(axis=1))
    assert len(moved) == 1
    assert taught.actions.tolist() == shifted.actions.tolist()
    replaced = work._taught(RESTING)  # no prototype has a right action: one gets it
    assert replaced is not None
    assert set(replaced.actions.tolist()) - {1} <= {0, 2}
    assert replaced.actions.tolist() != RESTING.actions.tolist()
    work.lesson = work.lesson._replace(good=np.ones_like(work.lesson.good))
    assert work._taught(SWINGING) is None


# ---- how sure it is ------------------------------------------------------------------------------------------------


def test_the_aim_is_above_the_target_by_the_error_of_new_trials() -> None:
    returns = np.array([0.0, 10.0] * 50)
    assert aim(np.full(10, 7.0), 3.0) == 3.0  # nothing varies
    assert aim(returns, 3.0) - 3.0 == pytest.approx(2 * (aim(np.tile(returns, 4), 3.0) - 3.0))
    assert aim(returns[:10], 3.0, 100) == aim(returns, 3.0)


def test_new_trials_confirm_or_refuse_a_map(trials: CompiledTrials) -> None:
    numbers = iter(range(5_000, 10**6))

    def fresh(count: int) -> list[int]:
        return [next(numbers) for _ in range(count)]

    seen = np.concatenate([trials.judge([Contender(map_, fresh(50))])[0] for map_ in (SWINGING, RESTING)])
    assert is_confirmed(trials, SWINGING, TargetReturn(-150.0), seen, fresh)
    first = next(numbers)
    assert not is_confirmed(trials, RESTING, TargetReturn(-150.0), seen, fresh)
    assert next(numbers) > first + 1  # both took trials from starts that nobody had seen
