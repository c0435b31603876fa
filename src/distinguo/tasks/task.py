"""What a task is: a ``NamedTuple`` of parameters and a few functions of it.

States are tuples of floats, actions are the numbers ``0 .. actions(task) - 1``. A class of tasks implements the
first four generics, and the others where the default is wrong for it; the decorator ``@task`` of
:mod:`distinguo.tasks.declare` registers what a class body defines. All other code uses a task through these
generics only.

A *state* is all that a transition needs. The learner sees its *observation*, and regions are made of observations.
For the puck the two are the same.
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
def by_law(task: Any, laws: Any, a: int, seen: Observation) -> Any:
    """The amounts that law ``a`` decides where ``seen`` is observed, as ``transition`` takes them (tasks/amounts)."""
    raise NotImplementedError


@generic
def unpack(task: Any, row: np.ndarray) -> State:
    """Turn a row of an array into a state."""
    raise NotImplementedError


@generic_with_default
def observe(task: Any, s: State) -> Observation:
    """The observation of a state; by default the whole state."""
    return s


@generic_with_default
def truncated(task: Any, s: State) -> bool:
    """Whether the task itself stopped the trial in ``s``, which is not terminal; by default never."""
    return False


@generic_with_default
def seeded(task: Any, seed: int) -> Any:
    """Return the task with its random generator seeded anew; by default it has none.

    Only called from Python. Every run and every cell of a plan has a task of its own, so results do not depend on
    what else runs.
    """
    return task


@generic_with_default
def randomness(task: Any) -> np.random.Generator | None:
    """Return the task's random generator, to be saved in checkpoints; by default there is none."""
    return None


@generic_with_default
def memories(task: Any, states: np.ndarray) -> dict[str, np.ndarray]:
    """What is needed to restore these rows of states; everything else is dropped. By default nothing is needed.

    Only called from Python, between trials.
    """
    return {}


@generic_with_default
def remember(task: Any, memories: dict[str, np.ndarray]) -> None:
    """Take back what :func:`memories` gave, in a process that continues the run."""


@generic_with_default
def uncounted_steps(task: Any) -> tuple[int, int]:
    """The steps that nobody asked for: to find out what the task allows, and to restore states; by default none.

    Only called from Python.
    """
    return 0, 0


SAME_STARTS = 50  #: that are drawn to see whether a task has one start only


@generic_with_default
def has_one_start(task: Any) -> bool:
    """Whether every trial begins in the same state, as far as :data:`SAME_STARTS` starts show.

    Only called from Python.

    >>> from distinguo.tasks.cart_pole import CartPole
    >>> from distinguo.tasks.puck.puck import Puck
    >>> has_one_start(Puck()), has_one_start(CartPole())
    (True, False)
    """
    first = tuple(start(task, np.random.default_rng(0)))
    return all(tuple(start(task, np.random.default_rng(n))) == first for n in range(1, SAME_STARTS))


@generic_with_default
def goal_box(task: Any) -> tuple[Observation, Observation] | None:
    """Return the corners of a box of observations in which trials end in success; by default there is none.

    A task that names one never ends a trial in failure. Only called from Python.
    """
    return None
