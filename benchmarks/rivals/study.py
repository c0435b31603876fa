"""The rivals by their names, and one run of one of them as a job of the engine room."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from benchmarks.rivals import ars, ours, sb3, search, tables

Learn = Callable[[str, int, int], dict[str, Any]]
#: In the order of the table.
RIVALS: dict[str, Learn] = {
    "ours": ours.learn,
    "ours, from the start": functools.partial(ours.learn, name="ours, from the start", **ours.FROM_THE_START),
    "random search": search.random_search,
    "evolutionary tree": search.evolution,
    "grid, Q-learning": tables.grid,
    "tiles, SARSA(λ)": tables.sarsa,
    "ARS": ars.ars,
    "DQN": sb3.dqn,
    "QR-DQN": sb3.qr_dqn,
    "PPO": sb3.ppo,
}
#: Those that take minutes a run get fewer seeds.
SLOW = tuple(sb3.PACKAGES)


def learned(rival: str, task: str, seed: int, budget: int) -> dict[str, Any]:
    """Let a rival learn a task once, and say how it went."""
    return RIVALS[rival](task, seed, budget)
