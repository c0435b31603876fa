"""Changes on probation, what the starts decide, and how new trials confirm a map."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from distinguo.distillation.descent import Bar, aim
from distinguo.distillation.distil import confirmed
from distinguo.distillation.fit import Lesson
from distinguo.distillation.descent import Race, Standing
from distinguo.distillation.costs import plain_label
from distinguo.distillation.trials import CompiledTrials
from distinguo.distillation.trials import FIRST_LOOKS, Contender, judged
from distinguo.tasks.catalog import task_spec
from tests.distillation.common import CAR, RESTING, STALLING, SWINGING, SWINGS


@pytest.fixture(scope="module")
def trials() -> Iterator[CompiledTrials]:
    car = CompiledTrials(task_spec(CAR), 200)
    yield car
    car.close()


def race(trials: CompiledTrials, seed: int = 0, starts: int = 12) -> Race:
    followed = trials.follow_teacher(SWINGS.predict, range(4))
    lesson = Lesson(followed.seen, *plain_label(followed.taken, 3))
    return Race(trials, lesson, list(range(100, 100 + starts)), np.random.default_rng(seed))


# ---- giving up -----------------------------------------------------------------------------------------------------


def returns_of(starts: Any) -> np.ndarray:
    return np.array([float(n % 7) for n in starts])


def test_without_something_to_beat_all_starts_are_run() -> None:
    asked: list[list[int]] = []

    def run(starts: Any) -> np.ndarray:
        asked.append(list(starts))
        return returns_of(starts)

    assert judged(Contender(SWINGING, range(30)), run).tolist() == returns_of(range(30)).tolist()
    assert asked == [list(range(30))]


@pytest.mark.parametrize("looks", range(4))
def test_what_falls_behind_is_given_up_at_the_next_look(looks: int) -> None:
    before = (0, *FIRST_LOOKS)[looks]

    def run(starts: Any) -> np.ndarray:
        return np.array([returns_of([n])[0] - (1_000.0 if n >= before else -1.0) for n in starts])

    given_up = judged(Contender(SWINGING, range(40), returns_of(range(40))), run)
    assert len(given_up) == (*FIRST_LOOKS, 40)[looks]


def test_what_is_equal_or_better_is_never_given_up() -> None:
    present = returns_of(range(40))
    for more in (0.0, 0.5):
        kept = judged(
            Contender(SWINGING, range(40), present), lambda starts, more=more: returns_of(starts) + more
        )
        assert kept.tolist() == (present + more).tolist()


def test_clearly_behind_means_five_trials() -> None:
    behind = judged(Contender(SWINGING, range(40), returns_of(range(40)) + 1.0), returns_of)
    assert len(behind) == FIRST_LOOKS[0]


# ---- a race --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("begun", [RESTING, STALLING, SWINGING], ids=["resting", "stalling", "swinging"])
def test_a_generation_is_never_worse_on_its_starts(trials: CompiledTrials, begun: Any) -> None:
    work = race(trials)
    standing = work.measured(begun)
    first = standing.mean
    for _ in range(12):
        better = work.generation(standing, 6)
        assert better.mean >= standing.mean
        np.testing.assert_array_equal(better.returns, work.measured(better.map).returns)
        assert len(better.map.actions) == 2  # of the same size
        standing = better
    assert work.proposals == 72
    assert (standing.mean > first) == (work.kept > 0)


def test_a_race_finds_something_better(trials: CompiledTrials) -> None:
    work = race(trials, seed=1)
    standing = work.measured(RESTING)
    assert standing.mean == -200.0
    for _ in range(25):
        standing = work.generation(standing, 8)
    assert standing.mean > -190.0


def test_a_race_leaves_what_it_was_given(trials: CompiledTrials) -> None:
    work = race(trials)
    before = [column.copy() for column in STALLING]
    work.generation(work.measured(STALLING), 20)
    for column, old in zip(STALLING, before, strict=True):
        np.testing.assert_array_equal(column, old)


def test_the_seed_decides(trials: CompiledTrials) -> None:
    def raced(seed: int) -> Any:
        work = race(trials, seed)
        return work.generation(work.measured(STALLING), 20).map

    one, same, other = raced(1), raced(1), raced(2)
    for column, again in zip(one, same, strict=True):
        np.testing.assert_array_equal(column, again)
    assert not all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_the_best_of_many_is_the_best(trials: CompiledTrials) -> None:
    work = race(trials)
    for maps in ([RESTING, SWINGING], [RESTING, STALLING, RESTING, SWINGING, RESTING, STALLING]):
        assert work.best_of(maps).map is SWINGING
    np.testing.assert_array_equal(work.best_of([SWINGING]).returns, work.measured(SWINGING).returns)


def test_the_teacher_draws_a_prototype_towards_a_mistake(trials: CompiledTrials) -> None:
    work = race(trials)
    shifted = SWINGING._replace(prototypes=SWINGING.prototypes + np.array([0.0, 0.03]))
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


def test_the_aim_is_above_the_bar_by_the_error_of_new_trials() -> None:
    returns = np.array([0.0, 10.0] * 50)
    assert aim(np.full(10, 7.0), 3.0) == 3.0  # nothing varies
    assert aim(returns, 3.0) - 3.0 == pytest.approx(2 * (aim(np.tile(returns, 4), 3.0) - 3.0))
    assert aim(returns[:10], 3.0, 100) == aim(returns, 3.0)


def test_new_trials_confirm_or_refuse_a_map(trials: CompiledTrials) -> None:
    numbers = iter(range(5_000, 10**6))

    def fresh(count: int) -> list[int]:
        return [next(numbers) for _ in range(count)]

    seen = np.concatenate([trials.judge([Contender(map_, fresh(50))])[0] for map_ in (SWINGING, RESTING)])
    assert confirmed(trials, SWINGING, Bar(-150.0), seen, fresh)
    first = next(numbers)
    assert not confirmed(trials, RESTING, Bar(-150.0), seen, fresh)
    assert next(numbers) > first + 1  # both took trials from starts that nobody had seen


def test_a_standing_is_a_mean() -> None:
    assert Standing(SWINGING, np.array([1.0, 2.0])).mean == 1.5
