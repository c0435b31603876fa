"""What a task is: a ``NamedTuple`` of parameters and a few functions of it.

States are tuples of floats, actions are the numbers ``0 .. actions(task) - 1``. A class of tasks implements the first
four generics, and the others where their answer is not the usual one; the decorator ``@task`` of
:mod:`distinguo.tasks.declare` registers what a class body defines. Everything downstream knows a task by them alone.

A *state* is all that a transition needs; what the learner sees of it, and what regions are made of, is its
*observation*. For the puck they are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.seam import generic, generic_with_default

State = tuple[float, ...]
Observation = tuple[float, ...]


@generic
def transition(task: Any, s: State, a: int) -> tuple[State, float, bool]:
    """Take action ``a`` from state ``s``: the next state, the reward, and whether it is terminal."""
    raise NotImplementedError


@generic
def start(task: Any, rng: np.random.Generator) -> State:
    """Return the state that a trial begins from."""
    raise NotImplementedError


@generic
def actions(task: Any) -> int:
    """Return the number of actions."""
    raise NotImplementedError


@generic
def unpack(task: Any, row: np.ndarray) -> State:
    """Turn a row of an array into a state."""
    raise NotImplementedError


@generic_with_default
def observe(task: Any, s: State) -> Observation:
    """Return what can be seen of a state; usually all of it."""
    return s


@generic_with_default
def truncated(task: Any, s: State) -> bool:
    """Tell whether the task itself stopped the trial in ``s``, which is not terminal; usually it never does."""
    return False


@generic_with_default
def seeded(task: Any, seed: int) -> Any:
    """Return the task with its own random choices begun anew from a seed; usually it makes none.

    Only called from Python. Every run and every cell of a plan has a task of its own, so that nothing depends on
    what else runs.
    """
    return task


@generic_with_default
def randomness(task: Any) -> np.random.Generator | None:
    """Return the generator of the task's own random choices, to be kept in checkpoints; usually there is none."""
    return None


@generic_with_default
def memories(task: Any, states: np.ndarray) -> dict[str, np.ndarray]:
    """Return what is needed to come back to these rows of states, and drop what is not; usually nothing.

    Only called from Python, between trials.
    """
    return {}


@generic_with_default
def remember(task: Any, memories: dict[str, np.ndarray]) -> None:
    """Take back what :func:`memories` gave, in a process that continues the run."""


@generic_with_default
def goal_box(task: Any) -> tuple[Observation, Observation] | None:
    """Return the lower and the upper corner of a box of observations in which trials end in success; usually none.

    A task that names one never ends a trial in failure. Only called from Python.
    """
    return None
