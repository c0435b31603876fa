"""Snapshots for everybody: what follows a restored state is what followed it before, whatever happened meanwhile."""

from __future__ import annotations

import threading
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import FrameStackObservation, NormalizeObservation, TransformReward

import distinguo as dg
from distinguo.errors import DistinguoError
from tests.nightly import so_many


class Walk(gymnasium.Env[Any, Any]):
    """A walk with noise, which cannot be copied."""

    observation_space = spaces.Box(-np.inf, np.inf, (1,), dtype=np.float64)
    action_space = spaces.Discrete(2)

    def __init__(self, noise: float = 1.0) -> None:
        self.lock, self.noise, self.place = threading.Lock(), noise, 0.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.place = float(self.np_random.normal())
        return np.array([self.place]), {}

    def step(self, action: Any) -> Any:
        self.place += 2 * int(action) - 1 + self.noise * float(self.np_random.normal())
        return np.array([self.place]), self.place, abs(self.place) > 50, False, {}


class Settable(Walk):
    """A walk without noise that has methods of its own."""

    def __init__(self) -> None:
        super().__init__(0.0)

    def get_state(self) -> float:
        return self.place

    def set_state(self, place: float) -> None:
        self.place = place


class Whimsical(Walk):
    """A walk whose seed does not decide it."""

    def step(self, action: Any) -> Any:
        self.place += float(np.random.default_rng().normal())
        return super().step(action)


for kind in (Walk, Settable, Whimsical):
    gymnasium.register(f"tests/{kind.__name__}-v0", entry_point=kind, max_episode_steps=40)

ENVIRONMENTS = {
    "a compiled port's original": ("deep copy", lambda: gymnasium.make("CartPole-v1")),
    "amounts": ("deep copy", lambda: gymnasium.make("Pendulum-v1")),
    "random numbers": ("deep copy", lambda: gymnasium.make("FrozenLake-v1")),
    "several parts": ("deep copy", lambda: gymnasium.make("Blackjack-v1")),
    "the task of the paper": ("deep copy", lambda: gymnasium.make("distinguo/PuckOnAHill-v0")),
    "wrappers with a state": (
        "deep copy",
        lambda: NormalizeObservation(FrameStackObservation(gymnasium.make("CartPole-v1"), 3)),
    ),
    "a wrapper without a name": (
        "deep copy",
        lambda: TransformReward(gymnasium.make("CartPole-v1"), lambda reward: reward + 1),
    ),
    "methods of its own": ("set_state", lambda: gymnasium.make("tests/Settable-v0")),
    "a replay": ("replay", lambda: dg.Restorable(gymnasium.make("tests/Walk-v0"))),
    "copies of what remembers": ("deep copy", lambda: dg.Restorable(gymnasium.make("FrozenLake-v1"))),
}


def played(env: Any, actions: list[Any]) -> list[Any]:
    """What steps show, through the end of trials and the seeds that follow."""
    seen = []
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(action)
        seen.append((np.asarray(observation).tolist(), float(reward), terminated, truncated))
        if terminated or truncated:
            seen.append((np.asarray(env.reset()[0]).tolist(),))
    return seen


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_what_follows_is_the_same_from_every_moment(name: str) -> None:
    by, make = ENVIRONMENTS[name]
    draw = np.random.default_rng(7)
    env = make()
    inner = env.unwrapped
    for seed in range(so_many(2, nightly=20)):
        env.action_space.seed(seed)
        env.reset(seed=seed)
        kept = []
        for _ in range(4):
            actions = [env.action_space.sample() for _ in range(int(draw.integers(1, 25)))]
            state = dg.snapshot(env)
            assert state.by == by
            kept.append((state, actions, played(env, actions)))
        for n in draw.permutation(2 * len(kept)) // 2:
            state, actions, expected = kept[n]
            dg.restore(env, state)
            assert env.unwrapped is inner
            assert played(env, actions) == expected
    dg.restore(other := make(), kept[0][0])
    assert played(other, kept[0][1]) == kept[0][2]


def test_the_time_limit_goes_on_from_the_step_of_the_snapshot() -> None:
    for name, limit in (("tests/Settable-v0", 40), ("MountainCar-v0", 200)):
        env = gymnasium.make(name)
        env.reset(seed=1)
        played(env, [0] * 15)
        state = dg.snapshot(env)
        played(env, [1] * 20)
        dg.restore(env, state)
        ends = [step[3] for step in played(env, [0] * (limit - 15)) if len(step) == 4]
        assert ends == [False] * (limit - 16) + [True]


def test_snapshots_neither_reset_nor_step_the_environment() -> None:
    env = gymnasium.make("CartPole-v1")
    env.reset(seed=4)
    twin = gymnasium.make("CartPole-v1")
    twin.reset(seed=4)
    dg.snapshot(env)
    assert played(env, [1, 0] * 50) == played(twin, [1, 0] * 50)


def refusal(work: Any) -> str:
    with pytest.raises(DistinguoError) as caught:
        work()
    return str(caught.value)


def test_what_cannot_be_restored_is_told_in_a_sentence() -> None:
    walk = gymnasium.make("tests/Walk-v0")
    walk.reset(seed=1)
    assert "env = distinguo.Restorable(env)" in refusal(lambda: dg.snapshot(walk))
    fresh = dg.Restorable(gymnasium.make("tests/Walk-v0"))
    assert "and reset it" in refusal(lambda: dg.snapshot(fresh))
    whimsical = dg.Restorable(gymnasium.make("tests/Whimsical-v0"))
    whimsical.reset(seed=1)
    assert "cannot be put back" in refusal(lambda: dg.snapshot(whimsical))
    assert "No second Walk could be made" in refusal(lambda: dg.snapshot(Walk()))
    vector = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync")
    assert "got a vector" in refusal(lambda: dg.snapshot(vector))
    assert "gymnasium.make" in refusal(lambda: dg.snapshot("CartPole-v1"))  # type: ignore[arg-type]
    cart = gymnasium.make("CartPole-v1")
    assert "dg" not in refusal(lambda: dg.restore(cart, 3))  # type: ignore[arg-type]
    state = dg.snapshot(gymnasium.make("FrozenLake-v1"))
    assert "is of FrozenLake-v1, not of CartPole-v1" in refusal(lambda: dg.restore(cart, state))


def test_a_replay_that_leads_elsewhere_is_told() -> None:
    env = dg.Restorable(gymnasium.make("tests/Walk-v0"))
    env.reset(seed=1)
    played(env, [1, 1, 0])
    state = dg.snapshot(env)
    env.unwrapped.noise = 2.0
    assert "leads elsewhere" in refusal(lambda: dg.restore(env, state))
