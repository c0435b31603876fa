"""Continuous actions in the few levels that a teacher needs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import distinguo as dg
from distinguo.distillation import levels as levels_module
from distinguo.distillation.levels import chosen_levels, has_amounts, levelled, without_unused
from distinguo.distillation.teachers import teacher_of
from distinguo.seam import is_compiled
from distinguo.search.maps import prototype_map
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.gym.spaces import DiscreteActions
from distinguo.tasks.pendulum import Pendulum, PendulumOfTorques
from distinguo.tasks.task import actions, observe, start, transition, unpack
from tests.distillation.common import QUICKEST, Predicts, refused

PENDULUM, HILL = "Pendulum-v1", "MountainCarContinuous-v0"
TORQUES = (-2.0, 0.5, 1.25, 2.0)


@pytest.fixture(autouse=True)
def _few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels_module, "TRIALS", 4)


def swing_up(rows: np.ndarray) -> np.ndarray:
    """Bring the pendulum to the right energy, and hold it upright."""
    cos, sin, v = np.atleast_2d(rows).T
    upright = -8.0 * np.arctan2(sin, cos) - 2.0 * v
    energy = 0.5 * v**2 + 15.0 * cos - 15.0  # nothing is missing at 0
    return np.clip(np.where(cos > 0.9, upright, -np.sign(v + 1e-9) * np.sign(energy) * 2.0), -2, 2)[:, None]


# ---- torques that are given one by one -----------------------------------------------------------------------------


def test_torques_do_what_even_ones_do_where_they_agree() -> None:
    rng = np.random.default_rng(0)
    even, given = Pendulum(levels=5), PendulumOfTorques(levels=(2.0, -1.0, 0.0))
    for _ in range(200):
        s = (rng.uniform(-9, 9), rng.uniform(-8, 8))
        assert observe(even, s) == observe(given, s)
        for a, same in ((0, 4), (1, 1), (2, 2)):
            assert transition(given, s, a) == transition(even, s, same)
    assert start(even, np.random.default_rng(3)) == start(given, np.random.default_rng(3))
    assert actions(given) == 3


def test_gymnasium_takes_the_same_steps() -> None:
    spec = task_spec(PENDULUM, {"levels": list(TORQUES)})
    env = DiscreteActions(gymnasium.make(PENDULUM).unwrapped, list(TORQUES))
    rng = np.random.default_rng(1)
    for trial in range(5):
        env.reset(seed=trial)
        s = tuple(map(float, env.unwrapped.state))  # type: ignore[attr-defined]
        for _ in range(50):
            a = int(rng.integers(len(TORQUES)))
            s, reward, terminal = transition(spec.task, s, a)
            seen, theirs, terminated, _, _ = env.step(a)
            assert reward == pytest.approx(float(theirs), abs=1e-9)  # theirs has a share in 32 bits
            np.testing.assert_allclose(observe(spec.task, s), seen, rtol=1e-6, atol=1e-6)
            assert not terminal
            assert not terminated


def test_a_task_of_torques_is_compiled_and_names_them() -> None:
    spec = task_spec(PENDULUM, {"levels": [-2.0, 2.0]})
    assert is_compiled(spec.task)
    assert spec.actions == ("-2", "+2")
    assert task_spec(PENDULUM, {"levels": 3}).actions == ("-2", "+0", "+2")
    assert task_spec(PENDULUM, {"levels": [-2.0, 2.0]}, interpreted=True).actions == ("-2", "+2")


@pytest.mark.parametrize(
    "levels", [[-3.0, 2.0], [1.0, 1.0], [1.0], [], [0.0, float("nan")], ["up", "down"], [[1.0], [2.0]]]
)
def test_torques_that_the_motor_does_not_have_are_refused(levels: Any) -> None:
    for interpreted in (False, True):
        refused(
            lambda interpreted=interpreted: task_spec(PENDULUM, {"levels": levels}, interpreted=interpreted),
            "levels",
        )


def test_more_is_allowed_where_the_motor_is_stronger() -> None:
    assert task_spec(PENDULUM, {"levels": [-3.0, 2.0], "max_torque": 3.0}).actions == ("-3", "+2")


@pytest.mark.parametrize(
    "levels", [[-1.5, 0.0], [0.5], [0.0, 0.0], [[0.1, 0.2], [0.3, 0.4]], [], ["a", "b"], [0.0, np.nan]]
)
def test_a_list_outside_of_the_box_is_refused(levels: Any) -> None:
    refused(
        lambda: task_spec(HILL, {"levels": levels}),
        "The levels of an action must be from 2 to 1000 different",
    )


def test_a_list_of_actions_of_several_coordinates() -> None:
    class Plane(gymnasium.Env[Any, Any]):
        observation_space = spaces.Box(-1.0, 1.0, (2,))
        action_space = spaces.Box(-1.0, 1.0, (2,))

    env = DiscreteActions(Plane(), [[0.0, 1.0], [-1.0, 0.5], [1.0, 1.0]])
    assert env.action_space == spaces.Discrete(3)
    assert [env.action(a).tolist() for a in range(3)] == [[0.0, 1.0], [-1.0, 0.5], [1.0, 1.0]]


def test_a_run_with_torques_is_opened_again(tmp_path: Path) -> None:
    settings = QUICKEST | {"task.levels": [-2.0, 0.5, 2.0]}
    small = dg.distil(Predicts(swing_up), PENDULUM, keep=-10_000.0, settings=settings, out=tmp_path / "run")
    kept = small.run.configuration.spec
    again = dg.open_run(tmp_path / "run")
    assert isinstance(again.configuration.spec.task, PendulumOfTorques)
    assert again.configuration.spec.task == kept.task
    assert again.configuration.spec.actions == kept.actions
    assert set(again.configuration.spec.actions) <= {"-2", "+0.5", "+2"}
    np.testing.assert_array_equal(again.q, small.run.q)
    assert again.action((0.0, 1.0, 1.0)) == small.run.action((0.0, 1.0, 1.0))
    copy = dg.distil(again, PENDULUM, keep=-10_000.0, settings=QUICKEST)  # on the levels of the run
    assert copy.run.configuration.spec.parameters["levels"] == again.configuration.spec.parameters["levels"]


# ---- which levels a teacher needs ----------------------------------------------------------------------------------


def test_amounts_are_told_from_numbers() -> None:
    assert has_amounts(gymnasium.make(PENDULUM))
    assert not has_amounts(gymnasium.make("CartPole-v1"))
    assert not has_amounts(DiscreteActions(gymnasium.make(PENDULUM), 3))
    assert has_amounts(HILL)
    assert not has_amounts(Pendulum())


def test_levels_are_those_that_were_taken() -> None:
    taken = np.array([[-1.0]] * 5 + [[0.25]] * 3 + [[1.0]])
    assert chosen_levels(taken, 3).ravel().tolist() == [-1.0, 0.25, 1.0]
    assert chosen_levels(taken, 5).ravel().tolist() == [-1.0, 0.25, 1.0]
    two = chosen_levels(taken, 2).ravel()
    assert len(two) == 2
    assert -1.0 <= two[0] < two[1] <= 1.0


def test_levels_at_the_bounds_are_still_within_them() -> None:
    """In 32 bits 0.4 is a little more, and what is rounded otherwise may be a little more than that."""
    box = spaces.Box(-0.4, 0.4, (1,))
    taken = np.array([box.low, box.high, box.high], dtype=np.float64)
    for count in (2, 3):
        levels = chosen_levels(taken, count)
        assert (levels >= box.low).all()
        assert (levels <= box.high).all()


def push(seen: Any) -> list[float]:
    """Push the car where it goes already."""
    return [1.0 if seen[1] > 0 else -1.0]


def found(teacher: Any, task: Any, bar: float, **parameters: Any) -> Any:
    return levelled(partial(teacher_of, teacher), task, parameters, lambda spec, returns: bar)


def test_the_fewest_levels_that_keep_the_return_are_taken() -> None:
    one = found(push, HILL, 90.0)
    assert one.spec.parameters["levels"] == [-1.0, 1.0]
    rows = np.array([[-0.5, 0.01], [-0.5, -0.01]])
    assert one.teacher.answer(rows).tolist() == [1, 0]
    assert "2 levels replace them, -1, 1" in one.notes[0]


def test_levels_that_are_given_are_taken_as_they_are() -> None:
    one = found(push, HILL, 90.0, levels=[-0.5, 0.0, 0.75])
    assert one.spec.parameters["levels"] == [-0.5, 0.0, 0.75]
    assert one.teacher.answer(np.array([[-0.5, 0.01], [-0.5, -0.01]])).tolist() == [2, 0]  # the nearest
    even = found(push, HILL, 90.0, levels=3)
    assert even.teacher.answer(np.array([[-0.5, 0.01], [-0.5, -0.01]])).tolist() == [2, 0]
    refused(lambda: found(push, HILL, 90.0, levels=[-3.0, 1.0]), "The levels of an action must be")


def test_a_pendulum_gets_a_compiled_task() -> None:
    one = found(Predicts(swing_up), PENDULUM, -np.inf)
    assert is_compiled(one.spec.task)
    assert len(one.spec.parameters["levels"]) == 2
    assert "has continuous actions" in one.notes[0]
    best = found(Predicts(swing_up), PENDULUM, np.inf)  # never enough: the best of all
    assert 2 <= len(best.spec.parameters["levels"]) <= 5


def test_a_teacher_that_always_does_the_same_is_told() -> None:
    refused(
        lambda: found(lambda seen: [0.5], HILL, 90.0),
        "always takes the same action on MountainCarContinuous-v0",
    )


# ---- levels that a map never takes ---------------------------------------------------------------------------------


def test_levels_that_are_never_taken_are_left_out() -> None:
    spec = task_spec(PENDULUM, {"levels": list(TORQUES)})
    map_ = prototype_map(np.eye(3), np.array([3, 0, 3]), np.ones(3))
    fewer, renamed = without_unused(spec, map_)
    assert fewer.actions == ("-2", "+2")
    assert renamed.actions.tolist() == [1, 0, 1]
    for old, new in ((3, 1), (0, 0)):
        s = unpack(spec.task, np.array([0.3, 0.7]))
        assert transition(spec.task, s, old) == transition(fewer.task, s, new)


def test_other_tasks_stay_as_they_are() -> None:
    two = prototype_map(np.eye(3)[:2], np.array([4, 0]), np.ones(3))
    even = task_spec(PENDULUM, {"levels": 5})
    assert without_unused(even, two) == (even, two)  # its levels are a number
    listed = task_spec(PENDULUM, {"levels": [-2.0, 2.0]})
    all_used = two._replace(actions=np.array([1, 0]))
    assert without_unused(listed, all_used)[0] is listed
    one = two._replace(actions=np.array([1, 1]))
    assert without_unused(listed, one)[0] is listed  # a task needs two actions


def test_an_environment_object_loses_its_levels_too() -> None:
    spec = spec_of(gymnasium.make(PENDULUM), {"levels": list(TORQUES)})
    map_ = prototype_map(np.eye(3), np.array([3, 0, 3]), np.ones(3))
    fewer, renamed = without_unused(spec, map_)
    assert len(fewer.actions) == 2
    assert renamed.actions.tolist() == [1, 0, 1]


def test_the_steps_that_choose_levels_are_counted() -> None:
    pumping = Predicts(lambda rows: np.where(np.atleast_2d(rows)[:, 2:] > 0, 2.0, -2.0))
    found = levelled(partial(teacher_of, pumping), "Pendulum-v1", {}, lambda spec, returns: -5_000.0)
    count = 3 * levels_module.TRIALS + 2 * levels_module.MORE_TRIALS  # amounts, two levels, and both again
    assert found.spent == (count, count * 200)


def test_a_folder_with_something_in_it_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    asked: list[int] = []
    refused(lambda: dg.distil(asked.append, "MountainCar-v0", out=tmp_path), "is not empty")
    assert not asked
