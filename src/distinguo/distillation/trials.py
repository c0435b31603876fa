"""Trials of maps and teachers from numbered starts, the same for all of them.

A start is a number. It decides where a trial begins and, in a stochastic task, its noise, so that maps are compared
on equal terms. The results do not depend on how many trials run side by side. Compiled tasks run maps at full speed
and teachers in lock-step, so that a teacher answers for many trials at once. An environment of Gymnasium runs one
trial after the other, here or in other processes (workers.py).

Every question is answered through a ledger (ledger.py). Where the steps that are left might not suffice for all
trials of a question, they are run one after the other, and none takes more steps than are left.
"""

from __future__ import annotations

import itertools
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from distinguo.distillation.ledger import Arrays, BudgetEndedError, Count, Ledger
from distinguo.representations.voronoi import nearest_of
from distinguo.seam import is_compiled, kernel
from distinguo.search.maps import PrototypeMap
from distinguo.search.races import Contender, judged
from distinguo.search.trials import TrialLanes, observe_lanes, run_map, step_lanes
from distinguo.tasks.amounts import Laws, amounts_of, laws_of, with_laws
from distinguo.tasks.extent import TEST, Extent
from distinguo.tasks.gym.face import TaskEnv
from distinguo.tasks.gym.source import CheckedEnv
from distinguo.tasks.spec import Hold, TaskSpec
from distinguo.tasks.task import randomness, seeded, start
from distinguo.tasks.world import world_of

Batch = np.ndarray  #: of observations, a row each
Decide = Callable[[Batch], np.ndarray]  #: from observations to the numbers of actions
Act = Callable[[tuple[float, ...]], int]
Take = Callable[[Batch], np.ndarray]  #: from observations to amounts, a row each

TRIES = 1_000  #: to find a start from which failure can be avoided
_STREAM = 5  #: follows the number of a start in the key of its random numbers


class Followed(NamedTuple):
    """Recorded trials."""

    returns: np.ndarray  #: (trials,)
    lengths: np.ndarray  #: (trials,)
    seen: np.ndarray  #: (steps of all trials, dimensions) the observation before each step
    taken: np.ndarray  #: (steps,) the action that was taken
    states: (
        np.ndarray
    )  #: (steps, width of a state) where it was taken; of width 0 if the task cannot start there

    @property
    def step(self) -> np.ndarray:
        """The number of every step within its trial."""
        return np.concatenate([np.arange(length) for length in self.lengths])


