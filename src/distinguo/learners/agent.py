"""An agent at work, as compiled code sees it: the task, what is remembered, and how far the trial has come."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from distinguo.learners.fields import field, fresh
from distinguo.seam import part
from distinguo.tasks.task import Observation, State

#: How a learner leaves a trial: it goes on, came to a terminal state, was stopped, or waits to be looked after.
RUNNING, TERMINAL, CAPPED, PAUSED = 0, 1, 2, 3
NO_ACTION = -1
LEAST, GREATEST = 0, 1  #: rows of ``Progress.extent``

#: What is counted, as one record.
COUNTS = np.dtype(
    [
        ("trials", np.int64),  # begun
        ("trial_steps", np.int64),  # of all trials
        ("investigation_steps", np.int64),  # of all mini-trials
        ("length", np.int64),  # of the running trial so far
        ("action", np.int64),  # that it takes next
        ("gained", np.float64),  # the sum of its rewards
        ("attempt", np.int64),  # how often learning was begun from scratch before
        ("since", np.int64),  # the trials that were begun before this attempt
    ]
)


class Progress(NamedTuple):
    """How far learning has come, whatever the learner; it goes on when learning begins from scratch."""

    now: Annotated[np.ndarray, field(float, "width")]  #: the state of the running trial
    counts: Annotated[np.ndarray, field(COUNTS, 1)]
    extent: Annotated[
        np.ndarray, field(float, 2, "dimensions", first=[[np.inf], [-np.inf]])
    ]  #: the least and the greatest of each coordinate that was observed


def fresh_progress(width: int, dimensions: int) -> Progress:
    """Return the progress before the first trial.

    >>> fresh_progress(2, 2).counts["trials"].tolist()
    [0]
    """
    return fresh(Progress, width=width, dimensions=dimensions)


class Agent(NamedTuple):
    """A learner at work."""

    task: Any
    memory: Any
    settings: Any
    progress: Progress
    log: Any  #: where it writes down its reasons, or None
    rng: np.random.Generator


class Transition(NamedTuple):
    """A step of a trial, by the observations before and after it."""

    s: Observation
    a: int
    r: float
    s_next: Observation
    terminal: bool


@part
def keep(progress: Progress, s: State) -> None:
    """Write the state of the running trial down."""
    for i in range(len(s)):
        progress.now[i] = s[i]


@part
def begin_counting(progress: Progress, s: State) -> None:
    """Begin a trial at ``s``."""
    keep(progress, s)
    progress.counts["trials"][0] += 1
    progress.counts["length"][0] = 0
    progress.counts["gained"][0] = 0.0


@part
def widen(progress: Progress, seen: Observation) -> None:
    """Widen the extent of what was observed."""
    for i in range(len(seen)):
        progress.extent[LEAST, i] = min(progress.extent[LEAST, i], seen[i])
        progress.extent[GREATEST, i] = max(progress.extent[GREATEST, i], seen[i])
