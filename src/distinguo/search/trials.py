"""Trials of a map from given states, compiled once for all tasks.

A *trail* is a recorded trial: its states, the actions taken and the rewards. Another map follows the same trail
until it takes another action; only the rest is run. A compiled task goes on from that state. An environment can
only be trusted to restore the starts of its trials, so it runs a changed trial from its start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.references import by_reference
from distinguo.representations.growing import nearest_growing
from distinguo.seam import at_speed, kernel, part
from distinguo.search.maps import PrototypeMap, action_of
from distinguo.tasks.world import BEFORE, OWN, calls_python, copy_row, look, step, stops


class Trail(NamedTuple):
    """One trial."""

    states: np.ndarray  #: (cap + 1, width of a state)
    regions: np.ndarray  #: (cap,) the prototype that each action was taken by
    actions: np.ndarray  #: (cap,) -1 before the trial was run
    rewards: np.ndarray  #: (cap,)
    length: np.ndarray  #: (1,) its steps

    @property
    def total(self) -> float:
        """The sum of its rewards."""
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


def rerun(world: Any, given: PrototypeMap, old: Trail) -> tuple[Trail, int]:
    """Return the trial of another map from the same start, and the number of steps that were run for it."""
    new = Trail(*(column.copy() for column in old))
    steps = at_speed(follow_map, world)(world, given, old, new, not calls_python(world))
    return new, int(steps)


@kernel
def follow_map(world: Any, given: PrototypeMap, old: Trail, new: Trail, anywhere: bool) -> int:
    """Write the trial of a map into ``new``, a copy of ``old``, and return the number of steps that were run.

    They begin at the first changed decision if the task can start ``anywhere``, else at the start.
    """
    world, given = by_reference(world), by_reference(given)
    shared = _first_change(world, given, old, new)
    if old.length[0] > 0 and shared == old.length[0]:
        return 0
    begin = shared if anywhere else 0
    length, terminal, stopped = begin, False, False
    while not terminal and not stopped and length < len(new.actions):
        j = nearest_growing(given.partition, look(world, new.states[length], BEFORE).seen)
        r, terminal = step(world, new.states[length], given.actions[j], new.states[length + 1])
        new.regions[length], new.actions[length], new.rewards[length] = j, given.actions[j], r
        length += 1
        stopped = not terminal and stops(world, new.states[length])
    new.length[0] = length
    return length - begin


@part
def _first_change(world: Any, given: PrototypeMap, old: Trail, new: Trail) -> int:
    """Return the first step at which a map acts differently, and update the regions up to there."""
    for place in range(old.length[0]):
        j = nearest_growing(given.partition, look(world, old.states[place], BEFORE).seen)
        new.regions[place] = j
        if given.actions[j] != old.actions[place]:
            return place
    return old.length[0]


class Try(NamedTuple):
    """Another action: the step of a trial at which it begins, its number, and for how many steps."""

    step: int
    action: int
    held: int


def return_of(world: Any, given: PrototypeMap, trail: Trail, another: Try) -> tuple[float, int]:
    """The return of a trial with another action for a while, and the number of steps that were run for it."""
    begin, gained = 0 if calls_python(world) else another.step, np.zeros(1)
    steps = at_speed(try_action, world)(world, given, trail, another, begin, gained)
    return float(gained[0]), int(steps)


@kernel
def try_action(
    world: Any, given: PrototypeMap, trail: Trail, another: Try, begin: int, gained: np.ndarray
) -> int:
    """Follow a trail from ``begin`` to a step, hold another action there, and follow the map after that.

    The return of the whole trial is written to ``gained``; the number of steps that were run is returned.
    """
    world, given = by_reference(world), by_reference(given)
    total = 0.0
    for before in range(begin):
        total += trail.rewards[before]
    s = world.spare[OWN]
    copy_row(trail.states[begin], s)
    length, terminal, stopped = begin, False, False
    while not terminal and not stopped and length < len(trail.actions):
        if length < another.step:
            a = trail.actions[length]
        elif length < another.step + another.held:
            a = another.action
        else:
            a = action_of(given, look(world, s, BEFORE).seen)
        r, terminal = step(world, s, a, s)
        total += r
        length += 1
        stopped = not terminal and stops(world, s)
    gained[0] = total
    return length - begin


@kernel
def run_map(
    world: Any, given: PrototypeMap, first: np.ndarray, cap: int, returns: np.ndarray, lengths: np.ndarray
) -> None:
    """Follow a map from every first state to the end of its trial."""
    world, given = by_reference(world), by_reference(given)
    s = world.spare[OWN]
    for n in range(len(first)):
        copy_row(first[n], s)
        length, gained, ended = 0, 0.0, False
        while not ended and length < cap:
            r, terminal = step(world, s, action_of(given, look(world, s, BEFORE).seen), s)
            gained += r
            length += 1
            ended = terminal or stops(world, s)
        returns[n], lengths[n] = gained, length


# ---- many trials side by side --------------------------------------------------------------------------------------


class TrialLanes(NamedTuple):
    """Trials that advance together."""

    states: np.ndarray  #: (lanes, width of a state)
    running: np.ndarray  #: (lanes,)
    rewards: np.ndarray  #: (lanes,) of the last step


@kernel
def observe_lanes(world: Any, states: np.ndarray, rows: np.ndarray, seen: np.ndarray) -> None:
    """Write the observations of some of the lanes."""
    for place in range(len(rows)):
        copy_row(look(world, states[rows[place]], BEFORE).seen, seen[place])


@kernel
def step_lanes(world: Any, lanes: TrialLanes, rows: np.ndarray, taken: np.ndarray) -> None:
    """Take an action in some of the lanes."""
    for place in range(len(rows)):
        lane = rows[place]
        s = lanes.states[lane]
        r, terminal = step(world, s, taken[place], s)
        lanes.rewards[lane] = r
        lanes.running[lane] = not (terminal or stops(world, s))
