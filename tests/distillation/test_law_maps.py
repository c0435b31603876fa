"""The fewest laws that keep a teacher's return: fits, trials of many laws at once, polishing, and bad input."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import distinguo as dg
from distinguo.distillation import teachers
from distinguo.distillation.descent import TargetReturn
from distinguo.distillation.distil import Distilled
from distinguo.distillation.law_maps import FoundLaws, LawSearch, Numbers
from distinguo.distillation.laws import Box, LawMap, fitted_law_map
from distinguo.distillation.levels import AT_ONCE, AmountTeacher, levelled
from distinguo.distillation.trials import Trials, trials_of
from distinguo.learners.distilled import DistilSettings
from distinguo.search.maps import prototype_map
from distinguo.tasks.amounts import amounts_of, laws_of, with_laws
from distinguo.tasks.catalog import task_spec
from tests.distillation.common import QUICK, refused
from tests.distillation.test_amounts import MATCH, Match
from tests.nightly import so_many
from tests.tasks.test_amounts import Sledge

PENDULUM, HILL = "Pendulum-v1", "MountainCarContinuous-v0"
ONE = Box(np.array([-1.0]), np.array([1.0]))
UPRIGHT = LawMap(prototype_map([[0.0, 0.0, 0.0]], [0], [1.0] * 3), np.array([[[0.0, -8.0, -2.0, 0.0]]]))
PUSHING = LawMap(
    prototype_map([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [0, 1], [1.0, 9.0, 9.0]),
    np.array([[[0.0, 0.0, 9.0, 0.0]], [[0.0, -8.0, -2.0, 0.0]]]),
)


def trials_with(task: str, **parameters: Any) -> Trials:
    spec = task_spec(task, {"levels": 0, **parameters})
    assert spec.amounts is not None
    one = np.zeros((1, len(spec.amounts.low), len(spec.dimensions) + 1))
    return trials_of(with_laws(spec, one), 200)


@pytest.fixture(params=[PENDULUM, HILL])
def trials(request: Any) -> Iterator[Trials]:
    """Trials of a compiled task and of one in other processes."""
    made = trials_with(request.param)
    yield made
    made.close()


# ---- fits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(so_many(2, nightly=10)))
def test_laws_and_their_borders_are_found_together(seed: int) -> None:
    """Most rows are at rest, where all laws say the same: they must not decide."""
    rng = np.random.default_rng(seed)
    seen = np.concatenate([rng.normal(size=(3_000, 2)), 0.01 * rng.normal(size=(9_000, 2)) + (2.0, 0.0)])
    table = np.array([[[0.5, -0.5, 0.1]], [[-0.8, 0.4, 0.3]]])
    near = (seen[:, 0] + seen[:, 1] > 0.5).astype(int)
    taken = ONE.said(table, seen)[np.arange(len(seen)), near]
    wrong = []
    for _ in range(DistilSettings().restarts):
        found = fitted_law_map(seen, taken, 2, ONE, rng)
        said = ONE.said(found.table, seen)[np.arange(len(seen)), found.map.choose(seen)]
        wrong.append((np.abs(said - taken)[:3_000, 0] > 0.1).mean())
    assert min(wrong) < 0.06


def test_a_network_that_nearly_saturates_is_taken_for_one_that_does() -> None:
    rng = np.random.default_rng(3)
    seen = rng.normal(size=(2_000, 1))
    found = fitted_law_map(seen, np.tanh(9.0 * seen), 1, ONE, rng)
    assert found.table[0, 0, 0] > 3.0  # a regression of every row has 0.9
    assert abs(ONE.said(found.table, np.array([[0.5]]))[0, 0, 0]) == 1.0


# ---- trials --------------------------------------------------------------------------------------------------------


def test_laws_of_many_maps_in_one_question_are_those_of_each(trials: Trials) -> None:
    width = len(trials.spec.dimensions)
    rng = np.random.default_rng(0)
    maps = [
        LawMap(
            prototype_map(rng.normal(size=(size, width)), np.arange(size), np.ones(width)),
            3.0 * rng.normal(size=(size, 1, width + 1)),
        )
        for size in (1, 3, 2)
    ]
    search = LawSearch(trials, lambda rows: rows, TargetReturn(0.0), DistilSettings(), 0, lambda text: None)
    together = search.judge(maps, [5, 6, 7])
    alone = [search.judge([one], [5, 6, 7])[0] for one in maps]
    np.testing.assert_array_equal(together, alone)
    assert len({one.mean() for one in alone}) > 1
    trials.use_laws(np.concatenate([one.table for one in maps]))
    followed = trials.follow(prototype_map(maps[1].map.prototypes, [1, 2, 3], maps[1].map.scale), [5, 6, 7])
    np.testing.assert_array_equal(followed.returns, alone[1])
    assert set(followed.taken.tolist()) <= {1, 2, 3}


def test_a_teacher_with_amounts_gains_what_its_law_gains(trials: Trials) -> None:
    width = len(trials.spec.dimensions)
    law = LawMap(
        prototype_map([[0.0] * width], [0], [1.0] * width), np.full((1, 1, width + 1), 0.7) * range(width + 1)
    )
    search = LawSearch(trials, lambda rows: rows, TargetReturn(0.0), DistilSettings(), 0, lambda text: None)
    expected = search.judge([law], [1, 2, 3])[0]
    known = laws_of(trials.spec)
    assert known is not None

    def take(rows: np.ndarray) -> np.ndarray:
        return np.array([amounts_of(known, 0, row.tolist()) for row in rows])

    before = trials.spec
    np.testing.assert_allclose(trials.gains_of_amounts(take, [1, 2, 3]), expected, rtol=1e-9)
    assert laws_of(trials.spec).table.tolist() == laws_of(before).table.tolist()  # type: ignore[union-attr]


# ---- polishing -----------------------------------------------------------------------------------------------------


def test_no_deviation_is_the_map_itself() -> None:
    rng = np.random.default_rng(1)
    code = Numbers(PUSHING, rng.normal(size=(50, 3)) + 2.0, Box(np.array([-2.0]), np.array([2.0])))
    again = code.map_of(np.zeros(code.count))
    np.testing.assert_allclose(again.table, PUSHING.table, atol=1e-12)
    np.testing.assert_array_equal(again.map.prototypes, PUSHING.map.prototypes)


POLISH = QUICK | {"learner.patience": 400, "learner.steps": 200_000}


@pytest.fixture(scope="module")
def match() -> Iterator[None]:
    """An environment in which the amount that is shown is to be named."""
    gymnasium.register(MATCH, entry_point=Match)
    yield
    del gymnasium.registry[MATCH]


def timid(seen: np.ndarray) -> np.ndarray:
    """Name half of what is shown."""
    return np.asarray(0.5 * seen)


def polished(**changes: Any) -> Distilled:
    return dg.distil(dg.Policy(timid, "timid"), MATCH, keep=9.0, settings=POLISH, **changes)


@pytest.fixture(scope="module")
def whole(match: None) -> Distilled:
    return polished()


def test_trials_correct_a_teacher_that_is_too_timid(whole: Distilled) -> None:
    """It names half of what is shown and gains about 5; its law, polished, names it all."""
    assert whole.kept
    assert whole.run.summary["prototypes"] == 1
    found = laws_of(whole.run.configuration.spec)
    assert found is not None
    assert found.table[0, 0] == pytest.approx([1.0, 0.0], abs=0.15)
    assert 0.3 < whole.fidelity.on_map < 0.5  # half of what is shown is near all of it up to 0.4
    assert 0.3 < whole.fidelity.on_teacher < 0.5
    assert whole.fidelity.regret is None
    fitted = dg.distil(timid, MATCH, keep=9.0, settings=POLISH | {"learner.race": False})
    assert not fitted.kept


@pytest.mark.usefixtures("match")
def test_gains_that_are_not_needed_are_dropped() -> None:
    """A constant is enough where little is asked."""
    small = dg.distil(lambda seen: seen, MATCH, keep=-3.0, settings=POLISH)
    found = laws_of(small.run.configuration.spec)
    assert found is not None
    assert found.table[0, 0, 0] == 0.0


def test_a_stopped_search_ends_with_the_best_map_so_far(whole: Distilled, tmp_path: Path) -> None:
    """And the same command goes on with it, to the same end."""

    def watch(text: str) -> None:
        if "polishing" in text:
            raise StopIteration

    small = polished(watch=watch, out=tmp_path / "run")
    assert small.run.summary["stopped"]
    again = polished(out=tmp_path / "run")
    assert not again.run.summary["stopped"]
    assert_same(again, whole)


def test_an_interrupted_search_goes_on_with_the_same_bits(whole: Distilled, tmp_path: Path) -> None:
    said: list[str] = []

    def watch(text: str) -> None:
        said.append(text)
        if len(said) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        polished(watch=watch, out=tmp_path / "run")
    assert_same(polished(out=tmp_path / "run"), whole)


def assert_same(one: Distilled, other: Distilled) -> None:
    tables = [laws_of(found.run.configuration.spec).table for found in (one, other)]  # type: ignore[union-attr]
    np.testing.assert_array_equal(*tables)
    for name in ("total_steps", "environment_steps", "score"):
        assert one.run.summary[name] == other.run.summary[name]


@pytest.mark.usefixtures("match")
def test_trials_of_a_teacher_side_by_side_are_those_alone() -> None:
    def teacher_of(task: Any) -> AmountTeacher:
        found = levelled(
            partial(teachers.teacher_of, lambda seen: 0.5 * seen), task, {}, lambda spec, _: -99.0
        )
        assert found.amounts is not None
        return found.amounts

    many, one = teacher_of(MATCH), teacher_of(gymnasium.make(MATCH))
    assert (len(many.others), len(one.others)) == (AT_ONCE - 1, 0)
    for together, alone in zip(many.trials(range(13)), one.trials(range(13)), strict=True):
        np.testing.assert_array_equal(together, alone)
    assert len({float(x) for x in one.trials(range(13))[0]}) == 13


def test_more_laws_must_gain_more_than_by_chance() -> None:
    small, large = (FoundLaws(one, np.zeros(0), False) for one in (UPRIGHT, PUSHING))
    low, high = np.array([0.0, 2.0] * 50), np.array([0.1, 2.1] * 50)
    assert not large._replace(returns=high).is_better_than(small._replace(returns=low))
    assert large._replace(returns=high + 1.0).is_better_than(small._replace(returns=low))
    assert small._replace(returns=high).is_better_than(large._replace(returns=low))
    assert large._replace(returns=low, kept=True).is_better_than(small._replace(returns=high))


# ---- declared tasks ------------------------------------------------------------------------------------------------


def test_a_teacher_of_a_declared_task_with_several_amounts() -> None:
    def brakes(s: np.ndarray) -> list[float]:
        return [float(np.clip(-2.0 * s[0], -1.0, 1.0)), 2.0]

    small = dg.distil(brakes, Sledge, settings=POLISH | {"learner.steps": 6_000_000})
    assert small.kept
    assert small.run.summary["prototypes"] == 1
    push, brake = small.run.amounts((0.25, 0.0))
    assert -1.0 <= push <= 1.0
    assert 0.0 <= brake <= 2.0
    assert small.fidelity.teacher.mean == 2_000.0  # steps: it never leaves the track


# ---- bad input -----------------------------------------------------------------------------------------------------


class Wide(gymnasium.Env[Any, Any]):
    """Actions of any box; the reward is minus the distance from what is shown."""

    def __init__(self, low: Any = -1.0, high: Any = 1.0, count: int = 1) -> None:
        self.observation_space = spaces.Box(-1.0, 1.0, (2,), np.float64)
        self.action_space = spaces.Box(np.full(count, low), np.full(count, high), dtype=np.float64)
        self.count = count

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Show two numbers."""
        super().reset(seed=seed)
        self.left, self.seen = 5, self.np_random.uniform(-1.0, 1.0, 2)
        return self.seen, {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Show the next ones."""
        reward = 1.0 - float(np.abs(action - self.seen[0]).mean())
        self.left, self.seen = self.left - 1, self.np_random.uniform(-1.0, 1.0, 2)
        return self.seen, reward, self.left == 0, False, {}


def test_forty_amounts_are_distilled() -> None:
    small = dg.distil(lambda seen: np.full(40, seen[0]), Wide(count=40), settings=POLISH)
    assert small.kept
    assert small.run.summary["prototypes"] == 1
    told = dg.explain(small.run, (0.25, 0.0)).document()["amounts"]
    assert list(told.values()) == list(small.run.amounts((0.25, 0.0)))
    assert small.run.amounts((0.25, 0.0)) == pytest.approx([0.25] * 40, abs=0.02)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_amounts_that_are_no_numbers_are_told(wrong: float, tmp_path: Path) -> None:
    def teacher(seen: np.ndarray) -> list[float]:
        return [wrong if seen[0] > 0.9 else 0.5 * float(seen[0])]

    refused(lambda: dg.distil(teacher, Wide(), settings=POLISH, out=tmp_path / "run"), "answered [")


def test_a_box_without_bounds_is_told() -> None:
    refused(lambda: dg.distil(lambda seen: [seen[0]], Wide(-np.inf, np.inf), settings=POLISH), "bounds")


def test_a_box_of_width_zero_is_told() -> None:
    refused(lambda: dg.distil(lambda seen: [0.5], Wide(0.5, 0.5), settings=POLISH), "low < high")
    low, high = np.array([-1.0, 0.5]), np.array([1.0, 0.5])
    wide = Wide(count=2)
    wide.action_space = spaces.Box(low, high, dtype=np.float64)
    refused(lambda: dg.distil(lambda seen: [seen[0], 0.5], wide, settings=POLISH), "low < high")


def test_gains_that_blow_up_are_cut_to_the_range() -> None:
    """A step is a law with a gain as great as any: what it says stays within the range."""
    small = dg.distil(lambda seen: [float(np.sign(seen[0] - 1e-9))], Wide(), settings=POLISH)
    found = laws_of(small.run.configuration.spec)
    if found is not None:
        assert np.isfinite(found.table).all()
        assert all(abs(small.run.amounts((x, 0.0))[0]) <= 1.0 for x in (-1.0, -1e-300, 0.0, 1e-300, 1.0))
    assert small.kept
