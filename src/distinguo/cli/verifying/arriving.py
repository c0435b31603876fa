"""The answer for tasks whose trials should arrive: from which starts, and within how many steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from distinguo.cli.verifying.subject import Options, Subject
    from distinguo.proof.arrival import Arrivals

TRIED = 100  #: starts that are not proven from which a failing trial is looked for


def prove_arriving(subject: Subject, options: Options) -> dict[str, Any]:
    """Prove what can be proven, write and check the certificate, and draw."""
    import time

    from distinguo.cli.verifying.filing import write_and_check
    from distinguo.proof.arrival import arrivals, certified

    begun, horizon = time.monotonic(), _horizon(subject, options)
    controller = (subject.world.task, subject.representation.partition, subject.q, subject.delta)
    found = arrivals(*controller, horizon=horizon)
    proving = time.monotonic() - begun
    path, refusal = write_and_check(
        subject, certified(*controller, found), "no start is proven, so there is nothing to certify."
    )
    checked = path is not None and not refusal
    share = found.share(horizon) if checked else 0.0
    proven = checked and bool(found.proven.all())
    return {
        "proven": proven,
        "share_of_controllable_starts": share,
        "steps": found.longest if checked else None,
        "horizon": horizon,
        **_returns(subject, found, checked),
        "cells": int(found.proven.sum()),
        "certificate": path and str(path),
        "checked": checked,
        "refusal": refusal,
        "failure": None if proven else _failure(subject, found, horizon, options.seed),
        "picture": str(_draw(subject, found, horizon)),
        "seconds_proving": proving,
        "seconds": time.monotonic() - begun,
        "run": subject.name,
    }


def _horizon(subject: Subject, options: Options) -> int:
    from distinguo.errors import DistinguoError
    from distinguo.proof.arrival import HORIZON

    if options.ranges or options.disturbance:
        raise DistinguoError(
            "--range and --disturbance are for tasks that should go on for ever; whether "
            f"{subject.world.name} arrives is proven for its own parameters only."
        )
    return options.horizon or subject.world.limit or HORIZON


def _returns(subject: Subject, found: Arrivals, checked: bool) -> dict[str, Any]:
    """Say what the proof means for returns: the least mean, and the share that reaches the task's threshold."""
    from distinguo.proof.strip import cost

    world, price = subject.world, cost(subject.world.task)
    content: dict[str, Any] = {"mean_return": None, "threshold": world.threshold, "share_at_threshold": None}
    if checked and (world.limit is not None or found.proven.all()):
        content["mean_return"] = -price * found.mean(world.limit or found.longest)
    if checked and world.threshold is not None:
        content["share_at_threshold"] = found.share(int(-world.threshold / price))
    return content


def _failure(subject: Subject, found: Arrivals, horizon: int, seed: int) -> dict[str, Any] | None:
    """Look among the starts that are not proven for one that does not arrive."""
    import numpy as np

    from distinguo.cli.verifying.filing import trial_from
    from distinguo.tasks.task import unpack

    boxes = found.boxes[~found.proven]
    for n in np.unique(np.linspace(0, len(boxes) - 1, TRIED).astype(int)) if len(boxes) else ():
        first = unpack(subject.world.task, boxes[n].reshape(2, 2).mean(axis=1))
        steps, arrived, states = trial_from(subject, first, horizon, seed)
        if not arrived:
            return {"start": [float(number) for number in first], "steps": steps, "states": states}
    return None


def _draw(subject: Subject, found: Arrivals, horizon: int) -> Path:
    from distinguo.cli.verifying.filing import PICTURE
    from distinguo.views.arrivals import arrival_picture, draw_arrivals
    from distinguo.views.plots import save

    path = subject.folder / PICTURE
    picture = arrival_picture(
        found, subject.representation, subject.world, subject.q, subject.delta, horizon, subject.name
    )
    save(draw_arrivals(picture), path)
    return path


def words_for_arriving(content: dict[str, Any]) -> list[str]:
    """Say what was proven."""
    lines = []
    if content["proven"]:
        lines.append(
            f"Proven: from every start the controller arrives, within {content['steps']} steps "
            f"({content['cells']:,} boxes of starts)."
        )
    elif content["checked"]:
        lines.append(
            f"Proven for {content['share_of_controllable_starts']:.2%} of the starts: from these the controller "
            f"arrives within {content['steps']} steps; the others are undecided for {content['horizon']}."
        )
    else:
        lines.append(f"Not proven: no start is known to arrive within {content['horizon']} steps.")
    if content["refusal"]:
        lines.append(f"No certificate: {content['refusal']}")
    return lines + _words_for_returns(content) + _words_for_failure(content)


def _words_for_returns(content: dict[str, Any]) -> list[str]:
    lines = []
    if content["mean_return"] is not None:
        lines.append(f"So the mean return is certainly at least {content['mean_return']:.2f}.")
    if content["share_at_threshold"] is not None:
        lines.append(
            f"Proven for {content['share_at_threshold']:.2%} of the starts: a return of at least "
            f"{content['threshold']:g}, which counts as solving the task."
        )
    return lines


def _words_for_failure(content: dict[str, Any]) -> list[str]:
    if not content["failure"]:
        return []
    first = ", ".join(f"{number:.4f}" for number in content["failure"]["start"])
    return [f"A trial from ({first}) has not arrived after {content['failure']['steps']:,} steps."]
