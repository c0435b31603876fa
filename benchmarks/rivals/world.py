"""Trials of a task, for rivals written here: the compiled port, whose states are the same bits as Gymnasium's."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from distinguo.seam import kernel
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.task import observe, start, transition

Policy = Callable[[np.ndarray], int]
TASKS = ("CartPole-v1", "MountainCar-v0", "Acrobot-v1")


@kernel
def _step(task, s, a):
    s_next, reward, terminal = transition(task, s, a)
    return s_next, observe(task, s_next), reward, terminal


class World:
    """A task that is acted in, step by step; it counts the steps."""

    def __init__(self, task: str, seed: list[int]) -> None:
        self.spec = task_spec(task)
        self.actions, self.dimensions = len(self.spec.actions), len(self.spec.dimensions)
        self.rng = np.random.default_rng(seed)
        self.steps = 0

    def reset(self) -> np.ndarray:
        self._state, self._length = start(self.spec.task, self.rng), 0
        return np.array(observe(self.spec.task, self._state))

    def step(self, a: int) -> tuple[np.ndarray, float, bool, bool]:
        """Return the observation, the reward, whether it is terminal, and whether the trial is over."""
        self._state, seen, reward, terminal = _step(self.spec.task, self._state, int(a))
        self.steps += 1
        self._length += 1
        return np.array(seen), reward, terminal, terminal or self._length >= self.spec.limit

    def trial(self, policy: Policy) -> float:
        """Return what a policy gains in a trial."""
        seen, over, gained = self.reset(), False, 0.0
        while not over:
            seen, reward, _, over = self.step(policy(seen))
            gained += reward
        return gained


def coordinates(seen: np.ndarray) -> np.ndarray:
    """Return what tables divide: the observation, and of the acrobot the two angles instead of their cosines."""
    if len(seen) != 6:
        return seen
    c1, s1, c2, s2, v1, v2 = seen
    return np.array([math.atan2(s1, c1), math.atan2(s2, c2), v1, v2])
