"""The reason log as values: what was split, merged and detached, and which prices were paid.

A log may come from another version, or be damaged in the middle of a line that is still JSON. What cannot be
understood is counted and left out; nothing else depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import attempt
from distinguo.learners.economy.memory import KINDS

SPLIT, MERGE, DETACH = KINDS
SURPRISE = (
    "surprise (section 5.4)"  #: why the passive learner splits, where no rule of Definition 9 is broken
)

Row = tuple[float, ...]


class ReasonEvent(NamedTuple):
    """What happened between two prototypes, and what the learner knew of them then."""

    event: str  #: "split", "merge" or "detach"
    trial: int
    step: int  #: of all, mini-trials included
    prototypes: tuple[int, int]  #: the older one, and the one that came, left or joined
    states: tuple[Row, Row]
    profiles: tuple[Row, Row]
    rules: tuple[str, ...]
    regret: float

    @property
    def place(self) -> tuple[int, int]:
        """Return when it was, for comparing."""
        return self.trial, self.step

    def seen_from(self, first: int) -> ReasonEvent:
        """Return the same event with this prototype named first."""
        if self.prototypes[0] == first:
            return self
        turned = {name: getattr(self, name)[::-1] for name in ("prototypes", "states", "profiles")}
        return self._replace(**turned)


class PriceEntry(NamedTuple):
    """What a distinction was worth when a run had solved its task: the mean return without it is less."""

    prototypes: tuple[int, int]
    actions: tuple[int, int]
    lost: float
    starts: int

    def document(self) -> dict[str, Any]:
        """Return the price as plain values."""
        numbers = {"prototypes": list(self.prototypes), "actions": list(self.actions)}
        return {**numbers, "lost": self.lost, "starts": self.starts}


class ReasonLog(NamedTuple):
    """The log of a run, by kinds of entries."""

    events: tuple[ReasonEvent, ...] = ()
    prices: tuple[PriceEntry, ...] = ()
    kept: tuple[Mapping[str, Any], ...] = ()  #: changes of a map that paid on probation
    unreadable: int = 0  #: entries that could not be understood


def read_log(entries: Iterable[Mapping[str, Any]]) -> ReasonLog:
    """Sort the entries of a log.

    >>> read_log([{"event": "split", "trial": 3}, {"event": "restart", "trial": 9}]).unreadable
    1
    """
    events, prices, kept, unreadable = [], [], [], 0
    for entry in entries:
        kind = entry.get("event")
        if kind in KINDS:
            event = attempt(_event, entry, otherwise=None)
            events += [event] if event else []
            unreadable += event is None
        elif kind == "price":
            price = attempt(_price, entry, otherwise=None)
            prices += [price] if price else []
            unreadable += price is None
        elif kind == "kept":
            kept.append(entry)
    return ReasonLog(tuple(events), tuple(prices), tuple(kept), unreadable)


def _event(entry: Mapping[str, Any]) -> ReasonEvent:
    return ReasonEvent(
        event=entry["event"],
        trial=int(entry["trial"]),
        step=int(entry["step"]),
        prototypes=_pair_of_numbers(entry["prototypes"]),
        states=_pair_of_rows(entry["states"]),
        profiles=_pair_of_rows(entry["profiles"]),
        rules=_words(entry["rules"]) or _unruled(entry["event"]),
        regret=_finite(entry["regret"]),
    )


def _words(rules: Any) -> tuple[str, ...]:
    if not isinstance(rules, list | tuple) or not all(isinstance(rule, str) for rule in rules):
        raise ValueError("rules are words")
    return tuple(rules)


def _unruled(kind: str) -> tuple[str, ...]:
    """Return the rule of an entry without one: two that were merged break none."""
    return () if kind == MERGE else (SURPRISE,)


def _price(entry: Mapping[str, Any]) -> PriceEntry:
    pair = entry.get("prototypes", entry["regions"])  # earlier versions gave them a wrong name
    actions = _pair_of_numbers(entry["actions"])
    return PriceEntry(_pair_of_numbers(pair), actions, _finite(entry["lost"]), int(entry["starts"]))


def _pair_of_numbers(pair: Any) -> tuple[int, int]:
    first, second = pair
    if not all(isinstance(number, int) and number >= 0 for number in pair):
        raise ValueError("prototypes and actions are counted from 0")
    return first, second


def _pair_of_rows(pair: Any) -> tuple[Row, Row]:
    first, second = (tuple(_finite(number) for number in row) for row in pair)
    return first, second


def _finite(number: Any) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError("it is not a finite number")
    return value


def belongs_to(points: np.ndarray, event: ReasonEvent) -> bool:
    """Tell whether an event is about prototypes of a map: the numbers name the states that were written down."""
    named = zip(event.prototypes, event.states, strict=True)
    return all(p < len(points) and points[p].tolist() == list(state) for p, state in named)
