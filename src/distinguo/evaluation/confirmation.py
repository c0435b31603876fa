"""Is the mean return at the threshold? A sequential test whose result may be read after every trial.

The test bets, trial by trial, that the mean is *above* the threshold, at stakes that cannot lose more than the
capital: each trial multiplies the capital by ``1 + stake * (return - threshold)``, and the stake depends on the
earlier returns. If the mean is below the threshold, the capital is not expected to grow, whatever the distribution
of returns, and the probability that it *ever* reaches ``1/e`` is at most ``e`` (Ville's inequality; such betting is
studied by Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", 2024). So the test
may stop as soon as it does. A second capital bets on the opposite, so that a hopeless policy is rejected soon.

The test assumes that no return is below the least of the run so far; a lower one may take all the capital. "Below
the threshold" means by more than a hundredth of that range, as no number of trials can separate equal means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

PASSED, FAILED, OPEN = "passed", "failed", "open"
STAKE = 0.99  #: of the greatest stake at which the capital cannot be lost at once
TOLERANCE = (
    0.01  #: how far below the threshold a mean still counts as reaching it, as a share of the range below it
)
HEADROOM = 0.05  #: the least room above the threshold that a refutation assumes, as such a share
REPEAT = 2.0  #: standard errors by which the mean of ``USUAL`` further trials should pass, too
USUAL = 100  #: trials in the usual evaluation of a policy
PATIENCE = 5  #: multiple of the test's steps after which an undecided test counts as failed
FEWEST = 50  #: trials of a test that passes before its steps are used up
FEWEST_FINAL = 20  #: trials of a final test, whose mean is reported


class ReturnQuestion(NamedTuple):
    """The hypothesis to test, and with which error.

    >>> ReturnQuestion(threshold=475.0, least=9.0, greatest=500.0).error
    0.05
    """

    threshold: float
    least: float  #: the least return of a trial so far
    greatest: float
    error: float = 0.05  #: probability that a policy below the threshold passes
    weakest: float = 0.25  #: the same, if the steps that the test should take are used up
    refusal: float = 0.2  #: probability that a policy at the threshold is rejected
    steps: int = 14_000  #: that the test should take
    most: int = 2_000  #: trials at most
    alone: bool = True  #: whether strong evidence alone is enough, where the policy cannot get better

    @property
    def room(self) -> float:
        """How far below the threshold a return may be."""
        least = self.least if self.least < self.threshold else self.threshold - max(abs(self.threshold), 1.0)
        return self.threshold - least

    @property
    def bar(self) -> float:
        """The number that the mean must exceed."""
        return self.threshold - TOLERANCE * self.room


def capital(returns: Sequence[float], bar: float, room: float) -> float:
    """The capital after betting, from one unit, that the mean return is above ``bar``.

    ``room`` is how far below it a return may be.

    >>> round(capital([500.0] * 28, bar=475.0, room=475.0), 1)
    3.6
    >>> round(capital([400.0] * 28, bar=475.0, room=475.0), 2)
    1.0
    """
    money, mean, variance = (
        1.0,
        0.0,
        0.25,
    )  # of differences in units of the room; one trial of prior doubt
    for number, value in enumerate(returns, start=1):
        gain = (value - bar) / room
        stake = min(max(mean / (variance + mean * mean), 0.0), STAKE)
        money *= max(0.0, 1.0 + stake * gain)
        variance += ((gain - mean) ** 2 - variance) / (number + 1)
        mean += (gain - mean) / (number + 1)
        if gain < -1.0:  # worse than anything before: stakes are smaller from here on
            mean, variance, room = -mean / gain, variance / gain**2, bar - value
    return money


def judge(returns: Sequence[float], steps: int, question: ReturnQuestion, *, final: bool = False) -> str:
    """Judge the returns of the greedy trials so far, which took ``steps`` steps.

    At first the evidence must be strong, and a hundred further trials should show the same. When the steps are used
    up, weaker evidence is enough, or strong evidence alone that the mean is above the threshold itself. If only few
    trials are allowed, weaker evidence is enough. Where returns cannot exceed the threshold, no bet pays: then,
    when patience ends, trials that all reached it are enough. ``final`` asks for a result that bounds the mean,
    even if the policy is hopeless.

    >>> cart = ReturnQuestion(threshold=475.0, least=9.0, greatest=500.0)
    >>> judge([500.0] * 27, 13_500, cart), judge([500.0] * 28, 14_000, cart), judge([300.0] * 4, 1_200, cart)
    ('open', 'passed', 'failed')
    """
    evidence = capital(returns, question.bar, question.bar - (question.threshold - question.room))
    again, late = will_repeat(returns, question.threshold), steps >= question.steps
    needed = 1.0 / (question.weakest if late else question.error)
    if again and evidence >= needed and (late or len(returns) >= FEWEST):
        return PASSED
    if (
        question.alone
        and late
        and capital(returns, question.threshold, question.room) >= 1.0 / question.error
    ):
        return PASSED
    if len(returns) >= question.most:
        return PASSED if again else FAILED
    hopeless = _against(returns, question) >= 1.0 / question.refusal
    enough = len(returns) >= (FEWEST_FINAL if final else 2)
    if steps >= PATIENCE * question.steps:
        return PASSED if again and min(returns) >= question.threshold else FAILED
    return FAILED if hopeless and enough else OPEN


def _against(returns: Sequence[float], question: ReturnQuestion) -> float:
    headroom = max(question.greatest - question.threshold, HEADROOM * question.room)
    return capital([-value for value in returns], -question.threshold, headroom)


def will_repeat(returns: Sequence[float], threshold: float) -> bool:
    """Whether the mean of a hundred further trials should reach the threshold, too.

    >>> will_repeat([500.0] * 5, 475.0), will_repeat([500.0, 440.0] * 5, 475.0)
    (True, False)
    """
    if len(returns) < 2:
        return False
    error = float(np.std(returns, ddof=1)) * math.sqrt(1.0 / len(returns) + 1.0 / USUAL)
    return float(np.mean(returns)) - REPEAT * error >= threshold


def lower_bound(returns: Sequence[float], least: float, error: float = 0.05) -> float:
    """Return a lower bound of the mean return, valid at any time: by betting on every value below.

    >>> round(lower_bound([500.0] * 100, least=9.0), 1)
    484.7
    """
    lowest = min(least, *returns)
    low, high = lowest, float(np.mean(returns))
    for _ in range(60):
        middle = (low + high) / 2
        pays = capital(returns, middle, max(middle - lowest, 1e-12)) >= 1.0 / error
        low, high = (middle, high) if pays else (low, middle)
    return low
