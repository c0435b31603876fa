"""Rivals from Stable-Baselines3 and sb3-contrib: DQN, QR-DQN and PPO, with the settings that the RL Zoo publishes.

They are those of hyperparams/dqn.yml, qrdqn.yml and ppo.yml of DLR-RM/rl-baselines3-zoo (commit 22e3ff2). Schedules,
such as that of exploration, run over the steps that are published with them, whatever the budget here is.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.rivals.referee import Referee, Size
from benchmarks.rivals.world import Policy

WIDE = [256, 256]
CART_POLE_DQN = {
    "n_timesteps": 50_000,
    "learning_rate": 2.3e-3,
    "batch_size": 64,
    "buffer_size": 100_000,
    "learning_starts": 1_000,
    "gamma": 0.99,
    "target_update_interval": 10,
    "train_freq": 256,
    "gradient_steps": 128,
    "exploration_fraction": 0.16,
    "exploration_final_eps": 0.04,
}
MOUNTAIN_CAR_DQN = {
    "n_timesteps": 120_000,
    "learning_rate": 4e-3,
    "batch_size": 128,
    "buffer_size": 10_000,
    "learning_starts": 1_000,
    "gamma": 0.98,
    "target_update_interval": 600,
    "train_freq": 16,
    "gradient_steps": 8,
    "exploration_fraction": 0.2,
    "exploration_final_eps": 0.07,
}
ACROBOT_DQN = {
    "n_timesteps": 100_000,
    "learning_rate": 6.3e-4,
    "batch_size": 128,
    "buffer_size": 50_000,
    "learning_starts": 0,
    "gamma": 0.99,
    "target_update_interval": 250,
    "train_freq": 4,
    "gradient_steps": -1,
    "exploration_fraction": 0.12,
    "exploration_final_eps": 0.1,
}
DQN = {
    "CartPole-v1": {**CART_POLE_DQN, "policy_kwargs": {"net_arch": WIDE}},
    "MountainCar-v0": {**MOUNTAIN_CAR_DQN, "policy_kwargs": {"net_arch": WIDE}},
    "Acrobot-v1": {**ACROBOT_DQN, "policy_kwargs": {"net_arch": WIDE}},
}
QR_DQN = {
    "CartPole-v1": {**CART_POLE_DQN, "policy_kwargs": {"net_arch": WIDE, "n_quantiles": 10}},
    "MountainCar-v0": {**MOUNTAIN_CAR_DQN, "policy_kwargs": {"net_arch": WIDE, "n_quantiles": 25}},
    "Acrobot-v1": {**ACROBOT_DQN, "policy_kwargs": {"net_arch": WIDE, "n_quantiles": 25}},
}
PPO = {
    "CartPole-v1": {
        "n_envs": 8,
        "n_timesteps": 100_000,
        "n_steps": 32,
        "batch_size": 256,
        "gae_lambda": 0.8,
        "gamma": 0.98,
        "n_epochs": 20,
        "ent_coef": 0.0,
        "falling": {"learning_rate": 0.001, "clip_range": 0.2},
    },
    "MountainCar-v0": {
        "normalize": True,
        "n_envs": 16,
        "n_timesteps": 1_000_000,
        "n_steps": 16,
        "gae_lambda": 0.98,
        "gamma": 0.99,
        "n_epochs": 4,
        "ent_coef": 0.0,
    },
    "Acrobot-v1": {
        "normalize": True,
        "n_envs": 16,
        "n_timesteps": 1_000_000,
        "n_steps": 256,
        "gae_lambda": 0.94,
        "gamma": 0.99,
        "n_epochs": 4,
        "ent_coef": 0.0,
    },
}
PACKAGES = {
    "DQN": "stable_baselines3",
    "QR-DQN": "sb3_contrib",
    "PPO": "stable_baselines3",
}


def missing(name: str) -> str | None:
    """Return what brings the package of a rival that is not installed."""
    try:
        importlib.import_module(PACKAGES[name])
    except ImportError:
        return f"pip install {PACKAGES[name].replace('_', '-')}"
    return None


def dqn(task: str, seed: int, budget: int) -> dict[str, Any]:
    import stable_baselines3

    return run("DQN", stable_baselines3.DQN, DQN[task], Referee(task, seed, budget))


def qr_dqn(task: str, seed: int, budget: int) -> dict[str, Any]:
    import sb3_contrib

    return run("QR-DQN", sb3_contrib.QRDQN, QR_DQN[task], Referee(task, seed, budget))


def ppo(task: str, seed: int, budget: int) -> dict[str, Any]:
    import stable_baselines3

    return run("PPO", stable_baselines3.PPO, PPO[task], Referee(task, seed, budget))


def run(name: str, model_class: Any, published: dict[str, Any], referee: Referee) -> dict[str, Any]:
    """Learn until a test is passed, or the budget is used up."""
    import torch

    torch.set_num_threads(1)
    settings = dict(published)
    env = environment(referee, settings.pop("n_envs", 1), settings.pop("normalize", False), settings)
    settings = scheduled(settings, referee.budget)
    model = model_class("MlpPolicy", env, seed=referee.seed, device="cpu", **settings)
    model.learn(referee.budget, callback=watcher(referee))
    return referee.outcome(name, Size(weights(model), "weights"))


def environment(referee: Referee, count: int, normalised: bool, settings: dict[str, Any]) -> Any:
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    env = make_vec_env(referee.task, count, seed=referee.seed)
    return VecNormalize(env, gamma=settings["gamma"]) if normalised else env


def scheduled(settings: dict[str, Any], budget: int) -> dict[str, Any]:
    """Let schedules run over the published steps; Stable-Baselines3 would stretch them over the budget."""
    settings = dict(settings)
    published = settings.pop("n_timesteps")
    if "exploration_fraction" in settings:
        settings["exploration_fraction"] = min(1.0, settings["exploration_fraction"] * published / budget)
    for key, first in settings.pop("falling", {}).items():
        settings[key] = falling(first, budget / published)
    return settings


def falling(first: float, budgets: float) -> Callable[[float], float]:
    """Return a value that falls to 0 over the published steps, by the share of the budget that is left."""
    return lambda left: first * max(0.0, 1.0 - (1.0 - left) * budgets)


def watcher(referee: Referee) -> Any:
    """Return a callback that tells the referee of every trial."""
    from stable_baselines3.common.callbacks import BaseCallback

    class Watch(BaseCallback):
        def _on_step(self) -> bool:
            for info in self.locals["infos"]:
                if "episode" in info and not referee.over:
                    gained = float(info["episode"]["r"])
                    referee.after_trial(self.num_timesteps, gained, lambda: greedy(self.model))
            return not referee.over

    return Watch()


def greedy(model: Any) -> Policy:
    """Return the greedy policy of a model as it is now, in NumPy: a tenth of the time of ``model.predict``."""
    normalised, layers = model.get_vec_normalize_env(), frozen(model)
    actions = int(model.action_space.n)

    def act(seen: np.ndarray) -> int:
        x = seen.astype(np.float32)
        x = x if normalised is None else normalised.normalize_obs(x)
        for matrix, bias, bend in layers:
            x = bend(matrix @ x + bias)
        return int(x.reshape(-1, actions).mean(axis=0).argmax())  # the mean of quantiles, where there are any

    return act


def nets_of(model: Any) -> list[Any]:
    """Return the networks that the greedy policy is made of, one after the other."""
    policy = model.policy
    if hasattr(policy, "action_net"):
        return [policy.mlp_extractor.policy_net, policy.action_net]
    return [policy.q_net.q_net if hasattr(policy, "q_net") else policy.quantile_net.quantile_net]


def frozen(model: Any) -> list[tuple[np.ndarray, np.ndarray, Callable[[np.ndarray], np.ndarray]]]:
    """Return copies of the layers: matrix, bias, and what bends their sum."""
    bends = {"ReLU": lambda x: np.maximum(x, 0.0), "Tanh": np.tanh}
    layers: list[Any] = []
    for module in (m for net in nets_of(model) for m in net.modules()):
        kind = type(module).__name__
        if kind == "Linear":
            arrays = [p.detach().numpy().copy() for p in (module.weight, module.bias)]
            layers.append((*arrays, lambda x: x))
        elif kind in bends:
            layers[-1] = (*layers[-1][:2], bends[kind])
    return layers


def weights(model: Any) -> int:
    """Return the weights that the greedy policy is made of."""
    return sum(p.numel() for net in nets_of(model) for p in net.parameters())
