"""Fit a map to the actions of a teacher: K prototypes with an action each, and a width for every coordinate.

During the fit, each state belongs to all prototypes, with weights that are a softmax of minus the squared
distances. The probability that the map takes a good action in a state is then smooth in prototypes and widths. Its
logarithm, weighted by the cost of a wrong action there, is maximised by L-BFGS. Afterwards a state belongs to its
nearest prototype alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from distinguo.seam import kernel, part
from distinguo.search.maps import PrototypeMap, prototype_map

LEAST_CHANCE = 1e-12  #: so that no single state can outweigh all others
NEGLIGIBLE = -40.0  #: logarithm of a share that counts as none
SPREAD = 1e-4  #: weight of a penalty that keeps prototypes near the states
SHARPNESS = 1.0  #: logarithm of the weights to begin with, in standard deviations of the states
SHARPEST = 8.0  #: the greatest, and its negative the least
NEVER_SEEN = 1e-9  #: a coordinate with a smaller standard deviation counts as constant


class Lesson(NamedTuple):
    """States that a teacher was asked about, which actions are good there, and what others cost."""

    seen: np.ndarray  #: (states, dimensions)
    good: np.ndarray  #: (states, actions) whether an action costs nothing
    weight: np.ndarray  #: (states,) what a wrong action costs

    def drawn(self, most: int, rng: np.random.Generator) -> Lesson:
        """Return a sample of at most ``most`` states."""
        if len(self.seen) <= most:
            return self
        rows = np.sort(rng.choice(len(self.seen), most, replace=False))
        return Lesson(*(column[rows] for column in self))


class Standard(NamedTuple):
    """The middle and the spread of the states, in which prototypes and widths are fitted."""

    middle: np.ndarray
    spread: np.ndarray

    def of(self, seen: np.ndarray) -> np.ndarray:
        """Return states in these units."""
        return np.ascontiguousarray((seen - self.middle) / self.spread)


def standard_of(seen: np.ndarray) -> Standard:
    """Return the middle and the spread of states; a constant coordinate has spread 1."""
    spread = seen.std(axis=0)
    return Standard(seen.mean(axis=0), np.where(spread > NEVER_SEEN, spread, 1.0))


def first_map(lesson: Lesson, size: int, rng: np.random.Generator) -> PrototypeMap:
    """Draw states by cost and distance from each other, each with an action that is good there.

    First every good action that matters gets a prototype, as long as there are enough.
    """
    standard = standard_of(lesson.seen)
    rows = standard.of(lesson.seen)
    chances = lesson.weight / lesson.weight.sum()
    chosen: list[int] = []
    labels = lesson.good.argmax(axis=1)
    nearest = np.full(len(rows), np.inf)
    while len(chosen) < size:
        missing = ~np.isin(labels, labels[chosen])
        share = chances * np.where(np.isfinite(nearest), nearest, 1.0)
        if len(chosen) < len(np.unique(labels)) and (chances * missing).sum() > 0:
            share = share * missing if (share * missing).sum() > 0 else chances * missing
        if share.sum() <= 0:
            share = np.ones(len(rows))
        n = int(rng.choice(len(rows), p=share / share.sum()))
        chosen.append(n)
        nearest = np.minimum(nearest, ((rows - rows[n]) ** 2).sum(axis=1))
    shift = rng.normal(0.0, 1e-3, (size, rows.shape[1]))  # no two prototypes in one place
    places = lesson.seen[chosen] + shift * standard.spread
    return prototype_map(places, labels[chosen].astype(np.int64), standard.spread * np.exp(-SHARPNESS))


def fitted(lesson: Lesson, begun: PrototypeMap, steps: int, decay: float = 0.0) -> tuple[PrototypeMap, float]:
    """Return a map fitted to a lesson, beginning from another, and the mean loss that is left.

    ``decay`` is a price of narrow widths: it keeps shares soft, and borders in the middle of wide gaps.

    >>> seen = np.linspace(-1.0, 1.0, 101)[:, None]
    >>> good = np.hstack([seen < 0.3, seen >= 0.3])
    >>> lesson = Lesson(seen, good, np.ones(101))
    >>> begun = prototype_map([[-0.9], [0.1]], [0, 1], [1.0])
    >>> map_, loss = fitted(lesson, begun, 200)
    >>> abs(float(map_.prototypes.mean()) - 0.29) < 0.02, loss < 0.02
    (True, True)
    """
    standard = standard_of(lesson.seen)
    rows, size = standard.of(lesson.seen), begun.prototypes.shape
    weight = lesson.weight / lesson.weight.sum()
    scratch = Shares(np.zeros(size[0]), np.zeros(size[0]))
    gradient = np.zeros(begun.prototypes.size + size[1])

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        gradient[:] = 0.0
        places, squared = parameters[: -size[1]].reshape(size), np.exp(2.0 * parameters[-size[1] :])
        value = soft_loss(rows, lesson.good, weight, places, begun.actions, squared, gradient, scratch)
        if decay > 0.0:
            value += decay * float(squared.sum())
            gradient[-size[1] :] += 2.0 * decay * squared
        return value, gradient.copy()

    first = np.concatenate([standard.of(begun.prototypes).ravel(), np.log(standard.spread / begun.scale)])
    first[-size[1] :] = np.clip(first[-size[1] :], -SHARPEST, SHARPEST)
    bounds = [(None, None)] * begun.prototypes.size + [(-SHARPEST, SHARPEST)] * size[1]
    options = {"maxiter": steps, "maxcor": 20}
    result = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    places = result.x[: -size[1]].reshape(size) * standard.spread + standard.middle
    scale = standard.spread * np.exp(-result.x[-size[1] :])
    return prototype_map(places, begun.actions, scale), float(result.fun)


class Shares(NamedTuple):
    """Room for the distances and shares of one state."""

    near: np.ndarray
    share: np.ndarray


@kernel
def soft_loss(
    rows: np.ndarray,
    good: np.ndarray,
    weight: np.ndarray,
    places: np.ndarray,
    actions: np.ndarray,
    squared: np.ndarray,
    gradient: np.ndarray,
    scratch: Shares,
) -> float:
    """Return the weighted mean of minus the log probability of a good action; add its gradient.

    ``squared`` are the squares of the weights of the coordinates; the gradient is by their logarithms.
    """
    count = len(places)
    total = 0.0
    for n in range(len(rows)):
        everything = fill_shares(rows[n], places, squared, scratch)
        right = 0.0
        for j in range(count):
            if good[n, actions[j]]:
                right += scratch.share[j]
        chance = right / everything
        total -= weight[n] * np.log(chance + LEAST_CHANCE)
        for j in range(count):
            # how the loss changes with minus the squared distance to j
            own = scratch.share[j] / everything
            inside = own if good[n, actions[j]] else 0.0
            slope = weight[n] * (own * chance - inside) / (chance + LEAST_CHANCE)
            if slope != 0.0:
                add_slope(rows[n], places, j, squared, 2.0 * slope, gradient)
    return total + add_penalty(places, gradient)


@part
def fill_shares(row: np.ndarray, places: np.ndarray, squared: np.ndarray, scratch: Shares) -> float:
    """Write the share of every prototype in a state, up to a factor, and return their sum."""
    largest, everything = -np.inf, 0.0
    for j in range(len(places)):
        far = 0.0
        for i in range(len(row)):
            d = row[i] - places[j, i]
            far += d * d * squared[i]
        scratch.near[j] = -far
        largest = max(largest, -far)
    for j in range(len(places)):
        behind = scratch.near[j] - largest
        scratch.share[j] = np.exp(behind) if behind > NEGLIGIBLE else 0.0
        everything += scratch.share[j]
    return everything


@part
def add_slope(
    row: np.ndarray, places: np.ndarray, j: int, squared: np.ndarray, slope: float, gradient: np.ndarray
) -> None:
    """Add the contribution of a state and a prototype to the gradient."""
    width = len(row)
    for i in range(width):
        d = row[i] - places[j, i]
        gradient[j * width + i] += slope * d * squared[i]
        gradient[len(places) * width + i] -= slope * d * d * squared[i]


@part
def add_penalty(places: np.ndarray, gradient: np.ndarray) -> float:
    """Return the penalty for prototypes that are far from the states; add its gradient."""
    total, width = 0.0, places.shape[1]
    for j in range(len(places)):
        for i in range(width):
            total += SPREAD * places[j, i] * places[j, i]
            gradient[j * width + i] += 2.0 * SPREAD * places[j, i]
    return total
