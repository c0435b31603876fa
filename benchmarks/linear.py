"""Augmented random search for one linear law (Mania, Guy and Recht, 2018, V2-t): a row of the small controllers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Search(NamedTuple):
    """The constants of a search, by the names of the paper."""

    directions: int = 8  #: N
    best: int = 4  #: b
    step: float = 0.02  #: alpha
    noise: float = 0.03  #: nu


#: Table 9 of the paper; tasks that it does not have take the usual values above.
PUBLISHED = {"Swimmer-v5": Search(1, 1, 0.02, 0.01), "Hopper-v5": Search(8, 4, 0.01, 0.025)}


class Found(NamedTuple):
    """A law for standardised observations."""

    law: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    steps: int

    def act(self, seen: np.ndarray) -> np.ndarray:
        """The amounts that it takes."""
        return np.asarray(self.law @ ((seen - self.mean) / self.spread))


class Seen:
    """Mean and deviation of all observations so far."""

    def __init__(self, size: int) -> None:
        self.count, self.mean, self.squares = 0, np.zeros(size), np.zeros(size)

    def note(self, row: np.ndarray) -> None:
        """Count an observation."""
        self.count += 1
        difference = row - self.mean
        self.mean = self.mean + difference / self.count
        self.squares = self.squares + difference * (row - self.mean)

    @property
    def spread(self) -> np.ndarray:
        """The deviation of each coordinate; of one that never varies 1."""
        spread = np.sqrt(self.squares / max(1, self.count - 1))
        return np.where(spread < 1e-7, 1.0, spread)


def searched(make: Callable[[], Any], seed: int, steps: int, how: Search | None = None) -> Found:
    """Search for so many steps; the law of the last iteration, as in the paper."""
    how, env, rng = how or Search(), make(), np.random.default_rng(seed)
    box: Any = env.action_space
    law = np.zeros((int(np.prod(box.shape)), int(np.prod(env.observation_space.shape))))
    seen, spent = Seen(law.shape[1]), 0

    def gained(changed: np.ndarray, mean: np.ndarray, spread: np.ndarray) -> float:
        nonlocal spent
        now, _ = env.reset(seed=int(rng.integers(2**31)))
        total, over = 0.0, False
        while not over:
            row = np.asarray(now, dtype=np.float64).ravel()
            seen.note(row)
            sent = np.clip((changed @ ((row - mean) / spread)).reshape(box.shape), box.low, box.high)
            now, reward, ended, stopped, _ = env.step(sent.astype(box.dtype))
            total, over, spent = total + float(reward), ended or stopped, spent + 1
        return total

    while spent < steps:
        mean, spread = seen.mean.copy(), seen.spread
        drawn = rng.standard_normal((how.directions, *law.shape))
        both = np.array(
            [[gained(law + side * how.noise * one, mean, spread) for side in (1, -1)] for one in drawn]
        )
        chosen = np.argsort(-both.max(axis=1))[: how.best]
        deviation = both[chosen].std() or 1.0
        difference = both[chosen, 0] - both[chosen, 1]
        law = law + how.step / (how.best * deviation) * np.tensordot(difference, drawn[chosen], 1)
    return Found(law, seen.mean, seen.spread, spent)
