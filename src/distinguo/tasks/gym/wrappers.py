"""Wrappers that make an environment fit: continuous actions in a few levels, and noisy actions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from distinguo.errors import DistinguoError, attempt, shown

MOST_COMBINATIONS = 1000


class DiscreteActions(gymnasium.ActionWrapper[Any, int, Any], RecordConstructorArgs):
    """Choose each coordinate of a continuous action from a few levels, evenly spaced between its bounds.

    With several coordinates the actions are all combinations; the last coordinate changes fastest. A list of actions
    may be given instead of a number: a number for each, or as many as an action has coordinates.

    >>> env = DiscreteActions(gymnasium.make("Pendulum-v1"), levels=5)
    >>> env.action_space
    Discrete(5)
    >>> [float(env.action(a)[0]) for a in range(5)]
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    >>> DiscreteActions(gymnasium.make("Pendulum-v1"), levels=[-2.0, 0.5]).action(1)
    array([0.5], dtype=float32)
    """

    def __init__(self, env: Any, levels: int | Sequence[Any] = 3) -> None:
        RecordConstructorArgs.__init__(self, levels=levels)
        super().__init__(env)
        if isinstance(levels, list | tuple):
            self.table = _listed(_box_of(env), levels)
        else:
            self.table = _combinations(_checked_box(env, levels), levels)
        self.action_space = spaces.Discrete(len(self.table))  # type: ignore[assignment]

    def action(self, action: int) -> Any:
        """Return the continuous action of this number."""
        return self.table[action].copy()  # the environment may change what it is given


class NoisyActions(gymnasium.ActionWrapper[Any, int, int], RecordConstructorArgs):
    """Replace an action, with the probability ``noise``, by a random one.

    >>> env = NoisyActions(gymnasium.make("CartPole-v1"), noise=1.0)
    >>> observation, info = env.reset(seed=1)
    >>> [env.action(0) for _ in range(6)]
    [1, 0, 1, 1, 1, 1]
    """

    def __init__(self, env: Any, noise: float = 0.1) -> None:
        RecordConstructorArgs.__init__(self, noise=noise)
        super().__init__(env)
        space = env.action_space
        if not isinstance(space, spaces.Discrete):
            raise DistinguoError(
                f"NoisyActions needs Discrete actions, got {space}; wrap it in DiscreteActions first."
            )
        if not isinstance(noise, int | float) or not 0.0 <= noise <= 1.0:
            raise DistinguoError(
                f"The noise of actions must be from 0 to 1, got {noise}; it is a probability."
            )
        self.noise = noise
        self.count, self.first = int(space.n), int(space.start)

    def action(self, action: int) -> int:
        """Return this action, or a random one."""
        if self.np_random.random() < self.noise:
            return self.first + int(self.np_random.integers(self.count))
        return action


def _box_of(env: Any) -> spaces.Box:
    box = env.action_space
    if not isinstance(box, spaces.Box):
        raise DistinguoError(
            f"DiscreteActions needs continuous actions, got {box}; leave the levels (task.levels) out."
        )
    return box


def _listed(box: spaces.Box, levels: Sequence[Any]) -> np.ndarray:
    """Return actions that are given one by one."""
    size = math.prod(box.shape)
    rows = attempt(
        lambda: np.array(levels, dtype=np.float64).reshape(len(levels), size), otherwise=np.zeros((0, 1))
    )
    inside = rows.size and (rows >= box.low.ravel()).all() and (rows <= box.high.ravel()).all()
    if not inside or not 2 <= len(rows) <= MOST_COMBINATIONS or len(np.unique(rows, axis=0)) < len(rows):
        raise DistinguoError(
            f"The levels of an action must be from 2 to {MOST_COMBINATIONS} different actions of {box}, got "
            f"{shown(levels)}."
        )
    return rows.reshape(len(rows), *box.shape).astype(box.dtype)


def _checked_box(env: Any, levels: Any) -> spaces.Box:
    """Return the action space if it can be divided into so many levels."""
    box = _box_of(env)
    if isinstance(levels, bool) or not isinstance(levels, int) or levels < 2:
        raise DistinguoError(f"The levels of an action must be a number from 2, got {levels!r}; try 3.")
    if not box.is_bounded():
        raise DistinguoError(
            f"Actions without bounds have no levels, got {box}; wrap it in gymnasium.wrappers.RescaleAction or "
            "another wrapper that gives bounds."
        )
    size = math.prod(box.shape)
    if levels**size > MOST_COMBINATIONS:
        raise DistinguoError(
            f"{levels} levels of {size} coordinates make {levels**size} actions; allowed are {MOST_COMBINATIONS}; "
            "choose fewer levels."
        )
    return box


def _combinations(box: spaces.Box, levels: Any) -> np.ndarray:
    low, high = box.low.astype(np.float64).ravel(), box.high.astype(np.float64).ravel()
    steps = np.arange(levels)[:, None]
    values = low + (high - low) * steps / (levels - 1)
    rows = np.array(list(product(*values.T))).reshape(levels ** len(low), *box.shape)
    return (rows if np.issubdtype(box.dtype, np.floating) else np.rint(rows)).astype(box.dtype)
