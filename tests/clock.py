"""Processor seconds: how long something takes, whatever else the machine is doing."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np


def seconds_of_children() -> float:
    """Return the processor seconds of all processes that were started here and have ended."""
    times = os.times()
    return times.children_user + times.children_system


def seconds_of(work: Callable[[], object]) -> float:
    """Return the processor seconds that some work takes in this thread."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def times_as_long(one: Callable[[], object], other: Callable[[], object], rounds: int = 21) -> float:
    """Do both in turns, and return how many times as long the first takes: the median over the rounds."""
    return float(np.median([seconds_of(one) / seconds_of(other) for _ in range(rounds)]))
