"""Tasks with random choices of their own: a puck whose pushes vary, and any task whose actions slip.

Each carries a generator, which its transitions draw from in both speeds alike. ``seeded`` gives a task a generator of
its own; until then, tasks made without one share the one that is their default.

>>> from distinguo.tasks.task import seeded, transition
>>> task = seeded(NoisyPuck(noise=0.5), 1)
>>> [round(transition(task, (0.0, 0.0), 1)[0][1], 3) for _ in range(3)]
[0.076, 0.097, 0.065]
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field, InstanceOf

from distinguo.seam import implements, part
from distinguo.tasks.puck.puck import Puck, PuckState
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

#: Follows the seed in the key of a task's generator, so that it is not the generator of the agent.
_STREAM = 1


class NoisyPuck(NamedTuple):
    """The puck with pushes of random strength: ``force * (1 + noise * z)``, with ``z`` standard normal.

    A strength below zero, which great noise brings about, pushes the other way: what disturbs the puck was then
    stronger than its thruster.

    >>> from distinguo.tasks.task import transition
    >>> transition(NoisyPuck(noise=0.0), (0.0, 1.0), 1) == transition(Puck(), (0.0, 1.0), 1)
    True
    """

    beta: Annotated[float, Field(gt=0, le=100, description="curvature of the hill (paper, section 4)")] = 0.3
    gravity: Annotated[float, Field(gt=0, le=1000, description="m/s^2 (paper, section 4)")] = 9.8
    mass: Annotated[float, Field(gt=0, le=1e6, description="kg (paper, section 4)")] = 1.0
    force: Annotated[float, Field(gt=0, le=1e6, description="N (paper, section 4)")] = 3.0
    interval: Annotated[float, Field(gt=0, le=1, description="s between actions (paper, section 4)")] = 0.02
    wall: Annotated[float, Field(gt=0, le=1e6, description="m from the top (paper, section 4)")] = 2.4
    noise: Annotated[
        float, Field(ge=0, le=100, description="standard deviation of a push, as a share of the force")
    ] = 0.1
    rng: Annotated[InstanceOf[np.random.Generator], Field(description="of the strengths")] = (
        np.random.default_rng(0)
    )


@part
def with_force(task: NoisyPuck, force: float) -> Puck:
    """Return the puck whose pushes all have this force."""
    return Puck(task.beta, task.gravity, task.mass, force, task.interval, task.wall)


@implements(transition, NoisyPuck)
def push_about(task: NoisyPuck, s: PuckState, a: int) -> tuple[PuckState, float, bool]:
    """Push the puck for one interval, more or less strongly."""
    force = task.force * (1.0 + task.noise * task.rng.standard_normal())
    return transition(with_force(task, force), s, a)  # type: ignore[return-value]


@implements(start, NoisyPuck)
def start_puck(task: NoisyPuck, rng: np.random.Generator) -> State:
    """Start as the puck does."""
    return start(with_force(task, task.force), rng)


@implements(actions, NoisyPuck)
def actions_of_puck(task: NoisyPuck) -> int:
    """Have the puck's actions."""
    return actions(with_force(task, task.force))


@implements(unpack, NoisyPuck)
def unpack_puck(task: NoisyPuck, row: np.ndarray) -> State:
    """Read the puck's state from a row."""
    return unpack(with_force(task, task.force), row)


@implements(seeded, NoisyPuck)
def seeded_puck(task: NoisyPuck, seed: int) -> NoisyPuck:
    """Return the task with strengths begun anew."""
    return task._replace(rng=np.random.default_rng([seed, _STREAM]))


@implements(randomness, NoisyPuck)
def strengths(task: NoisyPuck) -> np.random.Generator:
    """Return the generator of the strengths."""
    return task.rng


class NoisyActions(NamedTuple):
    """A task, one of ours, some of whose actions are replaced by one drawn from all of them alike.

    >>> from distinguo.tasks.task import transition
    >>> transition(NoisyActions(Puck(), noise=0.0), (0.0, 1.0), 1)
    ((0.02, 1.06), 0.0, False)
    """

    task: Any
    noise: Annotated[float, Field(ge=0, le=1, description="share of the actions that are replaced")] = 0.1
    rng: Annotated[InstanceOf[np.random.Generator], Field(description="of the replacements")] = (
        np.random.default_rng(0)
    )


@implements(transition, NoisyActions)
def slip(task: NoisyActions, s: State, a: int) -> tuple[State, float, bool]:
    """Take an action, or another one instead."""
    replaced = task.rng.random() < task.noise
    taken = int(task.rng.random() * actions(task.task)) if replaced else a
    return transition(task.task, s, taken)


@implements(start, NoisyActions)
def start_inner(task: NoisyActions, rng: np.random.Generator) -> State:
    """Start as the task does."""
    return start(task.task, rng)


@implements(actions, NoisyActions)
def actions_of_inner(task: NoisyActions) -> int:
    """Have the actions of the task."""
    return actions(task.task)


@implements(unpack, NoisyActions)
def unpack_inner(task: NoisyActions, row: np.ndarray) -> State:
    """Read the task's state from a row."""
    return unpack(task.task, row)


@implements(observe, NoisyActions)
def observe_inner(task: NoisyActions, s: State) -> Observation:
    """See what the task shows."""
    return observe(task.task, s)


@implements(truncated, NoisyActions)
def truncated_inner(task: NoisyActions, s: State) -> bool:
    """Stop where the task does."""
    return truncated(task.task, s)


@implements(seeded, NoisyActions)
def seeded_inner(task: NoisyActions, seed: int) -> NoisyActions:
    """Return the task with its random choices begun anew.

    If the inner task makes some itself, both draw from one generator: :func:`randomness` then is all there is to
    keep, and no two streams can be the same.
    """
    inner = seeded(task.task, seed)
    own = randomness(inner)
    return task._replace(task=inner, rng=np.random.default_rng([seed, _STREAM]) if own is None else own)


@implements(randomness, NoisyActions)
def replacements(task: NoisyActions) -> np.random.Generator:
    """Return the generator of the replacements."""
    return task.rng
