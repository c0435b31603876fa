"""Attempts from scratch, and the best one: luck in the first trials should not decide a whole run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from distinguo.learners.economy.memory import (
    ATTEMPT,
    INVESTIGATION_STEPS,
    SINCE,
    TRIAL_STEPS,
    TRIALS,
    Memory,
)


def luby(n: int) -> int:
    """Return the n-th number of 1, 1, 2, 1, 1, 2, 4, …: how long the n-th attempt should be, in units of the first.

    Of all ways to restart without knowing how long success takes, this one is within a small factor of the best.

    >>> [luby(n) for n in range(1, 8)]
    [1, 1, 2, 1, 1, 2, 4]
    """
    power = n.bit_length()
    return 2 ** (power - 1) if n == 2**power - 1 else luby(n - 2 ** (power - 1) + 1)


def is_over(memory: Memory, restart: int) -> bool:
    """Tell whether an attempt had as many trials as it should."""
    if restart == 0:
        return False
    counters = memory.counters
    return bool(counters[TRIALS] - counters[SINCE] >= restart * luby(int(counters[ATTEMPT]) + 1))


def begin_anew(old: Memory, fresh: Memory) -> Memory:
    """Return a fresh memory that knows nothing of the task but its extent, and goes on counting."""
    for place in (TRIALS, TRIAL_STEPS, INVESTIGATION_STEPS):
        fresh.counters[place] = old.counters[place]
    fresh.counters[ATTEMPT] = old.counters[ATTEMPT] + 1
    fresh.counters[SINCE] = old.counters[TRIALS]
    return fresh._replace(extent=old.extent)


class Best(NamedTuple):
    """The best attempt so far, and its mean return."""

    score: float
    memory: Memory


def better(best: Best | None, score: float, memory: Memory) -> Best:
    """Return the better of the best attempt so far and this one; the earlier, if they are equal."""
    if best is not None and best.score >= score:
        return best
    partition = type(memory.partition)(*map(np.array, memory.partition))
    return Best(score, Memory(partition, *map(np.array, memory[1:])))
