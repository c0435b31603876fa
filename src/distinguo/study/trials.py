"""What trials alone say of a controller, where nothing can be proven: exact bounds, which are not a proof."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.evaluation.simulate import Outcome, evaluate
from distinguo.proof.question import Answer, Question, Request
from distinguo.tasks.spec import LENGTH, RETURN, TaskSpec
from distinguo.tasks.task import seeded, start

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


TRIALS, CAP = 100, 100_000  #: trials, and steps of each


class TrialsFinding(NamedTuple):
    """What became of the trials."""

    spec: TaskSpec
    outcome: Outcome
    asked: int  #: steps after which a trial is stopped

    @property
    def certificate(self) -> None:
        """Return nothing: trials prove nothing."""
        return

    def answer(self, checked: bool) -> Answer:
        """Bound the probability that a trial is good."""
        scores = self.outcome.lengths if self.spec.score == LENGTH else self.outcome.returns
        details = {
            "label": LABEL,
            "trials": len(scores),
            **bounds(self.spec, self.outcome),
            "threshold": _threshold(self.spec),
            "mean": float(scores.mean()),
            "asked_steps": self.asked,
        }
        return Answer(False, 0.0, 0, details, trial_sentences(details))


def run_trials(request: Request) -> TrialsFinding:
    """Run greedy trials from the starts of the task."""
    spec = request.spec._replace(task=seeded(request.spec.task, request.seed))
    rng, steps = np.random.default_rng(request.seed), request.steps or spec.cap(CAP)
    starts = np.array([start(spec.task, rng) for _ in range(TRIALS)])
    return TrialsFinding(spec, evaluate(spec.task, request.controller, rng, starts, steps), steps)


def bounds(spec: TaskSpec, outcome: Outcome) -> dict[str, Any]:
    """Bound the probability that a trial is good, or the median return where nobody says what is good."""
    good = _good(spec, outcome)
    if good is None:
        return {"held": None, "bound": None, "median_return": list(median_bound(outcome.returns))}
    held = int(good.sum())
    return {"held": held, "bound": list(binomial_bound(held, len(good)))}


def _good(spec: TaskSpec, outcome: Outcome) -> np.ndarray | None:
    """Return which trials were good; None where the task does not say what is."""
    threshold = _threshold(spec)
    if threshold is not None:
        return outcome.returns >= threshold
    return ~outcome.ended if spec.score == LENGTH else None


def _threshold(spec: TaskSpec) -> float | None:
    """Return the return that a trial is judged by; None if it is judged by going on."""
    return spec.threshold if spec.score == RETURN else None


def trial_sentences(details: dict[str, Any]) -> list[str]:
    """Say what the trials show, and that it is no proof."""
    head = f"There is no enclosure for this task, so this is {details['label']}:"
    if details["bound"] is None:
        low, high = details["median_return"]
        return [
            f"{head} with 95 % confidence from {details['trials']} trials the median return lies between {low:.4g} "
            f"and {high:.4g}; the task does not say which return is good."
        ]
    low, high = details["bound"]
    threshold, steps = details["threshold"], details["asked_steps"]
    did, do = f"were still running after {steps:,} steps", "are"
    if threshold is not None:
        did, do = f"had a return of at least {threshold:g} within {steps:,} steps", "have"
    return [
        f"{head} {details['held']} of {details['trials']} trials {did}, so with 95 % confidence {low:.1%} to "
        f"{high:.1%} {do}."
    ]


#: Asked of every task that no other question can be asked about.
BOUNDED = Question("holds in trials", None, run_trials, ("disturbance", "ranges", "cells"), certifies=False)
