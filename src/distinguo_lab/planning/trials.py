"""Trials of a policy without any representation: what it reaches, and what each of its decisions costs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import choose
from distinguo.errors import whole_number
from distinguo.seam import at_speed, kernel
from distinguo.tasks.spec import Goal
from distinguo.tasks.task import seeded, start, transition, truncated, unpack
from distinguo_lab.planning.sparse import (
    LookAheadTree,
    checked_gamma,
    checked_samples,
    fresh_tree,
    grow_look_ahead,
    planned_task,
)

STEPS = 1_000  #: after which a trial is left that nothing else ends


class PlannedTrials(NamedTuple):
    """What became of the trials, one per seed."""

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
        """Return how many trials did what the task asks for."""
        return int(self.goal.reached(self.ended, self.returns).sum())

    @property
    def calls_per_decision(self) -> float:
        """Return how often the model was asked for one decision, on average."""
        return float(self.calls.sum() / self.lengths.sum())

    @property
    def seconds_per_decision(self) -> float:
        """Return the time of one decision, on average."""
        return float(self.seconds / self.lengths.sum())

    def __repr__(self) -> str:
        score = self.goal.score(self.lengths, self.returns)
        return (
            f"Sparse sampling of {self.task}, depth {self.depth}, {self.samples} per action: {self.reached} of "
            f"{len(self.lengths)} trials reach the goal, {self.goal.score_name} {score:g}; a decision asks the model "
            f"{self.calls_per_decision:,.0f} times ({1e3 * self.seconds_per_decision:.3g} ms)."
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

    A trial begins where those of the task begin and is left after so many ``steps``, by default the time limit of the
    task or 1,000; the seed decides where it begins and among tied actions.

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
    """Run for no step at all, so that compiling is not counted as deciding."""
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
    """Follow sparse sampling from ``now``: the steps, the sum of rewards, whether it ended, calls of the model."""
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
