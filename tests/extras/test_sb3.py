"""Stable-Baselines3 finds in our agents and environments what it is used to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from distinguo.agents.economy import Economy
from distinguo.agents.regions import RegionObservation
from distinguo.tasks.gym.spaces import DiscreteActions, NoisyActions
from tests.agents.common import CART, QUICK, sb3
from tests.agents.test_regions import divided

callbacks = sb3("common.callbacks")
PUCK = "distinguo/PuckOnAHill-v0"


@pytest.fixture(scope="module")
def carter() -> Economy:
    return Economy(CART, seed=2).learn(1_000_000)


ENVIRONMENTS = {
    "puck": lambda: gymnasium.make(PUCK),
    "regions": lambda: RegionObservation(gymnasium.make(CART), divided()),
    "one-hot regions": lambda: RegionObservation(gymnasium.make(CART), divided(), one_hot=True),
    "discrete actions": lambda: DiscreteActions(gymnasium.make("Pendulum-v1"), levels=5),
    "noisy actions": lambda: NoisyActions(gymnasium.make(CART), noise=0.3),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_checker_is_content(name: str) -> None:
    sb3("common.env_checker").check_env(ENVIRONMENTS[name](), warn=True)


def test_cart_pole_is_evaluated(carter: Economy) -> None:
    env = sb3("common.monitor").Monitor(gymnasium.make(CART))
    env.reset(seed=0)
    mean, _ = sb3("common.evaluation").evaluate_policy(carter, env, n_eval_episodes=10)
    assert mean >= 475


def test_the_puck_is_evaluated_in_its_own_environment() -> None:
    agent = Economy("puck", seed=1, settings=QUICK).learn(1_000_000)
    evaluate = sb3("common.evaluation").evaluate_policy
    env = sb3("common.monitor").Monitor(gymnasium.make(PUCK, max_episode_steps=1_000))
    rewards, lengths = evaluate(agent, env, n_eval_episodes=3, return_episode_rewards=True)
    assert (rewards, lengths) == ([0.0] * 3, [1_000] * 3)
    assert evaluate(agent, agent.get_env(), n_eval_episodes=2, warn=False)[0] == 0.0


def test_a_vector_of_environments_is_evaluated(carter: Economy) -> None:
    make = sb3("common.env_util").make_vec_env
    mean, _ = sb3("common.evaluation").evaluate_policy(carter, make(CART, 3, seed=0), n_eval_episodes=6)
    assert mean >= 475


def test_callbacks_evaluate_save_and_stop(tmp_path: Path) -> None:
    monitor = sb3("common.monitor").Monitor
    enough = callbacks.StopTrainingOnRewardThreshold(reward_threshold=100)  # before it is solved
    env = monitor(gymnasium.make(CART))
    env.reset(seed=0)
    evaluation = callbacks.EvalCallback(
        env,
        callback_on_new_best=enough,
        eval_freq=20,
        best_model_save_path=str(tmp_path / "best"),
        log_path=str(tmp_path),
        verbose=0,
    )
    saving = callbacks.CheckpointCallback(5, str(tmp_path / "saved"))
    agent = Economy(CART, seed=2).learn(1_000_000, callback=[saving, evaluation])
    assert evaluation.num_timesteps == agent.num_timesteps
    assert evaluation.best_mean_reward >= 100
    assert not agent.solved
    steps = np.load(tmp_path / "evaluations.npz")["timesteps"]
    assert (np.diff(steps) > 0).all()
    saved = sorted((tmp_path / "saved").glob("rl_model_*_steps.zip"))
    assert saved
    assert Economy.load(saved[0]).num_timesteps <= agent.num_timesteps
    best = Economy.load(tmp_path / "best" / "best_model")
    np.testing.assert_array_equal(best.q, agent.q)
    assert best.num_timesteps == agent.num_timesteps


def test_they_hear_of_everything_in_order() -> None:
    told: list[str] = []

    class Listens(callbacks.BaseCallback):  # type: ignore[name-defined, misc]
        def __getattribute__(self, name: str) -> Any:
            if name.startswith("_on_") and name != "_on_step":
                told.append(name)
            return super().__getattribute__(name)

        def _on_step(self) -> bool:
            told.append("_on_step")
            assert self.training_env.num_envs == 1
            return self.n_calls < 3

    listener = Listens()
    Economy("puck", seed=1).learn(1_000_000, callback=listener)
    assert told[:3] == ["_on_training_start", "_on_rollout_start", "_on_step"]
    assert told[-2:] == ["_on_rollout_end", "_on_training_end"]
    assert told.count("_on_step") == listener.n_calls == 3


def test_those_that_count_trials_or_log_work(tmp_path: Path) -> None:
    most = callbacks.StopTrainingOnMaxEpisodes(5)
    logs = callbacks.LogEveryNTimesteps(500)
    agent = Economy("puck", seed=1).learn(1_000_000, callback=callbacks.CallbackList([most, logs]))
    assert most.n_episodes == 5
    assert agent.logger.latest["time/episodes"] == 5
