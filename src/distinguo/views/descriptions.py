"""Regions in words: where each lies and what is done there, and the border between two as an inequality."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from distinguo.representations.geometry import landmarks, learned_extent
from distinguo.representations.partition import has_labels, prototypes_of, region, regions_of
from distinguo.representations.voronoi import Voronoi
from distinguo.runs.run import Run
from distinguo.tasks.spec import TaskSpec
from distinguo.views.pictures import finite_span

# A sentence for every region: where it lies, and what is done there.
#
# Places all over the map are sampled. A coordinate *describes* a region if about two thirds of the region's places or
# more lie on one side of that coordinate's middle. It *sets the region apart* if far fewer do where another action is
# taken. Of the coordinates that describe a region, the two that set it apart most are put into words. So the sentence
# is true of most of the region and distinguishes it from the others.


PLACES = 4_000  #: sampled
MOST_SIDES = 2  #: coordinates in a sentence
DESCRIBES = (
    0.65  #: share of a region's places that must lie on one side: a border at 45° leaves 0.75 on either
)
APART = 0.2  #: how much greater that share must be than where another action is taken
MOST_LABELS = 12  #: categories that are named


class Side(NamedTuple):
    """One side of a coordinate, and how well it says where a region is."""

    dimension: str
    side: int  #: ``LOW`` or ``HIGH``
    share: float  #: of the region's places that lie there
    elsewhere: float  #: share of the places there where another action is taken

    @property
    def apart(self) -> float:
        """How much it sets the region apart."""
        return self.share - self.elsewhere


class RegionInWords(NamedTuple):
    """A region in words: where it is and what is done there.

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
    """Return random places all over the extent of a map; they are the same every time."""
    low, high = _extent(run)
    return np.random.default_rng(0).uniform(low, high, (PLACES, len(low)))


def _extent(run: Run) -> tuple[np.ndarray, np.ndarray]:
    spec, partition = run.configuration.spec, run.representation.partition
    extent = np.array(learned_extent(run.representation.provenance, spec.low, spec.high))
    corners = np.vstack([extent, landmarks(partition).reshape(-1, extent.shape[1])])
    low, high = np.array([finite_span(column) for column in corners.T]).T
    return low, high


def _own(run: Run, j: int, words: Vocabulary) -> np.ndarray:
    """Return the sides on which the prototypes of a region lie, for a region too small to be sampled."""
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
    """Return the sides that best describe where a region is, in the order of the coordinates."""
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


# The border of a map with two prototypes as an inequality, as a control engineer would write it.


LEAST = 1e-3  #: share of the greatest weight below which a coordinate is left out
DIGITS = 4


def border_in_words(run: Run) -> str:
    """Return the border of a map of two prototypes as an inequality; empty for any other number of prototypes.

    The weight of a coordinate is how much it changes the sum over the extent that the map was made for.

    >>> import distinguo as dg
    >>> swing = dg.distil(lambda s: 2 if s[1] > 0 else 0, "MountainCar-v0", settings={"learner.most": 2})
    >>> border_in_words(swing.run).split(" if ")[0] in ("right", "left")
    True
    """
    partition = run.representation.partition
    if (
        not isinstance(partition, Voronoi)
        or len(partition.prototypes) != 2
        or len(set(partition.regions)) != 2
    ):
        return ""
    weights, bound = border_of(partition)
    spread = _spread(run)
    share = np.abs(weights) * spread
    if not share.max() > 0.0:
        return ""
    lead = int(share.argmax())
    first, second = (run.action(place) for place in (partition.prototypes[0], partition.prototypes[1]))
    above, below = (second, first) if weights[lead] > 0 else (first, second)
    scaled, names = weights / weights[lead], run.configuration.spec.dimensions
    order = [i for i in np.argsort(-share, kind="stable") if share[i] >= LEAST * share[lead]]
    terms = " ".join(_term(float(scaled[i]), names[i], i == lead) for i in order)
    return f"{above} if {terms} > {bound / weights[lead]:.{DIGITS}g}, else {below}"


def border_of(partition: Voronoi) -> tuple[np.ndarray, float]:
    """Return weights and a bound: an observation is nearer to the second prototype if its weighted sum is above.

    >>> from distinguo.representations.voronoi import voronoi
    >>> weights, bound = border_of(voronoi([[-1.0, 0.0], [3.0, 0.0]], [2.0, 1.0]))
    >>> weights.tolist(), bound  # nearer to (3, 0) where x > 1
    ([2.0, 0.0], 2.0)
    """
    one, other = partition.prototypes
    weights = 2.0 * (other - one) / partition.scale**2
    return weights, float(((other**2 - one**2) / partition.scale**2).sum())


