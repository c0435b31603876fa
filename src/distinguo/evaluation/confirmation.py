"""Is the mean return at the threshold? A sequential test whose answer may be read after every trial.

The test bets, trial by trial, that the mean is *above* a bar just below the threshold. A stake of 1 is the greatest
at which no return can cost more than the capital; a fixed part of the capital is staked at each of :data:`STAKES`. If
the mean is at or below the bar, the capital is not expected to grow, whatever the distribution of returns, and the
probability that it *ever* reaches ``1/error`` is at most ``error`` (Ville's inequality; such betting is studied by
Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", 2024). So the test may stop as
soon as it does. A second capital bets on the opposite, so that a policy below the threshold is turned down.

There are three answers: *passed*, *failed* (the mean is below the threshold) and *undecided*, which says that the
trials allowed are too few for this policy. Four things are assumed:

- No return is below the least one that the run has seen before the test began. A lower one ends the test undecided.
- "Below the threshold" means by more than a hundredth of the threshold (of the range above it, if that is more), or
  of the range of returns below it if that is smaller: no number of trials can separate equal means. Where no return
  before the test was above the threshold, it means a twentieth.
- Where a task is deterministic, has one start as far as fifty starts show, and no action was chosen at random among
  tied ones, all trials are the same, and one of them decides.
- A run that claims more than once spends its error on all its claims (:func:`spent_error`), so that the probability
  of any false *solved* in the whole run is at most ``1 - confidence``.

docs/confirmation.md has measured rates.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

PASSED, FAILED, UNDECIDED, OPEN = "passed", "failed", "undecided", "open"
STAKES = np.array(
    [1.0, 0.8, 0.5, 0.3, 0.15]
)  #: of the greatest stake at which no return costs more than the capital
SHARES = np.array([0.65, 0.1, 0.1, 0.1, 0.05])  #: of the capital at each stake
CONFIDENCE = 0.95  #: that a run which says "solved" is right
FIRST_CLAIM = 0.8  #: share of the error that the first claim of a run spends
TOLERANCE = 0.01  #: how far below the threshold a mean still counts as reaching it, as a share
TOP_TOLERANCE = (
    0.05  #: the same where no return was above the threshold, so that no trial can make up for a bad one
)
HEADROOM = (
    0.05  #: the least room above the threshold that a refutation assumes, as a share of the room below it
)
FEWEST_FINAL = 20  #: trials of a final test, whose mean is reported
FEWEST_CLAIM = 10  #: trials before a claim is given up because it would take too many
PERFECT = 3  #: multiple of the trials of a perfect policy that a test may take in any case
REPEAT = 2.0  #: standard errors by which the mean of further trials should be above the threshold, too
TOO_LONG = 2.0  #: multiple of the trials left beyond which a claim is given up
FAR = 5.0  #: standard errors below the bar at which a final test ends that nothing can refute
LONGER = 4  #: multiple of its usual steps that a final test may take while it is likely to pass


class ReturnQuestion(NamedTuple):
    """The hypothesis to test, and with which errors.

    >>> cart = ReturnQuestion(threshold=475.0, least=9.0, greatest=500.0)
    >>> round(cart.bar, 2), cart.perfect
    (470.34, 54)
    """

    threshold: float
    least: float  #: the least return of a trial before the test
    greatest: float  #: the greatest
    error: float = 0.05  #: probability that a policy passes whose mean is below the bar
    refusal: float = 0.05  #: probability that a policy fails whose mean is at the threshold
    steps: int = (
        70_000  #: after which the test ends undecided, if it has run PERFECT times the perfect trials
    )
    most: int = 2_000  #: trials at most
    is_claim: bool = (
        False  #: whether learning goes on after a test that did not pass, so that it may end early
    )
    spread: float = 0.0  #: a usual distance between returns, if that is known to be more than the threshold
    certain: bool = False  #: whether every trial is the same, so that one tells all
    again: int = (
        0  #: further trials whose mean should reach the threshold, too; for claims that can become better
    )

    @property
    def floor(self) -> float:
        """The least return that the test allows for."""
        return self.least if self.least < self.threshold else self.threshold - max(abs(self.threshold), 1.0)

    @property
    def ceiling(self) -> float:
        """The greatest return that a refutation allows for."""
        return max(self.greatest, self.threshold + HEADROOM * (self.threshold - self.floor))

    @property
    def bar(self) -> float:
        """The mean at or below which a policy must not pass."""
        room = self.threshold - self.floor
        share = TOLERANCE if self.greatest > self.threshold else TOP_TOLERANCE
        scale = max(abs(self.threshold), self.greatest - self.threshold, self.spread) or room
        return self.threshold - share * min(scale, room)

    @property
    def perfect(self) -> int:
        """The trials after which a policy passes that always has the greatest return; ``most`` if none would do."""
        best = np.full(self.most, max(self.greatest, self.threshold))
        enough = np.flatnonzero(log_capital(best, self.bar, self.floor) >= -math.log(self.error))
        return int(enough[0]) + 1 if len(enough) else self.most


def spent_error(claim: int, confidence: float = CONFIDENCE) -> float:
    """The error of the ``claim``-th claim of a run, from 1; those of all claims together are ``1 - confidence``.

    >>> [round(spent_error(claim), 4) for claim in (1, 2, 3)]
    [0.04, 0.005, 0.0017]
    """
    share = FIRST_CLAIM if claim == 1 else (1.0 - FIRST_CLAIM) / (claim * (claim - 1))
    return share * (1.0 - confidence)


def log_capital(returns: np.ndarray, bar: float, least: float) -> np.ndarray:
    """The logarithm of the capital after each trial, if one bets one unit on a mean above ``bar``.

    No return should be below ``least``; the capital is lost at the first one that is.

    >>> np.exp(log_capital(np.array([500.0, 500.0, 0.0]), bar=475.0, least=0.0)).round(3).tolist()
    [1.043, 1.088, 0.19]
    """
    parts = _at_each_stake(returns, bar, least) + np.log(SHARES)[:, None]
    return np.logaddexp.reduce(parts, axis=0)


def _at_each_stake(returns: np.ndarray, bar: float, least: float) -> np.ndarray:
    """The logarithm of one unit after each trial, at each stake; a return below ``least`` costs all of it."""
    gains = (np.asarray(returns, dtype=float) - bar) / (bar - least)
    with np.errstate(divide="ignore"):
        factors = np.where(gains < -1.0, -np.inf, np.log1p(STAKES[:, None] * np.maximum(gains, -1.0)))
    whole: np.ndarray = np.cumsum(factors, axis=1)
    return whole


def judge(returns: Sequence[float], steps: int, question: ReturnQuestion, *, final: bool = False) -> str:
    """Judge the returns of the greedy trials so far, which took ``steps`` steps.

    A ``final`` answer rests on enough trials to report their mean, even if the policy is hopeless.

    >>> cart = ReturnQuestion(threshold=475.0, least=9.0, greatest=500.0)
    >>> judge([500.0] * 53, 26_500, cart), judge([500.0] * 54, 27_000, cart), judge([300.0] * 6, 1_800, cart)
    ('open', 'passed', 'failed')
    >>> judge([500.0, 3.0], 503, cart)  # lower than any return before
    'undecided'
    """
    if not len(returns):
        return OPEN
    return str(answers(np.asarray(returns, dtype=float), steps, question, final=final)[-1])


def answers(
    returns: np.ndarray, steps: np.ndarray | int, question: ReturnQuestion, *, final: bool = False
) -> np.ndarray:
    """The answer after each trial; ``steps`` are those taken until then.

    >>> cart = ReturnQuestion(threshold=475.0, least=9.0, greatest=500.0)
    >>> answers(np.array([475.0, 500.0, 8.0]), np.array([475, 975, 983]), cart).tolist()
    ['open', 'open', 'undecided']
    """
    if question.certain:
        return np.where(np.minimum.accumulate(returns) >= question.threshold, PASSED, FAILED)
    count = np.arange(1, len(returns) + 1)
    enough = count >= (FEWEST_FINAL if final else 2)
    passed = log_capital(returns, question.bar, question.floor) >= -math.log(question.error)
    against = log_capital(-returns, -question.threshold, -question.ceiling)
    failed = enough & (against >= -math.log(question.refusal))
    unforeseen = enough & np.maximum.accumulate(returns < question.floor)
    repeats, never = _repeats(returns, question)
    limit = np.maximum(
        question.steps, PERFECT * question.perfect * steps / count
    )  # in steps, as trials go so far
    spent = steps >= limit
    if final:  # nothing is learned afterwards, so it goes on as long as it is likely to pass in time
        left = count * (LONGER * limit / steps - 1.0)
        spent &= _trials_to_pass(returns, question) > left
        spent |= enough & _unrefuted(returns, question)
    ended = unforeseen | (count >= question.most) | spent | (passed & never)
    ended |= _hopeless(returns, steps / limit, question)
    return np.select([passed & repeats, failed, ended], [PASSED, FAILED, UNDECIDED], OPEN)


def _unrefuted(returns: np.ndarray, question: ReturnQuestion) -> np.ndarray:
    """Whether the mean is far below the bar, but a return above the ceiling rules a refutation out."""
    count = np.arange(1, len(returns) + 1)
    mean = np.cumsum(returns) / count
    square = np.cumsum((returns - returns[0]) ** 2) / count - (mean - returns[0]) ** 2
    error = np.sqrt(np.maximum(square, 0.0) / count)
    beyond: np.ndarray = np.maximum.accumulate(returns > question.ceiling)
    return beyond & (mean + FAR * error < question.bar)


def _repeats(returns: np.ndarray, question: ReturnQuestion) -> tuple[np.ndarray, np.ndarray]:
    """Whether further trials would reach the threshold, too, and whether no number of trials could show it."""
    count = np.arange(1, len(returns) + 1)
    if not question.again:
        return np.ones(len(returns), dtype=bool), np.zeros(len(returns), dtype=bool)
    mean = np.cumsum(returns) / count
    spread = np.sqrt(
        np.maximum(np.cumsum((returns - returns[0]) ** 2) / count - (mean - returns[0]) ** 2, 0.0)
    )
    surplus = mean - question.threshold
    repeats = surplus >= REPEAT * spread * np.sqrt(1.0 / count + 1.0 / question.again)
    return repeats, surplus < REPEAT * spread * np.sqrt(1.0 / question.again)


def _hopeless(returns: np.ndarray, used: np.ndarray, question: ReturnQuestion) -> np.ndarray:
    """Whether a claim would take far more trials than it has left; ``used`` is the share of those that it had."""
    count = np.arange(1, len(returns) + 1)
    if not question.is_claim:
        return np.zeros(len(returns), dtype=bool)
    left = np.minimum(count / np.maximum(used, 1e-9), question.most) - count
    return (count >= FEWEST_CLAIM) & (_trials_to_pass(returns, question) > TOO_LONG * left)


def trials_to_pass(returns: Sequence[float] | np.ndarray, question: ReturnQuestion) -> float:
    """How many more trials it would take to pass if they were like those so far; infinity if they would not do.

    >>> cart = ReturnQuestion(threshold=475.0, least=9.0, greatest=500.0)
    >>> round(trials_to_pass([500.0] * 10, cart)), trials_to_pass([400.0] * 10, cart)
    (45, inf)
    """
    return float(_trials_to_pass(np.asarray(returns, dtype=float), question)[-1])


def _trials_to_pass(returns: np.ndarray, question: ReturnQuestion) -> np.ndarray:
    """The same after each trial: as the best of the stakes alone would do."""
    had = _at_each_stake(returns, question.bar, question.floor)
    growth = had / np.arange(1, len(returns) + 1)
    missing = -math.log(question.error) - had - np.log(SHARES)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(growth > 0.0, missing / growth, math.inf)
    return np.maximum(needed.min(axis=0), 0.0)


def is_reached(
    threshold: float,
    seen: np.ndarray,
    trials: Callable[[], tuple[Sequence[float], int]],
    error: float = 1.0 - CONFIDENCE,
    spread: float = 0.0,
) -> bool:
    """Whether new trials confirm that a mean return is reached; ``trials`` runs some: their returns and steps.

    ``seen`` are earlier returns: they show the range. A test that a still lower return ends is begun anew with the
    wider range; together they have the given error. ``spread`` is a usual distance between returns, for thresholds
    that are close to 0.

    >>> is_reached(475.0, np.array([9.0, 500.0]), lambda: ([500.0] * 10, 5_000))
    True
    """
    least, greatest = float(seen.min()), float(seen.max())
    for number in itertools.count(1):
        allowed = spent_error(number, 1.0 - error)
        question = ReturnQuestion(threshold, least, greatest, error=allowed, is_claim=True, spread=spread)
        returns: list[float] = []
        steps, answer = 0, OPEN
        while answer == OPEN:
            gained, took = trials()
            returns += gained
            steps += took
            short = question.steps * len(returns) // max(steps, 1)  # trials that the usual steps allow
            answer = judge(returns, steps, question._replace(most=max(question.most, short)))
        if answer != UNDECIDED or min(returns) >= question.floor:
            return answer == PASSED
        least, greatest = min(returns), max(greatest, *returns)
    raise AssertionError("the numbers do not end")


def is_within_reach(
    threshold: float, seen: np.ndarray, returns: np.ndarray, length: float, error: float, spread: float = 0.0
) -> bool:
    """Whether :func:`is_reached` is likely to say so in time, if new trials are like these; ``length`` is their usual
    number of steps.

    >>> seen, returns = np.array([0.0, 500.0]), np.array([470.0, 485.0] * 50)
    >>> [is_within_reach(bar, seen, returns, 100, 0.05) for bar in (450.0, 481.0)]
    [True, False]
    """
    allowed = spent_error(1, 1.0 - error)
    question = ReturnQuestion(threshold, float(seen.min()), float(seen.max()), error=allowed, spread=spread)
    most = max(question.steps / length, PERFECT * question.perfect)
    return len(returns) + float(_trials_to_pass(returns, question)[-1]) <= most


def lower_bound(returns: Sequence[float], least: float, error: float = 0.05) -> float:
    """A lower bound of the mean return, valid at any time: every lower mean would have been bet against and lost.

    >>> round(lower_bound([500.0] * 100, least=9.0), 1)
    484.0
    """
    values = np.asarray(returns, dtype=float)
    lowest = min(least, float(values.min()))
    low, high = lowest, float(np.mean(values))
    for _ in range(60):
        middle = (low + high) / 2
        if not lowest < middle:  # the returns do not vary, or less than numbers of their size can
            break
        pays = log_capital(values, middle, lowest)[-1] >= -math.log(error)
        low, high = (middle, high) if pays else (low, middle)
    return low
