"""Distinctions: what keeps two states apart or together; the rules, the profiles, what is at stake.

``regret`` is the greatest incremental regret (section 2.2) of one region for both states: the reward lost at a visit
by the other state's best action, or by assuming the other state's value, whichever is more
(:func:`distinguo.criteria.stake`). The log has the same figure from the time of the event.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.criteria import BEST, compatible, incompatibility, stake, state_value
from distinguo.explanations.family import GIVEN, Family, family_of
from distinguo.explanations.investigation import STARTS, VALUES, ActionProfile, Investigator
from distinguo.explanations.subject import Asked, PriceEntry, ReasonEvent, Row, asked_about
from distinguo.learners.economy.memory import RULES
from distinguo.representations.partition import count_regions, nearest, prototypes_of, region
from distinguo.runs.run import Run

PRICE = "price paid on probation"
GIVEN_RULE = "given at the start"
BY_LEARNER = "drawn by the learner"
MOST_PAIRS = 300  #: of regions; if there are more, only neighbours are compared
PROBES = 2_000  #: points by which regions without prototypes are found

Pair = tuple[int, int]
States = tuple[tuple[float, ...], tuple[float, ...]]


class Distinction(NamedTuple):
    """Two states, what keeps them apart, and what merging them would cost."""

    states: States
    regions: Pair
    prototypes: tuple[
        int | None, int | None
    ]  #: the primary ones of the regions; None for a map without prototypes
    profiles: tuple[ActionProfile, ActionProfile]  #: now
    learned: tuple[Row, Row] | None  #: the learned action values of the regions; None if they are not rewards
    then: ReasonEvent | None  #: when they parted or, in one region, were merged, by the log
    price: PriceEntry | None  #: measured when the run was done
    rules: tuple[str, ...]  #: why they are apart: by the log or, if it says nothing, by what holds now
    rules_now: tuple[str, ...]  #: of Definition 9 that keep them apart now
    regret: float | None  #: now; None if no rewards are known
    per: str  #: when that is lost: at a "visit", or in a "trial" if a state could not be set
    epsilon: float | None  #: the least at which the learner would merge them; None if there is none
    epsilon_half: float | None  #: the same if delta were ε/2 instead of ε

    @property
    def same_region(self) -> bool:
        """Whether one region holds both states."""
        return self.regions[0] == self.regions[1]

    @property
    def is_explained(self) -> bool:
        """Whether there is a rule or a price, a profile for both states, and a regret."""
        return bool(self.rules) and self.regret is not None and all(one.values for one in self.profiles)

    def document(self) -> dict[str, Any]:
        """Return the distinction as plain values."""
        return {
            "regions": list(self.regions),
            "prototypes": list(self.prototypes),
            "states": [list(state) for state in self.states],
            "same_region": self.same_region,
            "rules": list(self.rules),
            "rules_now": list(self.rules_now),
            "profiles": {
                "then": then_document(self.then),
                "learned": self.learned and [list(row) for row in self.learned],
                "now": [profile.document() for profile in self.profiles],
            },
            "price": self.price.document() if self.price else None,
            "regret": self.regret,
            "per": self.per,
            "epsilon": self.epsilon,
            "epsilon_half": self.epsilon_half,
        }


def then_document(event: ReasonEvent | None) -> dict[str, Any] | None:
    """Return an entry of the log as plain values."""
    if event is None:
        return None
    return {
        "event": event.event,
        "trial": event.trial,
        "step": event.step,
        "prototypes": list(event.prototypes),
        "states": [list(state) for state in event.states],
        "values": [list(profile) for profile in event.profiles],
        "rules": list(event.rules),
        "regret": event.regret,
    }


class Inquiry:
    """Questions about one map: its family is read once, and every state is investigated once."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.family: Family = family_of(asked)
        self.investigator = Investigator(asked)
        self._known: dict[tuple[float, ...], ActionProfile] = {}

    def profile(self, s: tuple[float, ...]) -> ActionProfile:
        """Return the action profile of a state now."""
        if s not in self._known:
            self._known[s] = self.investigator.profile(s)
        return self._known[s]

    def region(self, s: tuple[float, ...]) -> int:
        """Return the region of a state."""
        return self.asked.controller.region(s)

    def primary(self, j: int) -> int | None:
        """Return the primary prototype of a region."""
        known = prototypes_of(self.asked.partition)
        return None if known is None else int(known.primaries[j])

    def nearest(self, s: tuple[float, ...]) -> int | None:
        """Return the nearest prototype of a state."""
        known = prototypes_of(self.asked.partition)
        return None if known is None else int(nearest(self.asked.partition, s))

    def distinction(self, s: tuple[float, ...], other: tuple[float, ...]) -> Distinction:
        """Return the distinction between two states."""
        j, k = self.region(s), self.region(other)
        own, others = self.profile(s), self.profile(other)
        if own.way != others.way:  # profiles found in different ways cannot be compared
            own, others = self.investigator.of_region(j), self.investigator.of_region(k)
        then, price = self._then(s, other, j, k), self._price(s, other, j, k)
        in_rewards = not (self.asked.values_name_actions and VALUES in (own.way, others.way))
        found = self._rules_now(own, others) if in_rewards else ()
        regret = stake(own.q1, others.q1) if in_rewards else price and price.lost
        return Distinction(
            states=(s, other),
            regions=(j, k),
            prototypes=(self.primary(j), self.primary(k)),
            profiles=(own, others),
            learned=None
            if (one := self.learned(j)) is None or (two := self.learned(k)) is None
            else (one, two),
            then=then,
            price=price,
            rules=self._rules(j, k, then, price, found),
            rules_now=found,
            regret=regret,
            per="visit" if in_rewards and STARTS not in (own.way, others.way) else "trial",
            epsilon=merging_epsilon(own.q1, others.q1) if in_rewards else None,
            epsilon_half=merging_epsilon(own.q1, others.q1, HALF) if in_rewards else None,
        )

    def learned(self, j: int) -> Row | None:
        """The learned action values of a region; None if they are not rewards."""
        return None if self.asked.values_name_actions else tuple(self.asked.controller.q[j].tolist())

    def _rules_now(self, own: ActionProfile, other: ActionProfile) -> tuple[str, ...]:
        """Return the rules of Definition 9 that two profiles break, as Figure 6 has it: with delta = ε.

        Without an ε only the best actions can be compared: Eq. 6 knows no tolerance.
        """
        epsilon = self.asked.epsilon
        broken = incompatibility(own.q1, other.q1, epsilon or 0.0, epsilon or 0.0)
        if epsilon is None:
            broken &= BEST
        return tuple(word for bit, word in RULES.items() if broken & bit)

    def _rules(
        self, j: int, k: int, then: ReasonEvent | None, price: PriceEntry | None, now: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Return why two regions are apart: by the log, otherwise by what holds now, otherwise by their maker."""
        if j == k:
            return ()
        if then is not None:
            return then.rules
        if price is not None:
            return (PRICE,)
        if now:
            return now
        return (GIVEN_RULE,) if self._were_given(j, k) else (BY_LEARNER,)

    def _were_given(self, *regions: int) -> bool:
        rows = [self.primary(j) for j in regions]
        return all(p is not None and self.family.members[p].came == GIVEN for p in rows)

    def _then(self, s: tuple[float, ...], other: tuple[float, ...], j: int, k: int) -> ReasonEvent | None:
        """Return the event by which two regions parted or, in one region, two prototypes were merged."""
        p, q = (self.nearest(s), self.nearest(other)) if j == k else (self.primary(j), self.primary(k))
        if p is None or q is None or p == q:
            return None
        return self.family.joining(p, q) if j == k else self.family.parting(p, q)

    def _price(self, s: tuple[float, ...], other: tuple[float, ...], j: int, k: int) -> PriceEntry | None:
        """Return the price of the distinction between the prototypes of two states or, without one, their regions."""
        if j == k or self.asked.is_condensed:
            return None
        for pair in ((self.nearest(s), self.nearest(other)), (self.primary(j), self.primary(k))):
            for price in self.asked.log.prices:
                if price.prototypes == pair:
                    return price
                if price.prototypes == pair[::-1]:
                    return price._replace(prototypes=price.prototypes[::-1], actions=price.actions[::-1])
        return None


def distinctions(
    run: Run | Asked | str | Path, pairs: Iterable[Pair] | None = None, carried: bool = False
) -> list[Distinction]:
    """Return the distinctions between the regions of a run, each by one state per region.

    They are those of all pairs of regions or, if there are very many, of neighbours; ``pairs`` asks for others.
    ``carried`` asks about the map for fresh learners, if the run has one.

    >>> import distinguo
    >>> found = distinctions(distinguo.learn("puck", seed=1))
    >>> len(found), all(one.is_explained for one in found)
    (6, True)
    """
    inquiry = Inquiry(asked_about(run, carried))
    states = representative_states(inquiry.asked)
    wanted = _pairs(states) if pairs is None else [(int(j), int(k)) for j, k in pairs]
    return [inquiry.distinction(states[j], states[k]) for j, k in wanted if j in states and k in states]


def representative_states(asked: Asked) -> dict[int, tuple[float, ...]]:
    """Return a state for every region: its primary prototype or, without prototypes, the middle one of some points.

    A region so small that none of the points falls into it has no state.
    """
    known = prototypes_of(asked.partition)
    if known is not None:
        return {j: tuple(known.points[p].tolist()) for j, p in enumerate(known.primaries)}
    points = _spread_points(asked)
    inside: dict[int, list[int]] = {}
    for n, point in enumerate(points):
        inside.setdefault(int(region(asked.partition, tuple(point.tolist()))), []).append(n)
    states = {}
    for j in sorted(inside):
        rows = points[inside[j]]
        middle = np.abs(rows - rows.mean(axis=0)).sum(axis=1).argmin()
        states[j] = tuple(rows[middle].tolist())
    return states


def _spread_points(asked: Asked) -> np.ndarray:
    """Return points all over the box that the map was learned in."""
    extent = asked.run.representation.provenance.get("extent", (asked.spec.low, asked.spec.high))
    low, high = (np.clip(np.array(side, dtype=float), -1e6, 1e6) for side in extent)
    count = max(PROBES, 20 * min(count_regions(asked.partition), PROBES))
    return np.random.default_rng(0).uniform(low, high, (count, len(low)))


def _pairs(states: dict[int, tuple[float, ...]]) -> list[Pair]:
    """Return the pairs to compare: all, or every region with its nearest ones."""
    numbers = sorted(states)
    if len(numbers) * (len(numbers) - 1) // 2 <= MOST_PAIRS:
        return list(combinations(numbers, 2))
    rows = np.array([states[j] for j in numbers])
    width = np.ptp(rows, axis=0)
    rows = rows / np.where(width > 0.0, width, 1.0)
    pairs = set()
    for n, row in enumerate(rows):
        for m in np.argsort(((rows - row) ** 2).sum(axis=1), kind="stable")[1:3]:
            pairs.add((numbers[min(n, m)], numbers[max(n, m)]))
    return sorted(pairs)


# The ε at which two states would be merged: Definition 9 read as a question about ε, answered to the last bit.
#
# An action is preferred from some ε on, and values are close enough from some ε on. Between two such points nothing
# changes, so the least ε is one of them; each is found by bisecting the floats.


EQUAL, HALF = (
    1.0,
    0.5,
)  #: delta as a share of epsilon: as in Figure 6, and the greatest for which Eq. 5 holds


def merging_epsilon(q1: np.ndarray, q2: np.ndarray, share: float = EQUAL) -> float | None:
    """Return the least ε at which two profiles are compatible with ``delta = share * epsilon``; None if at no ε.

    Figure 6 takes delta = ε: then Eq. 6 requires the same best actions, which no ε can make up for. With
    delta = ε/2 Eq. 5 takes its place, and some ε always does.

    >>> left, right = np.array([-0.1, -0.9]), np.array([-0.8, -0.2])
    >>> merging_epsilon(left, right), round(merging_epsilon(left, right, HALF), 3)
    (None, 1.6)
    >>> round(merging_epsilon(left, np.array([-0.4, -0.9])), 3)
    0.3
    """
    for epsilon in sorted(_turning_points(q1, q2, share)):
        if compatible(q1, q2, epsilon, share * epsilon):
            return epsilon
    return None


def _turning_points(q1: np.ndarray, q2: np.ndarray, share: float) -> set[float]:
    """Return the values of ε at which a rule of Definition 9 may begin or cease to hold."""
    apart = abs(state_value(q1) - state_value(q2))
    points = {_least(lambda epsilon: apart <= share * epsilon)}
    for q in (q1, q2):
        for value in q.tolist():
            for factor in {1.0, share}:
                points.add(_least(partial(_is_preferred, value, state_value(q), factor)))
    return {point for point in points if math.isfinite(point)}


def _is_preferred(value: float, best: float, factor: float, epsilon: float) -> bool:
    """Definition 7 for plain numbers, as many are tried."""
    return value >= best - factor * epsilon


def _least(holds: Callable[[float], bool]) -> float:
    """Return the least number ≥ 0 for which a monotone condition holds."""
    low, high = -1, _place(math.inf)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(_number(middle)) else (middle, high)
    return _number(high)


def _place(number: float) -> int:
    """Return the rank of a float ≥ 0: such floats are ordered as their bits are."""
    place: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return place


def _number(place: int) -> float:
    number: float = struct.unpack("<d", struct.pack("<q", place))[0]
    return number