def _spread(run: Run) -> np.ndarray:
    spec = run.configuration.spec
    low, high = learned_extent(run.representation.provenance, spec.low, spec.high)
    spread = np.array(high) - np.array(low)
    return np.where(np.isfinite(spread), spread, 1.0)


def _term(factor: float, name: str, leads: bool) -> str:
    if leads:
        return name
    return f"{'+' if factor >= 0 else '-'} {abs(factor):.{DIGITS}g} {name}"


# What people call the two sides of a coordinate, and the actions, of the tasks that we ship.


LOW, HIGH = 0, 1  #: the sides of a coordinate


class Coordinate(NamedTuple):
    """The words for the two sides of a coordinate, and where one side ends and the other begins."""

    low: str
    high: str
    middle: float | None = 0.0  #: None: the middle of the observations


class Vocabulary(NamedTuple):
    """The words of a task; a pair of sides may have a phrase of its own."""

    coordinates: Mapping[str, Coordinate] = {}  # never changed
    together: Mapping[tuple[tuple[str, int], tuple[str, int]], str] = {}
    actions: Mapping[str, str] = {}


_PUSHES = {"left": "push left", "right": "push right"}

KNOWN: Mapping[str, Vocabulary] = {
    "puck": Vocabulary(
        {
            "x": Coordinate("left of the top", "right of the top"),
            "v": Coordinate("moving left", "moving right"),
        },
        {
            (("x", LOW), ("v", LOW)): "left of the top and moving away from it",
            (("x", HIGH), ("v", HIGH)): "right of the top and moving away from it",
            (("x", LOW), ("v", HIGH)): "left of the top and moving up to it",
            (("x", HIGH), ("v", LOW)): "right of the top and moving up to it",
        },
        _PUSHES,
    ),
    "CartPole-v1": Vocabulary(
        {
            "x": Coordinate("cart left of the middle", "cart right of the middle"),
            "v": Coordinate("cart rolling left", "cart rolling right"),
            "angle": Coordinate("pole leaning left", "pole leaning right"),
            "angular_v": Coordinate("pole turning left", "pole turning right"),
        },
        {
            (("angle", LOW), ("angular_v", LOW)): "pole leaning left and falling",
            (("angle", HIGH), ("angular_v", HIGH)): "pole leaning right and falling",
            (("angle", LOW), ("angular_v", HIGH)): "pole leaning left and rising",
            (("angle", HIGH), ("angular_v", LOW)): "pole leaning right and rising",
        },
        _PUSHES,
    ),
    "MountainCar-v0": Vocabulary(
        {
            "x": Coordinate("left of the valley's bottom", "right of the valley's bottom", -0.5236),
            "v": Coordinate("moving left", "moving right"),
        },
        {
            (("x", LOW), ("v", LOW)): "climbing the left slope",
            (("x", LOW), ("v", HIGH)): "coming down the left slope",
            (("x", HIGH), ("v", LOW)): "coming down the right slope",
            (("x", HIGH), ("v", HIGH)): "climbing to the goal",
        },
        {"left": "push left", "none": "let it roll", "right": "push right"},
    ),
    "Acrobot-v1": Vocabulary(
        {
            "cos1": Coordinate("upper link above the joint", "upper link hanging down"),
            "sin1": Coordinate("upper link to the left", "upper link to the right"),
            "cos2": Coordinate("lower link folded back", "lower link stretched"),
            "sin2": Coordinate("lower link bent left", "lower link bent right"),
            "v1": Coordinate("upper link swinging left", "upper link swinging right"),
            "v2": Coordinate("lower link swinging left", "lower link swinging right"),
        },
        {},
        {"-1": "turn the joint left", "0": "let it swing", "+1": "turn the joint right"},
    ),
    "Pendulum-v1": Vocabulary(
        {
            "cos": Coordinate("hanging below", "standing above"),
            "sin": Coordinate("on the right", "on the left"),
            "v": Coordinate("turning right", "turning left"),
        },
    ),
}


def vocabulary_of(spec: TaskSpec) -> Vocabulary:
    """Return the words of a task; for an unknown task, the names of its coordinates with low and high.

    >>> from distinguo.tasks.catalog import task_spec
    >>> vocabulary_of(task_spec("CartPole-v1")).coordinates["angle"].high
    'pole leaning right'
    >>> plain = task_spec("puck")._replace(name="mine", dimensions=("speed", "place"))
    >>> vocabulary_of(plain).coordinates["speed"].low
    'speed low'
    """
    known = KNOWN.get(spec.name, Vocabulary())
    if set(spec.dimensions) <= set(known.coordinates):
        return known
    own = {name: Coordinate(f"{name} low", f"{name} high", None) for name in spec.dimensions}
    return Vocabulary(own, actions=known.actions)
