"""Which leaves to halve, and across which coordinate: the splitting criteria of Munos and Moore (2002).

Local criteria look at the corners of a leaf: how much their values differ along its edges, how unequal these
differences are (a linear function has equal ones), whether their best actions differ. The global one asks how
uncertain the value of a corner is, and how much that matters where the action changes: standard deviation times
influence.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from distinguo_lab.controls.resolution.plan import ResolutionPlan

#: Actions whose values are this close, as a share of the range of all values, are as good as each other.
AS_GOOD = 1e-6
PASSES = 2_000  #: of the iterations for influence and variance, at most
SETTLED = 1e-6  #: change that ends them, as a share of the greatest number

Scores = np.ndarray  #: (leaves, dimensions) the more the better; 0 for a leaf that should stay whole


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
    """Return which actions are as good as the best at each corner."""
    q = plan.q
    sets: np.ndarray = q >= q.max(axis=1, keepdims=True) - AS_GOOD * np.ptp(q)
    return sets


def policy_scores(plan: ResolutionPlan) -> Scores:
    """Policy disagreement: the share of edges whose ends have no best action in common, times their width.

    The width, as a share of the extent, makes a boundary be followed evenly; the source splits all such leaves.
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
    """Return where the best action leads from each corner, and with what discounted chance."""
    corner, best = np.arange(len(plan.values)), plan.q.argmax(axis=1)
    return plan.next[corner, best], plan.weight[corner, best]


def influence(plan: ResolutionPlan, sources: np.ndarray) -> np.ndarray:
    """Return the discounted number of times that trajectories from the sources come through each corner.

    It is how much the values of the sources change with what is gained at the corner.
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

    A leaf is halved across its widest coordinate: what was at hand of the source does not say across which, and by
    the greatest corner-value difference the car does not get up its hill (docs/readings.md). Where the action changes
    nowhere, there is nothing to influence, and no leaf is halved.
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
