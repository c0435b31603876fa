"""Any Gymnasium environment as a task, run as plain Python.

>>> from distinguo.tasks.task import observe, start, transition
>>> task = make_task("FrozenLake-v1", {"is_slippery": False})
>>> s = start(task, np.random.default_rng(0))
>>> s, reward, terminal = transition(task, s, 2)
>>> s, observe(task, s), terminal
((0.0, 1.0, 1.0), (1.0,), False)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from distinguo.seam import implements_interpreted
from distinguo.tasks.gym.driver import Driver
from distinguo.tasks.gym.source import Source, source_of
from distinguo.tasks.task import (
    Observation,
    State,
    actions,
    memories,
    observe,
    remember,
    seeded,
    start,
    transition,
    truncated,
    unpack,
)


class GymTask(NamedTuple):
    """A task that a driver does the work of."""

    driver: Driver


class Description(NamedTuple):
    """What a catalogue needs to know of an environment."""

    name: str
    names: tuple[str, ...]  #: of the coordinates of an observation
    low: tuple[float, ...]
    high: tuple[float, ...]
    kind: str  #: "continuous" or "categories"
    actions: int
    limit: int | None  #: steps after which its makers stop a trial
    threshold: float | None  #: the mean return that they call solved


def make_task(origin: Any, arguments: Mapping[str, Any] | None = None, seed: int = 0) -> GymTask:
    """Return an environment as a task; ``origin`` is its id or the environment itself.

    The arguments are those of ``gymnasium.make``; ``levels`` divides continuous actions into so many.

    >>> actions(make_task("Pendulum-v1", {"levels": 5}))
    5
    """
    return GymTask(Driver(source_of(origin, arguments or {}), seed))


def make_absent_task(name: str, arguments: Mapping[str, Any] | None = None, seed: int = 0) -> GymTask:
    """Return a task of which only the name is known; its environment is looked for when it is needed.

    >>> make_absent_task("Nowhere-v0").driver.name
    'Nowhere-v0'
    """
    return GymTask(Driver(Source(name, None, dict(arguments or {})), seed))


def describe(task: GymTask) -> Description:
    """Describe the environment of a task.

    >>> describe(make_task("MountainCar-v0")).actions
    3
    """
    source, handle = task.driver.source, task.driver.handle
    view = handle.view
    extent = (view.names, view.low, view.high, view.kind)
    return Description(source.name, *extent, handle.choices.number, source.limit, source.threshold)


@implements_interpreted(transition, GymTask)
def step(task: GymTask, s: State, a: int) -> tuple[State, float, bool]:
    """Take a step from ``s``, wherever the environment is."""
    return task.driver.step(s, a)


@implements_interpreted(start, GymTask)
def begin(task: GymTask, rng: np.random.Generator) -> State:
    """Begin a trial with a seed of its own; the learner's generator is left alone, as by the compiled tasks."""
    return task.driver.start()


@implements_interpreted(actions, GymTask)
def count(task: GymTask) -> int:
    """Count the actions."""
    return task.driver.handle.choices.number


@implements_interpreted(unpack, GymTask)
def state_of(task: GymTask, row: np.ndarray) -> State:
    """Read a state from a row."""
    return tuple(row.tolist())


@implements_interpreted(observe, GymTask)
def seen(task: GymTask, s: State) -> Observation:
    """Leave out which trial and step it was."""
    return s[2:]


@implements_interpreted(truncated, GymTask)
def stopped(task: GymTask, s: State) -> bool:
    """Tell whether the environment stopped the trial in ``s``."""
    return task.driver.truncated(s)


@implements_interpreted(seeded, GymTask)
def another(task: GymTask, seed: int) -> GymTask:
    """Return a task with a driver of its own."""
    return GymTask(task.driver.again(seed))


@implements_interpreted(memories, GymTask)
def pack(task: GymTask, states: np.ndarray) -> dict[str, np.ndarray]:
    """Return the seeds and actions of the trials that are still needed."""
    return task.driver.memories(states)


@implements_interpreted(remember, GymTask)
def take_back(task: GymTask, arrays: dict[str, np.ndarray]) -> None:
    """Take back what ``memories`` gave."""
    task.driver.remember(arrays)
