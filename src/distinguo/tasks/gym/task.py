"""Any Gymnasium environment as a task, run as plain Python.

>>> from distinguo.tasks.task import observe, start, transition
>>> task = make_task("FrozenLake-v1", {"is_slippery": False})
>>> s = start(task, np.random.default_rng(0))
>>> s, reward, terminal = transition(task, s, 2)
>>> s, observe(task, s), terminal
((0.0, 1.0, 1.0), (1.0,), False)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from distinguo.seam import implements_interpreted
from distinguo.tasks.gym.driver import Driver
from distinguo.tasks.gym.registration import PUCK_ID
from distinguo.tasks.gym.snapshots import NONE
from distinguo.tasks.gym.source import Source, source_of
from distinguo.tasks.gym.words import action_names, dimension_names
from distinguo.tasks.spec import RETURN, Parameters, TaskSpec
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


def make_task(origin: Any, arguments: Mapping[str, Any] | None = None, seed: int = 0) -> GymTask:
    """Return an environment as a task; ``origin`` is its id or the environment itself.

    The arguments are those of ``gymnasium.make``; ``levels`` divides continuous actions into so many.

    >>> actions(make_task("Pendulum-v1", {"levels": 5}))
    5
    """
    return GymTask(Driver(source_of(origin, arguments or {}), seed))


def make_absent_task(
    name: str, arguments: Mapping[str, Any] | None = None, was_given: bool = False, seed: int = 0
) -> GymTask:
    """Return a task of which only the name is known; its environment is made when it is needed.

    One that ``was_given`` as an object is not made: another of that name need not be like it.

    >>> make_absent_task("Nowhere-v0").driver.name
    'Nowhere-v0'
    """
    return GymTask(Driver(Source(name, None, dict(arguments or {}), was_given=was_given), seed))


def gym_spec(
    origin: Any, parameters: Parameters, port: Callable[[Parameters], TaskSpec] | None = None
) -> TaskSpec:
    """Describe an environment; its compiled port, if it has one, knows better names and bounds.

    >>> gym_spec("FrozenLake-v1", {}).kind
    'categories'
    """
    if port is not None:
        return _in_place_of(port(parameters), parameters)
    task = make_task(origin, dict(parameters))
    source, checked = task.driver.source, task.driver.checked_env
    known = source.name if isinstance(origin, str) else ""
    spec = TaskSpec(
        name=source.name,
        task=task,
        dimensions=dimension_names(known, checked.view.names),
        actions=action_names(known, checked.env, checked.choices.number),
        low=checked.view.low,
        high=checked.view.high,
        score=RETURN,
        kind=checked.view.kind,
        threshold=source.threshold,
        limit=source.limit,
        parameters=dict(parameters),
        stochastic="strong" if task.driver.stochastic else "no",
        portable=isinstance(origin, str),
    )
    return _with_facts(spec)


def _in_place_of(port: TaskSpec, parameters: Parameters) -> TaskSpec:
    """Return the description of a compiled port with Gymnasium's environment in its place.

    Which of its states can be held is known of the port only.
    """
    arguments = dict(parameters)
    if port.name == "Pendulum-v1":
        arguments.setdefault("levels", port.parameters["levels"])
    task = make_task(PUCK_ID if port.name == "puck" else port.name, arguments)
    return _with_facts(port._replace(task=task, controllable=None, parameters=arguments))


def _with_facts(spec: TaskSpec) -> TaskSpec:
    """Add what trying the environment has shown."""
    restoring = spec.task.driver.restoring
    return spec._replace(interpreted=True, note=restoring.sentence, restorable=restoring.name != NONE)


def absent_gym_spec(
    name: str, words: Mapping[str, Any], parameters: Parameters, was_given: bool = False
) -> TaskSpec:
    """Describe an environment by what a run folder says; it is made when the first step is asked for.

    One that was given as an object cannot be made again: it has to be handed in.
    """
    task = make_absent_task(PUCK_ID if name == "puck" else name, dict(parameters), was_given)
    known = {**words, "interpreted": True, "portable": not was_given}
    return TaskSpec(name=name, task=task, parameters=dict(parameters), **known)


@implements_interpreted(transition, GymTask)
def _transition(task: GymTask, s: State, a: int) -> tuple[State, float, bool]:
    return task.driver.step(s, a)


@implements_interpreted(start, GymTask)
def _start(task: GymTask, rng: np.random.Generator) -> State:
    """Begin a trial with a seed of its own; the learner's generator is left alone, as by the compiled tasks."""
    return task.driver.start()


@implements_interpreted(actions, GymTask)
def _actions(task: GymTask) -> int:
    return task.driver.checked_env.choices.number


@implements_interpreted(unpack, GymTask)
def _unpack(task: GymTask, row: np.ndarray) -> State:
    return tuple(row.tolist())


@implements_interpreted(observe, GymTask)
def _observe(task: GymTask, s: State) -> Observation:
    """Leave out which trial and step it was."""
    return s[2:]


@implements_interpreted(truncated, GymTask)
def _truncated(task: GymTask, s: State) -> bool:
    return task.driver.truncated(s)


@implements_interpreted(seeded, GymTask)
def _seeded(task: GymTask, seed: int) -> GymTask:
    """Return a task with a driver of its own."""
    return GymTask(task.driver.again(seed))


@implements_interpreted(memories, GymTask)
def _memories(task: GymTask, states: np.ndarray) -> dict[str, np.ndarray]:
    """Return the seeds and actions of the trials that are still needed."""
    return task.driver.memories(states)


@implements_interpreted(remember, GymTask)
def _remember(task: GymTask, arrays: dict[str, np.ndarray]) -> None:
    task.driver.remember(arrays)
