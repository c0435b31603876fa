"""Train the teachers that ``benchmarks/distilled.py`` distils, with Stable-Baselines3 and published settings.

    pip install -e ".[others]" && python -m benchmarks.teachers --out teachers [TASK …]

DQN's settings are those of ``benchmarks/rivals/sb3.py``; PPO's and SAC's are those of hyperparams/ppo.yml and
sac.yml of DLR-RM/rl-baselines3-zoo. Where a teacher misses its threshold, the next seed is tried, and the seeds are
printed: a teacher that cannot solve its task says nothing about distilling. Dear ones stop at the first check at
which they reach it. One that sees normalised observations is a folder, with its statistics.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.rivals import sb3

from distinguo.distillation.teachers import STATISTICS

WANTED = {  #: the mean return of a hundred trials that a teacher should have
    "CartPole-v1": 475.0,
    "MountainCar-v0": -110.0,
    "Acrobot-v1": -100.0,
    "Pendulum-v1": -170.0,
    "MountainCarContinuous-v0": 90.0,
    "LunarLander-v3": 220.0,
    "InvertedPendulum-v5": 950.0,
    "InvertedDoublePendulum-v5": 9_100.0,
    "LunarLanderContinuous-v3": 240.0,
    "Swimmer-v5": 300.0,
    "Hopper-v5": 2_000.0,
    "BipedalWalker-v3": 270.0,
    "HalfCheetah-v5": 3_000.0,
    "Walker2d-v5": 2_000.0,
}
WIDE = {"log_std_init": -2, "ortho_init": False, "net_arch": {"pi": [256, 256], "vf": [256, 256]}}
PUBLISHED: dict[str, tuple[str, dict[str, Any]]] = {
    **{task: ("DQN", settings) for task, settings in sb3.DQN.items()},
    "Pendulum-v1": ("SAC", {"n_timesteps": 20_000, "learning_rate": 1e-3}),
    "MountainCarContinuous-v0": (
        "SAC",
        {
            "n_timesteps": 50_000,
            "learning_rate": 3e-4,
            "buffer_size": 50_000,
            "batch_size": 512,
            "ent_coef": 0.1,
            "train_freq": 32,
            "gradient_steps": 32,
            "gamma": 0.9999,
            "tau": 0.01,
            "learning_starts": 0,
            "use_sde": True,
            "policy_kwargs": {"log_std_init": -3.67, "net_arch": [64, 64]},
        },
    ),
    "LunarLander-v3": (
        "PPO",
        {
            "n_envs": 16,
            "n_timesteps": 1_000_000,
            "n_steps": 1024,
            "batch_size": 64,
            "gae_lambda": 0.98,
            "gamma": 0.999,
            "n_epochs": 4,
            "ent_coef": 0.01,
        },
    ),
    "InvertedPendulum-v5": ("PPO", {"n_timesteps": 40_000}),  # the defaults, and no longer than it takes
    "InvertedDoublePendulum-v5": ("SAC", {"n_timesteps": 40_000, "checks": 8}),
    "LunarLanderContinuous-v3": (
        "PPO",
        {
            "n_envs": 16,
            "n_timesteps": 1_000_000,
            "n_steps": 1024,
            "batch_size": 64,
            "gae_lambda": 0.98,
            "gamma": 0.999,
            "n_epochs": 4,
            "ent_coef": 0.01,
            "checks": 10,
        },
    ),
    "Swimmer-v5": (
        "PPO",
        {
            "n_envs": 4,
            "n_timesteps": 1_000_000,
            "n_steps": 1024,
            "batch_size": 256,
            "gamma": 0.9999,
            "gae_lambda": 0.98,
            "learning_rate": 6e-4,
            "normalize": True,
            "checks": 20,
        },
    ),
    "Hopper-v5": (
        "PPO",
        {
            "n_timesteps": 1_000_000,
            "n_steps": 512,
            "batch_size": 32,
            "gamma": 0.999,
            "learning_rate": 9.80828e-05,
            "ent_coef": 0.00229519,
            "clip_range": 0.2,
            "n_epochs": 5,
            "gae_lambda": 0.99,
            "max_grad_norm": 0.7,
            "vf_coef": 0.835671,
            "policy_kwargs": WIDE,
            "normalize": True,
            "checks": 20,
        },
    ),
    "BipedalWalker-v3": (
        "PPO",
        {
            "n_envs": 32,
            "n_timesteps": 5_000_000,
            "n_steps": 2048,
            "batch_size": 64,
            "gae_lambda": 0.95,
            "gamma": 0.999,
            "n_epochs": 10,
            "learning_rate": 3e-4,
            "clip_range": 0.18,
            "normalize": True,
            "checks": 20,
        },
    ),
    "HalfCheetah-v5": (
        "PPO",
        {
            "n_timesteps": 1_000_000,
            "n_steps": 512,
            "batch_size": 64,
            "gamma": 0.98,
            "learning_rate": 2.0633e-05,
            "ent_coef": 0.000401762,
            "clip_range": 0.1,
            "n_epochs": 20,
            "gae_lambda": 0.92,
            "max_grad_norm": 0.8,
            "vf_coef": 0.58096,
            "policy_kwargs": WIDE,
            "normalize": True,
            "checks": 10,
        },
    ),
    "Walker2d-v5": (
        "PPO",
        {
            "n_timesteps": 1_000_000,
            "n_steps": 512,
            "batch_size": 32,
            "gamma": 0.99,
            "learning_rate": 5.05041e-05,
            "ent_coef": 0.000585045,
            "clip_range": 0.1,
            "n_epochs": 20,
            "gae_lambda": 0.95,
            "max_grad_norm": 1.0,
            "vf_coef": 0.871923,
            "policy_kwargs": WIDE,
            "normalize": True,
            "checks": 10,
        },
    ),
}
ATTEMPTS = 5  #: seeds that are tried
CHECKED = 10  #: trials of a check


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", default=[], help=f"of {', '.join(PUBLISHED)}; all by default")
    parser.add_argument("--out", type=Path, default=Path("teachers"))
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    asked = parser.parse_args()
    for task in asked.tasks or PUBLISHED:
        train(task, asked.out, asked.seed)


def train(task: str, out: Path, first: int) -> None:
    """Train until a teacher reaches what is wanted, seed after seed, and save the best."""
    best = -np.inf
    for seed in range(first, first + ATTEMPTS):
        began = time.perf_counter()
        model = trained(task, seed)
        mean, error = judged(model, task, 100)
        took = time.perf_counter() - began
        print(
            f"{task}: {type(model).__name__}, seed {seed}: {mean:.1f} ± {error:.1f}, "
            f"{model.num_timesteps} steps, {took:.0f} s",
            flush=True,
        )
        if mean > best:
            best = mean
            save(model, out, f"{task}-{type(model).__name__.lower()}")
        if mean >= WANTED[task]:
            return


def save(model: Any, out: Path, name: str) -> None:
    """Save a teacher: its zip, or a folder of it and of how its observations are normalised."""
    statistics = model.get_vec_normalize_env()
    if statistics is None:
        model.save(out / f"{name}.zip")
        return
    model.save(out / name / f"{name}.zip")
    statistics.save(out / name / STATISTICS[0])


def trained(task: str, seed: int) -> Any:
    """A teacher, trained until it reaches what is wanted at a check, or for all steps."""
    import stable_baselines3
    import torch
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    torch.set_num_threads(1)
    name, settings = PUBLISHED[task]
    settings = dict(settings)
    steps, checks = settings.pop("n_timesteps"), settings.pop("checks", 1)
    env = make_vec_env(task, settings.pop("n_envs", 1), seed=seed)
    if settings.pop("normalize", False):
        env = VecNormalize(env, gamma=settings.get("gamma", 0.99))
    if settings.get("policy_kwargs") is WIDE:
        settings["policy_kwargs"] = WIDE | {"activation_fn": torch.nn.ReLU}
    model = getattr(stable_baselines3, name)("MlpPolicy", env, seed=seed, device="cpu", **settings)
    for _ in range(checks):
        model.learn(steps // checks, reset_num_timesteps=False)
        if checks > 1:
            mean, error = judged(model, task, CHECKED)
            print(f"  {model.num_timesteps} steps: {mean:.1f} ± {error:.1f}", flush=True)
            if mean >= WANTED[task]:
                break
    return model


def judged(model: Any, task: str, trials: int) -> tuple[float, float]:
    """The mean return of greedy trials, and its standard error."""
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.vec_env import VecNormalize

    env = make_vec_env(task, seed=10_000)
    statistics = model.get_vec_normalize_env()
    if statistics is not None:
        env = VecNormalize(env, training=False, norm_reward=False)
        env.obs_rms = statistics.obs_rms
    returns, _ = evaluate_policy(model, env, trials, return_episode_rewards=True)
    return float(np.mean(returns)), float(np.std(returns) / np.sqrt(trials))


if __name__ == "__main__":
    main()
