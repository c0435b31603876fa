"""What a step of a plain Python environment costs beyond the environment, and what two cores give.

    python -m benchmarks.plain_python --steps 3000
    python -m benchmarks.plain_python --seeds 0-3

The first measures every learner on an environment whose step does next to nothing: a double integrator that no
return solves, with constants beside its two coordinates, or with labels for the learner of labels. A row is the CPU
time of a stage with warm kernels per step that the environment took, mini-trials and confirmations included, less
the time of the environment itself. The second learns the seeds with one process and with two, in turn; the speed-up
by processor time is what two free cores would give: all that one process takes, over half of what two take and all of
what the process that waits for them takes.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from distinguo.engines.engine import Engine
from distinguo.runs.configuration import configure
from distinguo.runs.learn import warm
from distinguo.runs.many import learn_many
from distinguo.runs.seeds import seeds as parse_seeds
from distinguo.runs.stage import Stage
from distinguo.tasks.catalog import spec_of
from distinguo.tasks.gym.task import gym_spec

LEARNERS = ("probation", "economy", "surprise", "model", "sweeping")
SIDE = 8  #: labels of a coordinate


class Slide(gymnasium.Env[Any, int]):
    """A double integrator that observes ``count`` coordinates, or one label if there is none."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.observation_space = (
            spaces.Box(-np.inf, np.inf, (count,), np.float64) if count else spaces.Discrete(SIDE * SIDE)
        )
        self.action_space = spaces.Discrete(2)  # type: ignore[assignment]

    def _seen(self) -> Any:
        if self.count:
            return self.s
        x, v = np.clip((SIDE / 2 * (1 + self.s)).astype(int), 0, SIDE - 1)
        return int(SIDE * x + v)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.t, self.s = 0, np.arange(max(self.count, 2), dtype=float)
        self.s[:2] = self.np_random.uniform(-0.05, 0.05, 2)
        return self._seen(), {}

    def step(self, a: int) -> Any:
        self.t, s = self.t + 1, self.s.copy()
        s[0], s[1] = s[0] + 0.1 * s[1], s[1] + 0.1 * (2 * a - 1)
        self.s = s
        return self._seen(), 1.0, bool(abs(s[0]) > 1.0), self.t >= 200, {}


def bare(count: int, steps: int = 20_000) -> float:
    """The seconds of a step of the environment itself."""
    env, began = Slide(count), time.process_time()
    env.reset(seed=0)
    for n in range(steps):
        if any(env.step(n % 2)[2:4]):
            env.reset()
    return (time.process_time() - began) / steps


def overhead(learner: str, count: int, steps: int, seed: int) -> float:
    """The seconds of a stage per step that the environment took."""
    configuration = configure(
        spec_of(Slide(count), {}),
        seed=seed,
        learner=learner,
        changes={"stage.steps": steps, "stage.confirm": 20},
        words={"threshold": 1000.0},
    )
    stage = Stage(configuration)
    driver = stage.task.driver
    before, began = driver.steps, time.process_time()
    for _ in stage.work():
        pass
    return (time.process_time() - began) / (driver.steps - before + driver.replayed)


def print_overheads(steps: int) -> None:
    print("| learner | coordinates | microseconds of a step |\n|---|---|---|")
    for learner in LEARNERS:
        for count in (0,) if learner == "sweeping" else (2, 20):
            overhead(learner, count, min(steps, 500), seed=0)  # compiles
            taken = np.median([overhead(learner, count, steps, seed) for seed in range(3)]) - bare(count)
            print(f"| `{learner}` | {count or 'a label'} | {1e6 * taken:.0f} |", flush=True)


def print_speed(asked: list[int]) -> None:
    spec = gym_spec("Acrobot-v1", {})
    changes = {"stage.steps": 5_000, "stage.confirm": 3}
    wanted = [configure(spec, seed=n, learner="probation", changes=changes) for n in asked]
    warm(wanted[0])
    walls, times = list[float](), list[float]()
    for workers in (1, 2) * 3:
        with tempfile.TemporaryDirectory() as folder:
            began, before = time.perf_counter(), os.times()
            outs = [Path(folder) / str(c.seed) for c in wanted]
            learn_many(wanted, outs, engine=Engine("processes", workers))
            wall, (own, system, children, of_system, _) = time.perf_counter() - began, os.times()
        waiting = own + system - before[0] - before[1]
        working = children + of_system - before[2] - before[3]
        walls.append(wall)
        times.append(waiting + working / workers)
        print(
            f"{workers} workers: {wall:.1f} s; CPU: workers {working:.2f} s, waiting {waiting:.2f} s",
            flush=True,
        )
    for name, of in (("by the clock", walls), ("by processor time", times)):
        ratios = [f"{of[n] / of[n + 1]:.2f}" for n in range(0, len(of), 2)]
        print(f"speed-up {name}: {', '.join(ratios)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=3_000)
    parser.add_argument("--seeds", default=None)
    options = parser.parse_args()
    if options.seeds is None:
        print_overheads(options.steps)
    else:
        print_speed(list(parse_seeds(options.seeds)))


if __name__ == "__main__":
    main()
