"""Trainings of Stable-Baselines3 end when they are solved; agents are opened from folders of the hub."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from typer.testing import CliRunner

import distinguo as dg
from distinguo.errors import DistinguoError
from tests.agents.common import CART, sb3


def agent(env: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kind = sb3("ppo").PPO
        return kind(
            "MlpPolicy", env, seed=1, n_steps=64, policy_kwargs={"net_arch": [16]}, device="cpu", **options
        )


class Balance:
    """A policy that balances the pole from its third look on, in place of a trained network."""

    def __init__(self, after: int) -> None:
        self.after = after

    def of(self, model: Any) -> Any:
        def predict(observation: Any, *_: Any, **__: Any) -> Any:
            seen = np.asarray(observation)
            if model.num_timesteps < self.after:
                return np.zeros(len(seen), dtype=np.int64), None
            return (seen @ np.array([0.1, 0.5, 3.0, 1.0]) > 0).astype(np.int64), None

        return predict


def test_a_training_ends_when_the_test_says_solved(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    model = agent(sb3("common.env_util").make_vec_env(CART, 2))
    monkeypatch.setattr(model, "predict", Balance(after=700).of(model))
    callback = dg.stop_when_solved(CART, every=256)
    model.learn(5_000, callback=callback)
    assert callback.solved
    assert 700 <= model.num_timesteps <= 1_100
    assert callback.claims.count == 1
    assert callback.claims.bound >= 470
    assert model.logger is not None
    assert f"Solved after {model.num_timesteps:,} steps" in " ".join(capsys.readouterr().err.split())


def test_a_training_that_is_not_solved_goes_on() -> None:
    model = agent(CART)
    callback = dg.stop_when_solved(gymnasium.make(CART), every=100, verbose=0)
    model.learn(512, callback=[callback])
    assert not callback.solved
    assert model.num_timesteps >= 512
    assert callback.claims.count == 0
    assert 8 < callback.claims.mean < 475
    assert callback.claims.steps >= 5 * 5 * 8


def test_observations_are_normalised_as_in_the_training() -> None:
    vectors = sb3("common.vec_env")
    env = vectors.VecNormalize(sb3("common.env_util").make_vec_env(CART, 1))
    model = agent(env)
    callback = dg.stop_when_solved(CART, every=200, verbose=0)
    model.learn(512, callback=callback)
    assert isinstance(callback._trials, vectors.VecNormalize)
    np.testing.assert_array_equal(callback._trials.obs_rms.mean.shape, env.obs_rms.mean.shape)
    assert not callback._trials.training


def test_our_agents_take_the_callback() -> None:
    sb3("common.callbacks")
    ours = dg.Economy(CART, seed=2)
    callback = dg.stop_when_solved(CART, every=1_000, verbose=0)
    ours.learn(1_000_000, callback=callback)
    assert callback.solved or ours.solved


def folder_of(model: Any, place: Path) -> Path:
    """A folder as ``huggingface_sb3.package_to_hub`` leaves it."""
    place.mkdir()
    model.save(place / "ppo-cart.zip")
    (place / "results.json").write_text(json.dumps({"mean_reward": 12.5, "std_reward": 0.5}))
    (place / "config.json").write_text("{}")
    (place / "README.md").write_text("---\nlibrary_name: stable-baselines3\n---\n")
    return place


def test_a_folder_of_the_hub_is_a_policy(tmp_path: Path) -> None:
    model = agent(CART)
    place = folder_of(model, tmp_path / "hub")
    rows = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    opened = dg.load_policy(place)
    assert (
        opened.predict(rows, deterministic=True)[0].tolist()
        == model.predict(rows, deterministic=True)[0].tolist()
    )
    from distinguo.cli import app

    words = ["distil", str(place), "--task", CART, "--keep", "5", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(app, [*words, "--set", "learner.steps=20000"])
    assert done.exit_code in (0, 1), done.output
    assert "open only those that you trust" in done.output
    assert "reports a mean return of 12.5" in done.output


def test_the_statistics_beside_an_agent_are_used(tmp_path: Path) -> None:
    vectors = sb3("common.vec_env")
    env = vectors.VecNormalize(sb3("common.env_util").make_vec_env(CART, 1))
    model = agent(env).learn(128)
    place = folder_of(model, tmp_path / "hub")
    plain = dg.load_policy(place)
    env.save(str(place / "vec_normalize.pkl"))
    normal = dg.load_policy(place)
    rows = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
    expected = model.predict(env.normalize_obs(rows), deterministic=True)[0]
    assert normal.predict(rows)[0].tolist() == expected.tolist()
    assert plain.predict(rows)[0].tolist() != expected.tolist()
    (place / "vec_normalize.pkl").write_bytes(b"junk")
    with pytest.raises(DistinguoError, match="does not act well without it"):
        dg.load_policy(place)


def test_masks_reach_our_agents_through_contrib() -> None:
    pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.evaluation import evaluate_policy

    class Masked(gymnasium.Wrapper):  # type: ignore[type-arg]
        def action_masks(self) -> np.ndarray:
            return np.array([True, False])

        def step(self, action: Any) -> Any:
            assert action == 0
            return super().step(action)

    agent_of_ours = dg.Economy(CART, seed=2)
    evaluate_policy(agent_of_ours, Masked(gymnasium.make(CART)), n_eval_episodes=2, warn=False)


def test_the_lander_is_restored_by_a_replay() -> None:
    pytest.importorskip("Box2D")
    plain = gymnasium.make("LunarLander-v3")
    plain.reset(seed=1)
    with pytest.raises(DistinguoError, match=r"distinguo\.Restorable"):
        dg.snapshot(plain)
    env = dg.Restorable(gymnasium.make("LunarLander-v3"))
    env.reset(seed=3)
    for _ in range(40):
        env.step(2)
    state = dg.snapshot(env)
    first = [env.step(1)[0] for _ in range(20)]
    for _ in range(2):
        dg.restore(env, state)
        np.testing.assert_array_equal([env.step(1)[0] for _ in range(20)], first)
