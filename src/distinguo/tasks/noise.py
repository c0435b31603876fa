"""Noise that can be added to any compiled task: actions that are replaced by random ones.

A stochastic task has a generator in its field ``rng``; transitions draw from it in the same way at both speeds.
``seeded`` gives a task a generator of its own; until then, tasks made without one share the default.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.errors import DistinguoError
from distinguo.seam import implements
from distinguo.settings import checked
from distinguo.tasks.spec import Parameters, TaskSpec
from distinguo.tasks.task import (
    Observation,
    State,
    actions,
    observe,
    randomness,
    seeded,
    start,
    transition,
    truncated,
    unpack,
)

#: Follows the seed in the key of a task's generator, to keep it apart from the agent's.
_STREAM = 1


def noise_generator(seed: int) -> np.random.Generator:
    """Return the generator of a task's own noise."""
    return np.random.default_rng([seed, _STREAM])


class ActionNoise(NamedTuple):
    """A compiled task in which some actions are replaced by one drawn uniformly from all.

    >>> from distinguo.tasks.puck.puck import Puck
    >>> from distinguo.tasks.task import transition
    >>> transition(ActionNoise(Puck(), noise=0.0), (0.0, 1.0), 1)
    ((0.02, 1.06), 0.0, False)
    """

    task: Any
    noise: Annotated[float, Field(ge=0, le=1, description="share of the actions that are replaced")] = 0.1
    rng: Annotated[np.random.Generator, Field(description="of the replacements")] = np.random.default_rng(0)


class NoiseParameters(NamedTuple):
    """The parameters of the noise; they are given among those of the task."""

    noisy_actions: Annotated[
        float, Field(ge=0, le=1, description="share of the actions that are replaced by random ones")
    ] = 0.0


def separated(kind: Any, parameters: Parameters) -> tuple[Any, dict[str, Any]]:
    """Separate the parameters of the noise from those of the task.

    >>> separated(NoiseParameters, {"beta": 0.2, "noisy_actions": 0.1})
    (NoiseParameters(noisy_actions=0.1), {'beta': 0.2})
    """
    own = {name: value for name, value in parameters.items() if name in kind._fields}
    return checked(kind, own, "task"), {k: v for k, v in parameters.items() if k not in own}


def with_noise(spec: TaskSpec, noise: NoiseParameters) -> TaskSpec:
    """Return the task with its actions replaced as often as the parameters say."""
    if noise.noisy_actions == 0.0:
        return spec
    if spec.amounts is not None:
        raise DistinguoError(
            f"task.noisy_actions replaces an action by a random one of a few, but those of {spec.name} are amounts; "
            "leave it out, and draw noise in transition from a field rng."
        )
    return spec._replace(
        task=ActionNoise(spec.task, noise.noisy_actions, np.random.default_rng(0)),
        controllable=None,
        stochastic="some" if spec.stochastic == "no" else spec.stochastic,
        parameters={**spec.parameters, **noise._asdict()},
    )


@implements(transition, ActionNoise)
def _transition(task: ActionNoise, s: State, a: int) -> tuple[State, float, bool]:
    replaced = task.rng.random() < task.noise
    taken = int(task.rng.random() * actions(task.task)) if replaced else a
    return transition(task.task, s, taken)


@implements(start, ActionNoise)
def _start(task: ActionNoise, rng: np.random.Generator) -> State:
    return start(task.task, rng)


@implements(actions, ActionNoise)
def _actions(task: ActionNoise) -> int:
    return actions(task.task)


@implements(unpack, ActionNoise)
def _unpack(task: ActionNoise, row: np.ndarray) -> State:
    return unpack(task.task, row)


@implements(observe, ActionNoise)
def _observe(task: ActionNoise, s: State) -> Observation:
    return observe(task.task, s)


@implements(truncated, ActionNoise)
def _truncated(task: ActionNoise, s: State) -> bool:
    return truncated(task.task, s)


@implements(seeded, ActionNoise)
def _seeded(task: ActionNoise, seed: int) -> ActionNoise:
    """Let an inner task that is stochastic itself draw from the same generator.

    Then :func:`randomness` is all that a checkpoint needs, and no two streams can be equal.
    """
    inner = seeded(task.task, seed)
    own = randomness(inner)
    return task._replace(task=inner, rng=noise_generator(seed) if own is None else own)


@implements(randomness, ActionNoise)
def _randomness(task: ActionNoise) -> np.random.Generator:
    return task.rng
