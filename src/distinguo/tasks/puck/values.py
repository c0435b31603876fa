"""The exact action values of the puck, as features: two of them, of which the values are the plain sum.

A controllable state never has to lose anything. A doomed one is held off longest by pushing away from its wall,
and is worth the discounted penalty of the fall. So Definition 1 holds with ``f_a(s) = Q*(s, a)`` and the identity
as weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from distinguo.features.feature import activate, coordinates_of, count_features
from distinguo.seam import implements, kernel, part
from distinguo.tasks.puck.analysis import MAX_PUSHES, controllable, final_wall
from distinguo.tasks.puck.puck import LEFT, RIGHT, Puck, PuckState
from distinguo.tasks.task import transition


@kernel
def exact_value(task: Puck, s: PuckState, gamma: float) -> float:
    """Return what a state that is not terminal is worth under the best pushes.

    >>> exact_value(Puck(), (0.0, 0.0), 0.99), round(exact_value(Puck(), (2.0, 2.0), 0.99), 3)
    (0.0, -0.923)
    """
    x, v = float(s[0]), float(s[1])
    if controllable(task, (x, v)):
        return 0.0
    against = LEFT if final_wall(task, (x, v), LEFT) > 0 else RIGHT
    worth = 1.0
    for _ in range(MAX_PUSHES):
        (x, v), r, fell = transition(task, (x, v), against)
        if fell:
            return worth * r
        worth *= gamma
    return 0.0


class ExactValues(NamedTuple):
    """The exact action values as features; with ``np.eye(2)`` for weights they are a controller that never errs.

    >>> active, strengths = np.zeros(2, dtype=np.int64), np.zeros(2)
    >>> activate(ExactValues(Puck(), 0.99), (0.0, 1.2), active, strengths), strengths.round(3).tolist()
    (2, [0.0, -0.312])
    """

    puck: Puck
    gamma: float


@implements(activate, ExactValues)
def exact_values_at(
    features: ExactValues, s: tuple[float, ...], active: np.ndarray, strengths: np.ndarray
) -> int:
    """Push either way once, and ask what that leads to."""
    for a in range(2):
        active[a] = a
        strengths[a] = _after(features.puck, (s[0], s[1]), a, features.gamma)
    return 2


@part
def _after(task: Puck, s: PuckState, a: int, gamma: float) -> float:
    after, r, fell = transition(task, s, a)
    return r if fell else r + gamma * exact_value(task, after, gamma)


@count_features.register(ExactValues)
@coordinates_of.register(ExactValues)
def _(features: ExactValues) -> int:
    return 2
