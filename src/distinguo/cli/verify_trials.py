"""``distinguo verify`` where nothing can be proven: what trials say, which is not a proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distinguo.cli import verify_common as common

if TYPE_CHECKING:
    import numpy as np

    from distinguo.cli.verify_subject import Request
    from distinguo.evaluation.simulate import Outcome
    from distinguo.tasks.spec import TaskSpec

TRIALS, CAP = 100, 100_000  #: trials, and steps of each


def prove(request: Request) -> dict[str, Any]:
    """Bound the probability that a greedy trial is good, from trials alone."""
    import time

    import numpy as np

    from distinguo.evaluation.simulate import evaluate
    from distinguo.proof.bounds import LABEL
    from distinguo.tasks.spec import LENGTH
    from distinguo.tasks.task import seeded, start

    common.refuse(request, "--disturbance", "--range", "--cells")
    subject, begun = request.subject, time.monotonic()
    spec = subject.spec._replace(task=seeded(subject.spec.task, request.seed))
    rng, steps = np.random.default_rng(request.seed), request.steps or spec.cap(CAP)
    starts = np.array([start(spec.task, rng) for _ in range(TRIALS)])
    outcome = evaluate(spec.task, subject.controller, rng, starts, steps)
    return {
        "proven": False,
        "share_of_controllable_starts": 0.0,
        "cells": 0,
        "certificate": None,
        "checked": False,
        "label": LABEL,
        "trials": TRIALS,
        **_bounds(spec, outcome),
        "threshold": _threshold(spec),
        "mean": float((outcome.lengths if spec.score == LENGTH else outcome.returns).mean()),
        "asked_steps": steps,
        "seconds": time.monotonic() - begun,
        "run": subject.name,
    }


def _threshold(spec: TaskSpec) -> float | None:
    """Return the return that a trial is judged by; None if it is judged by going on."""
    from distinguo.tasks.spec import RETURN

    return spec.threshold if spec.score == RETURN else None


def _good(spec: TaskSpec, outcome: Outcome) -> np.ndarray | None:
    """Return which trials were good; None where the task does not say what is."""
    from distinguo.tasks.spec import LENGTH

    threshold = _threshold(spec)
    if threshold is not None:
        return outcome.returns >= threshold
    return ~outcome.ended if spec.score == LENGTH else None


def _bounds(spec: TaskSpec, outcome: Outcome) -> dict[str, Any]:
    """Bound the probability that a trial is good, or the median return where nobody says what is good."""
    from distinguo.proof.bounds import binomial_bound, median_bound

    good = _good(spec, outcome)
    if good is None:
        return {"held": None, "bound": None, "median_return": list(median_bound(outcome.returns))}
    held = int(good.sum())
    return {"held": held, "bound": list(binomial_bound(held, len(good)))}


def sentences(content: dict[str, Any]) -> list[str]:
    """Say what was found."""
    head = f"There is no enclosure for this task, so this is {content['label']}:"
    if content["bound"] is None:
        low, high = content["median_return"]
        return [
            f"{head} with 95 % confidence from {content['trials']} trials the median return lies between {low:.4g} "
            f"and {high:.4g}; the task does not say which return is good."
        ]
    low, high = content["bound"]
    threshold, steps = content["threshold"], content["asked_steps"]
    did, do = f"were still running after {steps:,} steps", "are"
    if threshold is not None:
        did, do = f"had a return of at least {threshold:g} within {steps:,} steps", "have"
    return [
        f"{head} {content['held']} of {content['trials']} trials {did}, so with 95 % confidence {low:.1%} to "
        f"{high:.1%} {do}."
    ]
