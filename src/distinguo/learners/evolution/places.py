"""From the numbers of a search to a map: affine scores as prototypes, or the prototypes themselves.

The nearest of K prototypes is the one with the greatest of K affine scores. The other way round, up to
``dimensions + 1`` affine scores are such a map: a common shift of their slopes, which changes no decision, makes
every offset that of a prototype. A search over scores is easier than one over prototypes, since a decision then
depends on each number in the same way everywhere. More prototypes than that are searched for directly.
"""

from __future__ import annotations

import numpy as np


def by_scores(dimensions: int, prototypes: int) -> bool:
    """Whether any so many affine scores are a map of prototypes."""
    return prototypes <= dimensions + 1


def count_numbers(dimensions: int, prototypes: int) -> int:
    """How many numbers a map of so many prototypes is found by.

    >>> count_numbers(8, 4), count_numbers(1, 3)
    (27, 4)
    """
    if by_scores(dimensions, prototypes):
        return (prototypes - 1) * (dimensions + 1)
    return prototypes * dimensions + dimensions


def count_with_laws(dimensions: int, prototypes: int, amounts: int) -> int:
    """How many numbers a map of so many prototypes is found by, each with a law of so many amounts.

    >>> count_with_laws(3, 1, 1), count_with_laws(3, 2, 1), count_with_laws(8, 4, 0)
    (4, 12, 27)
    """
    return count_numbers(dimensions, prototypes) + prototypes * amounts * (dimensions + 1)


def law_scale(dimensions: int) -> float:
    """What the numbers of a law are multiplied by, so that random ones spread amounts over their box.

    >>> law_scale(3)
    1.0
    """
    return 2.0 / float(np.sqrt(dimensions + 1.0))


def most_numbers(dimensions: int, prototypes: int, amounts: int = 0) -> int:
    """How many numbers a map of at most so many prototypes is found by."""
    return max(count_with_laws(dimensions, size, amounts) for size in range(2, prototypes + 1))


def prototypes_of_numbers(
    numbers: np.ndarray, dimensions: int, prototypes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the prototypes that the numbers stand for, and the width of each coordinate.

    >>> places, widths = prototypes_of_numbers(np.array([2.0, 1.0]), dimensions=1, prototypes=2)  # 0 and 2 s + 1
    >>> float(places.mean()), bool(places[1] > places[0])  # the border is at -0.5
    (-0.5, True)
    """
    if not by_scores(dimensions, prototypes):
        rows = numbers.reshape(prototypes + 1, dimensions)
        return rows[:-1], np.exp(np.clip(rows[-1], -20.0, 20.0))
    scores = np.zeros((prototypes, dimensions + 1))  # the first score is 0: only differences count
    scores[1:] = numbers.reshape(prototypes - 1, dimensions + 1)
    return from_scores(scores[:, :-1], scores[:, -1]), np.ones(dimensions)


def from_scores(slopes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return prototypes, one for each affine score, the nearest of which has the greatest score.

    With a shift t and a factor m they are m (slope + t). The shift has two parts, one for the slopes and one for
    the offsets. Both are the least that do it. The factor keeps the prototypes as far apart as they are from 0.

    >>> from_scores(np.array([[1.0], [-1.0]]), np.array([0.0, 0.0])).ravel().tolist()
    [1.0, -1.0]
    """
    steep = slopes[1:] - slopes[0]
    by_slopes = _least(2.0 * steep, -((slopes[1:] ** 2).sum(axis=1) - (slopes[0] ** 2).sum()))
    by_offsets = _least(steep, -(offsets[1:] - offsets[0]))
    shifted = slopes + by_slopes
    size = np.sqrt((shifted**2).sum(axis=1).mean())
    factor = max(1.0, float(np.sqrt((by_offsets**2).sum()))) / size if size > 0.0 else 1.0
    return factor * shifted + by_offsets


def _least(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the least solution of linear equations."""
    solution: np.ndarray = np.linalg.lstsq(rows, wanted, rcond=None)[0]
    return solution


def numbers_with_another(numbers: np.ndarray, dimensions: int, prototypes: int, chosen: int) -> np.ndarray:
    """Return the numbers of the same map with one more prototype, at the place of the ``chosen`` one.

    >>> numbers_with_another(np.array([2.0, 1.0]), dimensions=1, prototypes=2, chosen=1).tolist()  # now places
    [-1.5, 0.5, 0.5, 0.0]
    >>> numbers_with_another(np.zeros(0), dimensions=3, prototypes=1, chosen=0).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    if by_scores(dimensions, prototypes + 1):
        scores = np.vstack([np.zeros(dimensions + 1), numbers.reshape(-1, dimensions + 1)])
        return np.concatenate([numbers, scores[chosen]])
    places, widths = prototypes_of_numbers(numbers, dimensions, prototypes)
    return np.concatenate([places.ravel(), places[chosen], np.log(widths)])


def standardised_again(
    numbers: np.ndarray,
    prototypes: int,
    before: tuple[np.ndarray, np.ndarray],
    now: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Return the numbers of the same map of laws for observations with another centre and spread.

    >>> old, new = (np.array([0.0]), np.array([1.0])), (np.array([1.0]), np.array([2.0]))
    >>> standardised_again(np.array([3.0, 0.5]), 1, old, new).tolist()  # 3 s + 0.5 = 6 (s - 1) / 2 + 3.5
    [6.0, 3.5]
    """
    (centre, spread), (new_centre, new_spread) = before, now
    dimensions = len(centre)
    borders = count_numbers(dimensions, prototypes)
    affine = numbers if by_scores(dimensions, prototypes) else numbers[borders:]
    rows = affine.reshape(-1, dimensions + 1).copy()
    rows[:, -1] += rows[:, :-1] @ ((new_centre - centre) / spread)
    rows[:, :-1] *= new_spread / spread
    if by_scores(dimensions, prototypes):
        return rows.ravel()
    places = numbers[:borders].reshape(prototypes + 1, dimensions).copy()
    places[:-1] = (places[:-1] * spread + centre - new_centre) / new_spread
    places[-1] += np.log(spread / new_spread)
    return np.concatenate([places.ravel(), rows.ravel()])
