"""From what was observed back to the state: a look-ahead starts from a state, and people point at observations."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any

import numpy as np

from distinguo.tasks.acrobot import Acrobot
from distinguo.tasks.gym.snapshots import OPTIONS
from distinguo.tasks.gym.task import GymTask
from distinguo.tasks.pendulum import Pendulum, PendulumOfTorques
from distinguo.tasks.task import Observation, State, observe, start

CLOSE = 1e-5  #: observations this close, as a share of their size, are one: environments show 32 bits


@singledispatch
def state_behind(task: Any, seen: Observation) -> State | None:
    """Return a state that looks like this, or None where none is known.

    Where all of a state is seen, or all of it rounded, the observation itself is the state.

    >>> from distinguo.tasks.cart_pole import CartPole
    >>> state_behind(CartPole(), (0.1, 0.0, 0.02, 0.0))
    (0.1, 0.0, 0.02, 0.0)
    """
    if len(start(task, np.random.default_rng(0))) != len(seen):  # some of the state is hidden
        return None
    shown = observe(task, seen)
    return seen if len(shown) == len(seen) and all(map(_alike, shown, seen)) else None


def _alike(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE)


@state_behind.register
def _(task: Acrobot, seen: Observation) -> State | None:
    """Angles are seen by their cosines and sines."""
    cos_1, sin_1, cos_2, sin_2, turning_1, turning_2 = seen
    return (math.atan2(sin_1, cos_1), math.atan2(sin_2, cos_2), turning_1, turning_2)


@state_behind.register(Pendulum)
@state_behind.register(PendulumOfTorques)
def _(task: Any, seen: Observation) -> State | None:
    cosine, sine, turning = seen
    return (math.atan2(sine, cosine), turning)


@state_behind.register
def _(task: GymTask, seen: Observation) -> State | None:
    """Only an environment that takes states by ``reset(options=...)`` goes anywhere; others to where they were."""
    return (0.0, 0.0, *seen) if task.driver.restoring.name == OPTIONS else None
