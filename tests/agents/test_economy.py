"""The agent: learning in stretches, acting, and what callbacks may do."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import distinguo
from distinguo.agents.economy import Economy
from distinguo.errors import DistinguoError
from tests.agents.common import CART, QUICK, assert_same
from tests.tasks.faulty import Walk


@pytest.mark.parametrize(("task", "seed"), [("puck", 1), (CART, 2)])
def test_it_learns_what_learn_does(task: str, seed: int) -> None:
    agent, run = (
        Economy(task, seed=seed).learn(1_000_000),
        distinguo.learn(task, seed=seed, learner="economy"),
    )
    assert agent.solved
    np.testing.assert_array_equal(agent.q, run.q)
    theirs = run.summary["environment_steps"] + run.summary["final_trial_steps"]
    assert agent.num_timesteps == theirs


def test_an_environment_object_is_learned_in_without_a_twin() -> None:
    env = gymnasium.make(CART)
    env.reset(seed=5)
    agent = Economy(env, seed=2)
    before = np.array(env.unwrapped.state)
    agent.learn(3_000)
    assert 3_000 <= agent.num_timesteps < 4_000
    assert agent.representation.regions > 1
    assert agent.get_env() is not None
    np.testing.assert_array_equal(env.unwrapped.state, before)  # it was learned in a copy


@pytest.mark.parametrize("pieces", [[2_500, 2_500], [1, 999, 4_000], [5_000, 0]])
@pytest.mark.parametrize("task", ["puck", CART])
def test_where_calls_end_decides_nothing(task: str, pieces: list[int]) -> None:
    """A call ends in the midst of a trial; only sessions of mini-trials are not torn, so sums are compared."""
    divided = Economy(task, seed=3)
    total = 0
    for steps in pieces:
        total += divided.learn(steps).num_timesteps
    assert_same(divided, Economy(task, seed=3).learn(total))


def test_every_call_takes_that_many_steps_more() -> None:
    agent = Economy(CART, seed=3).learn(100)  # less than the preliminary series
    first = agent.num_timesteps
    agent.learn(100)
    assert 100 <= agent.num_timesteps <= 700
    second = agent.num_timesteps
    agent.learn(100, reset_num_timesteps=False)
    assert agent.num_timesteps >= second + 100
    assert agent._session.stage.environment_steps == first + agent.num_timesteps


def test_nothing_is_left_to_learn_when_it_is_solved() -> None:
    agent = Economy("puck", seed=1, settings=QUICK).learn(1_000_000)
    q = agent.q.copy()
    assert agent.learn(1_000).solved
    assert agent.num_timesteps == 0
    np.testing.assert_array_equal(agent.q, q)


def test_predict_takes_one_or_many() -> None:
    agent = Economy("puck", seed=1, settings=QUICK).learn(1_000_000)
    rows = np.array([[0.5, 1.0], [-0.5, -1.0], [2.0, -3.0]], dtype=np.float32)
    actions, state = agent.predict(rows, state="kept")
    assert actions.shape == (3,)
    assert state == "kept"
    assert [int(agent.predict(row)[0]) for row in rows] == actions.tolist() == [0, 1, 1]
    assert agent.predict(np.empty((0, 2)))[0].shape == (0,)
    with pytest.raises(DistinguoError, match=r"shape \(2,\), or \(n, 2\) for several, got \(3,\)"):
        agent.predict([1.0, 2.0, 3.0])


def test_before_learning_any_of_the_tied_actions_may_be_taken() -> None:
    agent = Economy("puck", seed=1)
    rows = np.zeros((50, 2))
    assert agent.predict(rows)[0].tolist() == [0] * 50
    assert set(agent.predict(rows, deterministic=False)[0].tolist()) == {0, 1}


def test_actions_have_the_numbers_of_the_environment() -> None:
    class Later(Walk):
        def __init__(self) -> None:
            super().__init__()
            self.action_space = spaces.Discrete(2, start=5)

        def step(self, action: Any) -> Any:
            return super().step(action - 5)

    agent = Economy(Later(), seed=0).learn(200)
    observation, _ = Later().reset(seed=0)
    assert int(agent.predict(observation)[0]) in (5, 6)


def test_categories_are_observed_as_the_environment_gives_them() -> None:
    agent = Economy("FrozenLake-v1", settings={"task.is_slippery": False}, seed=1).learn(2_000)
    assert agent.predict(np.array([0, 1, 2]))[0].shape == (3,)
    assert np.shape(agent.predict(3)[0]) == ()


def test_continuous_actions_are_divided_if_asked() -> None:
    agent = Economy(gymnasium.make("Pendulum-v1"), settings={"task.levels": 5}).learn(500)
    assert agent.q.shape[1] == 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"gama": 0.9}, "did you mean 'gamma'"),
        ({"gamma": 2.0}, "gamma"),
        ({"settings": {"stage.hodl": 3}}, "did you mean 'hold'"),
        ({"settings": {"stag.hold": 3}}, "did you mean 'stage.hold'"),
        ({"preset": "papr"}, "did you mean 'paper'"),
        ({"seed": -1}, "seed"),
    ],
)
def test_misspelt_settings_are_named(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(DistinguoError, match=words):
        Economy("puck", **arguments)


@pytest.mark.parametrize("steps", [-1, 1.5, "many", True, float("nan"), None])
def test_steps_are_a_whole_number(steps: Any) -> None:
    with pytest.raises(DistinguoError, match="total_timesteps should be a whole number from 0"):
        Economy("puck").learn(steps)
    with pytest.raises(DistinguoError, match="log_interval should be a whole number from 1"):
        Economy("puck").learn(10, log_interval=0)


def test_a_function_hears_of_every_trial_and_can_stop() -> None:
    heard: list[int] = []

    def callback(locals_: dict[str, Any], globals_: dict[str, Any]) -> bool | None:
        heard.append(locals_["self"].num_timesteps)
        return None if len(heard) < 7 else False

    agent = Economy("puck", seed=1).learn(1_000_000, callback=[None, callback])
    assert len(heard) == 7
    assert heard == sorted(heard)
    assert agent.num_timesteps == heard[-1]
    assert not agent.solved


def test_callbacks_decide_nothing_else() -> None:
    heard = Economy("puck", seed=4).learn(30_000, callback=lambda *_: True)
    assert_same(heard, Economy("puck", seed=4).learn(30_000))


def test_something_else_is_no_callback() -> None:
    with pytest.raises(DistinguoError, match="callback should be a function"):
        Economy("puck").learn(10, callback="often")


def test_it_says_how_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    Economy("puck", seed=1, verbose=1, settings=QUICK).learn(1_000_000, progress_bar=True)
    told = capsys.readouterr().out
    assert "regions, mean return" in told
    assert "steps" in told


def test_a_task_that_fails_costs_only_its_trial() -> None:
    class Breaks(Walk):
        left = -1

        def step(self, action: Any) -> Any:
            Breaks.left -= 1
            if Breaks.left == 0:
                raise RuntimeError("stuck")
            return super().step(action)

    agent = Economy(Breaks(), seed=0).learn(500)
    Breaks.left = 400
    with pytest.raises(Exception, match="stuck"):
        agent.learn(5_000)
    before = agent._session.stage.environment_steps
    assert agent.learn(300).num_timesteps >= 300
    assert agent._session.stage.environment_steps >= before + 300
