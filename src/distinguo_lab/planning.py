"""Sparse sampling (Kearns, Mansour and Ng 2002): the best action of one state, by a tree of sampled futures.

From the state, every action is tried ``samples`` times, and so on from every state reached, ``depth`` steps deep. On
the way back, values are averaged over samples and maximised over actions; a state at the bottom is worth 0. The cost
of a decision does not depend on the number of states, but is exponential in the depth. Nothing is kept for the next
decision.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import choose
from distinguo.errors import DistinguoError, attempt, shown, whole_number
from distinguo.seam import at_speed, kernel, part
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.spec import Goal, TaskSpec
from distinguo.tasks.task import actions, seeded, start, transition, truncated, unpack

MOST_CALLS = 10**10  #: of the model for one decision: more would take hours
DEEPEST = 10_000  #: steps ahead


class PlannedChoice(NamedTuple):
    """The result of sparse sampling for a state, and its cost."""

    action: int  #: the best; the first of tied ones
    q: np.ndarray  #: (actions,) the estimated action values
    calls: int  #: of the generative model


class LookAheadTree(NamedTuple):
    """The path from the root to the present node, level by level."""

    states: np.ndarray  #: (depth, width)
    q: np.ndarray  #: (depth, actions) the values found so far
    action: np.ndarray  #: (depth,) the one being tried
    sample: np.ndarray  #: (depth,) how often it was tried


def sparse_sampling(
    task: Any, state: Any, *, depth: int, samples: int | None = None, gamma: float = 0.99, seed: int = 0
) -> PlannedChoice:
    """Choose an action for a state by sparse sampling; the task is a name or an object.

    ``samples`` is how often each action is tried from each state. For a deterministic task the default of one is
    enough; a stochastic task needs more.

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
    """Return the memory of a tree; raise if it is too large to be searched."""
    deep, count = whole_number("depth", depth, 1, DEEPEST), actions(world)
    calls = full_tree(count, deep, samples)
    if calls > MOST_CALLS:
        raise DistinguoError(
            f"A tree of depth {deep} with {count} actions and {samples} samples calls the model up to {calls:.3g} "
            f"times; allowed are {MOST_CALLS:.0g}; take a smaller depth or fewer samples."
        )
    width = len(start(world, np.random.default_rng(0)))
    numbers = [np.zeros(deep, dtype=np.int64) for _ in range(2)]
    return LookAheadTree(np.zeros((deep, width)), np.zeros((deep, count)), *numbers)


def full_tree(actions: int, depth: int, samples: int) -> float:
    """Return the calls of the model if no future ends early: the sum of ``(actions * samples)^h``.

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
    """Estimate the action values of a state at the root of the tree; return the calls of the model.

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
        if tree.action[level] == count:  # all actions of this state are done: hand its value up
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
    """Begin with a new state."""
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
    """Return the description of a task for planning; raise if its states cannot be restored."""
    spec = task_spec(task) if isinstance(task, str) else task if isinstance(task, TaskSpec) else spec_of(task)
    if not spec.restorable:
        raise DistinguoError(
            f"Sparse sampling tries several actions from the same state, but states of {spec.name} cannot be "
            "restored; learn a model instead (--learner model)."
        )
    return spec


def checked_samples(spec: TaskSpec, samples: int | None) -> int:
    """Return how often each action is tried: by default once; a stochastic task needs a number."""
    if samples is None and spec.stochastic != "no":
        raise DistinguoError(
            f"{spec.name} is stochastic, so sparse sampling needs samples=, from 1, for the average of "
            "each action, got none."
        )
    return whole_number("samples", 1 if samples is None else samples, 1, 10**9)


def checked_gamma(gamma: Any) -> float:
    """Return a discount from above 0 to 1."""
    if isinstance(gamma, bool) or not isinstance(gamma, Real) or not 0.0 < float(gamma) <= 1.0:
        raise DistinguoError(f"gamma should be a number above 0 and at most 1, got {shown(gamma)}.")
    return float(gamma)


# Trials of a policy without any representation: its score, and the cost of each decision.


STEPS = 1_000  #: the default limit of a trial


class PlannedTrials(NamedTuple):
    """The results of the trials, one per seed."""

    task: str
    goal: Goal
    depth: int
    samples: int
    lengths: np.ndarray  #: (trials,)
    returns: np.ndarray  #: (trials,)
    ended: np.ndarray  #: (trials,) whether it ended in a terminal state
    calls: np.ndarray  #: (trials,) of the model, all decisions together
    seconds: float  #: all trials together

    @property
    def reached(self) -> int:
        """The number of trials that reach the goal of the task."""
        return int(self.goal.reached(self.ended, self.returns).sum())

    @property
    def calls_per_decision(self) -> float:
        """The mean calls of the model for one decision."""
        return float(self.calls.sum() / self.lengths.sum())

    @property
    def seconds_per_decision(self) -> float:
        """The mean time of one decision."""
        return float(self.seconds / self.lengths.sum())

    def __repr__(self) -> str:
        score = self.goal.score(self.lengths, self.returns)
        return (
            f"Sparse sampling of {self.task}, depth {self.depth}, {self.samples} per action: {self.reached} of "
            f"{len(self.lengths)} trials reach the goal, {self.goal.score_name} {score:g}; a decision calls the "
            f"model {self.calls_per_decision:,.0f} times ({1e3 * self.seconds_per_decision:.3g} ms)."
        )


