"""Sparse sampling (Kearns, Mansour and Ng 2002): the best action of one state, by a tree of sampled futures.

From the state, every action is tried ``samples`` times, and so on from every state reached, ``depth`` steps deep;
values are averaged over samples and maximised over actions on the way back, and a state at the bottom is worth 0.
The cost of a decision does not depend on how many states there are, but is exponential in the depth. Nothing is
kept for the next one.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError, attempt, shown, whole_number
from distinguo.seam import at_speed, kernel, part
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import actions, seeded, start, transition, truncated, unpack

MOST_CALLS = 10**10  #: of the model for one decision: more would take hours
DEEPEST = 10_000  #: steps ahead


class PlannedChoice(NamedTuple):
    """What sparse sampling found out about a state, and what it cost."""

    action: int  #: the best, of equally good ones the first
    q: np.ndarray  #: (actions,) the estimated action values
    calls: int  #: of the generative model


class LookAheadTree(NamedTuple):
    """The way from the root to the node that is worked on, level by level."""

    states: np.ndarray  #: (depth, width)
    q: np.ndarray  #: (depth, actions) the values found so far
    action: np.ndarray  #: (depth,) the one that is tried
    sample: np.ndarray  #: (depth,) how often it was tried


def sparse_sampling(
    task: Any, state: Any, *, depth: int, samples: int | None = None, gamma: float = 0.99, seed: int = 0
) -> PlannedChoice:
    """Choose an action for a state by sparse sampling; the task goes by its name, or is a value.

    ``samples`` is how often each action is tried from each state. Where transitions are deterministic one is
    enough, and it is what is taken if none is given; a random task needs more.

    >>> choice = sparse_sampling("puck", (2.36, 0.4), depth=6)
    >>> choice.action, choice.q.round(3).tolist(), choice.calls
    (0, [-0.961, -0.97], 34)
    """
    spec = planned_task(task)
    tries = checked_samples(spec, samples)
    world, gamma = seeded(spec.task, whole_number("The seed", seed)), checked_gamma(gamma)
    tree = fresh_tree(world, depth, tries)
    calls = at_speed(grow_look_ahead, world)(world, tree, _checked_state(spec, world, state), tries, gamma)
    return PlannedChoice(int(tree.q[0].argmax()), tree.q[0], int(calls))


def fresh_tree(world: Any, depth: int, samples: int) -> LookAheadTree:
    """Return room for a tree so deep, or say that nobody could wait for it."""
    deep, count = whole_number("depth", depth, 1, DEEPEST), actions(world)
    calls = full_tree(count, deep, samples)
    if calls > MOST_CALLS:
        raise DistinguoError(
            f"A tree of depth {deep} with {count} actions and {samples} samples asks the model up to {calls:.3g} "
            f"times; allowed are {MOST_CALLS:.0g}; take a smaller depth or fewer samples."
        )
    width = len(start(world, np.random.default_rng(0)))
    numbers = [np.zeros(deep, dtype=np.int64) for _ in range(2)]
    return LookAheadTree(np.zeros((deep, width)), np.zeros((deep, count)), *numbers)


def full_tree(actions: int, depth: int, samples: int) -> float:
    """Return how often the model is asked where no future ends early: the sum of ``(actions * samples)^h``.

    >>> full_tree(2, 3, 1)
    14.0
    """
    fan = float(actions * samples)
    try:
        return math.fsum(fan**h for h in range(1, depth + 1))
    except OverflowError:
        return math.inf


@kernel
def grow_look_ahead(task: Any, tree: LookAheadTree, now: np.ndarray, samples: int, gamma: float) -> int:
    """Estimate the action values of a state at the root of the tree; return how often the model was asked.

    The tree is walked in depth, one branch at a time. A trial that the task itself stops is worth nothing more,
    like a terminal state.
    """
    deepest, count = tree.q.shape
    for i in range(len(now)):
        tree.states[0, i] = now[i]
    _clear(tree, 0)
    level, calls = 0, 0
    while True:
        if tree.sample[level] == samples:
            tree.q[level, tree.action[level]] /= samples
            tree.sample[level] = 0
            tree.action[level] += 1
        if tree.action[level] == count:  # all is known of this state: hand its value up
            if level == 0:
                return calls
            best = tree.q[level, 0]
            for a in range(1, count):
                best = max(best, tree.q[level, a])
            level -= 1
            tree.q[level, tree.action[level]] += gamma * best
            tree.sample[level] += 1
            continue
        s, r, terminal = transition(task, unpack(task, tree.states[level]), tree.action[level])
        calls += 1
        tree.q[level, tree.action[level]] += r
        if terminal or level + 1 == deepest or truncated(task, s):
            tree.sample[level] += 1
            continue
        level += 1
        for i in range(len(s)):
            tree.states[level, i] = s[i]
        _clear(tree, level)


@part
def _clear(tree: LookAheadTree, level: int) -> None:
    """Begin with a state of which nothing is known."""
    tree.action[level] = 0
    tree.sample[level] = 0
    for a in range(tree.q.shape[1]):
        tree.q[level, a] = 0.0


def _checked_state(spec: TaskSpec, world: Any, state: Any) -> np.ndarray:
    width = len(start(world, np.random.default_rng(0)))
    row = attempt(np.array, state, np.float64, otherwise=np.zeros(0))
    if row.shape != (width,) or not np.isfinite(row).all():
        raise DistinguoError(f"A state of {spec.name} has {width} finite numbers, got {shown(state)}.")
    return row


def planned_task(task: Any) -> TaskSpec:
    """Return a task that can be planned in, with its words; states that cannot be restored have no futures to try."""
    spec = task_spec(task) if isinstance(task, str) else task if isinstance(task, TaskSpec) else spec_of(task)
    if not spec.restorable:
        raise DistinguoError(
            f"Sparse sampling tries several actions from the same state, but states of {spec.name} cannot be "
            "restored; learn a model instead (--learner model)."
        )
    return spec


def checked_samples(spec: TaskSpec, samples: int | None) -> int:
    """Return how often each action is tried: once in a deterministic task, as often as said in a random one."""
    if samples is None and spec.stochastic != "no":
        raise DistinguoError(
            f"Transitions of {spec.name} are random, so sparse sampling needs samples=, from 1, for the average of "
            "each action, got none."
        )
    return whole_number("samples", 1 if samples is None else samples, 1, 10**9)


def checked_gamma(gamma: Any) -> float:
    """Return a discount from above 0 to 1."""
    if isinstance(gamma, bool) or not isinstance(gamma, Real) or not 0.0 < float(gamma) <= 1.0:
        raise DistinguoError(f"gamma should be a number above 0 and at most 1, got {shown(gamma)}.")
    return float(gamma)
