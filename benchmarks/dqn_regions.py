"""How many environment steps does Stable-Baselines3's DQN need on CartPole-v1: raw observations against our regions.

    python -m benchmarks.dqn_regions --representations 1 2 --seeds 0-4

In every run DQN learns once from raw observations and once from the one-hot regions of every representation, with
the same seed and the same hyperparameters: those that the RL Zoo tuned for raw observations, with exploration over
the same 8,000 steps (0.16 of its 50,000) whatever the cap is. Every 1,000 training steps the greedy policy is
measured over 20 episodes, which are not counted; a run is over at a mean return of 475, or at the cap. The cost of
learning a representation is given apart, and is not in these steps.
"""

from __future__ import annotations

import statistics
import time
from functools import cache
from typing import Any, NamedTuple

import gymnasium
import torch
from benchmarks import rows
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


class Row(NamedTuple):
    """A run of DQN."""

    cap: int
    every: int  #: training steps between two measurements
    episodes: int  #: of a measurement
    representation: int  #: the seed of the map; RAW for raw observations
    seed: int
    reached: bool
    steps: int  #: the cap, if it did not reach the goal
    best: float  #: mean return
    seconds: float


RAW = -1


@cache
def learned(seed: int) -> Any:
    """The run whose regions DQN sees."""
    return distinguo.learn(TASK, seed=seed, learner="economy")


def measured(cap: int, every: int, episodes: int, representation: int, seed: int) -> Row:
    """Train DQN to the goal, or the cap."""
    torch.set_num_threads(1)
    shown = None if representation == RAW else learned(representation).representation
    changed = {"exploration_fraction": TUNED["exploration_fraction"] * SCHEDULE / cap}
    began = time.perf_counter()
    model = DQN("MlpPolicy", environment(shown, seed), seed=seed, device="cpu", **{**TUNED, **changed})
    watch = UntilGood(environment(shown, 10_000 + seed), every, episodes)
    model.learn(cap, callback=watch)
    reached = bool(watch.curve) and watch.curve[-1] >= GOAL
    steps, best = model.num_timesteps if reached else cap, max(watch.curve, default=0.0)
    return Row(
        *(cap, every, episodes, representation, seed, reached, steps, best, time.perf_counter() - began)
    )


def main() -> None:
    parser = rows.options(__doc__, "dqn-regions", "0-4")
    parser.add_argument(
        "--representations", type=int, nargs="+", default=[1, 2], help="seeds to learn them with"
    )
    parser.add_argument("--cap", type=int, default=60_000)
    parser.add_argument("--every", type=int, default=1_000)
    parser.add_argument("--episodes", type=int, default=20)
    options = parser.parse_args()
    ways = [(options.cap, options.every, options.episodes, one) for one in (RAW, *options.representations)]
    known = rows.measured(
        options.table, Row, measured, [(*way, seed) for way in ways for seed in options.seeds]
    )
    for seed in options.representations:
        s = learned(seed).summary
        print(
            f"regions of seed {seed}: {s['regions']} regions, solved {s['solved']}, score {s['score']:.1f}, learned "
            f"in {s['environment_steps']:,} steps + {s['confirmation_steps']:,} to confirm"
        )
    for way in ways:
        own = [row for row in known if row[:4] == way]
        name = "raw observations" if way[-1] == RAW else f"regions of seed {way[-1]}"
        middle = statistics.median(row.steps for row in own)
        reached = sum(row.reached for row in own)
        print(f"{name}: median {middle:,.0f} steps, {reached} of {len(own)} reached {GOAL:.0f}")


if __name__ == "__main__":
    main()
