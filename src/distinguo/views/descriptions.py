"""Regions in words: where each lies and what is done there, and the border between two as an inequality."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.representations.geometry import landmarks, learned_extent
from distinguo.representations.partition import has_labels, prototypes_of, region, regions_of
from distinguo.representations.voronoi import Voronoi
from distinguo.runs.rollout import rollout
from distinguo.runs.run import Run
from distinguo.tasks.amounts import law_formula
from distinguo.tasks.catalog import is_absent
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import uncounted_steps
from distinguo.tasks.vocabulary import (
    HIGH,
    LOW,
    Facet,
    Vocabulary,
    action_in_words,
    labels_of,
    vocabulary_of,
)
from distinguo.views.pictures import finite_span

# A phrase for every region: where it lies, and what is done there.
#
# A phrase is a few conditions that hold together. Phrases are tried from the simplest to the most exact: words such
# as "moving left", then thresholds, then the borders between prototypes, then the exact definition of the region.
# The first that passes the check is used: it holds for nearly all states that trials visited in the region, and for
# hardly any in each region with another action. So two regions of different action never have the same phrase.


TRUE_HERE, TRUE_ELSEWHERE = (
    0.9,
    0.1,
)  #: the least share of a region's states, the greatest of another action's
VISITS, LONGEST = 2_000, 500  #: states visited by greedy trials, and the steps of each trial
PLACES = 4_000  #: sampled all over the map
FEW = 30  #: visited states; with fewer, a phrase must hold for the sampled places of the region, too
MOST_WORDS, MOST_THRESHOLDS, MOST_BORDERS = 3, 4, 2  #: conditions in a phrase of each kind
MOST_NEIGHBOURS = 24  #: regions of another action whose borders are tried
TAILS = (0.0, 0.02, 0.05, 0.1)  #: shares of a region's states that a threshold may cut off
#: Digits of a border, and the share of the greatest weight below which a coordinate is left out; short ones first.
PRECISIONS = ((1, 0.3), (2, 0.3), (2, 0.1), (2, 0.01), (3, 0.001), (4, 0.0001))
MOST_NAMED = 3  #: prototypes named in an exact phrase
MOST_COORDINATES = 6  #: written out in an exact phrase
MOST_LABELS = 5_000  #: of a task; with more, only those with a prototype are described
MOST_PARTS = 4  #: of a group of labels that are named
MOST_SEEDS = 40  #: labels that a part is grown from


class RegionInWords(NamedTuple):
    """A region in words: where it is and what is done there.

    >>> import distinguo
    >>> print(regions_in_words(distinguo.learn("puck", seed=1))[0])
    v + 1.48 x < 0.541: push right
    """

    region: int
    where: str
    action: str
    is_exact: bool = False  #: whether the phrase is the definition of the region, so that it needs no check

    def __str__(self) -> str:
        return f"{self.where}: {self.action}"


def regions_in_words(run: Run) -> tuple[RegionInWords, ...]:
    """Return a phrase for every region of a run, in the order of their numbers."""
    actions = [_action(run, j) for j in range(run.representation.regions)]
    if run.representation.regions == 1:
        return (RegionInWords(0, "everywhere", actions[0], is_exact=True),)
    if has_labels(run.representation.partition):
        return tuple(_groups_in_words(run, actions))
    words = vocabulary_of(run.configuration.spec)
    asked = _Asked(run, words, evidence_of(run), *_extent(run))
    return tuple(_in_words(asked, j, action) for j, action in enumerate(actions))


# What phrases are checked with: states that greedy trials visit, and sampled places where they visit few.


class Evidence(NamedTuple):
    """Observations in groups: those visited in a region, its prototype, and sampled places if few were visited."""

    rows: np.ndarray  #: (observations, dimensions)
    groups: np.ndarray  #: (observations,) the group of each
    owners: np.ndarray  #: (groups,) the region of each group

    def shares(self, holds: np.ndarray) -> np.ndarray:
        """The share of each group for which something holds."""
        count = len(self.owners)
        found: np.ndarray = np.bincount(self.groups, holds, count) / np.bincount(self.groups, minlength=count)
        return found


def evidence_of(run: Run) -> Evidence:
    """Return the states that the phrases of a run are checked with; they are the same every time.

    >>> import distinguo
    >>> evidence = evidence_of(distinguo.learn("puck", seed=1))
    >>> set(evidence.owners.tolist()) == {0, 1, 2, 3}
    True
    """
    partition, prototypes = run.representation.partition, prototypes_of(run.representation.partition)
    visited, places = visited_states(run), _places(run)
    seen, sampled = regions_of(partition, visited), regions_of(partition, places)
    parts, owners = [], []
    for j in range(run.representation.regions):
        there = [visited[seen == j]]
        if len(there[0]) < FEW:
            there.append(places[sampled == j])
        if prototypes is not None:
            there.append(prototypes.points[prototypes.primaries[[j]]])
        there = [rows for rows in there if len(rows)]
        parts += there
        owners += [j] * len(there)
    groups = np.repeat(np.arange(len(parts)), [len(rows) for rows in parts])
    return Evidence(np.vstack(parts), groups, np.array(owners))


def visited_states(run: Run) -> np.ndarray:
    """Return observations that the greedy policy acts on, trial after trial; none if the task cannot be run here.

    >>> import distinguo
    >>> visited_states(distinguo.learn("puck", seed=1)).shape
    (2000, 2)
    """
    none = np.zeros((0, len(run.configuration.spec.dimensions)))
    if is_absent(run.configuration.spec):
        return none
    rows, count, seed = [none], 0, 0
    try:
        uncounted_steps(run.configuration.spec.task)  # an environment is probed once, not by each trial
        while count < VISITS:
            trial = rollout(run, seed=seed, steps=min(LONGEST, VISITS - count))
            rows.append(trial.observations[:-1])
            count, seed = count + len(trial.choices), seed + 1
    except DistinguoError:  # the environment is broken, or its package is not installed
        return none
    return np.vstack(rows)


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


# Conditions: half-spaces, with a word for those that people have one for.


class Condition(NamedTuple):
    """A weighted sum of coordinates that is above or below a bound.

    >>> Condition(((0, 1.0), (1, 0.5)), 2.0, above=True).holds(np.array([[1.0, 3.0], [1.0, 1.0]])).tolist()
    [True, False]
    """

    weights: tuple[tuple[int, float], ...]  #: of some coordinates, the greatest first
    bound: float
    above: bool
    word: str = ""

    def holds(self, rows: np.ndarray) -> np.ndarray:
        """For which rows it holds."""
        total = sum(factor * rows[:, i] for i, factor in self.weights)
        return np.asarray(total > self.bound if self.above else total < self.bound)

    @property
    def axis(self) -> int | None:
        """The coordinate of a threshold; None for a sum and for a condition with a word."""
        return None if self.word or len(self.weights) > 1 else self.weights[0][0]


class _Asked(NamedTuple):
    """The run that is described, its words, the states to check them with, and its extent."""

    run: Run
    words: Vocabulary
    evidence: Evidence
    low: np.ndarray
    high: np.ndarray

    @property
    def spec(self) -> TaskSpec:
        return self.run.configuration.spec

    def others(self, j: int) -> np.ndarray:
        """Which regions have another action than a region; all others if none has."""
        sets = self.run.controller.action_sets
        differ = (sets != sets[j]).any(axis=1)
        return differ if differ.any() else np.arange(len(sets)) != j


def _in_words(asked: _Asked, j: int, action: str) -> RegionInWords:
    """Return the first phrase for a region that passes the check."""
    if j in asked.evidence.owners:
        words = list(_sides(asked))
        for further, most in (
            (list, MOST_WORDS),
            (partial(_thresholds, asked, j), MOST_THRESHOLDS),
            (partial(_borders, asked, j), MOST_BORDERS),
        ):
            words += further()
            found = _conjunction(asked, j, words, most)
            if found:
                return RegionInWords(j, _phrase(asked, found), action)
    return RegionInWords(j, _exactly(asked, j), action, is_exact=True)


def _conjunction(asked: _Asked, j: int, options: Sequence[Condition], most: int) -> list[Condition]:
    """Return a few conditions that together pass the check; empty if none are found."""
    evidence, others = asked.evidence, asked.others(j)
    own, other = evidence.owners == j, others[evidence.owners]
    masks = [option.holds(evidence.rows) for option in options]

    def wrong(holds: np.ndarray) -> float:
        """How far it is from passing: 0 if it passes, infinite if it does not hold in the region."""
        shares = evidence.shares(holds)
        if shares[own].min() < TRUE_HERE:
            return math.inf
        return float(np.maximum(shares[other] - TRUE_ELSEWHERE, 0.0).sum())

    chosen: list[int] = []
    holds, left = np.ones(len(evidence.rows), dtype=bool), math.inf
    usable = [n for n, mask in enumerate(masks) if wrong(mask) < math.inf]
    while left > 0.0 and len(chosen) < most and usable:
        errors = [wrong(holds & masks[n]) for n in usable]
        best = int(np.argmin(errors))
        if errors[best] >= left:
            return []
        left = errors[best]
        chosen.append(usable[best])
        holds = holds & masks[usable[best]]
    if left > 0.0:
        return []
    for n in chosen[:-1]:  # an earlier one may have become needless
        rest = [m for m in chosen if m != n]
        if wrong(np.logical_and.reduce([masks[m] for m in rest])) == 0.0:
            chosen = rest
    return [options[n] for n in sorted(chosen)]


def _sides(asked: _Asked) -> Iterator[Condition]:
    """The two sides of each coordinate, in words."""
    for i, name in enumerate(asked.spec.dimensions):
        coordinate = asked.words.coordinates[name]
        middle = coordinate.middle
        bound = float(asked.low[i] + asked.high[i]) / 2 if middle is None else middle
        yield Condition(((i, 1.0),), bound, False, coordinate.low)
        yield Condition(((i, 1.0),), bound, True, coordinate.high)


def _thresholds(asked: _Asked, j: int) -> list[Condition]:
    """Thresholds of single coordinates that cut off at most a few of a region's states, round numbers first."""
    evidence, found = asked.evidence, []
    own = [evidence.rows[evidence.groups == g] for g in np.flatnonzero(evidence.owners == j)]
    for i, span in enumerate((asked.high - asked.low).tolist()):
        for above in (True, False):
            tails = [
                [np.quantile(rows[:, i], tail if above else 1.0 - tail) for tail in TAILS] for rows in own
            ]
            outer = np.array(tails).min(axis=0) if above else np.array(tails).max(axis=0)
            for places in (_places_of(span) - 1, _places_of(span)):
                for tail, cut in zip(TAILS, outer.tolist(), strict=True):
                    cut = _rounded(cut, places, outwards=0 if tail else -1 if above else 1)
                    found.append(Condition(((i, 1.0),), cut, above))
    return list(dict.fromkeys(found))