class Trials(ABC):
    """Runs trials of one task, of at most ``cap`` steps each and never more than the ledger allows."""

    def __init__(self, spec: TaskSpec, cap: int, ledger: Ledger | None = None) -> None:
        self.spec, self.cap, self.ledger = spec, cap, ledger or Ledger()
        self._before = self.ledger.count

    @property
    def count(self) -> Count:
        """The trials and steps so far."""
        now, before = self.ledger.count, self._before
        return Count(now.trials - before.trials, now.steps - before.steps)

    def judge(self, contenders: Sequence[Contender]) -> list[np.ndarray]:
        """Return the returns of maps; for one that was given up, only the first ones."""
        starts = [len(one.starts) for one in contenders]

        def run() -> Arrays:
            enough = sum(starts) * self.cap <= self.ledger.left
            results = self._judge(contenders) if enough else [self._judge_one(one) for one in contenders]
            return {str(n): returns for n, returns in enumerate(results)}

        def fits(arrays: Arrays) -> bool:
            return len(arrays) == len(starts) and all(
                _are_numbers(arrays.get(str(n)), 1) and 0 < len(arrays[str(n)]) <= most
                for n, most in enumerate(starts)
            )

        asked = [part for one in contenders for part in (*_parts(one.map), list(one.starts), one.present)]
        arrays = self.ledger.answer(self._question("judge", *asked), run, fits)
        return [arrays[str(n)] for n in range(len(contenders))]

    def _judge_one(self, contender: Contender) -> np.ndarray:
        return judged(contender, lambda starts: np.array([self._gained_by(contender.map, n) for n in starts]))

    def _gained_by(self, map_: PrototypeMap, number: int) -> float:
        return float(self._within(lambda most: self._follow_map(map_, [number], most)).returns[0])

    def follow(self, map_: PrototypeMap, starts: Sequence[int], partly: bool = False) -> Followed:
        """Run a map from these starts, and return the trials step by step.

        ``partly`` allows fewer trials than starts where the budget ends: the complete ones, or else the first as far
        as it went.
        """
        question = self._question("follow", *_parts(map_), list(starts), partly)
        return self._followed(question, starts, partly, lambda some, most: self._follow_map(map_, some, most))

    def follow_teacher(self, decide: Decide, starts: Sequence[int], partly: bool = False) -> Followed:
        """Run a teacher from these starts; ``partly`` as above."""
        question = self._question("teacher", list(starts), partly)
        return self._followed(
            question, starts, partly, lambda some, most: self._follow_teacher(decide, some, most)
        )

    def use_laws(self, table: np.ndarray) -> None:
        """Let actions be these laws from now on; for a task that takes amounts."""
        self.spec = with_laws(self.spec, table)

    def gains_of_amounts(self, take: Take, starts: Sequence[int]) -> np.ndarray:
        """The returns of a teacher that takes amounts: at each step, a constant law for every trial says them."""
        before = laws_of(self.spec)
        assert before is not None
        self.use_laws(np.zeros((len(starts), *before.table.shape[1:])))
        try:
            question, now = self._question("amounts", list(starts)), laws_of(self.spec)
            assert now is not None

            def decide(rows: Batch) -> np.ndarray:
                now.table[: len(rows), :, -1] = take(rows)
                return np.arange(len(rows))

            def run() -> Arrays:
                follow = partial(self._follow_teacher, decide)
                return {"returns": self._followed(question, starts, False, follow).returns}

            def fits(arrays: Arrays) -> bool:
                returns = arrays.get("returns")
                return returns is not None and _are_numbers(returns, 1) and len(returns) == len(starts)

            return self.ledger.answer(question, run, fits)["returns"]
        finally:
            self.use_laws(before.table)

    def _followed(
        self,
        question: Sequence[Any],
        starts: Sequence[int],
        partly: bool,
        follow: Callable[[Sequence[int], int], Followed],
    ) -> Followed:
        def run() -> Arrays:
            if len(starts) * self.cap <= self.ledger.left:
                return follow(starts, self.cap)._asdict()
            whole: list[Followed] = []
            try:
                for number in starts:
                    whole.append(self._within(partial(follow, [number]), partly and not whole))
            except BudgetEndedError:
                if not partly or not whole:
                    raise
            return joined(whole)._asdict()

        def fits(arrays: Arrays) -> bool:
            return set(arrays) == set(Followed._fields) and _belong_together(
                Followed(**arrays), self.spec, len(starts), self.cap
            )

        return Followed(**self.ledger.answer(question, run, fits))

    def _within(self, follow: Callable[[int], Followed], cut: bool = False) -> Followed:
        """Run one trial with at most the steps that are left; unless ``cut`` is allowed, it must end within them."""
        most = int(min(self.cap, self.ledger.left))
        if most < 1:
            raise BudgetEndedError
        followed = follow(most)
        if most < self.cap and not cut and followed.lengths[0] >= most:
            raise BudgetEndedError
        return followed

    def _question(self, what: str, *parts: Any) -> list[Any]:
        known = laws_of(self.spec)
        laws = [] if known is None else [known.table]
        return [what, self.spec.name, dict(self.spec.parameters), self.cap, *laws, *parts]

    @abstractmethod
    def _judge(self, contenders: Sequence[Contender]) -> list[np.ndarray]:
        """The returns of maps, run side by side."""

    @abstractmethod
    def _follow_map(self, map_: PrototypeMap, starts: Sequence[int], most: int) -> Followed:
        """The trials of a map, of at most ``most`` steps each."""

    @abstractmethod
    def _follow_teacher(self, decide: Decide, starts: Sequence[int], most: int) -> Followed:
        """The trials of a teacher, of at most ``most`` steps each."""

    @abstractmethod
    def close(self) -> None:
        """Release threads and processes."""


