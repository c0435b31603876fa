"""Levels of continuous actions, and actions that go wrong."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.utils import env_checker

from distinguo.errors import DistinguoError
from distinguo.tasks.gym.spaces import DiscreteActions, NoisyActions
from tests.tasks.faulty import Walk


class Pushed(Walk):
    def __init__(self, box: Box) -> None:
        super().__init__()
        self.action_space = box


WRAPPED = [
    lambda: DiscreteActions(gymnasium.make("Pendulum-v1", disable_env_checker=True), levels=5),
    lambda: NoisyActions(gymnasium.make("CartPole-v1", disable_env_checker=True), noise=0.3),
]


@pytest.mark.parametrize("make", WRAPPED)
def test_gymnasium_finds_nothing_to_complain_about(make: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version")
        warnings.filterwarnings("ignore", message=".*(render|infinity)")
        env_checker.check_env(make(), skip_render_check=True)


def test_the_torques_of_a_pendulum() -> None:
    env = DiscreteActions(gymnasium.make("Pendulum-v1"), levels=5)
    torques = [env.action(a) for a in range(5)]
    assert [float(torque[0]) for torque in torques] == [-2 + 4 * a / 4 for a in range(5)]
    assert all(torque.dtype == np.float32 and torque.shape == (1,) for torque in torques)
    env.action(0)[0] = 9.0
    assert env.action(0) == [-2.0]


def test_all_combinations_of_several_coordinates() -> None:
    low, high = np.array([[-1.0, 0.0]]), np.array([[1.0, 4.0]])
    env = DiscreteActions(Pushed(Box(low, high, dtype=np.float64)))
    assert env.action_space == Discrete(9)
    assert env.action(5).tolist() == [[0.0, 4.0]]
    assert env.action(6).tolist() == [[1.0, 0.0]]
    whole = DiscreteActions(Pushed(Box(0, 3, shape=(1,), dtype=np.int32)), levels=3)
    assert [whole.action(a).tolist() for a in range(3)] == [[0], [2], [3]]


def test_the_arguments_are_kept_in_the_spec() -> None:
    spec = WRAPPED[0]().spec
    assert spec is not None
    assert gymnasium.make(spec).action_space == Discrete(5)


@pytest.mark.parametrize("levels", [1, 0, -3, 2.5, True, "3", None])
def test_no_number_of_levels(levels: Any) -> None:
    with pytest.raises(DistinguoError, match="The levels of an action must be a number from 2, got"):
        DiscreteActions(gymnasium.make("Pendulum-v1"), levels)


def test_actions_that_have_no_levels() -> None:
    with pytest.raises(
        DistinguoError, match=r"needs continuous actions, got Discrete\(2\); leave the levels"
    ):
        DiscreteActions(gymnasium.make("CartPole-v1"))
    with pytest.raises(DistinguoError, match="Actions without bounds have no levels, got Box"):
        DiscreteActions(Pushed(Box(-np.inf, np.inf, shape=(1,))))
    with pytest.raises(DistinguoError, match="3 levels of 7 coordinates make 2187 actions; allowed are 1000"):
        DiscreteActions(Pushed(Box(-1, 1, shape=(7,))))


def test_as_much_noise_as_asked_for() -> None:
    env = NoisyActions(gymnasium.make("CartPole-v1"), noise=0.2)
    env.reset(seed=0)
    taken = [env.action(1) for _ in range(2000)]
    assert 0.07 < taken.count(0) / len(taken) < 0.13
    env.reset(seed=0)
    assert [env.action(1) for _ in range(2000)] == taken
    quiet = NoisyActions(gymnasium.make("CartPole-v1"), noise=0.0)
    quiet.reset(seed=0)
    assert {quiet.action(1) for _ in range(50)} == {1}


def test_noise_keeps_to_the_actions_there_are() -> None:
    walk = Walk()
    walk.action_space = Discrete(3, start=5)
    env = NoisyActions(walk, noise=1.0)
    env.reset(seed=0)
    assert {env.action(5) for _ in range(100)} == {5, 6, 7}


@pytest.mark.parametrize("noise", [-0.1, 1.1, float("nan")])
def test_noise_that_is_no_probability(noise: float) -> None:
    with pytest.raises(DistinguoError, match=f"noise of actions must be from 0 to 1, got {noise}"):
        NoisyActions(gymnasium.make("CartPole-v1"), noise)


def test_noise_of_continuous_actions() -> None:
    with pytest.raises(DistinguoError, match=r"needs Discrete actions, got Box.*DiscreteActions first"):
        NoisyActions(gymnasium.make("Pendulum-v1"))
