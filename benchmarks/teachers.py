"""Train the teachers that ``benchmarks/distilled.py`` distils, with Stable-Baselines3 and published settings.

    pip install -e ".[others]" && python -m benchmarks.teachers --out teachers [TASK …]

DQN's settings are those of ``benchmarks/rivals/sb3.py``; PPO's and SAC's are those of hyperparams/ppo.yml and
sac.yml of DLR-RM/rl-baselines3-zoo. Where a teacher misses its threshold, the next seed is tried, and the seeds are
printed: a teacher that cannot solve its task says nothing about distilling.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.rivals import sb3

WANTED = {  #: the mean return of a hundred trials that a teacher should have
    "CartPole-v1": 475.0,
    "MountainCar-v0": -110.0,
    "Acrobot-v1": -100.0,
    "Pendulum-v1": -170.0,
    "MountainCarContinuous-v0": 90.0,
    "LunarLander-v3": 220.0,
    "InvertedPendulum-v5": 950.0,
    "InvertedDoublePendulum-v5": 9_100.0,
}
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
    "InvertedDoublePendulum-v5": ("SAC", {"n_timesteps": 40_000}),
}
ATTEMPTS = 5  #: seeds that are tried


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
        mean, error = judged(model, task)
        took = time.perf_counter() - began
        print(
            f"{task}: {type(model).__name__}, seed {seed}: {mean:.1f} ± {error:.1f}, {took:.0f} s", flush=True
        )
        if mean > best:
            best = mean
            model.save(out / f"{task}-{type(model).__name__.lower()}.zip")
        if mean >= WANTED[task]:
            return


def trained(task: str, seed: int) -> Any:
    import stable_baselines3
    import torch
    from stable_baselines3.common.env_util import make_vec_env

    torch.set_num_threads(1)
    name, settings = PUBLISHED[task]
    settings = dict(settings)
    steps = settings.pop("n_timesteps")
    env = make_vec_env(task, settings.pop("n_envs", 1), seed=seed)
    model = getattr(stable_baselines3, name)("MlpPolicy", env, seed=seed, device="cpu", **settings)
    return model.learn(steps)


def judged(model: Any, task: str) -> tuple[float, float]:
    """Return the mean return of a hundred greedy trials, and its standard error."""
    import gymnasium
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.monitor import Monitor

    env = Monitor(gymnasium.make(task))
    env.reset(seed=10_000)
    returns, _ = evaluate_policy(model, env, 100, return_episode_rewards=True)
    return float(np.mean(returns)), float(np.std(returns) / 10)


if __name__ == "__main__":
    main()
