"""Questions about a controller: a request, its question, and the answer.

A question can be asked about the tasks whose class implements one generic (``Question.capability``); there is no
other registration. The questions themselves are in ``proof.verify``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_FLOOR, Context
from functools import singledispatch
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np
from pydantic import ValidationError

from distinguo.controller import Controller, choose, region_at
from distinguo.errors import DistinguoError, one_line
from distinguo.proof.actions import kinds_with
from distinguo.proof.schema import BoxesClaim, CellsClaim, Certificate, VoronoiClaim
from distinguo.representations.boxes import Boxes
from distinguo.representations.voronoi import Voronoi
from distinguo.seam import generic_with_default, implements
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import State, start, transition

#: The ranges of the options, also on the command line.
LIMITS = {"cells": (1_000, 2**26), "steps": (1, 100_000)}


def bound_text(bound: float) -> str:
    """A lower bound in four digits, rounded down so that it stays one.

    >>> bound_text(-106.259), bound_text(-0.00912)
    ('-106.3', '-0.00912')
    """
    return f"{Context(prec=4, rounding=ROUND_FLOOR).create_decimal_from_float(bound).normalize():zg}"


class Request(NamedTuple):
    """A controller on a task, and the options of a question; None if not given."""

    spec: TaskSpec
    controller: Controller
    seed: int = 0  #: of the trials that look for a failure
    cells: int | None = None  #: about how many the proof may use
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
        """Raise an error if an option is invalid.

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
            pair = isinstance(ends, tuple) and len(ends) == 2 and all(isinstance(end, Real) for end in ends)
            if not pair or not -math.inf < ends[0] <= ends[1] < math.inf:
                raise DistinguoError(
                    f"The range of {name} should be a pair of numbers (low, high), got {ends!r}."
                )


