"""What a task is: a ``NamedTuple`` of parameters and four functions of it.

States are tuples of floats, actions are the numbers ``0 .. actions(task) - 1``. Compiled tasks implement
these generics for their class; everything downstream knows a task by them alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.seam import generic

State = tuple[float, ...]


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
