"""Trials of compiled tasks: maps at full speed, teachers in lock-step, answering for many trials at once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from distinguo.distillation.trials.trials import Contender, Count, Decide, Followed, joined, judged
from distinguo.learners.refinement.improvement import PrototypeMap
from distinguo.representations.voronoi import nearest_of
from distinguo.seam import kernel
from distinguo.tasks.extent import TEST, Extent
from distinguo.tasks.spec import Hold, TaskSpec
from distinguo.tasks.task import observe, randomness, seeded, start, transition, truncated, unpack

_STREAM = 5  #: follows the number of a start in the key of its random numbers
TRIES = 1_000  #: to find a start from which failure can be avoided


class Lookup(NamedTuple):
    """A map as kernels read it."""

    prototypes: np.ndarray
    weight: np.ndarray
    actions: np.ndarray


def lookup_of(map_: PrototypeMap) -> Lookup:
    """Return a map as kernels read it."""
    return Lookup(map_.prototypes, 1.0 / map_.scale, map_.actions)


class TrialLanes(NamedTuple):
    """Trials that advance together."""

    states: np.ndarray  #: (lanes, width of a state)
    running: np.ndarray  #: (lanes,)
    rewards: np.ndarray  #: (lanes,) of the last step


class CompiledTrials:
    """Runs trials of a compiled task, several maps at once."""

    def __init__(self, spec: TaskSpec, cap: int) -> None:
        self.spec, self.cap, self.count = spec, cap, Count()
        self._holds = isinstance(spec.goal, Hold)
        self._pool = ThreadPoolExecutor(os.cpu_count())
        self._known: dict[int, Any] = {}  # first states by the number of their start

    def first_states(self, starts: Sequence[int]) -> np.ndarray:
        """Return where trials begin: where the task begins them or, if they should never end, where they need not."""
        for number in starts:
            if number not in self._known:
                self._known[number] = self._first(number)
        return np.array([self._known[number] for number in starts], dtype=np.float64)

    def _first(self, number: int) -> Any:
        rng = np.random.default_rng([number, _STREAM])
        if not self._holds:
            return start(seeded(self.spec.task, number), rng)
        extent = Extent(self.spec.low, self.spec.high)
        for _ in range(TRIES):
            drawn = extent.draw(rng, TEST, 1)
            if len(self.spec.controllable_among(drawn)):
                return drawn[0]
        return start(self.spec.task, rng)

    def _tasks(self, starts: Sequence[int]) -> list[tuple[Any, Sequence[int]]]:
        """Return tasks and their starts: one for all of them, or each with noise of its own."""
        if randomness(self.spec.task) is None:
            return [(self.spec.task, starts)]
        return [(seeded(self.spec.task, number), [number]) for number in starts]

    def _gained(self, map_: PrototypeMap, starts: Sequence[int]) -> tuple[np.ndarray, int]:
        """Return what a map gains from each start, and the steps that this took."""
        table, gained, steps = lookup_of(map_), [], 0
        for task, some in self._tasks(starts):
            returns, lengths = np.zeros(len(some)), np.zeros(len(some), dtype=np.int64)
            run_map(task, table, self.first_states(some), self.cap, returns, lengths)
            gained.append(lengths.astype(np.float64) if self._holds else returns)
            steps += int(lengths.sum())
        return np.concatenate(gained), steps

    def judge(self, contenders: Sequence[Contender]) -> list[np.ndarray]:
        """Return the returns of maps; of one that was given up, only the first."""

        def one(contender: Contender) -> tuple[np.ndarray, int]:
            took = [0]

            def run(starts: Sequence[int]) -> np.ndarray:
                gained, steps = self._gained(contender.map, starts)
                took[0] += steps
                return gained

            return judged(contender, run), took[0]

        results = list(self._pool.map(one, contenders))
        self.count_more([len(returns) for returns, _ in results], sum(steps for _, steps in results))
        return [returns for returns, _ in results]

    def count_more(self, trials: Sequence[int], steps: int) -> None:
        """Count trials that were run."""
        self.count = self.count.more(sum(trials), steps)

    def follow(self, map_: PrototypeMap, starts: Sequence[int]) -> Followed:
        """Run a map from these starts, and tell what it saw."""
        return self.follow_teacher(map_.choose, starts)

    def follow_teacher(self, decide: Decide, starts: Sequence[int]) -> Followed:
        """Run a teacher, or whatever answers observations with actions, from these starts."""
        parts = [
            in_step(task, decide, self.first_states(some), self.cap, self._holds)
            for task, some in self._tasks(starts)
        ]
        followed = joined(parts)
        self.count_more([len(followed.lengths)], int(followed.lengths.sum()))
        return followed

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=False)


def in_step(task: Any, decide: Decide, first: np.ndarray, cap: int | np.ndarray, holds: bool) -> Followed:
    """Run trials from their first states together; what decides is asked once a step for all of them.

    ``cap`` are the steps of each at most; where they should never end, what they gain are their steps.
    """
    count = len(first)
    lanes = TrialLanes(first.copy(), np.ones(count, dtype=np.bool_), np.zeros(count))
    dimensions = len(observe(task, unpack(task, first[0])))
    told: list[tuple[np.ndarray, ...]] = []
    returns = np.zeros(count)
    for step in range(int(np.max(cap))):
        rows = np.flatnonzero(lanes.running & (step < cap))
        if not len(rows):
            break
        seen = np.zeros((len(rows), dimensions))
        observe_lanes(task, lanes.states, rows, seen)
        taken = decide(seen)
        told.append((rows, seen, taken, lanes.states[rows]))
        step_lanes(task, lanes, rows, taken)
        returns[rows] += 1.0 if holds else lanes.rewards[rows]
    lane, seen, taken, states = (np.concatenate(column) for column in zip(*told, strict=True))
    order = np.argsort(lane, kind="stable")
    lengths = np.bincount(lane, minlength=count)
    return Followed(returns, lengths, seen[order], taken[order], states[order])


@kernel
def run_map(
    task: Any, table: Lookup, first: np.ndarray, cap: int, returns: np.ndarray, lengths: np.ndarray
) -> None:
    """Follow a map from every first state to the end of its trial."""
    for n in range(len(first)):
        s = unpack(task, first[n])
        length, gained, ended = 0, 0.0, False
        while not ended and length < cap:
            p = nearest_of(table.prototypes, len(table.prototypes), table.weight, observe(task, s))
            s, r, terminal = transition(task, s, table.actions[p])
            gained += r
            length += 1
            ended = terminal or truncated(task, s)
        returns[n], lengths[n] = gained, length


@kernel
def observe_lanes(task: Any, states: np.ndarray, rows: np.ndarray, seen: np.ndarray) -> None:
    """Write down what is seen in some of the lanes."""
    for place in range(len(rows)):
        observation = observe(task, unpack(task, states[rows[place]]))
        for i in range(len(observation)):
            seen[place, i] = observation[i]


@kernel
def step_lanes(task: Any, lanes: TrialLanes, rows: np.ndarray, taken: np.ndarray) -> None:
    """Take an action in some of the lanes."""
    for place in range(len(rows)):
        lane = rows[place]
        s, r, terminal = transition(task, unpack(task, lanes.states[lane]), taken[place])
        for i in range(len(s)):
            lanes.states[lane, i] = s[i]
        lanes.rewards[lane] = r
        lanes.running[lane] = not (terminal or truncated(task, s))
