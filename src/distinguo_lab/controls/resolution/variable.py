"""Variable resolution: a tree that grows where a criterion says, solved again after each round of halvings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from distinguo.controls import with_provenance
from distinguo.errors import DistinguoError, did_you_mean, whole_number
from distinguo.representations.file import Representation
from distinguo.representations.partition import checked_point
from distinguo.seam import at_speed, is_compiled, kernel
from distinguo.tasks.catalog import spec_of, task_spec
from distinguo.tasks.extent import task_extent
from distinguo.tasks.spec import CATEGORIES, TaskSpec
from distinguo.tasks.task import actions, observe, start, transition, truncated, unpack
from distinguo_lab.controls.resolution.corners import (
    ResolutionPlan,
    best_ahead,
    corners_of,
    interpolated,
    plan_on,
)
from distinguo_lab.growing_boxes import GrowingBoxes, finished, growing_boxes, halve, halve_evenly

LEAVES = 500  #: by default
FEWEST, MOST = 2, 20_000  #: leaves allowed
FIRST_LEAVES = 16  #: of the even tree at the start
RATE = 0.1  #: share of the leaves that a round halves; the source tries several
NARROWEST = 2.0**-16  #: width of a leaf that is not halved, as a share of the extent
GAMMA = 0.99
DEFAULT = "policy"
CAP = 100_000  #: steps of a trial of a task without a limit


class LookAheadTrials(NamedTuple):
    """The results of trials of the controller."""

    lengths: np.ndarray  #: (trials,) steps until the end, or until it was stopped
    returns: np.ndarray  #: (trials,) the sum of rewards
    ended: np.ndarray  #: (trials,) whether it reached a terminal state


class VariableResolution(NamedTuple):
    """A discretization of a task with a known model: its leaves, and the values at their corners.

    >>> hill = variable_resolution("puck", "policy", leaves=40)
    >>> hill.representation.regions, hill.action((0.5, 1.0))
    (40, 0)
    """

    spec: TaskSpec
    criterion: str
    plan: ResolutionPlan
    queries: int  #: transitions computed in all rounds

    @property
    def representation(self) -> Representation:
        """The leaves as an ordinary partition."""
        tree = self.plan.corners.tree
        numbers = {"criterion": self.criterion, "leaves": int(tree.size[0]), "model_queries": self.queries}
        return with_provenance(self.spec, finished(tree), "variable-resolution", **numbers)

    def value(self, s: Any) -> float:
        """Return the value of a state, interpolated between corners."""
        return float(interpolated(self.plan.corners, self.plan.values, self._point(s)))

    def action(self, s: Any) -> int:
        """Return the best action at a state, by look-ahead with the known model; the first of tied ones."""
        row = np.array(self._point(s))
        return int(at_speed(_best_at, self.spec.task)(self.spec.task, self.plan, row))

    def _point(self, s: Any) -> tuple[float, ...]:
        return checked_point(finished(self.plan.corners.tree), s)

    def trials(
        self, count: int = 100, seed: int = 0, starts: np.ndarray | None = None, cap: int = CAP
    ) -> LookAheadTrials:
        """Follow the look-ahead controller from starts of the task, or from given states, to the end.

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
    """Follow the look-ahead controller; return the steps, the return, and whether it reached an end."""
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
    "influence" (where the value is uncertain and matters to where the action changes). Only the extent of a task with
    infinite bounds is random, by the ``seed``.

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
    """Return the discretization of a text such as "policy,200": a criterion and a number of leaves, both optional.

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
    """Raise unless every point of the observations is a state of a known, deterministic model.

    >>> check_model(task_spec("Acrobot-v1"))
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: ... 'Acrobot-v1' observes 6 numbers of a state of 4, so a point is not ...
    """
    task, why = spec.task, ""
    first = start(task, np.random.default_rng(0)) if is_compiled(task) else ()
    seen = observe(task, first) if first else ()
    if spec.kind == CATEGORIES:
        why = "observes categories, which have no points between them"
    elif not first or not spec.restorable:
        why = "runs as plain Python and only knows its own states"
    elif spec.stochastic != "no":
        why = "is stochastic"
    elif len(seen) != len(first):
        why = f"observes {len(seen)} numbers of a state of {len(first)}, so a point is not a state"
    elif not np.allclose(seen, first, rtol=1e-6, atol=1e-6):
        why = "does not observe its states, so a point is not a state"
    if why:
        raise DistinguoError(
            "The representation 'variable-resolution' needs a known, deterministic model of every point, but "
            f"'{spec.name}' {why}; take another representation, such as grid, or a learner, such as kd-tree."
        )


def halve_best(tree: GrowingBoxes, scores: Scores) -> int:
    """Halve the leaves with the best scores, each across its best coordinate; return how many."""
    leaves = len(scores)
    wide = (tree.most[:leaves] - tree.least[:leaves]) > NARROWEST * (tree.high - tree.low)
    scores = np.where(wide, scores, 0.0)
    best, across = scores.max(axis=1), scores.argmax(axis=1)
    room = min(math.ceil(RATE * leaves), len(tree.node) - leaves, int((best > 0).sum()))
    for leaf in np.argsort(-best, kind="stable")[:room]:
        halve(tree, int(leaf), int(across[leaf]))
    return room


# Which leaves to halve, and across which coordinate: the splitting criteria of Munos and Moore (2002).
#
# Local criteria look at the corners of a leaf: how much their values differ along its edges, how unequal these
# differences are (a linear function has equal ones), whether their best actions differ. The global one asks how
# uncertain the value of a corner is, and how much that matters where the action changes: standard deviation times
# influence.


#: Actions whose values are this close, as a share of the range of all values, are tied.
AS_GOOD = 1e-6
PASSES = 2_000  #: of the iterations for influence and variance, at most
SETTLED = 1e-6  #: change that ends them, as a share of the greatest number

Scores = np.ndarray  #: (leaves, dimensions) greater is halved first; 0 for a leaf that stays whole


def edge_differences(plan: ResolutionPlan) -> np.ndarray:
    """Return V(high) - V(low) along all edges of all leaves: (leaves, dimensions, edges)."""
    low, high = _edges(plan)
    at_corners = plan.values[plan.corners.of_leaf]
    differences: np.ndarray = at_corners[:, high] - at_corners[:, low]
    return differences


def _edges(plan: ResolutionPlan) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns of the corners at both ends of every edge, (dimensions, edges) each."""
    columns = np.arange(plan.corners.of_leaf.shape[1])
    low = np.array([columns[(columns >> i) & 1 == 0] for i in range(len(plan.corners.tree.low))])
    return low, low | (1 << np.arange(len(low)))[:, None]


