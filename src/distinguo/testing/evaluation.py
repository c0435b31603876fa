"""Greedy evaluation with learning off: a batch of trials that advance together.

One trial is a chain of dependent operations; the processor can overlap the chains of many. So the loop over steps is
outside and the loop over trials (*lanes*) inside, and lanes that have ended are taken out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.learners.memory import region_at
from distinguo.learners.values import choose
from distinguo.seam import at_speed, is_compiled, kernel
from distinguo.tasks.task import transition, truncated, unpack

TIED = -1  #: in a policy: the preferred action is drawn anew at every step
CHUNK = 20_000  #: steps of every lane between two looks at the keyboard


class Outcome(NamedTuple):
    """What became of each trial."""

    lengths: np.ndarray  #: (trials,) steps until it ended or was stopped
    returns: np.ndarray  #: (trials,) the sum of rewards
    ended: np.ndarray  #: (trials,) whether it ended in a terminal state
    visited: np.ndarray  #: (regions,) the regions that any trial came through
    tied: bool  #: whether a visited region had tied actions, so that chance played a part


def greedy_policy(q: np.ndarray, delta: float) -> np.ndarray:
    """Return the preferred action of every region, ``TIED`` where there are several.

    >>> greedy_policy(np.array([[0.0, -1.0], [0.5, 0.5]]), 0.0).tolist()
    [0, -1]
    """
    best = q >= q.max(axis=1, keepdims=True) - delta
    return np.where(best.sum(axis=1) == 1, best.argmax(axis=1), TIED)


def evaluate(
    task: Any,
    partition: Any,
    q: np.ndarray,
    delta: float,
    rng: np.random.Generator,
    starts: np.ndarray,
    cap: int,
    patience: int | None = None,
    half: int = 0,
) -> Outcome:
    """Follow the greedy policy from every start, for at most ``cap`` steps.

    With ``patience``, after so many steps the trials that are left count as having reached the cap if more than
    ``half`` have ended, because they can no longer change the median.

    >>> from distinguo.representation.voronoi import voronoi
    >>> from distinguo.tasks.puck import Puck
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> q = np.array([[0.0, -1.0], [-1.0, 0.0]])
    >>> starts = np.array([[0.0, 0.0], [2.0, 2.0]])
    >>> evaluate(Puck(), two, q, 0.0, np.random.default_rng(0), starts, 1000).lengths.tolist()
    [1000, 9]
    """
    count = len(starts)
    policy = greedy_policy(q, delta)
    states = np.array(starts, dtype=np.float64)
    lengths, returns = np.zeros(count, dtype=np.int64), np.zeros(count)
    ended, visited = np.zeros(count, dtype=np.bool_), np.zeros(len(q), dtype=np.bool_)
    for running in _lanes(task, count):
        left, done = len(running), 0
        while left and done < cap:
            steps = min(CHUNK, cap - done)
            left = at_speed(run_lanes, task, partition)(
                *(task, partition, policy, q, delta, rng, states, running, left),
                *(lengths, returns, ended, visited, steps),
            )
            done += steps
            if patience is not None and done >= patience and ended.sum() > half:
                lengths[running[:left]] = cap
                break
    return Outcome(lengths, returns, ended, visited, bool((policy[visited] == TIED).any()))


def _lanes(task: Any, count: int) -> list[np.ndarray]:
    """Return which trials advance together: all of them, or each alone where there is but one environment."""
    return [np.arange(count)] if is_compiled(task) else [np.array([n]) for n in range(count)]


@kernel
def run_lanes(
    task: Any,
    partition: Any,
    policy: np.ndarray,
    q: np.ndarray,
    delta: float,
    rng: np.random.Generator,
    states: np.ndarray,
    running: np.ndarray,
    count: int,
    lengths: np.ndarray,
    returns: np.ndarray,
    ended: np.ndarray,
    visited: np.ndarray,
    steps: int,
) -> int:
    """Advance the first ``count`` lanes of ``running`` and return how many still run, in their old order."""
    for _ in range(steps):
        kept = 0
        for place in range(count):
            lane = running[place]
            s = unpack(task, states[lane])
            j = region_at(task, partition, s)
            visited[j] = True
            a = policy[j]
            if a == TIED:
                a = choose(q[j], delta, rng)
            s, r, terminal = transition(task, s, a)
            for i in range(len(s)):
                states[lane, i] = s[i]
            lengths[lane] += 1
            returns[lane] += r
            ended[lane] = terminal
            if not (terminal or truncated(task, s)):
                running[kept] = lane
                kept += 1
        count = kept
        if count == 0:
            break
    return count
