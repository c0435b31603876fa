"""The agent works with every learner: it learns, acts, hears callbacks, is saved and goes on as if never stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import distinguo as dg
from distinguo.learners.catalog import learner_names
from distinguo.registry import LEARNERS, added

TASKS = {"sweeping": "FrozenLake-v1", "probation": "MountainCar-v0"}
OURS = sorted(set(learner_names()) - set(added(LEARNERS)) - {"teacher"})


@pytest.mark.parametrize("learner", OURS)
def test_an_agent_with_any_learner(learner: str, tmp_path: Path) -> None:
    task = TASKS.get(learner, "CartPole-v1")
    heard: list[int] = []
    agent = dg.Economy(task, learner=learner, seed=3)

    def hear(locals_: dict[str, Any], globals_: dict[str, Any]) -> None:
        heard.append(agent.num_timesteps)

    agent.learn(1_200, callback=hear)
    assert heard
    assert agent.summary["learner"] == agent.configuration.learner_name == learner
    seen, _ = gymnasium.make(task).reset(seed=1)
    agent.save(tmp_path / "agent")
    other = dg.Economy.load(tmp_path / "agent")
    assert other.predict(seen)[0] == agent.predict(seen)[0]
    for one in (agent, other):
        one.learn(600, reset_num_timesteps=False)
    assert other.num_timesteps == agent.num_timesteps > heard[-1]
    np.testing.assert_array_equal(other.q, agent.q)


def test_settings_are_those_of_the_learner() -> None:
    assert dg.Economy("MountainCar-v0", learner="probation", regions=2).configuration.learner.regions == 2
    with pytest.raises(dg.DistinguoError, match=r"Unknown setting learner\.epsilon"):
        dg.Economy("MountainCar-v0", learner="probation", epsilon=0.1)
    assert dg.Agent("MountainCar-v0").configuration.learner_name == "probation"
    assert dg.Agent("MountainCar-v0", learner="economy").configuration.learner_name == "economy"
    assert dg.Economy("MountainCar-v0").configuration.learner_name == "economy"


def test_a_call_as_in_stable_baselines3_is_answered_with_the_right_one() -> None:
    env = gymnasium.make("CartPole-v1")
    for call in (
        lambda: dg.Economy("MlpPolicy", env),
        lambda: dg.Economy(policy="MlpPolicy", env=env),
    ):
        with pytest.raises(
            dg.DistinguoError, match=r"takes the environment first.*call Economy\(env, seed=0\)"
        ):
            call()
    with pytest.raises(dg.DistinguoError, match=r"distinguo\.teach"):
        dg.Economy(env, learner="teacher")


def test_a_vector_of_environments_is_taken() -> None:
    agent = dg.Agent(gymnasium.make_vec("CartPole-v1", num_envs=2))
    assert agent.configuration.spec.name == "CartPole-v1"
    assert agent.predict(np.zeros((2, 4)))[0].shape == (2,)