def _parts(map_: PrototypeMap) -> tuple[np.ndarray, ...]:
    return map_.prototypes, map_.actions[: map_.size], map_.scale, map_.partition.weight


def _are_numbers(array: np.ndarray | None, dimensions: int, kind: str = "f") -> bool:
    return (
        array is not None
        and (array.ndim, array.dtype.kind) == (dimensions, kind)
        and bool(np.isfinite(array).all())
    )


def _belong_together(followed: Followed, spec: TaskSpec, most: int, cap: int) -> bool:
    """Whether the parts of recorded trials fit each other and the task."""
    returns, lengths, seen, taken, states = followed
    return (
        _are_numbers(returns, 1)
        and _are_numbers(lengths, 1, "i")
        and 0 < len(returns) == len(lengths) <= most
        and bool(((lengths > 0) & (lengths <= cap)).all())
        and _are_numbers(seen, 2)
        and seen.shape == (lengths.sum(), len(spec.dimensions))
        and _are_numbers(taken, 1, "i")
        and len(taken) == len(seen) == len(states)
        and bool(((taken >= 0) & (taken < len(spec.actions))).all())
        and _are_numbers(states, 2)
    )


def trials_of(spec: TaskSpec, cap: int, ledger: Ledger | None = None) -> Trials:
    """The runner for trials of a task: compiled, in other processes, or in the given environment."""
    from distinguo.distillation.workers import WorkerTrials

    if is_compiled(spec.task):
        return CompiledTrials(spec, cap, ledger)
    if spec.interpreted and spec.portable:
        others = WorkerTrials(spec, cap, ledger=ledger)
        if others.knows_task():
            return others
        others.close()
    return EnvironmentTrials(spec, cap, ledger)


def joined(parts: Sequence[Followed]) -> Followed:
    """Join trials that were followed separately."""
    return Followed(*(np.concatenate(column) for column in zip(*parts, strict=True)))


# ---- compiled tasks ------------------------------------------------------------------------------------------------


