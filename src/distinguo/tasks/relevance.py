"""Which coordinates of an observation matter, estimated from a short series of trials.

A coordinate matters if it helps to predict rewards or the ends of trials, or how a coordinate that matters changes.
All others can never change a return, whatever is decided: fresh noise, drifts, constants. What *helps to predict* is
tested by the mean of the nearest steps of *other* trials: within a trial, everything that drifts seems related.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from distinguo.tasks.task import actions, observe, start, transition, truncated

STEPS, LONGEST = 300, 60  #: steps of the series, and of a trial in it at most
SWITCH = 0.2  #: how often another action is drawn
NEIGHBOURS = 5  #: steps whose mean is the prediction
LESS = 0.8  #: a coordinate must lower the error of a prediction to this share
EXPLAINED = 0.02  #: the share of the variance below which nothing more is needed
MOST_TRIED = 64  #: coordinates that are tried for a prediction, the most promising ones
BINS = 8  #: in which they show promise


class ShortSeries(NamedTuple):
    """The steps of the series, a row each."""

    before: np.ndarray  #: (steps, dimensions) observations
    after: np.ndarray
    action: np.ndarray  #: (steps,)
    reward: np.ndarray
    end: np.ndarray  #: whether the state after it is terminal
    trial: np.ndarray  #: the number of its trial


def mattering(task: Any, seed: int, budget: int) -> tuple[tuple[bool, ...], int]:
    """Tell for each coordinate whether it matters, and how many steps finding out took.

    If no reward differs and no trial ends within the series, nothing is known and every coordinate matters.

    >>> from distinguo.tasks.puck.puck import Puck
    >>> mattering(Puck(), 0, budget=10_000)[0]
    (True, True)
    """
    steps = _series(task, seed, min(STEPS, budget))
    chosen: list[int] = []
    if np.unique(steps.trial, return_counts=True)[1].max() > len(steps.trial) // 2:  # too few to compare
        return (True,) * steps.before.shape[1], len(steps.trial)
    for target, seen in ((steps.reward, steps.after), (steps.end, steps.after)):
        chosen += [i for i in _predictors(target, seen, steps) if i not in chosen]
    for i in chosen:  # grows meanwhile
        change = steps.after[:, i] - steps.before[:, i]
        chosen += [j for j in _predictors(change, steps.before, steps) if j not in chosen]
    known = chosen if chosen else range(steps.before.shape[1])
    return tuple(i in known for i in range(steps.before.shape[1])), len(steps.reward)


def _series(task: Any, seed: int, most: int) -> ShortSeries:
    rng = np.random.default_rng(seed)
    rows: list[Any] = []
    trial = 0
    while len(rows) < most:
        rows += [(*row, trial) for row in _trial(task, rng, min(LONGEST, most - len(rows)))]
        trial += 1
    return ShortSeries(*(np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)))


def _trial(task: Any, rng: np.random.Generator, most: int) -> Iterator[tuple[Any, ...]]:
    """Yield the steps of a trial in which actions are held for a while."""
    s, count = start(task, rng), actions(task)
    a = int(rng.random() * count)
    for _ in range(most):
        if rng.random() < SWITCH:
            a = int(rng.random() * count)
        s_next, r, terminal = transition(task, s, a)
        yield observe(task, s), observe(task, s_next), a, r, terminal
        if terminal or truncated(task, s_next):
            return
        s = s_next


def _predictors(target: np.ndarray, seen: np.ndarray, steps: ShortSeries) -> list[int]:
    """Choose the coordinates that a target depends on beside the action, the most useful first."""
    left = target - target.mean()
    whole = float(left @ left)
    for a in np.unique(steps.action):
        left[steps.action == a] -= left[steps.action == a].mean()
    error, chosen = float(left @ left), list[int]()
    if whole == 0.0 or error <= 1e-9 * whole:
        return chosen
    spread = seen.std(axis=0)
    tried = _promising(left, seen, np.flatnonzero(spread > 1e-12))
    same = steps.trial[:, None] == steps.trial[None, :]
    apart = np.where(same, np.inf, 0.0)  # steps of the same trial predict nothing
    while error > EXPLAINED * whole and len(chosen) < len(tried):
        found = [(_error(left, apart, seen[:, i] / spread[i]), i) for i in tried if i not in chosen]
        least, best = min(found)
        if least > LESS * error:
            break
        error = least
        chosen.append(best)
        apart = apart + _squares(seen[:, best] / spread[best])
    return chosen


def _promising(left: np.ndarray, seen: np.ndarray, columns: np.ndarray) -> list[int]:
    """The coordinates whose bins differ most in the target."""
    if len(columns) <= MOST_TRIED:
        return [int(i) for i in columns]
    order = np.argsort(seen[:, columns], axis=0, kind="stable")
    bins = np.array_split(left[order], BINS, axis=0)
    between = sum(len(part) * part.mean(axis=0) ** 2 for part in bins)
    best: Any = np.argsort(-np.asarray(between), kind="stable")[:MOST_TRIED]
    return sorted(int(i) for i in columns[best])


def _squares(column: np.ndarray) -> np.ndarray:
    squares: np.ndarray = np.subtract.outer(column, column) ** 2
    return squares


def _error(left: np.ndarray, apart: np.ndarray, column: np.ndarray) -> float:
    """The squared error if each step is predicted by the nearest ones of other trials."""
    far = apart + _squares(column)
    near = np.argpartition(far, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
    missed = left - left[near].mean(axis=1)
    return float(missed @ missed)
