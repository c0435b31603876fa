"""Active investigation of a state: one mini-trial per action (Figure 3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.criteria import look_ahead, state_value
from distinguo.learners.memory import INVESTIGATION_STEPS, Memory
from distinguo.learners.values import reliable_source
from distinguo.representation.partition import region
from distinguo.seam import part
from distinguo.settings import LearnerSettings
from distinguo.tasks.task import State, transition


@part
def mini_trial(
    task: Any, memory: Memory, settings: LearnerSettings, s: State, j: int, a: int
) -> tuple[float, bool]:
    """Repeat action ``a`` from ``s`` until its region ``j`` is left: ``Q1(s, a)``, and whether it is reliable."""
    s_hat, r_hat, discount, steps = s, 0.0, 1.0, 0
    while True:
        s_hat, r, terminal = transition(task, s_hat, a)
        k = region(memory.partition, s_hat)
        r_hat += discount * r
        discount *= settings.gamma
        steps += 1
        if k != j or steps >= settings.max_steps or terminal:
            break
    memory.counters[INVESTIGATION_STEPS] += steps
    reliable = reliable_source(memory, k, settings.min_updates)
    if terminal:
        return r_hat, reliable or settings.terminal_reliable
    future = discount if settings.discount_steps else settings.gamma
    return look_ahead(r_hat, future, state_value(memory.q[k])), reliable


@part
def investigate(
    task: Any, memory: Memory, settings: LearnerSettings, s: State, row: int
) -> tuple[np.ndarray, np.ndarray]:
    """Figure 3: the action profile ``Q1(s, .)`` and which of its entries are reliable, kept in a row of memory."""
    q1, reliable = memory.q1[row], memory.reliable[row]
    j = region(memory.partition, s)
    for a in range(len(q1)):
        q1[a], reliable[a] = mini_trial(task, memory, settings, s, j, a)
    memory.investigated[j] = True
    return q1, reliable
