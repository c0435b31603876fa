"""Certificates on disk, judged by the checker as they were read back; and trials that fail, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distinguo.cli.verifying.subject import Subject

CERTIFICATE, PICTURE = "certificate.json", "proof.png"
SHOWN = 10  #: states of a failing trial that are told


def write_and_check(subject: Subject, certificate: Any, nothing: str) -> tuple[Path | None, str | None]:
    """Write the certificate, read it back and let the checker judge it: where it is, and why it was refused."""
    from distinguo.errors import DistinguoError
    from distinguo.lab.files import write_atomically
    from distinguo.proof.certificate import controller_claim, dumps, load
    from distinguo.proof.checker import check
    from distinguo.proof.possible import action_sets

    path = subject.folder / CERTIFICATE
    if certificate is None:
        path.unlink(missing_ok=True)  # one from before would be about something else
        return None, nothing
    write_atomically(path, dumps(certificate))
    sets = action_sets(subject.q, subject.delta)
    try:
        check(load(path), controller_claim(subject.representation.partition, sets))
    except DistinguoError as error:
        return path, str(error)
    return path, None


def trial_from(subject: Subject, first: Any, cap: int, seed: int) -> tuple[int, bool, list[list[float]]]:
    """Follow a greedy trial: its steps, whether it ended by itself, and its last states."""
    import numpy as np

    from distinguo.learners.memory import region_at
    from distinguo.learners.values import choose
    from distinguo.tasks.task import transition

    task, rng = subject.world.task, np.random.default_rng(seed)
    s, states, terminal, steps = first, [list(map(float, first))], False, 0
    while not terminal and steps < cap:
        a = choose(subject.q[region_at(task, subject.representation.partition, s)], subject.delta, rng)
        s, _, terminal = transition(task, s, a)
        states = [*states[-SHOWN:], list(map(float, s))]
        steps += 1
    return steps, terminal, states