def value_scores(plan: ResolutionPlan) -> Scores:
    """Corner-value difference: the mean difference along the edges in a coordinate."""
    scores: Scores = abs(edge_differences(plan)).mean(axis=2)
    return scores


def nonlinearity_scores(plan: ResolutionPlan) -> Scores:
    """Value non-linearity: the deviation of the differences along the edges in a coordinate; 0 for a plane."""
    scores: Scores = edge_differences(plan).std(axis=2)
    return scores


def best_actions(plan: ResolutionPlan) -> np.ndarray:
    """Return the actions that are tied for the best at each corner."""
    q = plan.q
    sets: np.ndarray = q >= q.max(axis=1, keepdims=True) - AS_GOOD * np.ptp(q)
    return sets


def policy_scores(plan: ResolutionPlan) -> Scores:
    """Policy disagreement: the share of edges whose ends have no best action in common, times their width.

    The width, as a share of the extent, lets a boundary be followed evenly; the source splits all such leaves.
    """
    low, high = _edges(plan)
    sets = best_actions(plan)[plan.corners.of_leaf]
    apart = ~(sets[:, high] & sets[:, low]).any(axis=3)
    scores: Scores = apart.mean(axis=2) * relative_widths(plan)
    return scores


def relative_widths(plan: ResolutionPlan) -> np.ndarray:
    """Return the width of every leaf in every coordinate, as a share of the extent."""
    tree, leaves = plan.corners.tree, len(plan.corners.of_leaf)
    widths: np.ndarray = (tree.most[:leaves] - tree.least[:leaves]) / (tree.high - tree.low)
    return widths


def _chain(plan: ResolutionPlan) -> tuple[np.ndarray, np.ndarray]:
    """Return where the best action leads from each corner, with discounted probabilities."""
    corner, best = np.arange(len(plan.values)), plan.q.argmax(axis=1)
    return plan.next[corner, best], plan.weight[corner, best]


def influence(plan: ResolutionPlan, sources: np.ndarray) -> np.ndarray:
    """Return the discounted number of visits of each corner by trajectories from the sources.

    It is how much the values of the sources change with the reward at the corner.
    """
    following, weight = _chain(plan)
    total = np.zeros(len(sources))
    now: np.ndarray = sources.astype(np.float64)
    for _ in range(PASSES):
        total += now
        now = np.bincount(following.ravel(), (weight * now[:, None]).ravel(), minlength=len(total))
        if now.max() <= SETTLED * total.max():
            break
    return total


def variance(plan: ResolutionPlan) -> np.ndarray:
    """Return the variance of the discounted return of the Markov chain from each corner.

    The task is deterministic: what varies is only which corner the interpolation takes.
    """
    following, weight = _chain(plan)
    discount = weight.sum(axis=1)
    chance = np.divide(weight, discount[:, None], out=np.zeros_like(weight), where=discount[:, None] > 0)
    ahead = plan.values[following]
    mean = (chance * ahead).sum(axis=1, keepdims=True)
    own = discount**2 * (chance * (ahead - mean) ** 2).sum(axis=1)
    total = own
    for _ in range(PASSES):
        new = own + discount**2 * (chance * total[following]).sum(axis=1)
        change, total = abs(new - total).max(), new
        if change <= SETTLED * total.max():
            break
    return total


def influence_scores(plan: ResolutionPlan) -> Scores:
    """Stdev_Inf: the mean, over the corners of a leaf, of deviation times influence on where the action changes.

    A leaf is halved across its widest coordinate: the parts of the source that we know do not say across which, and
    by the greatest corner-value difference the car does not get up its hill (docs/readings.md). If the action changes
    nowhere, no leaf is halved.
    """
    at_boundary = (policy_scores(plan) > 0).any(axis=1)
    sources = np.zeros(len(plan.values), dtype=np.bool_)
    sources[plan.corners.of_leaf[at_boundary]] = True
    merit = np.sqrt(variance(plan)) * influence(plan, sources)
    widths = relative_widths(plan)
    widest = widths == widths.max(axis=1, keepdims=True)
    scores: Scores = merit[plan.corners.of_leaf].mean(axis=1)[:, None] * widest
    return scores


CRITERIA: dict[str, Callable[[ResolutionPlan], Scores]] = {
    "policy": policy_scores,
    "value": value_scores,
    "nonlinearity": nonlinearity_scores,
    "influence": influence_scores,
}
