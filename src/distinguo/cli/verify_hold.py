"""``distinguo verify`` for tasks whose trials should never end: does the controller hold for ever?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from distinguo.cli import verify_common as common

if TYPE_CHECKING:
    from distinguo.cli.verify_subject import Request, Subject
    from distinguo.proof.verify import Verification
    from distinguo.tasks.spec import TaskSpec

CAP = 100_000  #: steps that a trial is followed for, looking for a failure
CELLS = 2**21
STARTS = 121  #: states along each side of the start box that shares are counted by


def prove(request: Request) -> dict[str, Any]:
    """Prove that the greedy policy never fails."""
    import math
    import time

    from distinguo.proof.verify import verify

    common.refuse(request, "--steps")
    subject, begun = request.subject, time.monotonic()
    side = math.isqrt((request.cells or CELLS) // 2)
    task = _widened(subject.spec.task, request)
    found = verify(task, subject.controller, (2 * side, side))
    proving = time.monotonic() - begun
    judged = common.write_and_check(subject, found.certificate)
    starts, doomed = _shares(subject.spec, found)
    held = judged.checked and found.held.holds((0.0, 0.0))
    return {
        "proven": held,
        "share_of_controllable_starts": starts if judged.checked else 0.0,
        "share_of_provable": found.share_of_provable if judged.checked else 0.0,
        "share_of_start_box_doomed": doomed,
        "cells": found.held.cells,
        "certificate": judged.path and str(judged.path),
        "checked": judged.checked,
        "refusal": judged.refusal,
        "failure": None if held else _failure(request),
        "picture": str(_draw(subject, found)),
        "seconds_proving": proving,
        "seconds": time.monotonic() - begun,
        "run": subject.name,
    }


def _widened(task: Any, request: Request) -> Any:
    from distinguo.errors import DistinguoError
    from distinguo.proof.enclosure import widened

    low, high = dict[str, float](), dict[str, float]()
    for text in request.ranges:
        name, _, values = text.partition("=")
        try:
            low[name], high[name] = (float(value) for value in values.split(":"))
        except ValueError:
            raise DistinguoError(
                f"--range takes NAME=LOW:HIGH, such as mass=0.95:1.05, got '{text}'."
            ) from None
    return widened(task, low, high, (0.0, request.disturbance))


def _shares(spec: TaskSpec, found: Verification) -> tuple[float, float]:
    """Return the share of the controllable starts that are proven, and the share of the start box that is doomed."""
    import numpy as np

    from distinguo.proof.verify import DOOMED, PROVEN
    from distinguo.tasks.extent import TEST, Extent

    low, high = Extent(spec.low, spec.high).central(TEST)
    codes = found.codes(*(np.linspace(low[i], high[i], STARTS) for i in (0, 1)))
    doomed = (codes == DOOMED).mean()
    return float((codes == PROVEN).mean() / max(1 - doomed, 1e-300)), float(doomed)


def _failure(request: Request) -> dict[str, Any] | None:
    """Follow a trial from the start: how it fails, or nothing if it holds as long as anybody waits."""
    trial = common.simulate(request.subject, None, request.seed, CAP)
    return trial.told if trial.ended else None


def _draw(subject: Subject, found: Verification) -> Path:
    from distinguo.views.plots import save_figure
    from distinguo.views.proof import draw_proof, proof_picture

    path = subject.folder / common.PICTURE
    save_figure(draw_proof(proof_picture(found, subject.representation, subject.spec, subject.name)), path)
    return path


def sentences(content: dict[str, Any]) -> list[str]:
    """Say what was found."""
    lines = ["Not proven: the start is not among the states that are proven."]
    if content["proven"]:
        lines = [f"Proven: from its start the controller never fails ({content['cells']:,} cells)."]
    if content["refusal"]:
        lines.append(f"No certificate: {content['refusal']}")
    lines.append(
        f"Proven for {content['share_of_controllable_starts']:.2%} of the controllable starts and "
        f"{content['share_of_provable']:.2%} of what can be proven for any controller; "
        f"{content['share_of_start_box_doomed']:.1%} of the start box is doomed whatever is done."
    )
    if failure := content["failure"]:
        lines.append(
            f"A trial from the start fails after {failure['steps']:,} steps, at {common.last_state(failure)}."
        )
    return lines
