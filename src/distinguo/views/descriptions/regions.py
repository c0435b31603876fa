"""A sentence for every region: where it lies, and what is done there.

Places all over the map are drawn at random. A coordinate *describes* a region if nearly all of its places lie on one
side of that coordinate's middle, and it *sets the region apart* if far fewer places do where something else is done.
The two coordinates that set it apart most, of those that describe it, are put into words. So what is said is true of
most of the region, and is what tells it from the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from distinguo.representations.partition import has_labels, prototypes_of, region, regions_of
from distinguo.representations.planes import landmarks, learned_extent
from distinguo.runs.run import Run
from distinguo.tasks.spec import TaskSpec
from distinguo.views.descriptions.vocabulary import HIGH, LOW, Coordinate, Vocabulary, vocabulary_of
from distinguo.views.slices import finite_span

PLACES = 4_000  #: that are drawn
MOST_SIDES = 2  #: coordinates in a sentence
DESCRIBES = 0.75  #: share of a region's places that have to lie on a side
APART = 0.2  #: by which that share has to be greater than where something else is done
MOST_LABELS = 12  #: categories that are named


class Side(NamedTuple):
    """One side of a coordinate, and how well it says where a region is."""

    dimension: str
    side: int  #: ``LOW`` or ``HIGH``
    share: float  #: of the region's places that lie there
    elsewhere: float  #: share of the places where something else is done

    @property
    def apart(self) -> float:
        """Return by how much it sets the region apart."""
        return self.share - self.elsewhere


class RegionInWords(NamedTuple):
    """A region as one would tell of it.

    >>> import distinguo
    >>> print(regions_in_words(distinguo.learn("puck", seed=1))[0])
    moving left: push right
    """

    region: int
    where: str
    action: str
    sides: tuple[Side, ...]
    size: float  #: share of the map

    def __str__(self) -> str:
        return f"{self.where}: {self.action}"


def regions_in_words(run: Run) -> tuple[RegionInWords, ...]:
    """Return a sentence for every region of a run, in the order of their numbers."""
    spec, words = run.configuration.spec, vocabulary_of(run.configuration.spec)
    actions = [_action(run, words, j) for j in range(run.representation.regions)]
    if run.representation.regions == 1:
        return (RegionInWords(0, "everywhere", actions[0], (), 1.0),)
    if has_labels(run.representation.partition):
        return tuple(RegionInWords(j, _labels(run, j), action, (), 0.0) for j, action in enumerate(actions))
    places = _places(run)
    regions = regions_of(run.representation.partition, places)
    high = places > np.array([_middle(words.coordinates[d], i, run) for i, d in enumerate(spec.dimensions)])
    sets = run.controller.action_sets
    found = []
    for j, action in enumerate(actions):
        here = high[regions == j] if (regions == j).any() else _own(run, j, words)
        other = high[(sets[regions] != sets[j]).any(axis=1)]
        other = other if len(other) else high[regions != j]
        sides = _sides(spec, here, other)
        found.append(RegionInWords(j, _where(words, sides), action, sides, float((regions == j).mean())))
    return tuple(found)


def _places(run: Run) -> np.ndarray:
    """Return places all over the extent of a map, at random but the same every time."""
    low, high = _extent(run)
    return np.random.default_rng(0).uniform(low, high, (PLACES, len(low)))


def _extent(run: Run) -> tuple[np.ndarray, np.ndarray]:
    spec, partition = run.configuration.spec, run.representation.partition
    extent = np.array(learned_extent(run.representation.provenance, spec.low, spec.high))
    corners = np.vstack([extent, landmarks(partition).reshape(-1, extent.shape[1])])
    low, high = np.array([finite_span(column) for column in corners.T]).T
    return low, high


def _own(run: Run, j: int, words: Vocabulary) -> np.ndarray:
    """Return on which sides the prototypes of a region lie that is too small for places at random."""
    prototypes = prototypes_of(run.representation.partition)
    names = run.configuration.spec.dimensions
    if prototypes is None:
        return np.zeros((1, len(names)), dtype=bool)
    middles = [_middle(words.coordinates[d], i, run) for i, d in enumerate(names)]
    return np.asarray(prototypes.points[prototypes.regions == j] > np.array(middles))


def _middle(coordinate: Coordinate, i: int, run: Run) -> float:
    if coordinate.middle is not None:
        return coordinate.middle
    low, high = _extent(run)
    return float(low[i] + high[i]) / 2


def _sides(spec: TaskSpec, here: np.ndarray, other: np.ndarray) -> tuple[Side, ...]:
    """Return the sides that say best where a region is, in the order of the coordinates."""
    found = []
    for i, name in enumerate(spec.dimensions):
        share, elsewhere = float(here[:, i].mean()), float(other[:, i].mean()) if len(other) else 0.5
        found.append(
            Side(name, HIGH, share, elsewhere)
            if share >= 0.5
            else Side(name, LOW, 1.0 - share, 1.0 - elsewhere)
        )
    good = [side for side in found if side.share >= DESCRIBES and side.apart >= APART]
    best = sorted(good, key=lambda side: -side.apart)[:MOST_SIDES] or [
        max(found, key=lambda side: side.apart)
    ]
    return tuple(side for side in found if side in best)


def _where(words: Vocabulary, sides: Sequence[Side]) -> str:
    phrase = words.together.get(tuple((side.dimension, side.side) for side in sides))  # type: ignore[arg-type]
    if phrase:
        return phrase
    said = [_side(words, side) for side in sides]
    return " and ".join(said)


def _side(words: Vocabulary, side: Side) -> str:
    coordinate = words.coordinates[side.dimension]
    word = coordinate.high if side.side == HIGH else coordinate.low
    return word if side.share >= DESCRIBES else f"mostly {word}"


def _labels(run: Run, j: int) -> str:
    """Name the categories whose prototypes a region has."""
    prototypes = prototypes_of(run.representation.partition)
    rows = [] if prototypes is None else prototypes.points[prototypes.regions == j].tolist()
    said = [", ".join(f"{value:g}" for value in row) for row in rows[:MOST_LABELS]]
    names = ", ".join(run.configuration.spec.dimensions)
    more = f" and {len(rows) - MOST_LABELS} more" if len(rows) > MOST_LABELS else ""
    unknown = region(run.representation.partition, (math.nan,) * len(run.configuration.spec.dimensions))
    return f"{names} = {'; '.join(said)}{more}" + (", and all that have no prototype" if unknown == j else "")


def _action(run: Run, words: Vocabulary, j: int) -> str:
    action = int(run.controller.policy[j])
    if action < 0:
        return "several actions are tied"
    name = run.configuration.spec.actions[action]
    return words.actions.get(name, name)
