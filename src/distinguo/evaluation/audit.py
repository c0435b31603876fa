"""Audit a representation with its action values: where does it fail epsilon-adequacy, and what does that cost?

Definition 8 asks two things of every state that the agent can reach: that the actions which look best for its
region are good for the state itself (policy), and that the state is worth what its region says (value).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from distinguo.controller import Controller, choose, region_at
from distinguo.criteria import (
    POLICY,
    VALUE,
    inadequacy,
    incremental_regret,
    look_ahead,
    state_value,
)
from distinguo.errors import DistinguoError
from distinguo.seam import at_speed, kernel
from distinguo.tasks.task import start, transition, truncated, unpack


class Audit(NamedTuple):
    """The findings, one row per state."""

    states: np.ndarray  #: (states, dimensions)
    regions: np.ndarray  #: (states,) the region of each
    q1: np.ndarray  #: (states, actions) look-ahead values
    rules: np.ndarray  #: (states,) the broken rules, as bits of ``criteria.POLICY`` and ``criteria.VALUE``
    regret: np.ndarray  #: (states,) the incremental regret

    @property
    def adequate(self) -> float:
        """Return the share of the states that are epsilon-adequate."""
        return float((self.rules == 0).mean())

    @property
    def policy_failures(self) -> int:
        """Return how many states break the policy rule (Eq. 1)."""
        return int(((self.rules & POLICY) > 0).sum())

    @property
    def value_failures(self) -> int:
        """Return how many states break the value rule (Eq. 2)."""
        return int(((self.rules & VALUE) > 0).sum())


def audit(
    task: Any,
    controller: Controller,
    states: ArrayLike | None = None,
    *,
    gamma: float,
    epsilon: float,
    samples: int = 1,
    visits: int = 10_000,
    seed: int = 0,
) -> Audit:
    """Audit given states, or those that the greedy policy visits from the start of a trial.

    Where transitions are random, ``samples`` look-aheads of each action are averaged (Definition 5).

    >>> from distinguo.representation.voronoi import voronoi
    >>> from distinguo.tasks.puck.puck import Puck
    >>> one = voronoi([[0.0, 0.0]], [4.8, 11.0])
    >>> q = np.array([[-0.5, -0.5]])
    >>> audit(Puck(), Controller(one, q), [(0.0, 0.0), (2.39, 5.0)], gamma=1.0, epsilon=0.1).rules.tolist()
    [0, 2]
    """
    rng = np.random.default_rng(seed)
    rows = visited(task, controller, rng, visits) if states is None else _checked(task, states)
    found = Audit(
        rows,
        np.zeros(len(rows), dtype=np.int64),
        np.zeros((len(rows), controller.q.shape[1])),
        np.zeros(len(rows), dtype=np.int64),
        np.zeros(len(rows)),
    )
    at_speed(_examine, task, controller.partition)(task, controller, gamma, epsilon, samples, found)
    return found


def _checked(task: Any, states: ArrayLike) -> np.ndarray:
    rows = np.array(states, dtype=np.float64)
    width = len(start(task, np.random.default_rng(0)))
    if rows.ndim != 2 or rows.shape[1] != width or not np.isfinite(rows).all():
        raise DistinguoError(
            f"States to audit should be finite rows of {width} numbers, got shape {rows.shape}."
        )
    return rows


def visited(task: Any, controller: Controller, rng: np.random.Generator, count: int) -> np.ndarray:
    """Return the states that the greedy policy comes through, trial after trial."""
    dimensions = len(start(task, rng))
    rows = np.zeros((count, dimensions))
    at_speed(_visit, task, controller.partition)(task, controller, rng, rows)
    return rows


@kernel
def _visit(task: Any, controller: Controller, rng: np.random.Generator, rows: np.ndarray) -> None:
    s = start(task, rng)
    for n in range(len(rows)):
        for i in range(len(s)):
            rows[n, i] = s[i]
        j = region_at(task, controller.partition, s)
        s, _, terminal = transition(task, s, choose(controller.q[j], controller.delta, rng))
        if terminal or truncated(task, s):
            s = start(task, rng)


@kernel
def _examine(
    task: Any, controller: Controller, gamma: float, epsilon: float, samples: int, found: Audit
) -> None:
    partition, q, delta = controller.partition, controller.q, controller.delta
    for n in range(len(found.states)):
        s = unpack(task, found.states[n])
        j = region_at(task, partition, s)
        for a in range(q.shape[1]):
            for _ in range(samples):
                s_next, r, terminal = transition(task, s, a)
                v = 0.0 if terminal else state_value(q[region_at(task, partition, s_next)])
                found.q1[n, a] += look_ahead(r, gamma, v) / samples
        found.regions[n] = j
        found.rules[n] = inadequacy(q[j], found.q1[n], epsilon, delta)
        found.regret[n] = incremental_regret(q[j], found.q1[n], delta)
