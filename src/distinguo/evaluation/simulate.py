"""Greedy evaluation with learning off: a batch of trials that advance together.

One trial is a chain of dependent operations; the processor can overlap the chains of many. So the outer loop is
over steps and the inner loop over trials (*lanes*); lanes that have ended are removed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import TIED, Controller, choose, region_at
from distinguo.representations.partition import region
from distinguo.seam import at_speed, is_compiled, kernel
from distinguo.tasks.task import transition, truncated, unpack
from distinguo.tasks.world import BEFORE, look, step, stops

CHUNK_STEPS = 20_000  #: steps of every lane between two checks for Ctrl-C


class Outcome(NamedTuple):
    """The outcome of each trial."""

    lengths: np.ndarray  #: (trials,) steps until it ended or was stopped
    returns: np.ndarray  #: (trials,) the sum of rewards
    ended: np.ndarray  #: (trials,) whether it ended in a terminal state
    visited: np.ndarray  #: (regions,) the regions that any trial visited
    tied: bool  #: whether a visited region had tied actions, so that the outcome is random


class Patience(NamedTuple):
    """When trials need not be followed to the cap: they then count as having reached it.

    With half of the trials as ``failures`` the median stays exact, as the others can no longer change it.
    """

    steps: int  #: after this many steps
    failures: int  #: if more trials than these have ended


class RunningTrials(NamedTuple):
    """The trials of a batch while they run; a lane that has ended is no longer among the ``running``."""

    states: np.ndarray  #: (trials, width of a state) the present states
    running: np.ndarray  #: (trials,) the lanes that still run, at the front
    lengths: np.ndarray
    returns: np.ndarray
    ended: np.ndarray
    visited: np.ndarray  #: (regions,)


def evaluate(
    task: Any,
    controller: Controller,
    rng: np.random.Generator,
    starts: np.ndarray,
    cap: int,
    patience: Patience | None = None,
) -> Outcome:
    """Follow the greedy policy from every start, for at most ``cap`` steps.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.puck.puck import Puck
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> diagonal = Controller(two, np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> starts = np.array([[0.0, 0.0], [2.0, 2.0]])
    >>> evaluate(Puck(), diagonal, np.random.default_rng(0), starts, 1000).lengths.tolist()
    [1000, 9]
    """
    policy, lanes = controller.policy, fresh_lanes(starts, len(controller.q))
    advance = at_speed(run_lanes, task, controller.partition)
    for together in trials_together(task, len(starts)):
        lanes.running[: len(together)] = together
        remaining, done = len(together), 0
        while remaining and done < cap:
            steps = min(CHUNK_STEPS, cap - done)
            remaining = advance(task, controller, policy, rng, lanes, remaining, steps)
            done += steps
            if patience is not None and done >= patience.steps and lanes.ended.sum() > patience.failures:
                lanes.lengths[lanes.running[:remaining]] = cap
                break
    tied = bool((policy[lanes.visited] == TIED).any())
    return Outcome(lanes.lengths, lanes.returns, lanes.ended, lanes.visited, tied)


def fresh_lanes(starts: np.ndarray, regions: int) -> RunningTrials:
    """Return trials that have not run yet and begin at these states."""
    count = len(starts)
    return RunningTrials(
        states=np.array(starts, dtype=np.float64),
        running=np.zeros(count, dtype=np.int64),
        lengths=np.zeros(count, dtype=np.int64),
        returns=np.zeros(count),
        ended=np.zeros(count, dtype=np.bool_),
        visited=np.zeros(regions, dtype=np.bool_),
    )


def trials_together(task: Any, count: int) -> list[np.ndarray]:
    """Which trials advance together: all, or one at a time if there is only one environment."""
    return [np.arange(count)] if is_compiled(task) else [np.array([n]) for n in range(count)]


@kernel
def run_lanes(
    task: Any,
    controller: Controller,
    policy: np.ndarray,
    rng: np.random.Generator,
    lanes: RunningTrials,
    count: int,
    steps: int,
) -> int:
    """Advance the first ``count`` running lanes and return how many still run, in their old order."""
    for _ in range(steps):
        kept = 0
        for place in range(count):
            lane = lanes.running[place]
            s = unpack(task, lanes.states[lane])
            j = region_at(task, controller.partition, s)
            lanes.visited[j] = True
            a = policy[j]
            if a == TIED:
                a = choose(controller.q[j], controller.delta, rng)
            s, r, terminal = transition(task, s, a)
            for i in range(len(s)):
                lanes.states[lane, i] = s[i]
            lanes.lengths[lane] += 1
            lanes.returns[lane] += r
            lanes.ended[lane] = terminal
            if not (terminal or truncated(task, s)):
                lanes.running[kept] = lane
                kept += 1
        count = kept
        if count == 0:
            break
    return count


@kernel
def follow(
    task: Any, controller: Controller, rng: np.random.Generator, now: np.ndarray, steps: int
) -> tuple[int, bool, float]:
    """Follow the greedy policy from ``now``, which is moved on, for at most ``steps`` steps.

    Return the steps taken, whether the trial ended, and the sum of rewards.
    """
    s = unpack(task, now)
    length, gained = 0, 0.0
    ended = False
    while not ended and length < steps:
        a = choose(controller.q[region_at(task, controller.partition, s)], controller.delta, rng)
        s, r, terminal = transition(task, s, a)
        length += 1
        gained += r
        ended = terminal or truncated(task, s)
    for i in range(len(s)):
        now[i] = s[i]
    return length, ended, gained


@kernel
def follow_in(
    world: Any, controller: Controller, rng: np.random.Generator, now: np.ndarray, steps: int
) -> tuple[int, bool, float]:
    """Like :func:`follow`, in a world: compiled once for all tasks, and a little slower."""
    length, gained = 0, 0.0
    ended = False
    while not ended and length < steps:
        j = region(controller.partition, look(world, now, BEFORE).seen)
        r, terminal = step(world, now, choose(controller.q[j], controller.delta, rng), now)
        length += 1
        gained += r
        ended = terminal or stops(world, now)
    return length, ended, gained
