"""Is the mean return at the threshold? A sequential test that may be looked at after every trial.

Money is bet, trial by trial, on the mean being *above* the threshold, at stakes that can never lose more than all of
it: each trial multiplies the capital by ``1 + stake * (return - threshold)``. If the mean is below the threshold, the
capital is not expected to grow, whatever the distribution of returns, and the chance that it *ever* reaches ``1/e``
is at most ``e`` (Ville's inequality). So the test may stop as soon as it does. A second capital bets on the opposite,
so that a hopeless policy is found out soon.

What is assumed: no return is below the least that any trial of the run had. A return that is takes all the capital.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

PASSED, FAILED, OPEN = "passed", "failed", "open"
STAKE = 0.99  #: of the greatest stake at which the capital cannot be lost at once
MARGIN = 0.05  #: the least room above the threshold that a refutation assumes, as a share of the room below
REPEAT = 1.6  #: standard errors by which the mean of as many trials again as are usual should pass, too
USUAL = 100  #: trials that others will judge it by


class Question(NamedTuple):
    """What is to be found out, and how surely.

    >>> Question(threshold=475.0, least=9.0, greatest=500.0).error
    0.05
    """

    threshold: float
    least: float  #: return of a trial so far
    greatest: float
    error: float = 0.05  #: chance that a policy below the threshold passes
    weakest: float = 0.25  #: the same, if the steps that the test should take are used up
    refusal: float = 0.2  #: chance that a policy at the threshold is turned down
    steps: int = 14_000  #: that the test should take
    most: int = 1_000  #: trials at most

    @property
    def room(self) -> float:
        """Return how far below the threshold a return may be."""
        least = self.least if self.least < self.threshold else self.threshold - max(abs(self.threshold), 1.0)
        return self.threshold - least


def capital(returns: Sequence[float], threshold: float, room: float) -> float:
    """Return what one unit has become by betting that the mean return is above the threshold.

    >>> round(capital([500.0] * 28, threshold=475.0, room=475.0), 1)
    4.1
    >>> round(capital([400.0] * 28, threshold=475.0, room=475.0), 2)
    0.01
    """
    money = 1.0
    for value in returns:
        money *= max(0.0, 1.0 + STAKE * (value - threshold) / room)
        room = max(room, threshold - value)
    return money


def judge(returns: Sequence[float], steps: int, question: Question, *, final: bool = False) -> str:
    """Judge the returns of greedy trials so far, which took so many steps.

    ``final`` asks for an answer that says something of the mean, even where the policy is hopeless.

    >>> cart = Question(threshold=475.0, least=9.0, greatest=500.0)
    >>> judge([500.0] * 27, 13_500, cart), judge([500.0] * 28, 14_000, cart), judge([300.0] * 3, 900, cart)
    ('open', 'passed', 'failed')
    """
    evidence = capital(returns, question.threshold, question.room)
    enough = 1.0 / (question.error if steps < question.steps else question.weakest)
    if evidence >= enough and will_repeat(returns, question.threshold):
        return PASSED
    spent = len(returns) >= question.most or steps >= 2 * question.steps
    hopeless = _against(returns, question) >= 1.0 / question.refusal and len(returns) >= (20 if final else 2)
    return FAILED if spent or hopeless else OPEN


def _against(returns: Sequence[float], question: Question) -> float:
    headroom = max(question.greatest - question.threshold, MARGIN * question.room)
    return capital([-value for value in returns], -question.threshold, headroom)


def will_repeat(returns: Sequence[float], threshold: float) -> bool:
    """Tell whether the mean of a hundred further trials should be at the threshold, too.

    >>> will_repeat([500.0] * 5, 475.0), will_repeat([500.0, 440.0] * 5, 475.0)
    (True, False)
    """
    if len(returns) < 2:
        return False
    error = float(np.std(returns, ddof=1)) * math.sqrt(1.0 / len(returns) + 1.0 / USUAL)
    return float(np.mean(returns)) - REPEAT * error >= threshold


def lower_bound(returns: Sequence[float], least: float, error: float = 0.05) -> float:
    """Return a bound that the mean return is above, valid whenever one looks: by betting on every threshold below.

    >>> round(lower_bound([500.0] * 100, least=9.0), 1)
    485.4
    """
    low, high = min(least, *returns), float(np.mean(returns))
    for _ in range(60):
        middle = (low + high) / 2
        room = max(middle - min(least, min(returns)), 1e-12)
        low, high = (middle, high) if capital(returns, middle, room) >= 1.0 / error else (low, middle)
    return low
