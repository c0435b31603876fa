"""A vector of environments is the task of one of its copies, however it resets them."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

import distinguo as dg
from distinguo.tasks.catalog import spec_of
from distinguo.tasks.gym.source import OneOfSeveral, one_of_vector

CART = "CartPole-v1"


class Path(gymnasium.Env[Any, int]):
    """Walk to the right end of a path; its length can be observed from the reward only."""

    def __init__(self, length: int = 3) -> None:
        self.observation_space = Box(0.0, 9.0, shape=(1,), dtype=np.float64)
        self.action_space: Any = Discrete(2)
        self.length, self.place = length, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.place = 0
        return np.array([0.0]), {}

    def step(self, action: int) -> Any:
        self.place = max(0, self.place + (1 if action else -1))
        ended = self.place == self.length
        return np.array([float(self.place)]), 1.0 if ended else -1.0, ended, False, {}


@pytest.mark.parametrize("mode", ["sync", "async", "vector_entry_point"])
def test_a_vector_that_an_id_makes_is_that_id(mode: str) -> None:
    made = gymnasium.make_vec(CART, num_envs=2, vectorization_mode=mode)
    try:
        spec = spec_of(made)
    finally:
        made.close()
    assert (spec.name, spec.portable, spec.interpreted) == (CART, True, False)


def test_arguments_and_wrappers_of_the_copies_are_kept() -> None:
    argued = gymnasium.make_vec(CART, num_envs=2, vectorization_mode="sync", sutton_barto_reward=True)
    one = one_of_vector(argued)
    assert one.unwrapped._sutton_barto_reward
    doubled = [lambda: gymnasium.wrappers.TransformReward(gymnasium.make(CART), lambda r: 2.0 * float(r))] * 2
    one = one_of_vector(AsyncVectorEnv(doubled))
    one.reset(seed=1)
    assert one.step(0)[1] == 2.0
    shorter = one_of_vector(gymnasium.make_vec(CART, num_envs=2, max_episode_steps=7))
    assert shorter.spec.max_episode_steps == 7


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_trial_ends_where_it_ends_in_one_environment(mode: AutoresetMode) -> None:
    one = one_of_vector(SyncVectorEnv([Path] * 3, autoreset_mode=mode))
    for _ in range(2):
        one.reset(seed=1)
        steps = [one.step(1) for _ in range(3)]
        assert [float(seen[0]) for seen, *_ in steps] == [1.0, 2.0, 3.0]
        assert [terminated for _, _, terminated, *_ in steps] == [False, False, True]


def test_a_vector_is_learned_and_followed_as_one_environment_is() -> None:
    settings = {"stage.steps": 40, "stage.confirm": 2, "stage.confirm_steps": 20, "stage.cap": 20}
    runs = [
        dg.learn(task, seed=2, learner="surprise", settings=settings)
        for task in (Path(), SyncVectorEnv([Path] * 3))
    ]
    assert runs[0].summary["total_steps"] == runs[1].summary["total_steps"]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    trial = dg.rollout(runs[1], seed=1, steps=30)
    again = dg.rollout(runs[1], seed=1, steps=30, task=SyncVectorEnv([Path]))
    np.testing.assert_array_equal(again.rewards, trial.rewards)


def test_copies_that_differ_all_take_part() -> None:
    vector = SyncVectorEnv([lambda n=n: Path(n) for n in (1, 4)])
    several = one_of_vector(vector)
    assert isinstance(several, OneOfSeveral)
    lengths = []
    for seed in range(4):
        several.reset(seed=seed)
        lengths.append(next(n for n in range(1, 9) if several.step(1)[2]))
    assert lengths == [1, 4, 1, 4]
    quick = {
        "learner.most": 2,
        "learner.rounds": 1,
        "learner.trials": 2,
        "learner.restarts": 1,
        "learner.starts": 2,
    }
    small = dg.distil(lambda seen: 1, vector, settings={**quick, "learner.steps": 20_000})
    assert small.fidelity.teacher.mean == pytest.approx((1.0 + (1.0 - 3.0)) / 2, abs=0.3)
    vector.reset(seed=0)  # it is left as it was
    assert vector.envs[0].length == 1


def test_equal_copies_are_one() -> None:
    assert not isinstance(one_of_vector(SyncVectorEnv([lambda: Path(2) for _ in range(3)])), OneOfSeveral)


def test_a_wrapper_around_the_vector_is_only_taken_if_it_changes_nothing() -> None:
    from gymnasium.wrappers.vector import NormalizeObservation, RecordEpisodeStatistics

    assert one_of_vector(RecordEpisodeStatistics(gymnasium.make_vec(CART, num_envs=2))) == CART
    with pytest.raises(
        dg.DistinguoError, match=r"wrapped in NormalizeObservation.*wrap each environment instead"
    ):
        dg.learn(NormalizeObservation(gymnasium.make_vec(CART, num_envs=2)))


def test_a_vector_that_says_nothing_of_its_copies_is_told() -> None:
    class Bare(VectorEnv[Any, Any, Any]):
        pass

    with pytest.raises(dg.DistinguoError, match="Bare is a vector of environments with neither functions"):
        dg.learn(Bare())
