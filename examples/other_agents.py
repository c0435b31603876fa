"""A representation serves other agents: a table of action values, and Stable-Baselines3's DQN, on our regions.

    python examples/other_agents.py
    python examples/other_agents.py --steps 50000 --seed 7

First a representation of CartPole is learned. Then two agents that know nothing of it learn the task anew; all they
see of an observation is the region that it falls in. For DQN: pip install stable-baselines3
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium
import numpy as np

import distinguo
from distinguo.agents.regions import RegionObservation

TASK, GOOD = "CartPole-v1", 475.0


def q_learning(env: Any, steps: int, seed: int, rate: float = 0.1, gamma: float = 0.99) -> np.ndarray:
    """Return the action values that plain Q-learning finds; its observations are numbers of rows."""
    q = np.zeros((env.observation_space.n, env.action_space.n))
    rng = np.random.default_rng(seed)
    s, _ = env.reset(seed=seed)
    for step in range(steps):
        explore = rng.random() < max(0.02, 1.0 - 2.0 * step / steps)
        a = int(rng.integers(env.action_space.n)) if explore else int(q[s].argmax())
        following, reward, terminated, truncated, _ = env.step(a)
        target = reward + (0.0 if terminated else gamma * q[following].max())
        q[s, a] += rate * (target - q[s, a])
        s = env.reset()[0] if terminated or truncated else following
    return q


def deep_q_learning(env: Any, measured: Any, steps: int, seed: int) -> Any:
    """Return an agent of Stable-Baselines3, or nothing if that is not installed; it stops when it is good."""
    try:
        import torch
        from stable_baselines3 import DQN
        from stable_baselines3.common.callbacks import EvalCallback, StopTrainingOnRewardThreshold
    except ImportError:
        return None
    torch.set_num_threads(1)  # networks as small as this are faster on one
    good = StopTrainingOnRewardThreshold(GOOD)
    until_good = EvalCallback(measured, good, n_eval_episodes=20, eval_freq=1_000, verbose=0, warn=False)
    pace = {"learning_starts": 1_000, "train_freq": 256, "gradient_steps": 128, "target_update_interval": 10}
    luck = {"exploration_fraction": 0.3, "exploration_final_eps": 0.04, "seed": seed}
    network = {"policy_kwargs": {"net_arch": [256, 256]}, "learning_rate": 2.3e-3, "batch_size": 64}
    agent = DQN("MlpPolicy", env, gamma=0.99, device="cpu", **network, **pace, **luck)
    return agent.learn(steps, callback=until_good)


def mean_return(env: Any, act: Any, trials: int) -> float:
    """Return what a policy gains in a trial, on average."""
    gained = 0.0
    for trial in range(trials):
        s, _ = env.reset(seed=10_000 + trial)
        over = False
        while not over:
            s, reward, terminated, truncated, _ = env.step(act(s))
            gained, over = gained + reward, terminated or truncated
    return gained / trials


def main(arguments: list[str] | None = None) -> dict[str, float]:
    """Learn a representation, let the others learn on it, and say what they gain."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=15_000, help="training steps of each agent")
    parser.add_argument("--trials", type=int, default=20, help="trials that each is measured by")
    parser.add_argument("--seed", type=int, default=2)
    options = parser.parse_args(arguments)
    run = distinguo.learn(TASK, seed=options.seed)
    steps = f"{run.summary['environment_steps']:,} steps"
    print(
        f"our learner: {run.representation.regions} regions after {steps}, return {run.summary['score']:.0f}"
    )

    found = {}
    number = RegionObservation(gymnasium.make(TASK), run.representation)
    q = q_learning(number, options.steps, options.seed)
    found["table"] = mean_return(number, lambda s: int(q[s].argmax()), options.trials)
    print(f"a table on these regions: return {found['table']:.0f} after {options.steps:,} steps")

    vector, another = (
        RegionObservation(gymnasium.make(TASK), run.representation, one_hot=True) for _ in "ab"
    )
    agent = deep_q_learning(vector, another, options.steps, options.seed)
    if agent is None:
        print("DQN is left out: stable-baselines3 is not installed")
        return found
    found["dqn"] = mean_return(
        another, lambda s: int(agent.predict(s, deterministic=True)[0]), options.trials
    )
    print(f"DQN on these regions: return {found['dqn']:.0f} after {agent.num_timesteps:,} steps")
    return found


if __name__ == "__main__":
    main()
