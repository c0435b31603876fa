"""A declared task as a Gymnasium environment, for agents of other libraries."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete

from distinguo.tasks.amounts import needs_laws
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import State, observe, seeded, start, transition, truncated


class TaskEnv(gymnasium.Env[np.ndarray, Any]):
    """A task whose observations are numbers; trials are truncated after ``limit`` steps.

    >>> from distinguo.tasks.catalog import task_spec
    >>> env = TaskEnv(task_spec("puck"), 1_000)
    >>> env.reset(seed=1)[0].tolist(), env.action_space
    ([0.0, 0.0], Discrete(2))
    >>> env.step(1)[1:4]
    (0.0, False, False)
    """

    def __init__(self, spec: TaskSpec, limit: int) -> None:
        self.task_spec, self.limit = spec, limit
        self.observation_space = Box(np.array(spec.low), np.array(spec.high), dtype=np.float64)
        self.action_space: Any = Discrete(len(spec.actions))
        if needs_laws(spec) and spec.amounts is not None:
            self.action_space = Box(np.array(spec.amounts.low), np.array(spec.amounts.high), dtype=np.float64)
        self._task = seeded(spec.task, 0)
        self._state: State = ()
        self._steps = 0

    @property
    def state(self) -> State:
        """The state of the task, which may be more than is observed."""
        return self._state

    def _taken(self, action: Any) -> Any:
        """An action as the task takes it."""
        box = self.task_spec.amounts
        if box is None or not isinstance(self.action_space, Box):
            return int(action)
        row = np.clip(np.ravel(action).astype(float), box.low, box.high).tolist()
        return row[0] if box.single else tuple(row)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin a trial; a seed decides its start and, in a stochastic task, its noise."""
        super().reset(seed=seed)
        if seed is not None:
            self._task = seeded(self.task_spec.task, seed)
        self._state, self._steps = start(self._task, self.np_random), 0
        return np.array(observe(self._task, self._state)), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take a step; amounts outside their range are cut to it."""
        self._state, reward, terminal = transition(self._task, self._state, self._taken(action))
        self._steps += 1
        stopped = bool(truncated(self._task, self._state)) or self._steps >= self.limit
        seen = np.array(observe(self._task, self._state))
        return seen, float(reward), bool(terminal), stopped and not terminal, {}
