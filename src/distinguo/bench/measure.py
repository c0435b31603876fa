"""Two ways to do the same work, timed in turns, so that a busy machine is busy for both."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from distinguo.bench.problems import Problem, problem
from distinguo.bench.reference import GymnasiumLoop, Reference, compiler
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.evaluation.lockstep.voronoi import evaluate_lockstep
from distinguo.evaluation.simulate import evaluate

SIZES = (2, 24, 100, 1000, 10_000)
BY_HAND = (2, 24)  #: more prototypes than these are not looked through by hand
GYMNASIUM_STEPS = 1000
#: A way to do some work: the number of steps, and what must come out the same.
Work = Callable[[], tuple[int, Any]]


class Comparison(NamedTuple):
    """Steps per second of ours and of a reference, and their ratio over all rounds."""

    name: str
    prototypes: int
    reference: str
    ours: float
    theirs: float
    ratio: float  #: the median over the rounds
    low: float  #: and the bounds of the middle four fifths of them
    high: float


class Effort(NamedTuple):
    """How much is measured."""

    rounds: int
    steps: int  #: of every lane of the lock-step
    prototypes_passed: int  #: of every lane in the brute force, over all steps


FULL = Effort(rounds=41, steps=40_000, prototypes_passed=200_000)
QUICK = Effort(rounds=3, steps=3_000, prototypes_passed=20_000)


def compare(name: str, size: int, reference: str, ours: Work, theirs: Work, rounds: int) -> Comparison:
    """Do both in turns, ours first in every other round.

    >>> def loop():
    ...     return 100, sum(range(100))
    >>> compare("sum", 1, "the same", loop, loop, rounds=5).ratio > 0
    True
    """
    if _differ(ours()[1], theirs()[1]):  # also compiles, and warms the caches
        raise DistinguoError(f"{name} and its reference ({reference}) differ with {size} prototypes.")
    rates = np.empty((rounds, 2))
    for n in range(rounds):
        for which, work in [(0, ours), (1, theirs)][:: 1 if n % 2 == 0 else -1]:
            rates[n, which] = _rate(work)
    ratios = rates[:, 0] / rates[:, 1]
    low, median, high = np.quantile(ratios, [0.1, 0.5, 0.9]).tolist()
    mine, other = np.median(rates, axis=0).tolist()
    return Comparison(name, size, reference, mine, other, median, low, high)


def _rate(work: Work) -> float:
    """Return steps per second of processor time: the waiting for other programs is not ours."""
    begin = time.thread_time()
    steps, _ = work()
    return steps / max(time.thread_time() - begin, 1e-9)


def _differ(mine: Any, theirs: Any) -> bool:
    return mine is not None and theirs is not None and not np.array_equal(mine, theirs)


def comparisons(effort: Effort, seed: int = 0) -> Iterator[Comparison]:
    """Compare with C of the same loops where there is a compiler, then with a Gymnasium loop."""
    problems = [problem(size, seed) for size in SIZES]
    if compiler() is not None:
        c = Reference()
        for given in problems:
            yield _lockstep_and_c(given, c, effort)
        for given in problems:
            yield _brute_force_and_c(given, c, effort)
        for given in problems:
            if c.has("run_by_hand") and given.size in BY_HAND:
                yield _lockstep_and_hand(given, c, effort)
    for given in problems:
        if given.size in (2, 24):
            yield _lockstep_and_gymnasium(given, effort)


def _lockstep(given: Problem, steps: int) -> tuple[int, np.ndarray]:
    outcome = evaluate_lockstep(given.task, Controller(given.map, given.q, 0.0), given.starts, steps)
    assert outcome is not None
    return int(outcome.lengths.sum()), outcome.lengths


def _in_c(given: Problem, c: Reference, name: str, steps: int) -> tuple[int, np.ndarray]:
    lengths = c.run(name, given.task, given.map, given.policy, given.starts, steps)
    return int(lengths.sum()), lengths


def _lockstep_and_c(given: Problem, c: Reference, effort: Effort) -> Comparison:
    def ours() -> tuple[int, np.ndarray]:
        return _lockstep(given, effort.steps)

    def theirs() -> tuple[int, np.ndarray]:
        return _in_c(given, c, "run_lockstep", effort.steps)

    return compare("lock-step", given.size, "C, same lookup", ours, theirs, effort.rounds)


def _lockstep_and_hand(given: Problem, c: Reference, effort: Effort) -> Comparison:
    def ours() -> tuple[int, np.ndarray]:
        return _lockstep(given, effort.steps)

    def theirs() -> tuple[int, np.ndarray]:
        return _in_c(given, c, "run_by_hand", effort.steps)

    return compare("lock-step", given.size, "C by hand, AVX-512", ours, theirs, effort.rounds)


def _brute_force_and_c(given: Problem, c: Reference, effort: Effort) -> Comparison:
    steps = max(effort.prototypes_passed // given.size, 10)
    rng = np.random.default_rng(0)

    def ours() -> tuple[int, np.ndarray]:
        lengths = evaluate(given.task, Controller(given.map, given.q, 0.0), rng, given.starts, steps).lengths
        return int(lengths.sum()), lengths

    def theirs() -> tuple[int, np.ndarray]:
        return _in_c(given, c, "run_brute_force", steps)

    return compare("brute force", given.size, "C, same lookup", ours, theirs, effort.rounds)


def _lockstep_and_gymnasium(given: Problem, effort: Effort) -> Comparison:
    loop = GymnasiumLoop(given.map, given.policy)
    steps = min(GYMNASIUM_STEPS, effort.steps)

    def ours() -> tuple[int, None]:
        return _lockstep(given, effort.steps)[0], None

    def theirs() -> tuple[int, None]:
        return loop.run(given.starts[0], steps), None

    return compare("lock-step", given.size, "Gymnasium, NumPy argmin", ours, theirs, effort.rounds)
