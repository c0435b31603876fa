"""Laws fitted to the amounts that a teacher takes: regression within softly assigned regions.

Each region has a place and an affine law. A state belongs to regions by how near their places are and by how well
their laws predict the teacher (an EM algorithm for a mixture of linear experts; Jordan and Jacobs, 1994). An amount
at the end of its range only says that the law reaches that far, so that a saturated teacher keeps its extremes.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.cluster.vq import kmeans2

MOST_ROWS, PLACES = 5_000, 100  #: states that laws are fitted to, and neighbourhoods that they come from
ROUNDS, CENSORED = (
    30,
    4,
)  #: of the assignment, and of each regression, as saturated amounts depend on its result
TRIES = 4  #: fits from different beginnings; the likeliest is taken
RIDGE = 1e-3  #: keeps gains of coordinates that never vary at 0
LEAST = 1e-4  #: variance of the errors, in half ranges


def fitted_laws(
    seen: np.ndarray, taken: np.ndarray, count: int, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """The table of ``count`` laws that say best what a teacher took where it saw these rows.

    >>> rng = np.random.default_rng(0)
    >>> seen = rng.uniform(-1, 1, (400, 1))
    >>> taken = np.clip(np.where(seen < 0, 2 * seen + 1.5, -2 * seen + 0.5), -1, 1)
    >>> fitted_laws(seen, taken, 2, np.array([-1.0]), np.array([1.0])).round(1).tolist()
    [[[2.0, 1.5]], [[-2.0, 0.5]]]
    """
    rng = np.random.default_rng(0)
    centre, spread = seen.mean(axis=0), seen.std(axis=0)
    spread = np.where(spread > 1e-9 * (1.0 + np.abs(centre)), spread, 1.0)
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
        aim = np.where((np.abs(wanted) > 1.0 - 1e-6) & (said * np.sign(wanted) > 1.0), said, wanted)
        table = np.linalg.solve(gram, scaled.T @ aim).T
    return table
