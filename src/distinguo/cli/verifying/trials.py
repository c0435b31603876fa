"""The answer for tasks without an enclosure: what trials can say, labelled as what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distinguo.cli.verifying.subject import Options, Subject
    from distinguo.tasks.world import World
    from distinguo.testing.evaluation import Outcome

CAP = 100_000  #: steps of a trial, where the task itself does not stop it sooner


def try_out(subject: Subject, options: Options) -> dict[str, Any]:
    """Run trials, and bound the probability that one is a success, or else the median return."""
    import time

    from distinguo.proof.bounds import LABEL

    begun, cap = time.monotonic(), subject.world.cap(CAP)
    _refuse_what_only_proofs_know(subject, options)
    outcome = _outcome(subject, options, cap)
    return {
        "proven": False,
        "share_of_controllable_starts": 0.0,
        "cells": 0,
        "certificate": None,
        "checked": False,
        "label": LABEL,
        **_bounds(subject.world, outcome),
        "trials": options.trials,
        "cap": cap,
        "mean_return": float(outcome.returns.mean()),
        "threshold": subject.world.threshold,
        "seconds": time.monotonic() - begun,
        "run": subject.name,
    }


def _refuse_what_only_proofs_know(subject: Subject, options: Options) -> None:
    from distinguo.errors import DistinguoError

    if options.ranges or options.disturbance or options.horizon is not None:
        raise DistinguoError(
            f"There is no enclosure for {subject.world.name}, so nothing can be proven of it; leave --range, "
            "--disturbance and --horizon out."
        )


def _outcome(subject: Subject, options: Options, cap: int) -> Outcome:
    import numpy as np

    from distinguo.tasks.task import seeded, start
    from distinguo.testing.evaluation import evaluate

    task, rng = seeded(subject.world.task, options.seed), np.random.default_rng(options.seed)
    starts = np.array([start(task, rng) for _ in range(options.trials)])
    return evaluate(task, subject.representation.partition, subject.q, subject.delta, rng, starts, cap)


def _bounds(world: World, outcome: Outcome) -> dict[str, Any]:
    from distinguo.proof.bounds import binomial_bound, median_bound
    from distinguo.tasks.world import LENGTH

    if world.score == LENGTH:
        good = ~outcome.ended
    elif world.threshold is not None:
        good = outcome.returns >= world.threshold
    else:
        return {"held": None, "bound": None, "median_bound": list(median_bound(outcome.returns))}
    held = int(good.sum())
    return {"held": held, "bound": list(binomial_bound(held, len(good))), "median_bound": None}


def words_for_trials(content: dict[str, Any]) -> list[str]:
    """Say what the trials showed."""
    head = f"There is no enclosure for this task, so this is {content['label']}:"
    if content["bound"] is None:
        low, high = content["median_bound"]
        return [
            f"{head} after {content['trials']} trials, with 95 % confidence the median return lies between "
            f"{low:.4g} and {high:.4g}; the task does not say which return solves it."
        ]
    low, high = content["bound"]
    threshold = content["threshold"]
    did = f"held {content['cap']:,} steps" if threshold is None else f"scored at least {threshold:g}"
    return [
        f"{head} {content['held']} of {content['trials']} trials {did}, so with 95 % confidence {low:.1%} to "
        f"{high:.1%} do."
    ]