def _places_of(span: float) -> int:
    """How many decimal places distinguish about a hundred parts of a span or more."""
    return 2 - math.floor(math.log10(span)) if span > 0.0 else 2


def _rounded(number: float, places: int, outwards: int = 0) -> float:
    """Round to decimal places; down if ``outwards`` is -1, up if it is 1."""
    parts = number * 10.0**places
    whole = math.floor(parts) if outwards < 0 else math.ceil(parts) if outwards > 0 else round(parts)
    return round(whole / 10.0**places, max(places, 0)) + 0.0  # not -0.0


def _borders(asked: _Asked, j: int) -> list[Condition]:
    """The borders between the prototypes of a region and the nearest ones of regions with another action."""
    partition = asked.run.representation.partition
    if not isinstance(partition, Voronoi):
        return []
    scaled, spread = partition.prototypes * partition.weight, asked.high - asked.low
    here = np.flatnonzero(partition.regions == j)
    pairs = []
    for k in np.flatnonzero(asked.others(j)):
        there = np.flatnonzero(partition.regions == k)
        far = np.linalg.norm(scaled[here][:, None] - scaled[there], axis=2)
        one, other = np.unravel_index(int(far.argmin()), far.shape)
        pairs.append((float(far.min()), int(there[other]), int(here[one])))
    nearest = [(other, one) for _, other, one in sorted(pairs)[:MOST_NEIGHBOURS]]
    found = [_border(partition, pair, spread, *how) for how in PRECISIONS for pair in nearest]
    return list(dict.fromkeys(one for one in found if one is not None))


