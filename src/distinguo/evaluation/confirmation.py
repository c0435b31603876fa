"""Whether a mean return is good enough, without luck and without more trials than it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

PASSED, FAILED, OPEN = "passed", "failed", "open"
FEWEST = 10  #: trials before a policy is given up
GIVE_UP = 3.0  #: standard errors that the mean of a policy is below the threshold when it is given up


def judge(returns: Sequence[float], threshold: float | None, most: int, *, final: bool = False) -> str:
    """Judge the returns of greedy trials so far.

    A policy passes by the mean of all ``most`` trials alone: a few good ones may be luck. It fails sooner if its
    mean is clearly below the threshold; ``final`` asks for all trials, as their mean is to be reported.

    >>> judge([500.0] * 10, 475.0, 100), judge([500.0] * 100, 475.0, 100), judge([200.0] * 10, 475.0, 100)
    ('open', 'passed', 'failed')
    """
    if len(returns) >= most:
        return PASSED if threshold is not None and np.mean(returns) >= threshold else FAILED
    if final or threshold is None or len(returns) < min(FEWEST, most):
        return OPEN
    error = float(np.std(returns, ddof=1)) / math.sqrt(len(returns)) if len(returns) > 1 else 0.0
    return FAILED if float(np.mean(returns)) + GIVE_UP * error < threshold else OPEN
