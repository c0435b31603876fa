"""Trials that are written down, so that another map is run only from where it decides otherwise.

A *trail* is a trial as it went: its states, the actions taken and the rewards. Another map goes the same way until it
would take another action; that state is restored, and only the rest is run. Compiled tasks go on from anywhere; an
environment is sure to come back to the starts of its trials, so it runs a changed trial from there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import region_at
from distinguo.seam import at_speed, is_compiled, kernel, part
from distinguo.tasks.task import transition, truncated, unpack


class Trail(NamedTuple):
    """One trial."""

    states: np.ndarray  #: (cap + 1, width of a state)
    regions: np.ndarray  #: (cap,) the region that each action was taken in
    actions: np.ndarray  #: (cap,) -1 before the trial was run
    rewards: np.ndarray  #: (cap,)
    length: np.ndarray  #: (1,) its steps

    @property
    def total(self) -> float:
        """Return the sum of its rewards."""
        return float(self.rewards[: self.length[0]].sum())


def fresh_trail(first: np.ndarray, cap: int) -> Trail:
    """Return a trial that has not been run yet, from its first state.

    >>> fresh_trail(np.array([0.5, 0.0]), cap=200).states.shape
    (201, 2)
    """
    states = np.zeros((cap + 1, len(first)))
    states[0] = first
    return Trail(
        states=states,
        regions=np.zeros(cap, dtype=np.int64),
        actions=np.full(cap, -1, dtype=np.int64),
        rewards=np.zeros(cap),
        length=np.zeros(1, dtype=np.int64),
    )


def rerun(task: Any, partition: Any, actions: np.ndarray, old: Trail) -> tuple[Trail, int]:
    """Return the trial of another map from the same start, and the steps that had to be run for it."""
    new = Trail(*(column.copy() for column in old))
    run = at_speed(follow_map, task, partition)
    steps = run(task, partition, actions, old, new, is_compiled(task))
    return new, int(steps)


@kernel
def follow_map(task: Any, partition: Any, actions: np.ndarray, old: Trail, new: Trail, anywhere: bool) -> int:
    """Write the trial of a map into ``new``, a copy of ``old``; return the steps that were run.

    They begin at the first changed decision if the task goes on from ``anywhere``, else at the start.
    """
    shared = _first_change(task, partition, actions, old, new)
    cap = len(new.actions)
    if old.length[0] > 0 and shared == old.length[0]:
        return 0
    begin = shared if anywhere else 0
    s = unpack(task, old.states[begin])
    length = begin
    terminal, stopped = False, False
    while not terminal and not stopped and length < cap:
        j = region_at(task, partition, s)
        s, r, terminal = transition(task, s, actions[j])
        _write(new, length, j, actions[j], r)
        length += 1
        for i in range(len(s)):
            new.states[length, i] = s[i]
        stopped = truncated(task, s)
    new.length[0] = length
    return length - begin


@part
def _first_change(task: Any, partition: Any, actions: np.ndarray, old: Trail, new: Trail) -> int:
    """Return the first step at which a map acts otherwise, and name the regions up to there anew."""
    for step in range(old.length[0]):
        j = region_at(task, partition, unpack(task, old.states[step]))
        new.regions[step] = j
        if actions[j] != old.actions[step]:
            return step
    return old.length[0]


@part
def _write(trail: Trail, step: int, j: int, a: int, r: float) -> None:
    trail.regions[step] = j
    trail.actions[step] = a
    trail.rewards[step] = r


class Try(NamedTuple):
    """Another action: from which step of a trial on, which, and for how many steps."""

    step: int
    action: int
    held: int


def return_of(
    task: Any, partition: Any, actions: np.ndarray, trail: Trail, another: Try
) -> tuple[float, int]:
    """Return what a trial is worth with another action for a while, and the steps that had to be run for it."""
    begin, gained = another.step if is_compiled(task) else 0, np.zeros(1)
    run = at_speed(try_action, task, partition)
    steps = run(task, partition, actions, trail, another, begin, gained)
    return float(gained[0]), int(steps)


@kernel
def try_action(
    task: Any,
    partition: Any,
    actions: np.ndarray,
    trail: Trail,
    another: Try,
    begin: int,
    gained: np.ndarray,
) -> int:
    """Go through a trail from ``begin`` to a step, hold another action there, and follow the map after that.

    The return of the whole trial is put in ``gained``; the steps that were run are returned.
    """
    total = 0.0
    for before in range(begin):
        total += trail.rewards[before]
    s = unpack(task, trail.states[begin])
    length = begin
    terminal, stopped = False, False
    while not terminal and not stopped and length < len(trail.actions):
        if length < another.step:
            a = trail.actions[length]
        elif length < another.step + another.held:
            a = another.action
        else:
            a = actions[region_at(task, partition, s)]
        s, r, terminal = transition(task, s, a)
        total += r
        length += 1
        stopped = truncated(task, s)
    gained[0] = total
    return length - begin
