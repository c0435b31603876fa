"""What it is to ask about a controller: a question, what is asked in it, and the answer.

A question is asked of the tasks that have what its proof needs: implementing one generic (``Question.capability``)
for the class of a task is all the registration there is. The questions themselves are in ``proof.verify``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.schema import Certificate
from distinguo.tasks.spec import TaskSpec

#: The least and the greatest of what may be asked; the command line has the same.
LIMITS = {"cells": (1_000, 2**26), "steps": (1, 100_000)}


class Request(NamedTuple):
    """A controller on a task, and what is asked about it; None where nothing was said."""

    spec: TaskSpec
    controller: Controller
    seed: int = 0  #: of the trials that look for a failure
    cells: int | None = None  #: that the proof may use, about
    steps: int | None = None  #: within which trials should arrive
    disturbance: float = 0.0  #: of the last coordinate, in every step
    ranges: Mapping[str, tuple[float, float]] = {}  #: parameters of the task that are not known exactly

    @property
    def options(self) -> tuple[str, ...]:
        """Return the names of the options that were given.

        >>> Request(None, None, steps=100).options
        ('steps',)
        """
        usual = self._field_defaults
        return tuple(
            name
            for name in ("cells", "steps", "disturbance", "ranges")
            if getattr(self, name) not in (usual[name], None)
        )

    def check(self) -> None:
        """Raise if something was asked that makes no sense.

        >>> Request(None, None, steps=0).check()
        Traceback (most recent call last):
        distinguo.errors.DistinguoError: The option steps should be a whole number from 1 to 100000, got 0.
        """
        for name, (least, most) in LIMITS.items():
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int) and least <= value <= most):
                raise DistinguoError(
                    f"The option {name} should be a whole number from {least} to {most}, got {value!r}."
                )
        for name, ends in self.ranges.items():
            if not (isinstance(ends, tuple) and len(ends) == 2):
                raise DistinguoError(f"The range of {name} should be a pair (low, high), got {ends!r}.")


class Answer(NamedTuple):
    """What a question came to, for programs and for people."""

    proven: bool
    share: float  #: of the controllable starts, for which it is proven
    cells: int  #: that the proof is made of
    details: dict[str, Any]  #: what else is known, by the keys of ``distinguo verify --json``
    sentences: list[str]


class Finding(Protocol):
    """What a prover found out, before anybody checked it."""

    @property
    def certificate(self) -> Certificate | None:
        """Return what can be checked independently; None if nothing is proven."""

    def answer(self, checked: bool) -> Answer:
        """Say what is proven; that is nothing unless the checker accepted the certificate."""


class Question(NamedTuple):
    """Something that can be asked about the controllers of some tasks."""

    name: str
    capability: Any  #: the generic that the class of a task implements to be asked this
    prove: Callable[[Request], Finding]
    needless: tuple[str, ...] = ()  #: options that mean nothing here
    certifies: bool = True  #: whether the answer is a proof, with a certificate

    def ask(self, request: Request) -> Finding:
        """Prove what can be proven, refusing options that would be ignored."""
        for name in self.needless:
            if name in request.options:
                raise DistinguoError(
                    f"The option {name} means nothing for {request.spec.name}; leave it out."
                )
        request.check()
        return self.prove(request)
