"""The answer for tasks that should go on for ever: from which states the controller never fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from distinguo.cli.verifying.subject import Options, Subject
    from distinguo.proof.verification import Verification
    from distinguo.tasks.world import World

CAP = 100_000  #: steps after which a trial that does not fail is let go
STARTS = 121  #: states along each side of the start box that shares are counted by


def prove_holding(subject: Subject, options: Options) -> dict[str, Any]:
    """Prove what can be proven, write and check the certificate, and draw."""
    import math
    import time

    from distinguo.cli.verifying.filing import write_and_check
    from distinguo.proof.verification import verify

    begun, side = time.monotonic(), math.isqrt(options.cells // 2)
    task = _widened(subject.world.task, options)
    found = verify(task, subject.representation.partition, subject.q, subject.delta, (2 * side, side))
    proving = time.monotonic() - begun
    path, refusal = write_and_check(
        subject, found.certificate, "no cell is held, so there is nothing to certify."
    )
    starts, doomed = _shares(subject.world, found)
    checked = path is not None and not refusal
    held = checked and found.held.holds((0.0, 0.0))
    return {
        "proven": held,
        "share_of_controllable_starts": starts if checked else 0.0,
        "share_of_provable": found.share_of_provable if checked else 0.0,
        "share_of_start_box_doomed": doomed,
        "cells": found.held.cells,
        "certificate": path and str(path),
        "checked": checked,
        "refusal": refusal,
        "failure": None if held else _failure(subject, options.seed),
        "picture": str(_draw(subject, found)),
        "seconds_proving": proving,
        "seconds": time.monotonic() - begun,
        "run": subject.name,
    }


def _widened(task: Any, options: Options) -> Any:
    """Return all tasks that the proof should be about."""
    from distinguo.errors import DistinguoError
    from distinguo.proof.enclosure import widened

    if options.horizon is not None:
        raise DistinguoError(
            "--horizon is for tasks whose trials should arrive; this proof is about going on for ever."
        )
    low, high = dict[str, float](), dict[str, float]()
    for text in options.ranges:
        name, _, values = text.partition("=")
        try:
            low[name], high[name] = (float(value) for value in values.split(":"))
        except ValueError:
            raise DistinguoError(
                f"--range takes NAME=LOW:HIGH, such as mass=0.95:1.05, got '{text}'."
            ) from None
    return widened(task, low, high, (0.0, options.disturbance))


def _shares(world: World, found: Verification) -> tuple[float, float]:
    """Return the share of the controllable starts that are proven, and the share of the start box that is doomed."""
    import numpy as np

    from distinguo.proof.verification import DOOMED, PROVEN
    from distinguo.testing.extent import TEST, Extent

    low, high = Extent(world.low, world.high).central(TEST)
    codes = found.codes(*(np.linspace(low[i], high[i], STARTS) for i in (0, 1)))
    doomed = (codes == DOOMED).mean()
    return float((codes == PROVEN).mean() / max(1 - doomed, 1e-300)), float(doomed)


def _failure(subject: Subject, seed: int) -> dict[str, Any] | None:
    """Follow a trial from the start: how it fails, or nothing if it holds as long as anybody waits."""
    import numpy as np

    from distinguo.cli.verifying.filing import trial_from
    from distinguo.tasks.task import start

    first = start(subject.world.task, np.random.default_rng(seed))
    steps, failed, states = trial_from(subject, first, CAP, seed)
    return {"steps": steps, "states": states} if failed else None


def _draw(subject: Subject, found: Verification) -> Path:
    from distinguo.cli.verifying.filing import PICTURE
    from distinguo.views.plots import save
    from distinguo.views.proof import draw_proof, proof_picture

    path = subject.folder / PICTURE
    save(draw_proof(proof_picture(found, subject.representation, subject.world, subject.name)), path)
    return path


def words_for_holding(content: dict[str, Any]) -> list[str]:
    """Say what was proven."""
    lines = []
    if content["proven"]:
        lines.append(f"Proven: from its start the controller never fails ({content['cells']:,} cells).")
    else:
        lines.append("Not proven: the start is not among the states that are proven.")
    if content["refusal"]:
        lines.append(f"No certificate: {content['refusal']}")
    lines.append(
        f"Proven for {content['share_of_controllable_starts']:.2%} of the controllable starts and "
        f"{content['share_of_provable']:.2%} of what can be proven for any controller; "
        f"{content['share_of_start_box_doomed']:.1%} of the start box is doomed whatever is done."
    )
    if content["failure"]:
        last = ", ".join(f"{number:.3f}" for number in content["failure"]["states"][-1])
        lines.append(
            f"A trial from the start fails after {content['failure']['steps']:,} steps, at ({last})."
        )
    return lines
