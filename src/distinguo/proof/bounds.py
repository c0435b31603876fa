"""What trials alone can say, for tasks without an enclosure. It is not a proof."""

from __future__ import annotations

import numpy as np

from distinguo.errors import DistinguoError

CONFIDENCE = 0.95
LABEL = "not a proof"


def binomial_bound(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) bounds of a probability after so many successes in so many trials.

    >>> low, high = binomial_bound(50, 50)
    >>> round(low, 3), high
    (0.929, 1.0)
    """
    from scipy.stats import binomtest

    if not 0 <= successes <= trials or trials < 1 or not 0 < confidence < 1:
        raise DistinguoError(
            f"A bound needs at least one trial and 0 to {trials} successes, got {successes} of {trials}."
        )
    interval = binomtest(successes, trials).proportion_ci(confidence, method="exact")
    return float(interval.low), float(interval.high)


def median_bound(numbers: np.ndarray, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return bounds of the median of what numbers were drawn from, whatever its distribution.

    Of n numbers, fewer than k lie on one side of the median with the probability that a fair coin shows heads fewer
    than k times: so two of the numbers in order enclose it. Too few numbers enclose nothing.

    >>> median_bound(np.arange(100.0)), median_bound(np.arange(3.0))
    ((39.0, 60.0), (-inf, inf))
    """
    from scipy.stats import binom

    ordered = np.concatenate([[-np.inf], np.sort(numbers), [np.inf]])
    k = int(binom.ppf((1.0 - confidence) / 2.0, len(numbers), 0.5))
    return float(ordered[k]), float(ordered[len(numbers) + 1 - k])
