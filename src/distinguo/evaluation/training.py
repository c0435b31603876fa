"""A fresh learner on a fixed partition: Q-learning, with settings for coarse regions.

By default a value is backed up after every step from the values of the next region (Figure 1 without its coin). If
the states of a large region have different values, such backups mislead. Three settings help there, and the tester
uses them for tasks judged by return (docs/readings.md, "The tester"):

- ``traces``: values are learned when the trial has ended, from lambda-returns, each region and action from its first
  visit. With 1 nothing is backed up from the values of other regions.
- ``hold``: a region keeps its action until the trial ends, so that a trial shows what a
  policy is worth, and goes as far as a policy can.
- ``explore``: a share of these choices is made at random.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import choose, region_at
from distinguo.criteria import look_ahead, state_value
from distinguo.seam import kernel, part
from distinguo.settings import TesterSettings
from distinguo.tasks.task import transition, truncated, unpack


class Training(NamedTuple):
    """The memory of a learner: its action values, and the running trial."""

    q: np.ndarray  #: (rows, actions) the action values of each region
    counts: np.ndarray  #: (rows, actions) how often each was learned
    taken: np.ndarray  #: (rows, actions) the trial in which the action was last taken there
    held: np.ndarray  #: (rows,) the action that was last chosen there
    chosen: np.ndarray  #: (rows,) the trial in which it was chosen
    trial: np.ndarray  #: (1,) the number of the running trial
    regions: np.ndarray  #: (cap,) the trial so far, kept only if it is learned from at its end
    actions: np.ndarray  #: (cap,)
    rewards: np.ndarray  #: (cap,)
    first: np.ndarray  #: (cap,) whether the action had not been taken in that region before


def fresh_training(rows: int, actions: int, settings: TesterSettings, cap: int) -> Training:
    """Return a fresh learner: all action values are 0.

    >>> fresh_training(2, 3, TesterSettings(), cap=500).q.shape
    (2, 3)
    """
    kept = cap if settings.traces > 0.0 else 0
    return Training(
        q=np.zeros((rows, actions)),
        counts=np.zeros((rows, actions), dtype=np.int64),
        taken=np.zeros((rows, actions), dtype=np.int64),
        held=np.zeros(rows, dtype=np.int64),
        chosen=np.zeros(rows, dtype=np.int64),
        trial=np.zeros(1, dtype=np.int64),
        regions=np.zeros(kept, dtype=np.int64),
        actions=np.zeros(kept, dtype=np.int64),
        rewards=np.zeros(kept),
        first=np.zeros(kept, dtype=np.bool_),
    )


@kernel
def train(
    task: Any,
    partition: Any,
    training: Training,
    settings: TesterSettings,
    rng: np.random.Generator,
    now: np.ndarray,
    cap: int,
) -> tuple[int, bool]:
    """Learn in one trial from ``now``: return its length, and whether it ended in a terminal state."""
    s = unpack(task, now)
    j = region_at(task, partition, s)
    training.trial[0] += 1
    length = 0
    terminal, stopped = False, False
    while not terminal and not stopped and length < cap:
        a = _action(training, settings, j, rng)
        s, r, terminal = transition(task, s, a)
        k = region_at(task, partition, s)
        v_next = 0.0 if terminal else state_value(training.q[k])
        if settings.traces > 0.0:
            _keep(training, length, j, a, r)
        else:
            _learn(training, settings, j, a, look_ahead(r, settings.gamma, v_next))
        j = k
        length += 1
        stopped = truncated(task, s)
    if settings.traces > 0.0:
        _learn_from_returns(training, settings, length, 0.0 if terminal else state_value(training.q[j]))
    return length, terminal


@part
def _action(training: Training, settings: TesterSettings, j: int, rng: np.random.Generator) -> int:
    """Return the action of a region: the one it has in this trial, a random one, or a preferred one."""
    if settings.hold and training.chosen[j] == training.trial[0]:
        return training.held[j]
    if settings.explore > 0.0 and rng.random() < settings.explore:
        a = int(rng.random() * training.q.shape[1])
    else:
        a = choose(training.q[j], settings.delta, rng)
    training.held[j] = a
    training.chosen[j] = training.trial[0]
    return a


@part
def _keep(training: Training, step: int, j: int, a: int, r: float) -> None:
    """Record a step, to learn from it when the trial has ended."""
    training.regions[step] = j
    training.actions[step] = a
    training.rewards[step] = r
    training.first[step] = training.taken[j, a] != training.trial[0]
    training.taken[j, a] = training.trial[0]


@part
def _learn_from_returns(training: Training, settings: TesterSettings, length: int, v_last: float) -> None:
    """Learn from a trial backwards: the return of every first visit, mixed with the values on the way."""
    g = v_last
    v = v_last
    for back in range(length):
        step = length - 1 - back
        j, a = training.regions[step], training.actions[step]
        ahead = (1.0 - settings.traces) * v + settings.traces * g
        g = look_ahead(training.rewards[step], settings.gamma, ahead)
        v = state_value(training.q[j])
        if training.first[step]:
            _learn(training, settings, j, a, g)


@part
def _learn(training: Training, settings: TesterSettings, j: int, a: int, q_new: float) -> None:
    """Move a value towards its target; while ``averaging``, it is at first the mean of all targets."""
    training.counts[j, a] += 1
    rate = settings.alpha
    if settings.averaging:
        rate = max(rate, 1.0 / training.counts[j, a])
    training.q[j, a] += rate * (q_new - training.q[j, a])
