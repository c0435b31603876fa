"""A small environment that somebody made."""

from __future__ import annotations

from typing import Any

import gymnasium


class Corridor(gymnasium.Env[int, int]):
    """Fields in a row; the last one is worth something."""

    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, fields: int = 6) -> None:
        self.observation_space = gymnasium.spaces.Discrete(fields)
        self.last = fields - 1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = 2
        return self.at, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.at += 1 if action else -1
        return self.at, float(self.at == self.last), self.at in (0, self.last), False, {}
