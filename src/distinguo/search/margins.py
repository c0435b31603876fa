"""The margin of a map: how large a disturbance of every step its trials survive.

A controller that solves its task may graze failure, or return to its place so slowly that no proof can follow it.
Trials that are pushed off their way at every step show both: a steady push grows where the loop contracts slowly, and
a random one ends a trial that passes close to failure. All maps meet the same pushes, so that a race between them is
decided by the maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from distinguo.references import by_reference
from distinguo.seam import at_speed, kernel
from distinguo.search.maps import PrototypeMap, action_of
from distinguo.tasks.amounts import laws_of_task
from distinguo.tasks.world import BEFORE, OWN, copy_row, look, step, stops, world_of

KICK = 5.0  #: the push before the first step, in those of the others
PATTERN = 4_096  #: random pushes before they repeat
WORLDS = 8  #: values of the parameters that lie in ranges
STEADY = 0.5  #: the share of trials that keep theirs


class Pushes(NamedTuple):
    """The disturbances of some trials, in units of their size."""

    lean: np.ndarray  #: (trials, width) the steady part of each
    noise: np.ndarray  #: (PATTERN, width) the random part, at each step
    phase: np.ndarray  #: (trials,) where in the pattern each begins
    stays: np.ndarray  #: (trials,) the world that a trial stays in; -1: one of a common pattern at each step
    which: np.ndarray  #: (PATTERN,) the pattern of worlds


def pushes_for(trials: int, width: int, rng: np.random.Generator, one_world: bool = True) -> Pushes:
    """Draw disturbances: each trial has a steady direction of its own, and its place in a common random pattern.

    Where parameters lie in ranges, half of the trials keep their values, and the others change them at each step.

    >>> pushes_for(6, 2, np.random.default_rng(0)).lean.shape
    (6, 2)
    """
    drawn = Pushes(
        rng.choice([-1.0, 0.0, 1.0], (trials, width)),
        rng.uniform(-1.0, 1.0, (PATTERN, width)),
        rng.integers(PATTERN, size=trials),
        np.zeros(trials, dtype=np.int64),
        np.zeros(PATTERN, dtype=np.int64),
    )
    if one_world:
        return drawn
    stays = np.where(rng.random(trials) < STEADY, rng.integers(WORLDS, size=trials), -1)
    return drawn._replace(stays=stays, which=rng.integers(WORLDS, size=PATTERN))


def worlds_within(
    task: Any,
    ranges: Mapping[str, tuple[float, float]],
    width: int,
    dimensions: int,
    rng: np.random.Generator,
) -> tuple[Any, ...]:
    """The worlds of a task with parameters anywhere in their ranges: corners first, then values drawn from them."""
    if not ranges:
        return (world_of(task, width, dimensions),) * WORLDS
    corners = list(product(*ranges.values()))[:WORLDS]
    drawn = [[rng.uniform(*ends) for ends in ranges.values()] for _ in range(WORLDS - len(corners))]
    return tuple(
        world_of(_with_values(task, dict(zip(ranges, values, strict=True))), width, dimensions)
        for values in (*corners, *drawn)
    )


def _with_values(task: Any, values: Mapping[str, float]) -> Any:
    """A task with some of its parameters changed; where laws are its actions, that of the task within."""
    if laws_of_task(task) is not None:
        return task._replace(task=_with_values(task.task, values))
    return task._replace(**values)


class PushedTrials(NamedTuple):
    """What trials are asked: from where, for how long, and whether they should last or end."""

    first: np.ndarray  #: (trials, width) the first states
    cap: int  #: steps of a trial at most
    lasts: bool  #: a trial should last that long; else it should end in a terminal state, soon


def pushed_score(
    worlds: tuple[Any, ...],
    given: PrototypeMap,
    asked: PushedTrials,
    pushes: Pushes,
    size: np.ndarray,
    need: float = -1.0,
) -> tuple[float, int]:
    """The share of the steps that disturbed trials of a map last, or save, and the number of steps that were run.

    The ``worlds`` are those of :func:`worlds_within`.
    ``size`` is that of the disturbances, for each coordinate of a state. The trials are given up when the share can
    no longer reach ``need``.
    """
    counts = np.zeros(2, dtype=np.int64)
    most = asked.cap * len(asked.first)
    at_speed(run_pushed, worlds[0])(worlds, given, asked, pushes, size, need * most, counts)
    return int(counts[0]) / most, int(counts[1])


@kernel
def run_pushed(
    worlds: Any,
    given: PrototypeMap,
    asked: PushedTrials,
    pushes: Pushes,
    size: np.ndarray,
    need: float,
    counts: np.ndarray,
) -> None:
    """Run disturbed trials to their ends; ``counts`` becomes the steps that they last, or save, and all steps run."""
    given = by_reference(given)
    first, cap, lasts = asked.first, asked.cap, asked.lasts
    s, possible = worlds[0].spare[OWN], float(cap * len(first))
    for n in range(len(first)):
        copy_row(first[n], s)
        for i in range(len(s)):
            s[i] += KICK * size[i] * pushes.noise[pushes.phase[n], i]
        length, ended, terminal = 0, False, False
        at = pushes.phase[n]
        while not ended and length < cap:
            world = worlds[pushes.which[at] if pushes.stays[n] < 0 else pushes.stays[n]]
            _, terminal = step(world, s, action_of(given, look(world, s, BEFORE).seen), s)
            length += 1
            ended = terminal or stops(world, s)
            at = (pushes.phase[n] + length) % len(pushes.noise)
            for i in range(len(s)):
                s[i] += size[i] * (pushes.lean[n, i] + pushes.noise[at, i])
        gained = length if lasts else cap - length if terminal else 0
        counts[0] += gained
        counts[1] += length
        possible -= cap - gained
        if possible < need:
            counts[0] = int(possible)
            return
