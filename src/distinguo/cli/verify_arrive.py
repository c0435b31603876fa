"""``distinguo verify`` for tasks whose trials should arrive: from which starts, within how many steps?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from distinguo.cli import verify_common as common

if TYPE_CHECKING:
    from distinguo.cli.verify_subject import Request, Subject
    from distinguo.proof.arrive.arrival import Arrivals

TRIALS = 200  #: unproven pieces of the starts that are tried, looking for a failure


def prove(request: Request) -> dict[str, Any]:
    """Prove that the greedy policy arrives."""
    import time

    from distinguo.proof.arrive.arrival import HORIZON, PIECES, ROUNDS, arrivals, certified

    common.refuse(request, "--disturbance", "--range")
    subject, begun = request.subject, time.monotonic()
    steps = request.steps or subject.spec.cap(HORIZON)
    pieces = PIECES if request.cells is None else max(1, request.cells >> ROUNDS)
    found = arrivals(subject.spec.task, subject.controller, horizon=steps, pieces=pieces)
    proving = time.monotonic() - begun
    judged = common.write_and_check(subject, certified(subject.spec.task, subject.controller, found))
    proven = judged.checked and bool(found.proven.all())
    return {
        "proven": proven,
        "share_of_controllable_starts": found.share(steps) if judged.checked else 0.0,
        "steps": found.longest if judged.checked else None,
        "asked_steps": steps,
        "mean_return_at_least": _mean_return(subject, found, steps) if judged.checked else None,
        "threshold": subject.spec.threshold,
        "cells": int(found.proven.sum()),
        "certificate": judged.path and str(judged.path),
        "checked": judged.checked,
        "refusal": judged.refusal,
        "failure": None if proven else _failure(request, found, steps),
        "picture": str(_draw(subject, found, steps)),
        "seconds_proving": proving,
        "seconds": time.monotonic() - begun,
        "run": subject.name,
    }


def _mean_return(subject: Subject, found: Arrivals, steps: int) -> float | None:
    """Return what the mean return over all starts is at least: what is not proven may go on until the task stops it.

    Nothing is known where the task never does.
    """
    from distinguo.proof.arrive.strip import cost

    limit = subject.spec.limit
    if limit is None and not found.proven.all():
        return None
    return -cost(subject.spec.task) * found.mean(max(steps, limit or steps))


def _failure(request: Request, found: Arrivals, steps: int) -> dict[str, Any] | None:
    """Try the middles of what is not proven: how a trial fails to arrive, or nothing if all arrive."""
    import numpy as np

    left = found.boxes[~found.proven]
    chosen = left[np.linspace(0, len(left) - 1, min(TRIALS, len(left))).astype(int)]
    for box in chosen:
        first = (float(box[:2].mean()), float(box[2:].mean()))
        trial = common.simulate(request.subject, first, request.seed, steps)
        if not trial.ended:
            return {"start": list(first), **trial.told}
    return None


def _draw(subject: Subject, found: Arrivals, steps: int) -> Path:
    from distinguo.views.plots import save_figure
    from distinguo.views.proof import arrival_picture, draw_arrival

    path = subject.folder / common.PICTURE
    picture = arrival_picture(found, subject.representation, subject.spec, subject.name, steps)
    save_figure(draw_arrival(picture), path)
    return path


def sentences(content: dict[str, Any]) -> list[str]:
    """Say what was found."""
    share, asked = content["share_of_controllable_starts"], content["asked_steps"]
    lines = [f"Not proven: {share:.2%} of the starts are proven to arrive within {asked:,} steps."]
    if content["proven"]:
        lines = [
            f"Proven: every start arrives within {content['steps']:,} steps ({content['cells']:,} boxes of starts)."
        ]
    if content["refusal"]:
        lines.append(f"No certificate: {content['refusal']}")
    if content["mean_return_at_least"] is not None:
        solved = "" if content["threshold"] is None else f" ({content['threshold']:g} solves the task)"
        lines.append(
            f"So the mean return over all starts, of trials that are stopped after {asked:,} steps, is at least "
            f"{content['mean_return_at_least']:.1f}{solved}."
        )
    if failure := content["failure"]:
        x, v = failure["start"]
        lines.append(
            f"A trial from ({x:.4f}, {v:.4f}) has not arrived after {failure['steps']:,} steps; it is at "
            f"{common.last_state(failure)}."
        )
    return lines
