"""What all ways to prove have in common: the certificate is written, read back and checked; a failure is shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from distinguo.cli.verify_subject import Request, Subject

CERTIFICATE, PICTURE = "certificate.json", "proof.png"
SHOWN = 10  #: states of a failing trial that are told


class Judged(NamedTuple):
    """A certificate on disk, and why it was refused."""

    path: Path | None
    refusal: str | None

    @property
    def checked(self) -> bool:
        """Tell whether there is a certificate and the checker accepts it."""
        return self.path is not None and self.refusal is None


def write_and_check(subject: Subject, certificate: Any) -> Judged:
    """Write a certificate, read it back and let the checker judge it; None is none."""
    from distinguo.errors import DistinguoError
    from distinguo.proof.actions import action_bits
    from distinguo.proof.certificate import controller_claim, dumps, load
    from distinguo.proof.checker.hold import check
    from distinguo.runs.files import write_atomically

    path = subject.folder / CERTIFICATE
    if certificate is None:
        path.unlink(missing_ok=True)  # one from before would be about something else
        return Judged(None, "nothing is proven, so there is nothing to certify.")
    write_atomically(path, dumps(certificate))
    sets = action_bits(subject.controller)
    try:
        check(load(path), controller_claim(subject.representation.partition, sets))
    except DistinguoError as error:
        return Judged(path, str(error))
    return Judged(path, None)


class Trial(NamedTuple):
    """A simulated trial: its steps, whether it ended, and its last states."""

    steps: int
    ended: bool
    states: list[list[float]]

    @property
    def told(self) -> dict[str, Any]:
        """Return it for the answer."""
        return {"steps": self.steps, "states": self.states}


def simulate(subject: Subject, first: Any, seed: int, cap: int) -> Trial:
    """Follow the greedy policy from a state, or from a start of the task."""
    import numpy as np

    from distinguo.controller import choose, region_at
    from distinguo.tasks.task import start, transition

    task, rng = subject.spec.task, np.random.default_rng(seed)
    s = start(task, rng) if first is None else first
    states, controller = [_plain(s)], subject.controller
    for step in range(cap):
        a = choose(controller.q[region_at(task, controller.partition, s)], controller.delta, rng)
        s, _, terminal = transition(task, s, a)
        states = [*states[-SHOWN:], _plain(s)]
        if terminal:
            return Trial(step + 1, True, states)
    return Trial(cap, False, states)


def _plain(s: Any) -> list[float]:
    return [float(number) for number in s]


def last_state(failure: dict[str, Any]) -> str:
    """Say where a failing trial was last.

    >>> last_state({"states": [[0.0, 1.0], [2.5, 1.25]]})
    '(2.500, 1.250)'
    """
    return "(" + ", ".join(f"{number:.3f}" for number in failure["states"][-1]) + ")"


def refuse(request: Request, *names: str) -> None:
    """Raise if an option was given that means nothing for this task."""
    from distinguo.errors import DistinguoError

    given = {
        "--disturbance": request.disturbance != 0.0,
        "--range": bool(request.ranges),
        "--steps": request.steps is not None,
        "--cells": request.cells is not None,
    }
    for name in names:
        if given[name]:
            raise DistinguoError(f"{name} means nothing for {request.subject.spec.name}; leave it out.")