def _border(
    partition: Voronoi, pair: tuple[int, int], spread: np.ndarray, digits: int, least: float
) -> Condition | None:
    """Being nearer to the second prototype of a pair, with rounded weights; None if it depends on nothing."""
    weights, bound = border_of(partition, *pair)
    share = np.abs(weights) * spread
    lead = int(share.argmax())
    if not share[lead] > 0.0:
        return None
    order = [int(i) for i in np.argsort(-share, kind="stable") if share[i] >= least * share[lead]]
    terms = tuple((i, float(f"{weights[i] / weights[lead]:.{digits}g}")) for i in order)
    return Condition(terms, float(f"{bound / weights[lead]:.{digits}g}") + 0.0, bool(weights[lead] > 0))


# Conditions as text.


def _phrase(asked: _Asked, conditions: Sequence[Condition]) -> str:
    """Return conditions that hold together as text."""
    names, left = asked.spec.dimensions, list(conditions)
    said: list[str] = []
    worded = [one for one in left if one.word]
    for a in worded:
        for b in worded:
            key = tuple((names[one.weights[0][0]], HIGH if one.above else LOW) for one in (a, b))
            together = asked.words.together.get(key)  # type: ignore[arg-type]
            if together and a in left and b in left:
                said.append(together)
                left = [one for one in left if one not in (a, b)]
    for one in left:
        partner = next((two for two in left if two.axis == one.axis and two.above < one.above), None)
        if one.axis is None or not any(two.axis == one.axis and two != one for two in left):
            said.append(_condition(asked.spec, one))
        elif partner:
            name, unit = names[one.axis], _unit(asked.spec, one.axis)
            said.append(f"{name} between {_number(one.bound)} and {_number(partner.bound)}{unit}")
    if len(said) < 3 and not any(" and " in part for part in said[:-1]):
        return " and ".join(said)
    return ", ".join(said)


