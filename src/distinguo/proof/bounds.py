"""What trials alone can say, for tasks without an enclosure. It is not a proof."""

from __future__ import annotations

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
    found = binomtest(successes, trials).proportion_ci(confidence, method="exact")
    return float(found.low), float(found.high)