def sparse_trials(
    task: Any,
    *,
    depth: int,
    samples: int | None = None,
    gamma: float = 0.99,
    seeds: Sequence[int] = range(10),
    steps: int | None = None,
) -> PlannedTrials:
    """Run a trial for each seed in which every decision is made by sparse sampling.

    A trial begins at a start of the task and is stopped after ``steps`` steps, by default the time limit of the task
    or 1,000. The seed decides the start, and among tied actions.

    >>> sparse_trials("puck", depth=4, seeds=range(2), steps=50).calls_per_decision
    30.0
    """
    spec = planned_task(task)
    tries, gamma = checked_samples(spec, samples), checked_gamma(gamma)
    most = whole_number("steps", spec.cap(STEPS) if steps is None else steps, 1)
    worlds = [seeded(spec.task, whole_number("A seed", seed)) for seed in seeds]
    tree = fresh_tree(worlds[0], depth, tries)
    run = at_speed(_planned_trial, worlds[0])
    _compile(run, worlds[0], tree, tries, gamma)
    begun, rows = time.perf_counter(), []
    for world, seed in zip(worlds, seeds, strict=True):
        rng = np.random.default_rng(seed)
        first = np.array(start(world, rng))
        rows.append(run(world, tree, first, tries, gamma, rng, most))
    seconds = time.perf_counter() - begun
    lengths, returns, ended, calls = (np.array(column) for column in zip(*rows, strict=True))
    return PlannedTrials(spec.name, spec.goal, depth, tries, lengths, returns, ended, calls, seconds)


def _compile(run: Any, world: Any, tree: LookAheadTree, samples: int, gamma: float) -> None:
    """Run for no steps, so that compiling is not timed."""
    rng = np.random.default_rng(0)
    run(world, tree, np.array(start(world, rng)), samples, gamma, rng, 0)


@kernel
def _planned_trial(
    task: Any,
    tree: LookAheadTree,
    now: np.ndarray,
    samples: int,
    gamma: float,
    rng: np.random.Generator,
    most: int,
) -> tuple[int, float, bool, int]:
    """Follow sparse sampling from ``now``; return the steps, the return, whether it ended, and calls of the model."""
    length, calls, gained = 0, 0, 0.0
    ended = False
    while length < most and not ended:
        calls += grow_look_ahead(task, tree, now, samples, gamma)
        s, r, ended = transition(task, unpack(task, now), choose(tree.q[0], 0.0, rng))
        for i in range(len(s)):
            now[i] = s[i]
        gained += r
        length += 1
        if truncated(task, s):
            break
    return length, gained, ended, calls


# The depth and samples for a guarantee: Theorem 1 of Kearns, Mansour and Ng (2002).


class SparseBound(NamedTuple):
    """What it takes to be within epsilon of the optimal values."""

    depth: int
    samples: int  #: of each action from each state; 1 in a deterministic task
    log10_calls: float  #: of the model, for one decision; the number itself would rarely fit a float

    def __repr__(self) -> str:
        return (
            f"depth {self.depth:,}, {self.samples:,} samples of each action: 10^{self.log10_calls:,.0f} calls of the "
            "model for one decision"
        )


def sparse_bound(
    *, actions: int, gamma: float, epsilon: float, reward: float = 1.0, deterministic: bool = False
) -> SparseBound:
    """Return the depth and the samples that the paper's proof requires, and the cost of a decision.

    Rewards lie within ``reward`` of 0. With ``lambda = epsilon (1 - gamma)^2 / 4`` and ``V = reward / (1 -
    gamma)``, the depth is ``log_gamma(lambda / V)`` and the samples are ``V^2 / lambda^2 (2 H log(k H V^2 /
    lambda^2) + log(reward / lambda))``. If the task is deterministic, every sample of an action is the same, so
    one is enough; the depth stays.

    >>> sparse_bound(actions=2, gamma=0.95, epsilon=0.1)
    depth 248, 1,603,871,710,027,203 samples of each action: 10^3,846 calls of the model for one decision
    >>> sparse_bound(actions=2, gamma=0.95, epsilon=0.1, deterministic=True)
    depth 248, 1 samples of each action: 10^75 calls of the model for one decision
    """
    k = whole_number("actions", actions, 1)
    g, e, r = _within(("gamma", gamma, 1.0), ("epsilon", epsilon, math.inf), ("reward", reward, math.inf))
    part, most = e * (1.0 - g) ** 2 / 4.0, r / (1.0 - g)
    depth = max(1, math.ceil(math.log(part / most) / math.log(g)))
    ratio = (most / part) ** 2
    exact = ratio * (2.0 * depth * math.log(k * depth * ratio) + math.log(r / part))
    samples = 1 if deterministic else max(1, math.ceil(exact))
    return SparseBound(depth, samples, depth * math.log10(k * samples))


def _within(*numbers: tuple[str, Any, float]) -> list[float]:
    for name, value, most in numbers:
        if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < most:
            words = "above 0 and below 1" if most == 1.0 else "above 0 and finite"
            raise DistinguoError(f"{name} should be a number {words}, got {shown(value)}.")
    return [float(value) for _, value, _ in numbers]