class CompiledTrials(Trials):
    """Runs trials of a compiled task, several maps at once."""

    def __init__(self, spec: TaskSpec, cap: int, ledger: Ledger | None = None) -> None:
        super().__init__(spec, cap, ledger)
        self._holds = isinstance(spec.goal, Hold)
        self._width = len(start(seeded(spec.task, 0), np.random.default_rng(0)))  # of a state
        self._pool = ThreadPoolExecutor(os.cpu_count())
        self._known: dict[int, Any] = {}  # first states, by the number of the start
        self._noise: dict[int, Any] = {}  # and the states of the task's own generator
        self._thread = threading.local()  # a task and a world for every thread

    def use_laws(self, table: np.ndarray) -> None:
        """Let actions be these laws from now on."""
        super().use_laws(table)
        self._thread = threading.local()  # worlds know the laws

    def first_states(self, starts: Sequence[int]) -> np.ndarray:
        """The first states of trials: as the task draws them or, if trials should never end, controllable ones."""
        for number in starts:
            if number not in self._known:
                self._known[number] = self._first(number)
        return np.array([self._known[number] for number in starts], dtype=np.float64)

    def _first(self, number: int) -> Any:
        rng = np.random.default_rng([number, _STREAM])
        if not self._holds or self._width != len(self.spec.dimensions):  # where less than a state is observed
            return start(seeded(self.spec.task, number), rng)
        extent = Extent(self.spec.low, self.spec.high)
        for _ in range(TRIES):
            drawn = extent.draw(rng, TEST, 1)
            if len(self.spec.controllable_among(drawn)):
                return drawn[0]
        return start(self.spec.task, rng)

    @property
    def world(self) -> Any:
        """The world of the task that this thread works in."""
        if not hasattr(self._thread, "world"):
            self._thread.task = seeded(self.spec.task, 0)
            self._thread.world = world_of(self._thread.task, self._width, len(self.spec.dimensions))
        return self._thread.world

    def _worlds(self, starts: Sequence[int]) -> Iterator[tuple[Any, Sequence[int]]]:
        """Yield the world for all starts or, in a stochastic task, for one start at a time, with its noise."""
        world, generator = self.world, randomness(self._thread.task)
        if generator is None:
            yield world, starts
            return
        for number in starts:
            generator.bit_generator.state = self._noise_of(number)
            yield world, [number]

    def _noise_of(self, number: int) -> Any:
        """Return the state of the task's own generator at a start."""
        if number not in self._noise:
            generator = randomness(seeded(self.spec.task, number))
            assert generator is not None
            self._noise[number] = generator.bit_generator.state
        return self._noise[number]

    def _gained(self, map_: PrototypeMap, starts: Sequence[int]) -> tuple[np.ndarray, int]:
        """The return of a map from each start, and the steps that this took."""
        gained, steps = [], 0
        for world, some in self._worlds(starts):
            returns, lengths = np.zeros(len(some)), np.zeros(len(some), dtype=np.int64)
            run_map(world, map_, self.first_states(some), self.cap, returns, lengths)
            gained.append(lengths.astype(np.float64) if self._holds else returns)
            steps += int(lengths.sum())
        return np.concatenate(gained), steps

    def _judge(self, contenders: Sequence[Contender]) -> list[np.ndarray]:
        def one(contender: Contender) -> tuple[np.ndarray, int]:
            took = [0]

            def run(starts: Sequence[int]) -> np.ndarray:
                gained, steps = self._gained(contender.map, starts)
                took[0] += steps
                return gained

            return judged(contender, run), took[0]

        results = list(self._pool.map(one, contenders))
        self.ledger.spend(sum(len(returns) for returns, _ in results), sum(steps for _, steps in results))
        return [returns for returns, _ in results]

    def _follow_map(self, map_: PrototypeMap, starts: Sequence[int], most: int) -> Followed:
        return self._follow_teacher(map_.choose, starts, most)

    def _follow_teacher(self, decide: Decide, starts: Sequence[int], most: int) -> Followed:
        parts = [
            in_step(world, decide, self.first_states(some), most, self._holds)
            for world, some in self._worlds(starts)
        ]
        followed = joined(parts)
        self.ledger.spend(len(followed.lengths), int(followed.lengths.sum()))
        return followed

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=False)


def in_step(world: Any, decide: Decide, first: np.ndarray, cap: int | np.ndarray, holds: bool) -> Followed:
    """Run trials from their first states together; ``decide`` is called once per step for all of them.

    ``cap`` is the most steps of each; where trials should never end, the return is their length.
    """
    count = len(first)
    lanes = TrialLanes(first.copy(), np.ones(count, dtype=np.bool_), np.zeros(count))
    dimensions = world.sights.shape[1]
    told: list[tuple[np.ndarray, ...]] = []
    returns = np.zeros(count)
    for step in range(int(np.max(cap))):
        rows = np.flatnonzero(lanes.running & (step < cap))
        if not len(rows):
            break
        seen = np.zeros((len(rows), dimensions))
        observe_lanes(world, lanes.states, rows, seen)
        taken = decide(seen)
        told.append((rows, seen, taken, lanes.states[rows]))
        step_lanes(world, lanes, rows, taken)
        returns[rows] += 1.0 if holds else lanes.rewards[rows]
    lane, seen, taken, states = (np.concatenate(column) for column in zip(*told, strict=True))
    order = np.argsort(lane, kind="stable")
    lengths = np.bincount(lane, minlength=count)
    return Followed(returns, lengths, seen[order], taken[order], states[order])


