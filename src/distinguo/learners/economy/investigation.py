"""Active investigation of a state: one mini-trial per action (Figure 3)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from distinguo.controller import region_at
from distinguo.criteria import look_ahead, state_value
from distinguo.learners.economy.memory import GREATEST, INVESTIGATION_STEPS, LEAST, Memory
from distinguo.learners.economy.values import reliable_source
from distinguo.seam import part
from distinguo.settings import LearnerSettings
from distinguo.tasks.task import State, transition, truncated


@part
def mini_trial(
    task: Any, memory: Memory, settings: LearnerSettings, s: State, j: int, a: int
) -> tuple[float, bool]:
    """Repeat action ``a`` from ``s`` until its region ``j`` is left: ``Q1(s, a)``, and whether it is reliable."""
    s_hat, r_hat, discount, steps = s, 0.0, 1.0, 0
    while True:
        s_hat, r, terminal = transition(task, s_hat, a)
        k = region_at(task, memory.partition, s_hat)
        r_hat += discount * r
        discount *= settings.gamma
        steps += 1
        if k != j or steps >= settings.max_steps or terminal or truncated(task, s_hat):
            break
    memory.counters[INVESTIGATION_STEPS] += steps
    reliable = reliable_source(memory, k, settings.min_updates)
    if terminal:
        return r_hat, reliable or settings.terminal_reliable
    future = discount if settings.discount_steps else settings.gamma
    return look_ahead(r_hat, future, state_value(memory.q[k])), reliable


@part
def repeated_mini_trial(
    task: Any, memory: Memory, settings: LearnerSettings, s: State, j: int, a: int
) -> tuple[float, bool, float]:
    """Definition 5: the mean of several mini-trials, whether all are reliable, and the mean's standard error."""
    mean, deviation, all_reliable = 0.0, 0.0, True
    for n in range(1, settings.samples + 1):
        q1, reliable = mini_trial(task, memory, settings, s, j, a)
        difference = q1 - mean
        mean += difference / n
        deviation += difference * (q1 - mean)
        all_reliable = all_reliable and reliable
    if settings.samples == 1:
        return mean, all_reliable, 0.0
    return mean, all_reliable, math.sqrt(deviation / (settings.samples - 1) / settings.samples)


@part
def investigate(
    task: Any, memory: Memory, settings: LearnerSettings, s: State, row: int
) -> tuple[np.ndarray, np.ndarray]:
    """Figure 3: the action profile ``Q1(s, .)`` and which of its entries are reliable, kept in a row of memory."""
    q1, reliable = memory.q1[row], memory.reliable[row]
    j = region_at(task, memory.partition, s)
    for a in range(len(q1)):
        q1[a], reliable[a], memory.error[row, a] = repeated_mini_trial(task, memory, settings, s, j, a)
        memory.extremes[LEAST] = min(memory.extremes[LEAST], q1[a])
        memory.extremes[GREATEST] = max(memory.extremes[GREATEST], q1[a])
    memory.investigated[j] = True
    return q1, reliable
