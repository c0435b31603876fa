"""Variable resolution: a tree that grows where a criterion says, solved anew after each round of halvings."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np

from distinguo.controls.fixed import with_provenance
from distinguo.errors import DistinguoError, did_you_mean, whole_number
from distinguo.representations.file import Representation
from distinguo.representations.partition import checked_point
from distinguo.seam import at_speed, is_compiled, kernel
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.extent import task_extent
from distinguo.tasks.spec import CATEGORIES, TaskSpec
from distinguo.tasks.task import actions, observe, start, transition, truncated, unpack
from distinguo_lab.controls.resolution.corners import corners_of, interpolated
from distinguo_lab.controls.resolution.plan import ResolutionPlan, best_ahead, plan_on
from distinguo_lab.controls.resolution.scores import CRITERIA, Scores
from distinguo_lab.growing_boxes import (
    GrowingBoxes,
    finished,
    growing_boxes,
    halve,
    halve_evenly,
)

LEAVES = 500  #: where no other number is asked for
FEWEST, MOST = 2, 20_000  #: leaves that can be asked for
FIRST_LEAVES = 16  #: of the even tree to begin with
RATE = 0.1  #: share of the leaves that a round halves; the source tries several
NARROWEST = 2.0**-16  #: width of a leaf that is not halved, as a share of the extent
GAMMA = 0.99
DEFAULT = "policy"
CAP = 100_000  #: steps of a trial of a task without a limit


class LookAheadTrials(NamedTuple):
    """What became of trials of the controller."""

    lengths: np.ndarray  #: (trials,) steps until the end, or until it was stopped
    returns: np.ndarray  #: (trials,) the sum of rewards
    ended: np.ndarray  #: (trials,) whether it came to a terminal state


class VariableResolution(NamedTuple):
    """A discretization of a task with a known model: its leaves, and the values at their corners.

    >>> hill = variable_resolution("puck", "policy", leaves=40)
    >>> hill.representation.regions, hill.action((0.5, 1.0))
    (40, 0)
    """

    spec: TaskSpec
    criterion: str
    plan: ResolutionPlan
    queries: int  #: transitions of the task that were asked for, in all rounds

    @property
    def representation(self) -> Representation:
        """Return the leaves as a partition for others."""
        tree = self.plan.corners.tree
        numbers = {"criterion": self.criterion, "leaves": int(tree.size[0]), "model_queries": self.queries}
        return with_provenance(self.spec, finished(tree), "variable-resolution", **numbers)

    def value(self, s: Any) -> float:
        """Return the value of a state, interpolated between corners."""
        return float(interpolated(self.plan.corners, self.plan.values, self._point(s)))

    def action(self, s: Any) -> int:
        """Return the best action at a state, by look-ahead with the known model; of equal ones the first."""
        row = np.array(self._point(s))
        return int(at_speed(_best_at, self.spec.task)(self.spec.task, self.plan, row))

    def _point(self, s: Any) -> tuple[float, ...]:
        return checked_point(finished(self.plan.corners.tree), s)

    def trials(
        self, count: int = 100, seed: int = 0, starts: np.ndarray | None = None, cap: int = CAP
    ) -> LookAheadTrials:
        """Follow the look-ahead controller from where trials of the task begin, or from given states, to the end.

        A trial that does not end is stopped at the limit of the task, or after ``cap`` steps.
        """
        rng = np.random.default_rng(seed)
        rows = np.array([start(self.spec.task, rng) for _ in range(count)]) if starts is None else starts
        lengths, ended = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.bool_)
        returns = np.zeros(len(rows))
        follow_ahead = at_speed(_follow_ahead, self.spec.task)
        for n, row in enumerate(rows):
            lengths[n], returns[n], ended[n] = follow_ahead(
                self.spec.task, self.plan, row, self.spec.cap(cap)
            )
        return LookAheadTrials(lengths, returns, ended)


@kernel
def _best_at(task: Any, plan: ResolutionPlan, row: np.ndarray) -> int:
    return best_ahead(task, plan, unpack(task, row))


@kernel
def _follow_ahead(task: Any, plan: ResolutionPlan, row: np.ndarray, cap: int) -> tuple[int, float, bool]:
    """Follow the look-ahead controller: the steps, the return, and whether it came to an end."""
    s = unpack(task, row)
    gained = 0.0
    for length in range(cap):
        s, r, terminal = transition(task, s, best_ahead(task, plan, s))
        gained += r
        if terminal or truncated(task, s):
            return length + 1, gained, terminal
    return cap, gained, False


def variable_resolution(
    task: Any, criterion: str = DEFAULT, leaves: int = LEAVES, gamma: float = GAMMA, seed: int = 0
) -> VariableResolution:
    """Discretize a task whose model is known, finer where the criterion says so (Munos and Moore 2002).

    ``task`` is the name of one of our own, or a task of yours; ``criterion`` is "policy" (halve where the best action
    changes), "value" (where the values of corners differ), "nonlinearity" (where they are not linear) or
    "influence" (where the value is uncertain and matters to where the action changes). Nothing is left to chance but
    the extent of a task with infinite bounds, which the ``seed`` decides.

    >>> variable_resolution("puck", "polcy")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown criterion 'polcy'; did you mean 'policy'?
    """
    if criterion not in CRITERIA:
        raise DistinguoError(f"Unknown criterion '{criterion}'; {did_you_mean(str(criterion), CRITERIA)}")
    if isinstance(gamma, bool) or not isinstance(gamma, int | float) or not 0.0 < gamma < 1.0:
        raise DistinguoError(f"gamma should be a number above 0 and below 1, got {gamma!r}.")
    spec = _with_extent(_spec(task), seed)
    most = whole_number("The number of leaves", leaves, FEWEST, MOST)
    check_model(spec)
    tree = growing_boxes(spec.low, spec.high, most)
    halve_evenly(tree, min(FIRST_LEAVES, most))
    queries = 0
    while True:
        plan = plan_on(spec.task, corners_of(tree), actions(spec.task), float(gamma))
        queries += plan.queries
        if tree.size[0] >= most or not halve_best(tree, CRITERIA[criterion](plan)):
            return VariableResolution(spec, criterion, plan, queries)


def resolution_named(spec: TaskSpec, words: str, seed: int = 0) -> VariableResolution:
    """Return what is asked for by a criterion and a number of leaves, as in "policy,200"; both may be left out.

    >>> resolution_named(task_spec("puck"), "policy,many")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Variable resolution is written with a criterion and a number of leaves, as in ...
    """
    criterion, comma, count = words.partition(",")
    if comma and not re.fullmatch(r"\d{1,9}", count, re.ASCII):
        raise DistinguoError(
            "Variable resolution is written with a criterion and a number of leaves, as in "
            f"variable-resolution:policy,200, got 'variable-resolution:{words}'."
        )
    return variable_resolution(spec, criterion or DEFAULT, int(count) if comma else LEAVES, seed=seed)


def _spec(task: Any) -> TaskSpec:
    if isinstance(task, TaskSpec):
        return task
    return task_spec(task) if isinstance(task, str) else spec_of(task, {})


def _with_extent(spec: TaskSpec, seed: int) -> TaskSpec:
    if spec.bounded:
        return spec
    extent = task_extent(spec, seed)
    return spec._replace(low=extent.low, high=extent.high)


def check_model(spec: TaskSpec) -> None:
    """Raise unless any point of the observations is a state that the task can be asked about.

    >>> check_model(task_spec("Acrobot-v1"))
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: ... 'Acrobot-v1' shows 6 numbers of a state of 4, so that a point is no ...
    """
    task, why = spec.task, ""
    first = start(task, np.random.default_rng(0)) if is_compiled(task) else ()
    seen = observe(task, first) if first else ()
    if spec.kind == CATEGORIES:
        why = "observes categories, which have no points between them"
    elif not first or not spec.restorable:
        why = "is run as plain Python and only knows its own states"
    elif spec.stochastic != "no":
        why = "leaves its steps to chance"
    elif len(seen) != len(first):
        why = f"shows {len(seen)} numbers of a state of {len(first)}, so that a point is no state"
    elif not np.allclose(seen, first, rtol=1e-6, atol=1e-6):
        why = "shows something else than its states, so that a point is no state"
    if why:
        raise DistinguoError(
            "The representation 'variable-resolution' asks a known, deterministic model about any point, and "
            f"'{spec.name}' {why}; take another representation, such as grid, or a learner, such as kd-tree."
        )


def halve_best(tree: GrowingBoxes, scores: Scores) -> int:
    """Halve the leaves with the best scores, a share of all, each across its best coordinate; say how many."""
    leaves = len(scores)
    wide = (tree.most[:leaves] - tree.least[:leaves]) > NARROWEST * (tree.high - tree.low)
    scores = np.where(wide, scores, 0.0)
    best, across = scores.max(axis=1), scores.argmax(axis=1)
    room = min(math.ceil(RATE * leaves), len(tree.node) - leaves, int((best > 0).sum()))
    for leaf in np.argsort(-best, kind="stable")[:room]:
        halve(tree, int(leaf), int(across[leaf]))
    return room
