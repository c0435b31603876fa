"""Active investigation of a state: one mini-trial per action (Figure 3)."""

from __future__ import annotations

import math
from typing import NamedTuple

from distinguo.controller import region_at
from distinguo.criteria import Vector, look_ahead, state_value
from distinguo.learners.agent import Agent
from distinguo.learners.economy.memory import Memory
from distinguo.learners.economy.values import reliable_source, widen_values
from distinguo.learners.scheduling.hooks import note_outcome
from distinguo.seam import part
from distinguo.tasks.task import State, is_known, transition, truncated, unpack


class Profile(NamedTuple):
    """An action profile: the look-ahead values of a state, which are reliable, and their standard errors."""

    q1: Vector
    reliable: Vector
    error: Vector


@part
def mini_trial(agent: Agent, s: State, j: int, a: int) -> tuple[float, bool]:
    """Repeat action ``a`` from ``s`` until its region ``j`` is left: ``Q1(s, a)``, and whether it is reliable."""
    task, memory, settings = agent.task, agent.memory, agent.settings
    s_hat, r_hat, discount, steps = s, 0.0, 1.0, 0
    while True:
        s_hat, r, terminal = transition(task, s_hat, a)
        k = region_at(task, memory.partition, s_hat)
        r_hat += discount * r
        discount *= settings.gamma
        steps += 1
        if k != j or steps >= settings.max_steps or terminal or truncated(task, s_hat):
            break
    agent.progress.counts["investigation_steps"][0] += steps
    reliable = is_known(task, s_hat) and reliable_source(memory, k, settings.min_updates)
    if not terminal and is_known(task, s_hat):
        note_outcome(memory.agenda, j, a, k)
    if terminal:
        return r_hat, reliable or settings.terminal_reliable
    future = discount if settings.discount_steps else settings.gamma
    return look_ahead(r_hat, future, state_value(memory.q[k])), reliable


@part
def repeated_mini_trial(agent: Agent, s: State, j: int, a: int) -> tuple[float, bool, float]:
    """Definition 5: the mean of several mini-trials, whether all are reliable, and the mean's standard error."""
    mean, deviation, all_reliable, samples = 0.0, 0.0, True, agent.settings.samples
    for n in range(1, samples + 1):
        q1, reliable = mini_trial(agent, s, j, a)
        difference = q1 - mean
        mean += difference / n
        deviation += difference * (q1 - mean)
        all_reliable = all_reliable and reliable
    if samples == 1:
        return mean, all_reliable, 0.0
    return mean, all_reliable, math.sqrt(deviation / (samples - 1) / samples)


@part
def investigate(agent: Agent, s: State, row: int) -> Profile:
    """Figure 3: the action profile ``Q1(s, .)`` and which of its entries are reliable, kept in a row of memory."""
    memory = agent.memory
    profile = profile_in(memory, row)
    j = region_at(agent.task, memory.partition, s)
    for a in range(len(profile.q1)):
        profile.q1[a], profile.reliable[a], profile.error[a] = repeated_mini_trial(agent, s, j, a)
        widen_values(memory, profile.q1[a])
    memory.investigated[j] = True
    return profile


@part
def investigate_prototype(agent: Agent, p: int, row: int) -> Profile:
    """Investigate the state whose observation is prototype ``p``."""
    return investigate(agent, unpack(agent.task, agent.memory.states[p]), row)


@part
def profile_in(memory: Memory, row: int) -> Profile:
    """Return the profile that was taken last in a row of memory."""
    return Profile(memory.q1[row], memory.reliable[row], memory.error[row])