# ---- environments --------------------------------------------------------------------------------------------------


class EnvironmentTrials(Trials):
    """Runs trials of the one environment of a task, or of a declared task that is plain Python."""

    def __init__(self, spec: TaskSpec, cap: int, ledger: Ledger | None = None) -> None:
        super().__init__(spec, cap, ledger)
        self._checked: CheckedEnv = (
            spec.task.driver.checked_env if spec.interpreted else CheckedEnv(TaskEnv(spec, cap), spec.name)
        )

    @property
    def _laws(self) -> Laws | None:
        """The laws that decide what is sent; a task of ours takes the number of a law itself."""
        return laws_of(self.spec) if self.spec.interpreted else None

    def _judge(self, contenders: Sequence[Contender]) -> list[np.ndarray]:
        return [self._judge_one(one) for one in contenders]

    def _follow_map(self, map_: PrototypeMap, starts: Sequence[int], most: int) -> Followed:
        return self._follow(action_by(map_), starts, most)

    def _follow_teacher(self, decide: Decide, starts: Sequence[int], most: int) -> Followed:
        return self._follow(lambda seen: int(decide(np.array([seen]))[0]), starts, most)

    def _follow(self, act: Act, starts: Sequence[int], most: int) -> Followed:
        trials = [self._run(act, n, most) for n in starts]
        return Followed(
            np.array([gained for gained, _, _ in trials]),
            np.array([len(taken) for _, _, taken in trials]),
            np.array([row for _, seen, _ in trials for row in seen]),
            taken := np.array([a for _, _, done in trials for a in done]),
            np.zeros((len(taken), 0)),
        )

    def _run(self, act: Act, number: int, most: int) -> tuple[float, list[tuple[float, ...]], list[int]]:
        """Run a trial: its return, its observations and its actions."""
        now = self._checked.reset(number, number)
        seen: list[tuple[float, ...]] = []
        taken: list[int] = []
        gained, ended, laws = 0.0, False, self._laws
        try:
            while not ended and len(taken) < most:
                seen.append(now)
                taken.append(act(now))
                sent = taken[-1] if laws is None else amounts_of(laws, taken[-1], now)
                now, reward, terminated, truncated = self._checked.step(sent, number, len(taken))
                gained += reward
                ended = terminated or truncated
        finally:  # Ctrl-C and faults count, too
            self.ledger.spend(1, len(taken))
        return gained, seen, taken

    def gained_instead(self, decide: Decide, number: int, moves: Sequence[int], held: Sequence[int]) -> float:
        """The return of a trial that takes these moves, then the held ones, and then follows a teacher.

        The number of its start brings back the same random numbers.
        """
        begun = [*moves, *held]

        def act(seen: tuple[float, ...]) -> int:
            step = next(steps)
            return begun[step] if step < len(begun) else int(decide(np.array([seen]))[0])

        steps = itertools.count()
        question = self._question("instead", number, begun)
        run = partial(self._within, partial(self._follow, act, [number]))
        found = self.ledger.answer(
            question, lambda: {"gained": run().returns}, lambda arrays: _are_numbers(arrays.get("gained"), 1)
        )
        return float(found["gained"][0])

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


def action_by(map_: PrototypeMap) -> Act:
    """The action of a map, as a function of one observation."""
    prototypes, weight = map_.prototypes, map_.partition.weight
    return lambda seen: int(action_at(prototypes, weight, map_.actions, np.array(seen)))


@kernel
def action_at(prototypes: np.ndarray, weight: np.ndarray, actions: np.ndarray, seen: np.ndarray) -> int:
    """Return the action of the prototype that is nearest to an observation."""
    return actions[nearest_of(prototypes, len(prototypes), weight, seen)]