def _condition(spec: TaskSpec, one: Condition) -> str:
    if one.word:
        return one.word
    terms = " ".join(_term(factor, spec.dimensions[i], n == 0) for n, (i, factor) in enumerate(one.weights))
    unit = _unit(spec, one.weights[0][0]) if len(one.weights) == 1 else ""
    return f"{terms} {'>' if one.above else '<'} {_number(one.bound)}{unit}"


def _unit(spec: TaskSpec, i: int) -> str:
    return f" {spec.units[i]}" if spec.units and spec.units[i] else ""


def _number(value: float) -> str:
    return f"{value:.6g}"


def _exactly(asked: _Asked, j: int) -> str:
    """Return the definition of a region: nearest to its prototypes or, without any, its number."""
    partition = asked.run.representation.partition
    prototypes = prototypes_of(partition)
    if prototypes is None:
        return f"in region {j}"
    rows = np.flatnonzero(prototypes.regions == j)
    primary = int(prototypes.primaries[j])
    rows = np.array([primary, *(row for row in rows.tolist() if row != primary)])
    named = [_prototype(asked.spec, prototypes.points, int(row)) for row in rows[:MOST_NAMED]]
    more = len(rows) - MOST_NAMED
    if more > 0:
        named.append(f"{more} more {'prototype' if more == 1 else 'prototypes'}")
    return f"nearest to {', '.join(named[:-1])}{' or ' if len(named) > 1 else ''}{named[-1]}"


