"""What it is to ask about a controller: a question, what is asked in it, and the answer.

A question is asked of the tasks that have what its proof needs: implementing one generic (``Question.capability``)
for the class of a task is all the registration there is. The questions themselves are in ``proof.verify``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np

from distinguo.controller import Controller, choose, region_at
from distinguo.errors import DistinguoError
from distinguo.proof.schema import Certificate
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import State, start, transition

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
        disturbance: Any = self.disturbance
        ranges: Any = self.ranges
        if not isinstance(disturbance, Real):
            raise DistinguoError(f"The option disturbance should be a number, got {disturbance!r}.")
        if not isinstance(ranges, Mapping):
            raise DistinguoError(f"The option ranges should be pairs by name, got {ranges!r}.")
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


SHOWN = 10  #: states before the last that are kept


class GreedyTrial(NamedTuple):
    """A simulated trial: its steps, whether it ended in a terminal state, and its last states."""

    steps: int
    ended: bool
    states: list[list[float]]

    def as_json(self) -> dict[str, Any]:
        """Return the trial as the command line prints it."""
        return {"steps": self.steps, "states": self.states}

    @property
    def place(self) -> str:
        """Say where the trial was last.

        >>> GreedyTrial(2, True, [[0.0, 1.0], [2.5, 1.25]]).place
        '(2.500, 1.250)'
        """
        return "(" + ", ".join(f"{number:.3f}" for number in self.states[-1]) + ")"


def greedy_trial(
    task: Any, controller: Controller, seed: int, cap: int, first: State | None = None
) -> GreedyTrial:
    """Follow the greedy policy from a state, or from a start of the task, for at most ``cap`` steps.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.puck.puck import Puck
    >>> always_left = Controller(voronoi([[0.0, 0.0]], [4.8, 11.0]), np.array([[0.0, -1.0]]))
    >>> greedy_trial(Puck(), always_left, seed=0, cap=1000).steps
    54
    """
    rng = np.random.default_rng(seed)
    s = start(task, rng) if first is None else first
    states = [_plain(s)]
    for step in range(cap):
        a = choose(controller.q[region_at(task, controller.partition, s)], controller.delta, rng)
        s, _, terminal = transition(task, s, a)
        states = [*states[-SHOWN:], _plain(s)]
        if terminal:
            return GreedyTrial(step + 1, True, states)
    return GreedyTrial(cap, False, states)


def _plain(s: State) -> list[float]:
    return [float(number) for number in s]
