"""Laws fitted to the amounts that a teacher takes: regression within softly assigned regions.

Each region has a place and an affine law. A state belongs to regions by how near their places are and by how well
their laws predict the teacher (an EM algorithm for a mixture of linear experts; Jordan and Jacobs, 1994). An amount
at the end of its range only says that the law reaches that far, so that a saturated teacher keeps its extremes.
A map of prototypes with laws is fitted by L-BFGS to all of it together: where each place is, how much each coordinate
counts, and the laws.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.vq import kmeans2
from scipy.optimize import minimize

from distinguo.distillation.fit import SHARPEST
from distinguo.search.maps import PrototypeMap, prototype_map

MOST_ROWS, PLACES = 5_000, 100  #: states that laws are fitted to, and neighbourhoods that they come from
ROUNDS, CENSORED = (
    30,
    4,
)  #: of the assignment, and of each regression, as saturated amounts depend on its result
TRIES = 4  #: fits from different beginnings; the likeliest is taken
RIDGE = 1e-3  #: keeps gains of coordinates that never vary at 0
LEAST = 1e-4  #: variance of the errors, in half ranges
BEGUN, FITTED = 20, 1  #: pieces that are begun, and those of them that are fitted further
STEPS = 150  #: of L-BFGS
STRETCHED = 0.7  #: of the weights that pieces begin with, in logarithms
WEIGHT_DECAY = 1e-3  #: a price of narrow borders
SATURATED = (
    0.95  #: half ranges from the middle: an amount further out counts as the end, which networks seldom say
)


class LawMap(NamedTuple):
    """Prototypes with a law each: prototype ``j`` has law ``j``."""

    map: PrototypeMap
    table: np.ndarray  #: (laws, amounts, dimensions + 1)

    @property
    def size(self) -> int:
        """The number of its prototypes."""
        return self.map.size


class Box(NamedTuple):
    """The least and the greatest of each amount."""

    low: np.ndarray
    high: np.ndarray

    @property
    def half(self) -> np.ndarray:
        """Half of each range."""
        return np.asarray((self.high - self.low) / 2.0)

    def said(self, table: np.ndarray, seen: np.ndarray) -> np.ndarray:
        """What each law says of each row: (rows, laws, amounts)."""
        whole = np.einsum("kmd,nd->nkm", table[..., :-1], seen) + table[..., -1]
        return np.asarray(np.clip(whole, self.low, self.high))

    def costs(self, table: np.ndarray, seen: np.ndarray, taken: np.ndarray) -> np.ndarray:
        """The squared error of each law at each row, in half ranges: (rows, laws)."""
        return np.asarray((((self.said(table, seen) - taken[:, None]) / self.half) ** 2).sum(axis=2))


def fitted_laws(
    seen: np.ndarray,
    taken: np.ndarray,
    count: int,
    low: np.ndarray,
    high: np.ndarray,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """The table of ``count`` laws that say best what a teacher took where it saw these rows.

    >>> rng = np.random.default_rng(0)
    >>> seen = rng.uniform(-1, 1, (400, 1))
    >>> taken = np.clip(np.where(seen < 0, 2 * seen + 1.5, -2 * seen + 0.5), -1, 1)
    >>> fitted_laws(seen, taken, 2, np.array([-1.0]), np.array([1.0])).round(1).tolist()
    [[[2.0, 1.5]], [[-2.0, 0.5]]]
    """
    rng = rng or np.random.default_rng(0)
    centre, spread = _standard(seen)
    some = _spread_out((seen - centre) / spread, rng)
    seen, taken = seen[some], taken[some]
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    rows = np.hstack([(seen - centre) / spread, np.ones((len(seen), 1))])
    wanted = np.clip((taken - middle) / half, -1.0, 1.0)
    fits = [_fit(rows, wanted, count, rng) for _ in range(TRIES if count > 1 else 1)]
    own = max(fits, key=lambda fit: fit[1])[0]
    table = np.empty_like(own)
    table[..., :-1] = own[..., :-1] * half[:, None] / spread
    table[..., -1] = middle + half * own[..., -1] - table[..., :-1] @ centre
    return table


def _standard(seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    centre, spread = seen.mean(axis=0), seen.std(axis=0)
    return centre, np.where(spread > 1e-9 * (1.0 + np.abs(centre)), spread, 1.0)


def fitted_within(
    rows: tuple[np.ndarray, np.ndarray, np.ndarray], near: np.ndarray, laws: np.ndarray, box: Box
) -> np.ndarray:
    """The laws that fit best, each in its region; one without a region stays as it is.

    ``rows`` are what was seen, what was taken there and the weight of it; ``near`` is the region of each.
    """
    seen, taken, weight = rows
    centre, spread = _standard(seen)
    middle, half = (box.low + box.high) / 2.0, box.half
    standard = np.hstack([(seen - centre) / spread, np.ones((len(near), 1))])
    wanted, new = np.clip((taken - middle) / half, -1.0, 1.0), laws.copy()
    for j in np.unique(near):
        own = laws[j] / half[:, None]
        own[:, -1] += (laws[j][:, :-1] @ centre - middle) / half
        own[:, :-1] *= spread
        own = regressed(standard, wanted, weight * (near == j), own)
        new[j, :, :-1] = own[:, :-1] * half[:, None] / spread
        new[j, :, -1] = middle + half * own[:, -1] - new[j, :, :-1] @ centre
    return new


def fitted_law_map(
    seen: np.ndarray, taken: np.ndarray, count: int, box: Box, rng: np.random.Generator
) -> LawMap:
    """A map of ``count`` laws fitted to what a teacher took where it saw these rows.

    >>> rng = np.random.default_rng(0)
    >>> seen = rng.uniform(-1, 1, (400, 1))
    >>> taken = np.clip(np.where(seen < 0.2, 2 * seen + 1.5, -2 * seen + 0.5), -1, 1)
    >>> found = fitted_law_map(seen, taken, 2, Box(np.array([-1.0]), np.array([1.0])), rng)
    >>> sorted(found.table.round(1)[:, 0].tolist()), abs(float(found.map.prototypes.mean()) - 0.2) < 0.05
    ([[-2.0, 0.5], [2.0, 1.5]], True)
    """
    if count == 1:
        centre, spread = _standard(seen)
        table = fitted_laws(seen, taken, 1, box.low, box.high, rng)
        return LawMap(prototype_map(centre[None], [0], spread), table)
    problem = _problem(seen, taken, box, rng)
    begun = sorted((problem.begun(count, rng) for _ in range(BEGUN)), key=problem.cost)
    return problem.map_of(min(map(problem.fitted, begun[:FITTED]), key=problem.cost))


class LawPieces(NamedTuple):
    """Places, the weight of each coordinate and a law for each place, in standard units."""

    places: np.ndarray  #: (laws, dimensions)
    weight: np.ndarray  #: (dimensions,)
    table: np.ndarray  #: (laws, amounts, dimensions + 1)


class LawFit(NamedTuple):
    """What laws are fitted to, in standard units."""

    rows: np.ndarray  #: (rows, dimensions + 1) the last column is 1
    wanted: np.ndarray  #: (rows, amounts) from -1 to 1
    centre: np.ndarray
    spread: np.ndarray
    box: Box

    def begun(self, count: int, rng: np.random.Generator) -> LawPieces:
        """LawPieces around places that were seen, with the laws that fit best there."""
        places = self.rows[rng.choice(len(self.rows), count, replace=len(self.rows) < count), :-1]
        weight = np.exp(rng.normal(0.0, STRETCHED, places.shape[1]))
        return self._with_laws(
            LawPieces(places, weight, np.zeros((count, *self.wanted.shape[1:], len(weight) + 1)))
        )

    def _with_laws(self, given: LawPieces) -> LawPieces:
        near, table = self._far(given).argmin(axis=1), given.table.copy()
        for j in np.unique(near):
            own = near == j
            table[j] = regressed(self.rows[own], self.wanted[own], np.ones(own.sum()), table[j])
        return given._replace(table=table)

    def _far(self, given: LawPieces) -> np.ndarray:
        x, places = self.rows[:, :-1] * given.weight, given.places * given.weight
        return (x**2).sum(axis=1)[:, None] - 2.0 * x @ places.T + (places**2).sum(axis=1)

    def _errors(self, table: np.ndarray) -> np.ndarray:
        """The error of each law at each row; none where it goes beyond an amount near the end of its range."""
        said = np.einsum("kmd,nd->nkm", table, self.rows)
        wanted = self.wanted[:, None]
        return np.where(is_beyond(wanted, said), 0.0, said - wanted)

    def cost(self, given: LawPieces) -> float:
        """The mean squared error."""
        errors = self._errors(given.table)
        return float((errors**2).sum(axis=2)[np.arange(len(errors)), self._far(given).argmin(axis=1)].mean())

    def fitted(self, begun: LawPieces) -> LawPieces:
        """Places, weights and laws fitted together: each row belongs to all places, by how near they are."""
        sizes = np.cumsum([begun.places.size, begun.weight.size])

        def parts(x: np.ndarray) -> LawPieces:
            places, weight, table = np.split(x, sizes)
            return LawPieces(
                places.reshape(begun.places.shape), np.exp(weight), table.reshape(begun.table.shape)
            )

        def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
            given, count = parts(x), len(self.rows)
            far = self._far(given)
            share = np.exp(far.min(axis=1, keepdims=True) - far)
            share /= share.sum(axis=1, keepdims=True)
            errors = self._errors(given.table)
            costs = (errors**2).sum(axis=2)
            mean = (share * costs).sum(axis=1, keepdims=True)
            slope = -share * (costs - mean) / count  # by the squared distances
            total, row = slope.sum(axis=0), self.rows[:, :-1]
            sums = slope.T @ row
            squared = slope.T @ row**2 - 2.0 * sums * given.places + total[:, None] * given.places**2
            by_places = 2.0 * given.weight**2 * (total[:, None] * given.places - sums)
            by_weight = 2.0 * given.weight**2 * squared.sum(axis=0)
            by_table = 2.0 / count * np.einsum("nk,nkm,nd->kmd", share, errors, self.rows, optimize=True)
            small = WEIGHT_DECAY * float((given.weight**2).sum()) + RIDGE * float((given.table**2).mean())
            by_weight = by_weight + 2.0 * WEIGHT_DECAY * given.weight**2
            by_table = by_table + 2.0 * RIDGE * given.table / given.table.size
            gradient = np.concatenate([by_places.ravel(), by_weight, by_table.ravel()])
            return float(mean.mean()) + small, gradient

        first = np.concatenate([begun.places.ravel(), np.log(begun.weight), begun.table.ravel()])
        bounds = np.full((len(first), 2), np.inf) * (-1.0, 1.0)
        bounds[sizes[0] : sizes[1]] = -SHARPEST, SHARPEST
        options = {"maxiter": STEPS}
        found = parts(minimize(loss, first, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x)
        return min(self._with_laws(found), found, key=self.cost)

    def map_of(self, given: LawPieces) -> LawMap:
        """The map in the task's own units."""
        middle, half = (self.box.low + self.box.high) / 2.0, self.box.half
        table = given.table * half[:, None]
        table[..., :-1] /= self.spread
        table[..., -1] += middle - table[..., :-1] @ self.centre
        places = self.centre + given.places * self.spread
        return LawMap(prototype_map(places, np.arange(len(places)), self.spread / given.weight), table)