def read_ranges(texts: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Read ranges of parameters, each of the form ``NAME=LOW:HIGH``.

    >>> read_ranges(["mass=0.95:1.05"])
    {'mass': (0.95, 1.05)}
    """
    ranges = {}
    for text in texts:
        name, _, values = text.partition("=")
        try:
            low, high = (float(value) for value in values.split(":"))
        except ValueError:
            raise DistinguoError(
                f"A range is NAME=LOW:HIGH, such as mass=0.95:1.05, got '{one_line(text)}'."
            ) from None
        ranges[name] = low, high
    return ranges


def written_ranges(ranges: Mapping[str, tuple[float, float]]) -> str:
    """Write ranges as :func:`read_ranges` reads them, with commas between them.

    >>> written_ranges({"mass": (0.95, 1.05), "force": (1, 2)})
    'force=1.0:2.0,mass=0.95:1.05'
    """
    return ",".join(f"{name}={float(low)!r}:{float(high)!r}" for name, (low, high) in sorted(ranges.items()))


class Answer(NamedTuple):
    """The answer to a question, for programs and for people."""

    proven: bool
    share: float  #: of the controllable starts, for which it is proven
    cells: int  #: of the proof
    details: dict[str, Any]  #: what else is known, by the keys of ``distinguo verify --json``
    sentences: list[str]
    refuted: bool = False  #: whether a trial shows that the claim is false


class Finding(Protocol):
    """The result of a prover, before it is checked."""

    @property
    def certificate(self) -> Certificate | None:
        """The certificate, to be checked independently; None if nothing is proven."""

    def answer(self, checked: bool) -> Answer:
        """The answer; nothing counts as proven unless the checker accepted the certificate."""


class Question(NamedTuple):
    """A question about the controllers of some tasks."""

    name: str
    capability: Any  #: the generic that the class of a task implements to be asked this
    prove: Callable[[Request], Finding]
    needless: tuple[str, ...] = ()  #: options that mean nothing here
    certifies: bool = True  #: whether the answer is a proof, with a certificate

    def check(self, request: Request) -> None:
        """Reject options that are wrong, or that would be ignored."""
        for name in self.needless:
            if name in request.options:
                raise DistinguoError(
                    f"The option {name} means nothing for {request.spec.name}; leave it out."
                )
        request.check()

    def ask(self, request: Request) -> Finding:
        """Prove what can be proven."""
        self.check(request)
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
        """The last state of the trial.

        >>> GreedyTrial(2, True, [[0.0, 1.0], [2.5, 1.25]]).place
        '(2.500, 1.250)'
        """
        return "(" + ", ".join(f"{number:z.3f}" for number in self.states[-1]) + ")"


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


# From proofs to the fields of a certificate, and back: the prover's side of ``schema``.
#
# A kind of partition becomes certifiable by implementing :func:`claim_of` for its class, a task by implementing
# :func:`task_claim`; what they return must be one of the claims that the checker knows.


ActionLists = list[list[int]]  #: the preferred actions of every region


def controller_claim(controller: Controller) -> VoronoiClaim | BoxesClaim:
    """Return a controller as a certificate names it.

    >>> from distinguo.representations.voronoi import voronoi
    >>> two = voronoi([[1.0, 0.0], [-1.0, 0.0]], [1.0, 2.0])
    >>> controller_claim(Controller(two, np.array([[0.0, -1.0], [0.5, 0.5]]))).actions
    [[0], [0, 1]]
    """
    actions = [np.flatnonzero(preferred).tolist() for preferred in controller.action_sets]
    try:
        return claim_of(controller.partition, actions)
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise DistinguoError(f"There is no certificate for this controller: {problem}.") from None


@generic_with_default
def claim_of(partition: Any, actions: ActionLists) -> VoronoiClaim | BoxesClaim:
    """Return a partition and the actions of its regions as a certificate names it."""
    raise DistinguoError(f"A {type(partition).__name__} cannot be certified; {kinds_with(claim_of)} can.")


@implements(claim_of, Voronoi)
def prototypes_claim(partition: Voronoi, actions: ActionLists) -> VoronoiClaim:
    """Name the prototypes, and the region of each."""
    return VoronoiClaim(
        kind="voronoi",
        prototypes=partition.prototypes.tolist(),
        primary=partition.regions.tolist(),
        weight=partition.weight.tolist(),
        actions=actions,
    )


@implements(claim_of, Boxes)
def tree_claim(partition: Boxes, actions: ActionLists) -> BoxesClaim:
    """Name the nodes of the tree, column by column."""
    columns = {name: getattr(partition, name).tolist() for name in ("axis", "cut", "below", "above")}
    return BoxesClaim(kind="boxes", **columns, actions=actions)


@singledispatch
def partition_of(claim: Any) -> Any:
    """Return the partition that a claim names; its regions are the rows of the claim's actions.

    >>> claim = VoronoiClaim(kind="voronoi", prototypes=[[0.0, 1.0]], primary=[0], weight=[1.0, 2.0], actions=[[0]])
    >>> partition_of(claim).scale.tolist()
    [1.0, 0.5]
    """
    raise DistinguoError(f"A {type(claim).__name__} names no partition.")


@partition_of.register
def _(claim: VoronoiClaim) -> Voronoi:
    weight, rows = np.array(claim.weight), np.array(claim.primary)
    first = [
        np.flatnonzero(rows == j)[:1] for j in range(len(claim.actions))
    ]  # old files have rows that belong to no prototype
    primaries = np.array([found[0] if len(found) else -1 for found in first])
    return Voronoi(np.array(claim.prototypes), rows, primaries, 1 / weight, weight)


@partition_of.register
def _(claim: BoxesClaim) -> Boxes:
    axis, cut, below, above = map(np.array, (claim.axis, claim.cut, claim.below, claim.above))
    return Boxes(axis, cut, below, above, np.zeros(2), np.zeros(2))  # the extent is for pictures only


@generic_with_default
def task_claim(task: Any) -> Any:
    """Return a task, or a set of tasks, as a certificate names it.

    >>> from distinguo.proof.hold.puck import Puck, pucks
    >>> task_claim(pucks(Puck())).low["beta"]
    0.3
    """
    raise DistinguoError(f"There are no certificates about a {type(task).__name__}.")


def cells_claim(matrix: Any, low: Any, pitch: Any, alive: np.ndarray) -> CellsClaim:
    """Return a set of cells as a certificate names it.

    >>> cells_claim((1, 0, 0, 1), (0, 0), (1, 1), np.array([[0, 1, 1], [1, 0, 1]], dtype=bool)).runs
    [[0, 1, 2], [1, 0, 0], [1, 2, 2]]
    """
    if not alive.any():
        raise DistinguoError("There is nothing to certify: no cell is held.")
    padded = np.pad(alive.astype(np.int8), ((0, 0), (1, 1)))
    rows, firsts = np.nonzero(np.diff(padded, axis=1) == 1)
    lasts = np.nonzero(np.diff(padded, axis=1) == -1)[1] - 1
    return CellsClaim(
        matrix=[float(number) for number in matrix],
        low=[float(number) for number in low],
        pitch=[float(number) for number in pitch],
        counts=list(alive.shape),
        runs=np.column_stack([rows, firsts, lasts]).tolist(),
    )
