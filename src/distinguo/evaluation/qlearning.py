"""The tester's learner: plain Q-learning over a fixed partition."""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.controller import choose, region_at
from distinguo.criteria import look_ahead, state_value
from distinguo.seam import kernel
from distinguo.settings import TesterSettings
from distinguo.tasks.task import transition, truncated, unpack


@kernel
def train(
    task: Any,
    partition: Any,
    q: np.ndarray,
    settings: TesterSettings,
    rng: np.random.Generator,
    now: np.ndarray,
    cap: int,
) -> tuple[int, bool]:
    """Learn the action values ``q`` in one trial from ``now``: its length, and whether it ended in failure."""
    s = unpack(task, now)
    j = region_at(task, partition, s)
    length = 0
    terminal, stopped = False, False
    while not terminal and not stopped and length < cap:
        a = choose(q[j], settings.delta, rng)
        s, r, terminal = transition(task, s, a)
        k = region_at(task, partition, s)
        q_new = r if terminal else look_ahead(r, settings.gamma, state_value(q[k]))
        q[j, a] += settings.alpha * (q_new - q[j, a])
        j = k
        length += 1
        stopped = truncated(task, s)
    return length, terminal
