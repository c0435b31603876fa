"""Two ways to do the same work, timed in turns, so that a busy machine slows down both.

A round is four short runs: ours, theirs, theirs, ours, or the reverse. For each side the faster of its two runs
counts, since other programs can only make a run slower. The ratio is the median over the rounds; the range of the
middle four fifths of them shows how busy the machine was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.evaluation.lockstep.driver import evaluate_lockstep
from distinguo.evaluation.simulate import evaluate
from distinguo.representations.voronoi import voronoi
from distinguo.tasks.catalog import task_spec
from distinguo.tasks.puck.analysis import DIAGONAL_SLOPE
from distinguo.tasks.puck.puck import LEFT, Puck
from distinguo_lab.bench.reference import CReference, GymnasiumLoop, c_compiler

BATCH = 50  #: trials, as many as the tester's
LONG = 50_000  #: a trial of so many steps counts as held
DRAWS = 40  #: attempts to draw a partition that holds the trials


class Problem(NamedTuple):
    """A controller that holds the puck from all of the starts."""

    size: int  #: prototypes
    task: Puck
    controller: Controller
    starts: np.ndarray


def draw_problem(size: int, seed: int = 0) -> Problem:
    """Draw prototypes until their policy, by the side of the diagonal of each, holds the puck.

    >>> draw_problem(24).starts.shape
    (50, 2)
    """
    hill = task_spec("puck")
    low, high = np.array(hill.low), np.array(hill.high)
    rng = np.random.default_rng([seed, size])
    for _ in range(DRAWS):
        places = rng.uniform(low, high, (size, 2)) if size > 2 else np.array([[0.3, 0.6], [-0.3, -0.6]])
        to_the_left = places[:, 1] > DIAGONAL_SLOPE * places[:, 0]
        q = np.where(to_the_left[:, None] == (np.arange(2) == LEFT), 0.0, -1.0)
        starts = rng.uniform(low / 4, high / 4, (4 * BATCH, 2))
        controller = Controller(voronoi(places, hill.scale), q)
        outcome = evaluate_lockstep(hill.task, controller, rng, starts, LONG)
        if outcome is not None and (~outcome.ended).sum() >= BATCH:
            return Problem(size, hill.task, controller, starts[~outcome.ended][:BATCH])
    raise AssertionError(f"no draw of {size} prototypes holds the puck; choose another seed than {seed}")


UNUSED = np.random.default_rng(0)  #: nothing is tied here
SIZES = (2, 24, 100, 1000, 10_000)
BY_HAND = (2, 24)  #: numbers of prototypes small enough for an exhaustive search
GYMNASIUM_STEPS = 1000
#: Some work: it returns its number of steps, and a result that must be the same on both sides.
Work = Callable[[], tuple[int, Any]]


class Timing(NamedTuple):
    """Steps per second of ours and of a reference, the medians over the rounds, and their ratio."""

    name: str
    prototypes: int
    reference: str
    ours: float
    theirs: float
    ratio: float  #: median over the rounds
    low: float  #: a tenth of the rounds are below this,
    high: float  #: and a tenth above this

    def __str__(self) -> str:
        rates = f"{self.ours / 1e6:12.3f}   {self.reference:<24}{self.theirs / 1e6:12.4f}"
        spread = f"({self.low:.2f} to {self.high:.2f})"
        return f"{self.name:<12}{self.prototypes:11}{rates}{self.ratio:10.2f} {spread}"


class Effort(NamedTuple):
    """The amount of work to measure."""

    rounds: int
    steps: int  #: of every lane of the lock-step
    prototypes_passed: int  #: of every lane in the brute force, over all steps


FULL_EFFORT = Effort(rounds=31, steps=40_000, prototypes_passed=200_000)
QUICK_EFFORT = Effort(rounds=5, steps=20_000, prototypes_passed=20_000)


def time_in_turns(name: str, size: int, reference: str, ours: Work, theirs: Work, rounds: int) -> Timing:
    """Time both in turns, ours first in every other round.

    >>> def loop():
    ...     return 100, sum(range(100))
    >>> time_in_turns("sum", 1, "the same", loop, loop, rounds=5).ratio > 0
    True
    """
    if _differ(ours()[1], theirs()[1]):  # also compiles, and warms the caches
        raise DistinguoError(f"{name} and its reference ({reference}) differ with {size} prototypes.")
    rates = np.empty((rounds, 2))
    for n in range(rounds):
        pair = (ours, theirs) if n % 2 == 0 else (theirs, ours)
        first, second, again, last = (_rate(work) for work in (*pair, *reversed(pair)))
        rates[n] = (max(first, last), max(second, again))[:: 1 if n % 2 == 0 else -1]
    ratios = rates[:, 0] / rates[:, 1]
    low, median, high = np.quantile(ratios, [0.1, 0.5, 0.9]).tolist()
    mine, other = np.median(rates, axis=0).tolist()
    return Timing(name, size, reference, mine, other, median, low, high)


def _rate(work: Work) -> float:
    """Steps per second of processor time, which does not count waiting for other programs."""
    begin = time.thread_time()
    steps, _ = work()
    return steps / max(time.thread_time() - begin, 1e-9)


def _differ(mine: Any, theirs: Any) -> bool:
    return mine is not None and theirs is not None and not np.array_equal(mine, theirs)


def timings(effort: Effort, seed: int = 0) -> Iterator[Timing]:
    """Compare with the same loops in C, if there is a compiler, then with a Gymnasium loop."""
    problems = [draw_problem(size, seed) for size in SIZES]
    few = [problem for problem in problems if problem.size in BY_HAND]
    if c_compiler() is not None:
        c = CReference()
        for problem in problems:
            yield _lockstep_and_c(problem, c, effort)
        for problem in problems:
            yield _brute_force_and_c(problem, c, effort)
        for problem in few if c.has("run_by_hand") else []:
            yield _lockstep_and_hand(problem, c, effort)
    for problem in few:
        yield _lockstep_and_gymnasium(problem, effort)


def _lockstep(problem: Problem, steps: int) -> tuple[int, np.ndarray]:
    outcome = evaluate_lockstep(problem.task, problem.controller, UNUSED, problem.starts, steps)
    assert outcome is not None
    return int(outcome.lengths.sum()), outcome.lengths


def _in_c(problem: Problem, c: CReference, name: str, steps: int) -> tuple[int, np.ndarray]:
    lengths = c.run(name, problem.task, problem.controller, problem.starts, steps)
    return int(lengths.sum()), lengths


def _lockstep_and_c(problem: Problem, c: CReference, effort: Effort) -> Timing:
    ours = partial(_lockstep, problem, effort.steps)
    theirs = partial(_in_c, problem, c, "run_lockstep", effort.steps)
    return time_in_turns("lock-step", problem.size, "C, same lookup", ours, theirs, effort.rounds)


def _lockstep_and_hand(problem: Problem, c: CReference, effort: Effort) -> Timing:
    ours = partial(_lockstep, problem, effort.steps)
    theirs = partial(_in_c, problem, c, "run_by_hand", effort.steps)
    return time_in_turns("lock-step", problem.size, "C by hand, AVX-512", ours, theirs, effort.rounds)


def _brute_force(problem: Problem, rng: np.random.Generator, steps: int) -> tuple[int, np.ndarray]:
    lengths = evaluate(problem.task, problem.controller, rng, problem.starts, steps).lengths
    return int(lengths.sum()), lengths


def _brute_force_and_c(problem: Problem, c: CReference, effort: Effort) -> Timing:
    steps = max(effort.prototypes_passed // problem.size, 10)
    ours = partial(_brute_force, problem, np.random.default_rng(0), steps)  # never used, as there are no ties
    theirs = partial(_in_c, problem, c, "run_brute_force", steps)
    return time_in_turns("brute force", problem.size, "C, same lookup", ours, theirs, effort.rounds)


def _lockstep_and_gymnasium(problem: Problem, effort: Effort) -> Timing:
    loop, steps = GymnasiumLoop(problem.controller), min(GYMNASIUM_STEPS, effort.steps)

    def ours() -> tuple[int, None]:
        return _lockstep(problem, effort.steps)[0], None

    def theirs() -> tuple[int, None]:
        return loop.run(problem.starts[0], steps), None

    return time_in_turns("lock-step", problem.size, "Gymnasium, NumPy argmin", ours, theirs, effort.rounds)