def _problem(seen: np.ndarray, taken: np.ndarray, box: Box, rng: np.random.Generator) -> LawFit:
    centre, spread = _standard(seen)
    some = _spread_out((seen - centre) / spread, rng)
    rows = np.hstack([(seen[some] - centre) / spread, np.ones((len(some), 1))])
    wanted = np.clip((taken[some] - (box.low + box.high) / 2.0) / box.half, -1.0, 1.0)
    return LawFit(rows, wanted, centre, spread, box)


def is_beyond(wanted: np.ndarray, said: np.ndarray) -> np.ndarray:
    """Whether a law goes beyond an amount near the end of its range, which is no error."""
    return np.asarray((np.abs(wanted) > SATURATED) & (said * np.sign(wanted) > np.abs(wanted)))


def _spread_out(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Some of the rows, as many from every neighbourhood: most states of a trial may be where nothing happens."""
    labels = _clusters(rows, min(PLACES, len(rows)), "points", rng)
    each = max(1, MOST_ROWS // PLACES)
    mixed = rng.permutation(len(rows))
    return np.concatenate([mixed[labels[mixed] == place][:each] for place in np.unique(labels)])


def _clusters(rows: np.ndarray, count: int, begin: Any, rng: np.random.Generator) -> np.ndarray:
    """The cluster of every row; some clusters may be empty, of which SciPy would warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        labels: np.ndarray = kmeans2(rows, count, iter=20, minit=begin, rng=rng)[1]
    return labels


def _fit(
    rows: np.ndarray, wanted: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """One fit of the standardised problem: the laws, and their log likelihood."""
    places = rows[:, :-1]
    labels = _clusters(np.hstack([places, wanted]), count, "++", rng)
    share = np.eye(count)[labels] * 0.9 + 0.1 / count
    table, likelihood = np.zeros((count, wanted.shape[1], rows.shape[1])), -np.inf
    for _ in range(ROUNDS):
        table = np.stack([regressed(rows, wanted, share[:, k], table[k]) for k in range(count)])
        errors = ((np.clip(rows @ table.transpose(0, 2, 1), -1.0, 1.0) - wanted) ** 2).sum(axis=2).T
        variance = max(float((share * errors).sum() / share.sum()), LEAST)
        weight = share.sum(axis=0) + 1e-9
        centres = (share.T @ places) / weight[:, None]
        apart = ((places[:, None] - centres) ** 2).sum(axis=2)
        width = max(float((share * apart).sum() / share.sum()), LEAST)
        score = np.log(weight / weight.sum()) - 0.5 * apart / width - 0.5 * errors / variance
        top = score.max(axis=1, keepdims=True)
        share = np.exp(score - top)
        likelihood = float((np.log(share.sum(axis=1)) + top[:, 0]).mean()) - 0.5 * np.log(variance)
        share /= share.sum(axis=1, keepdims=True)
    return table, likelihood


def regressed(rows: np.ndarray, wanted: np.ndarray, weight: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The law of a region by weighted least squares; beyond the end of a range, no error counts."""
    scaled = rows * weight[:, None]
    gram = rows.T @ scaled + RIDGE * np.eye(rows.shape[1])
    for _ in range(CENSORED):
        said = rows @ table.T
        aim = np.where(is_beyond(wanted, said), said, wanted)
        table = np.linalg.solve(gram, scaled.T @ aim).T
    return table
