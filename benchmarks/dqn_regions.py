"""How many environment steps does Stable-Baselines3's DQN need on CartPole-v1: raw observations against our regions.

    python benchmarks/dqn_regions.py --representations 1 2 --runs 5

In every run DQN learns once from raw observations and once from the one-hot regions of every representation, with
the same seed and the same hyperparameters: those that the RL Zoo tuned for raw observations, with exploration over
the same 8,000 steps (0.16 of its 50,000) whatever the cap is. Every 1,000 training steps the greedy policy is
measured over 20 episodes, which are not counted; a run is over at a mean return of 475, or at the cap. The cost of
learning a representation is given apart, and is not in these steps.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import gymnasium
import torch
from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor

import distinguo
from distinguo.agents.regions import RegionObservation

TASK, GOAL = "CartPole-v1", 475.0
#: The RL Zoo's for DQN on CartPole-v1.
TUNED: dict[str, Any] = {
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
    "policy_kwargs": {"net_arch": [256, 256]},
}
SCHEDULE = 50_000  #: total steps that the exploration fraction is of, as in the RL Zoo


class UntilGood(BaseCallback):
    """Measures the greedy policy at intervals, and ends the run when it is good."""

    def __init__(self, env: Any, every: int, episodes: int) -> None:
        super().__init__()
        self.measured, self.every, self.episodes = env, every, episodes
        self.curve: list[float] = []

    def _on_step(self) -> bool:
        if self.num_timesteps % self.every:
            return True
        mean, _ = evaluate_policy(self.model, self.measured, n_eval_episodes=self.episodes)
        self.curve.append(float(mean))
        return mean < GOAL


def environment(representation: Any, seed: int) -> Any:
    env = Monitor(gymnasium.make(TASK))
    env.reset(seed=seed)
    return env if representation is None else RegionObservation(env, representation, one_hot=True)


def steps_needed(
    representation: Any, seed: int, options: argparse.Namespace
) -> tuple[int | None, list[float]]:
    """Return the training steps to the goal, or nothing, and the curve."""
    changed = {"exploration_fraction": TUNED["exploration_fraction"] * SCHEDULE / options.cap}
    model = DQN(
        "MlpPolicy", environment(representation, seed), seed=seed, device="cpu", **{**TUNED, **changed}
    )
    watch = UntilGood(environment(representation, 10_000 + seed), options.every, options.episodes)
    model.learn(options.cap, callback=watch)
    reached = bool(watch.curve) and watch.curve[-1] >= GOAL
    return (model.num_timesteps if reached else None), watch.curve


def told(name: str, needed: int | None, curve: list[float], seconds: float) -> None:
    steps = f"{needed:,}" if needed else f"not reached (best {max(curve, default=0):.0f})"
    print(f"  {name}: {steps} ({seconds:.0f} s)", flush=True)


def median(needed: list[int | None], cap: int) -> str:
    """Return the median, in which a run that did not reach the goal counts as the cap."""
    middle = statistics.median([cap if n is None else n for n in needed])
    reached = sum(n is not None for n in needed)
    return f"median {middle:,.0f} steps, {reached} of {len(needed)} reached {GOAL:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--representations", type=int, nargs="+", default=[1, 2], help="seeds to learn them with"
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cap", type=int, default=60_000)
    parser.add_argument("--every", type=int, default=1_000)
    parser.add_argument("--episodes", type=int, default=20)
    options = parser.parse_args()
    torch.set_num_threads(1)
    inputs: dict[str, Any] = {"raw observations": None}
    for seed in options.representations:
        run = distinguo.learn(TASK, seed=seed, learner="economy")
        name = f"regions of seed {seed}"
        inputs[name] = run.representation
        s = run.summary
        print(
            f"{name}: {s['regions']} regions, solved {s['solved']}, score {s['score']:.1f}, learned in "
            f"{s['environment_steps']:,} steps + {s['confirmation_steps']:,} to confirm",
            flush=True,
        )
    needed: dict[str, list[int | None]] = {name: [] for name in inputs}
    for seed in range(options.runs):
        print(f"run {seed}", flush=True)
        for name, representation in inputs.items():
            began = time.perf_counter()
            steps, curve = steps_needed(representation, seed, options)
            needed[name].append(steps)
            told(name, steps, curve, time.perf_counter() - began)
    for name, steps in needed.items():
        print(f"{name}: {median(steps, options.cap)}")


if __name__ == "__main__":
    main()