def _prototype(spec: TaskSpec, points: np.ndarray, row: int) -> str:
    """Name a prototype by its place, with as many digits as it takes to tell it from all others."""
    if points.shape[1] > MOST_COORDINATES:
        return f"prototype {row}"
    for digits in range(3, 18):
        texts = [f"{value:.{digits}g}" for value in points[row].tolist()]
        rounded = [float(text) for text in texts]
        same = (np.array([[float(f"{v:.{digits}g}") for v in point] for point in points]) == rounded).all(
            axis=1
        )
        if same.sum() == 1:
            break
    parts = zip(spec.dimensions, rounded, range(len(rounded)), strict=True)
    return f"({', '.join(f'{name} {value:.{digits}g}{_unit(spec, i)}' for name, value, i in parts)})"


def _action(run: Run, j: int) -> str:
    action = int(run.controller.policy[j])
    if action < 0:
        return "several actions are tied"
    spec = run.configuration.spec
    return action_in_words(spec, action) or law_formula(spec, action) or spec.actions[action]


# Groups of labels: what they have in common, or which they are.


class _LabelGroups(NamedTuple):
    """The labels in which an action is taken, by their facets, and the region of each."""

    facets: tuple[Facet, ...]
    rows: np.ndarray  #: (labels, facets)
    regions: np.ndarray  #: (labels,)

    def inside(self, values: Mapping[int, frozenset[int]]) -> np.ndarray:
        """Which labels have one of these values in each of these facets."""
        found = np.ones(len(self.rows), dtype=bool)
        for f, some in values.items():
            found &= np.isin(self.rows[:, f], list(some))
        return found

    def shortened(self, values: dict[int, frozenset[int]]) -> dict[int, frozenset[int]]:
        """Leave out facets as long as the labels stay the same, those with many values first."""
        inside = self.inside(values)
        for f in sorted(values, key=lambda f: -len(values[f])):
            fewer = {g: some for g, some in values.items() if g != f}
            if fewer and (self.inside(fewer) == inside).all():
                values = fewer
        return values


def _label_groups(run: Run) -> _LabelGroups:
    """Return all labels of a task, or those with a prototype if there are too many."""
    spec, partition = run.configuration.spec, run.representation.partition
    labels, prototypes = labels_of(spec), prototypes_of(partition)
    counts = [int(high - low) + 1 for low, high in zip(spec.low, spec.high, strict=True)]
    if math.prod(counts) <= MOST_LABELS:
        ranges = [low + np.arange(count) for low, count in zip(spec.low, counts, strict=True)]
        points = [tuple(map(float, point)) for point in product(*ranges)]
    else:
        points = [] if prototypes is None else [tuple(row) for row in prototypes.points.tolist()]
    points = [point for point in points if labels.is_met(point)]
    rows = np.array([labels.read(point) for point in points], dtype=int).reshape(
        len(points), len(labels.facets)
    )
    known = np.array(points).reshape(len(points), len(spec.dimensions))
    return _LabelGroups(labels.facets, rows, regions_of(partition, known))


def _groups_in_words(run: Run, actions: Sequence[str]) -> Iterator[RegionInWords]:
    """Yield a phrase for each group of labels: what they have in common if that is said of hardly any others."""
    groups, sets = _label_groups(run), run.controller.action_sets
    otherwise = region(run.representation.partition, (math.nan,) * len(run.configuration.spec.dimensions))
    for j, action in enumerate(actions):
        differ = (sets != sets[j]).any(axis=1)
        shared = _in_common(groups, j, differ if differ.any() else np.arange(len(sets)) != j)
        parts, missing = ([shared], 0) if shared else _parts(groups, j)
        said = "; ".join(_facets(groups.facets, part) for part in parts)
        if missing:
            said += f"; and {missing} more {'label' if missing == 1 else 'labels'}"
        if not parts or (missing and j == otherwise):
            said = "everywhere else" if j == otherwise else "nowhere"
        yield RegionInWords(j, said, action, is_exact=not shared)


