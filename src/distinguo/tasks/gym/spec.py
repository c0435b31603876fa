"""A Gymnasium environment, by id or as an object, as a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from distinguo.tasks.gym.registration import PUCK_ID
from distinguo.tasks.gym.task import describe, make_absent_task, make_task
from distinguo.tasks.spec import RETURN, TaskSpec

#: Without mini-trials all actions must be tried in trials, or no region ever becomes reliable.
NON_ACTIVE = {"learner.active": False, "learner.explore": 0.1}
Known = Callable[[Mapping[str, Any]], TaskSpec]


def gym_spec(
    source: Any,
    parameters: Mapping[str, Any],
    known: Known | None = None,
    suggested: Mapping[str, Any] | None = None,
    chance: Mapping[str, Any] | None = None,
) -> TaskSpec:
    """Describe an environment; ``known`` knows better names and bounds of its twin.

    ``suggested`` are the settings that suit such tasks, ``chance`` those for stochastic ones.

    >>> gym_spec("FrozenLake-v1", {}).kind
    'categories'
    """
    if known is not None:
        return _like(known(parameters), parameters)
    task = make_task(source, dict(parameters))
    found = describe(task)
    return TaskSpec(
        name=found.name,
        task=task,
        dimensions=found.names,
        actions=tuple(f"a{a}" for a in range(found.actions)),
        low=found.low,
        high=found.high,
        score=RETURN,
        kind=found.kind,
        threshold=found.threshold,
        limit=found.limit,
        parameters=dict(parameters),
        suggested={**(suggested or {}), **((chance or {}) if task.driver.stochastic else {})},
        required=_required(task),
        interpreted=True,
        note=task.driver.restoring.sentence,
    )


def _like(twin: TaskSpec, parameters: Mapping[str, Any]) -> TaskSpec:
    """Return the task of a compiled task, with Gymnasium's environment in its place.

    Which of its states can be held is known of the compiled one only.
    """
    given = dict(parameters)
    if twin.name == "Pendulum-v1":
        given.setdefault("levels", len(twin.actions))
    task = make_task(PUCK_ID if twin.name == "puck" else twin.name, given)
    note = task.driver.restoring.sentence
    return twin._replace(
        task=task,
        controllable=None,
        parameters=given,
        interpreted=True,
        note=note,
        required=_required(task),
    )


def _required(task: Any) -> Mapping[str, Any]:
    return NON_ACTIVE if task.driver.restoring.name == "none" else {}


def absent_spec(name: str, words: Mapping[str, Any], parameters: Mapping[str, Any]) -> TaskSpec:
    """Describe an environment by what a run folder says; it is made when the first step is asked for.

    One that was given as an object cannot be made again: it has to be handed over.
    """
    task = make_absent_task(PUCK_ID if name == "puck" else name, dict(parameters))
    return TaskSpec(name=name, task=task, parameters=dict(parameters), interpreted=True, **words)