def _in_common(groups: _LabelGroups, j: int, others: np.ndarray) -> dict[int, frozenset[int]]:
    """Return the values of facets that set the labels of a region apart from others; empty if none do."""
    own = groups.regions == j
    values = {f: frozenset(groups.rows[own, f].tolist()) for f in range(len(groups.facets))}
    inside = groups.inside(values)
    shares = [inside[groups.regions == k].mean() for k in np.flatnonzero(others) if k in groups.regions]
    is_apart = own.any() and max(shares, default=0.0) <= TRUE_ELSEWHERE
    return groups.shortened(values) if is_apart else {}


def _parts(groups: _LabelGroups, j: int) -> tuple[list[dict[int, frozenset[int]]], int]:
    """Return a few parts that make up the labels of a region, largest first, and how many labels are left out."""
    own = groups.regions == j
    left = own.copy()
    parts: list[dict[int, frozenset[int]]] = []
    while left.any() and len(parts) < MOST_PARTS:
        seeds = np.flatnonzero(left)
        seeds = seeds[:: -(-len(seeds) // MOST_SEEDS)]
        orders = (range(len(groups.facets)), range(len(groups.facets) - 1, -1, -1))
        grown = [_grown(groups, own, int(seed), order) for seed in seeds for order in orders]
        best = max(grown, key=lambda values: int((groups.inside(values) & left).sum()))
        left &= ~groups.inside(best)
        parts.append(groups.shortened(best))
    return parts, int(left.sum())


def _grown(
    groups: _LabelGroups, own: np.ndarray, seed: int, order: Sequence[int]
) -> dict[int, frozenset[int]]:
    """Return values of all facets that are those of a label, and of as many others of its region as fit."""
    values = {f: frozenset([int(value)]) for f, value in enumerate(groups.rows[seed])}
    for f in order:
        beside = groups.inside({g: some for g, some in values.items() if g != f})
        right, wrong = (set(groups.rows[beside & of, f].tolist()) for of in (own, ~own))
        values[f] = frozenset(right - wrong)
    return values


def _facets(facets: Sequence[Facet], values: Mapping[int, frozenset[int]]) -> str:
    """Name the values of facets."""
    said = []
    for f, some in sorted(values.items()):
        facet = facets[f]
        form = facet.many or facet.one if len(some) > 1 else facet.one
        if facet.values:
            said.append(form.format(" or ".join(facet.values[value] for value in sorted(some))))
        else:
            said.append(form.format(_ranges(sorted(some))))
    return ", ".join(said)


def _ranges(numbers: Sequence[int]) -> str:
    """Write sorted numbers, with neighbours as ranges.

    >>> _ranges([0, 1, 2, 5])
    '0-2 and 5'
    """
    said: list[list[int]] = []
    for number in numbers:
        if said and said[-1][-1] == number - 1:
            said[-1].append(number)
        else:
            said.append([number])
    return " and ".join(f"{some[0]}-{some[-1]}" if len(some) > 1 else str(some[0]) for some in said)


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


def border_of(partition: Voronoi, one: int = 0, other: int = 1) -> tuple[np.ndarray, float]:
    """Return weights and a bound: an observation is nearer to the other prototype if its weighted sum is above.

    >>> from distinguo.representations.voronoi import voronoi
    >>> weights, bound = border_of(voronoi([[-1.0, 0.0], [3.0, 0.0]], [2.0, 1.0]))
    >>> weights.tolist(), bound  # nearer to (3, 0) where x > 1
    ([2.0, 0.0], 2.0)
    """
    here, there = partition.prototypes[one], partition.prototypes[other]
    weights = 2.0 * (there - here) / partition.scale**2
    return weights, float(((there**2 - here**2) / partition.scale**2).sum())


def _spread(run: Run) -> np.ndarray:
    spec = run.configuration.spec
    low, high = learned_extent(run.representation.provenance, spec.low, spec.high)
    spread = np.array(high) - np.array(low)
    return np.where(np.isfinite(spread), spread, 1.0)


def _term(factor: float, name: str, leads: bool) -> str:
    if leads:
        return name
    times = "" if abs(factor) == 1.0 else f"{abs(factor):.{DIGITS}g} "
    return f"{'+' if factor >= 0 else '-'} {times}{name}"
