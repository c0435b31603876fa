"""The subject of an explanation: a learned map, how it was learned, and the log of its reasons."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError, attempt, shown, whole_number
from distinguo.learners.catalog import ECONOMY, MODEL, SURPRISE
from distinguo.learners.economy.memory import KINDS
from distinguo.learners.learner import learner_or_absent
from distinguo.reading.arrays import read_arrays
from distinguo.representations.partition import checked_point, prototypes_of
from distinguo.runs.folder import CARRIED_VALUES, open_run
from distinguo.runs.run import Run
from distinguo.settings import LearnerSettings
from distinguo.tasks.spec import CATEGORIES, TaskSpec

ROUNDING = (
    1e-6  #: how far outside its box a state may lie, as a share of the width: numbers are rounded in texts
)


class Asked(NamedTuple):
    """A run with its log, read once for many questions."""

    run: Run
    log: ReasonLog
    notes: tuple[str, ...] = ()  #: sentences on what could not be read
    settled: bool = False  #: whether it is a map for fresh learners with its own values, found by trials

    @property
    def spec(self) -> TaskSpec:
        """Return the task."""
        return self.run.configuration.spec

    @property
    def partition(self) -> Any:
        """Return the regions."""
        return self.run.representation.partition

    @property
    def controller(self) -> Controller:
        """The controller of the run."""
        return self.run.controller

    @property
    def is_condensed(self) -> bool:
        """Whether the map was made smaller afterwards, so that the log is about an earlier one."""
        return "condensed_from" in self.run.summary

    @property
    def investigates(self) -> bool:
        """Whether the map was made by the paper's learner, whose settings say how states are investigated."""
        return isinstance(self.run.configuration.learner, LearnerSettings) and not self.is_condensed

    @property
    def grows_by_splits(self) -> bool:
        """Whether every region descends from the first ones by events of the log."""
        return self.run.configuration.learner_name in (ECONOMY, MODEL, SURPRISE) and not self.is_condensed

    @property
    def given_prototypes(self) -> int:
        """The number of prototypes that were given to the run at its start."""
        return len(self.run.configuration.prototypes or ())

    @property
    def values_name_actions(self) -> bool:
        """Whether action values only mark the action of a region by 1, so that they are not rewards."""
        learner = learner_or_absent(self.run.configuration.learner_name, {})
        return not self.settled and (learner.only_controls or self.is_condensed)

    @property
    def epsilon(self) -> float | None:
        """The reward that a grouping may cost, as it was at the end; None for a learner without epsilon."""
        if not self.investigates:
            return None
        known = self.run.summary.get("epsilon")  # if it was a share of what was seen, the result is here
        if isinstance(known, float) and 0.0 <= known < math.inf:
            return known
        return float(self.run.configuration.learner.epsilon)


def asked_about(run: Run | Asked | str | Path, carried: bool = False) -> Asked:
    """Read the log of a run, or of the run in a folder; damaged entries are reported in ``notes`` and skipped.

    ``carried`` asks about the map for fresh learners, if the run has one.

    >>> import distinguo
    >>> len(asked_about(distinguo.learn("puck", seed=1)).log.events)
    5
    """
    if isinstance(run, Asked):
        return run
    asked = _read(run)
    return _carried(asked) if carried and asked.run.carried is not None else asked


def _read(run: Run | str | Path) -> Asked:
    if isinstance(run, Run):
        return _with_log(run, ())
    if not isinstance(run, str | Path):
        raise DistinguoError(f"A run or the folder of one can be explained, got {shown(run)}.")
    try:
        return _with_log(open_run(run), ())
    except DistinguoError as error:
        whole = open_run(run, reasons=False)  # raises for anything else that is wrong
        return _with_log(whole, (f"{error} Explained without it, by what is known now.",))


def _with_log(run: Run, notes: tuple[str, ...]) -> Asked:
    log = read_log(run.reasons)
    if log.unreadable:
        count = "1 entry" if log.unreadable == 1 else f"{log.unreadable:,} entries"
        notes = (*notes, f"The reason log is damaged: {count} could not be understood and were left out.")
    return Asked(run, log, notes)


def _carried(asked: Asked) -> Asked:
    """Return the map for fresh learners in place of the one that acts.

    Its values are those of the folder. Without any, each region gets the values of the acting map at its prototype.
    The log is about the acting map.
    """
    run, other = asked.run, asked.run.carried
    assert other is not None
    states = representative_rows(other.partition)
    q = np.array([run.q[run.controller.region(state)] for state in states])
    settled = run.path is not None and (run.path / CARRIED_VALUES).is_file()
    if settled and run.path is not None:
        own = read_arrays(run.path / CARRIED_VALUES).get("q")
        if own is None or own.shape != q.shape or own.dtype != q.dtype or not np.isfinite(own).all():
            raise DistinguoError(
                f"{run.path / CARRIED_VALUES} does not belong to its map: q should be of shape {q.shape}."
            )
        q = own
    mapped = run._replace(representation=other, q=q, updates=np.zeros(q.shape, dtype=np.int64), carried=None)
    return Asked(mapped, ReasonLog(), asked.notes, settled)


def representative_rows(partition: Any) -> list[tuple[float, ...]]:
    """Return the primary prototype of every region."""
    known = prototypes_of(partition)
    if known is None:
        raise DistinguoError(
            "The map for fresh learners has no prototypes, so its regions cannot be explained."
        )
    return [tuple(row) for row in known.points[known.primaries].tolist()]


def checked_state(asked: Asked, s: Any) -> tuple[float, ...]:
    """Return a state as numbers within the box of the task; raise if it is not valid."""
    point = checked_point(asked.partition, s)
    names, labels = asked.spec.axes, asked.spec.kind == CATEGORIES
    if len(point) != len(names):
        raise DistinguoError(
            f"A state of {asked.spec.name} has {len(names)} numbers ({', '.join(names)}), got {shown(s)}."
        )
    for name, value, low, high in zip(names, point, *_box(asked), strict=True):
        slack = ROUNDING * (high - low) if math.isfinite(high - low) else 0.0
        if not low - slack <= value <= high + slack:
            raise DistinguoError(
                f"{name} of {asked.spec.name} lies between {low:g} and {high:g}, got {value:g}; ask about a state "
                "within."
            )
        if labels and not value.is_integer():
            raise DistinguoError(
                f"{name} of {asked.spec.name} is a label, a whole number from {low:g} to {high:g}, got {value:g}."
            )
    return point


def _box(asked: Asked) -> tuple[list[float], list[float]]:
    """Return the bounds of the task, widened to contain all prototypes."""
    low, high = np.array(asked.spec.low), np.array(asked.spec.high)
    known = prototypes_of(asked.partition)
    if known is not None and len(known.points):
        low = np.minimum(low, known.points.min(axis=0))
        high = np.maximum(high, known.points.max(axis=0))
    return low.tolist(), high.tolist()


# The reason log as values: what was split, merged and detached, and which prices were paid.
#
# A log may come from another version, or be damaged within a line that is still JSON. Entries that cannot be
# understood are counted and skipped; nothing else depends on them.


SPLIT, MERGE, DETACH = KINDS
BY_SURPRISE = "surprise (section 5.4)"  #: why the passive learner splits if no rule of Definition 9 is broken

Row = tuple[float, ...]


class ReasonEvent(NamedTuple):
    """An event between two prototypes, and what the learner knew of them then."""

    event: str  #: "split", "merge" or "detach"
    trial: int
    step: int  #: counts all steps, including mini-trials
    prototypes: tuple[int, int]  #: the older one, and the one that was added, detached or merged
    states: tuple[Row, Row]
    profiles: tuple[Row, Row]
    rules: tuple[str, ...]
    regret: float

    @property
    def place(self) -> tuple[int, int]:
        """The time of the event, for comparing."""
        return self.trial, self.step

    def seen_from(self, first: int) -> ReasonEvent:
        """Return the same event with this prototype named first."""
        if self.prototypes[0] == first:
            return self
        turned = {name: getattr(self, name)[::-1] for name in ("prototypes", "states", "profiles")}
        return self._replace(**turned)


class PriceEntry(NamedTuple):
    """What a distinction was worth when a run had solved its task: how much lower the mean return is without it."""

    prototypes: tuple[int, int]
    actions: tuple[int, int]
    lost: float
    starts: int
    regions: tuple[int, int] | None = None  #: that they belonged to; None in entries of earlier versions

    def document(self) -> dict[str, Any]:
        """Return the price as plain values."""
        numbers = {"prototypes": list(self.prototypes), "actions": list(self.actions)}
        return {**numbers, "lost": self.lost, "starts": self.starts}


class KeptEntry(NamedTuple):
    """Changes of a small map that paid on probation."""

    trial: int
    changes: tuple[str, ...]
    prototypes: tuple[int, int]  #: how many there were before, and after
    worst_start: Row  #: the return from the worst start before, and after
    gain: float


Reason = ReasonEvent | PriceEntry | KeptEntry


class ReasonLog(NamedTuple):
    """The log of a run, by kinds of entries."""

    events: tuple[ReasonEvent, ...] = ()
    prices: tuple[PriceEntry, ...] = ()
    kept: tuple[KeptEntry, ...] = ()
    unreadable: int = 0  #: entries that could not be understood


def read_log(entries: Iterable[Mapping[str, Any]]) -> ReasonLog:
    """Sort the entries of a log.

    >>> read_log([{"event": "split", "trial": 3}, {"event": "restart", "trial": 9}]).unreadable
    1
    """
    known = [understood(entry) for entry in entries if entry.get("event") in _UNDERSTOOD]
    events, prices, kept = (
        tuple(one for one in known if isinstance(one, kind)) for kind in (ReasonEvent, PriceEntry, KeptEntry)
    )
    return ReasonLog(events, prices, kept, known.count(None))  # type: ignore[arg-type]


def understood(entry: Mapping[str, Any]) -> Reason | None:
    """Return an entry of a kind that is ours as a value; None if it makes no sense, or is of another kind."""
    read = _UNDERSTOOD.get(entry.get("event"))
    known: Reason | None = attempt(read, entry, otherwise=None) if read else None
    return known


def _event(entry: Mapping[str, Any]) -> ReasonEvent:
    return ReasonEvent(
        event=entry["event"],
        trial=_count(entry["trial"]),
        step=_count(entry["step"]),
        prototypes=_two_of(entry["prototypes"]),
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
    """Return the rules of an entry that names none: a merge breaks no rule."""
    return () if kind == MERGE else (BY_SURPRISE,)


def _price(entry: Mapping[str, Any]) -> PriceEntry:
    pair = entry.get("prototypes", entry["regions"])  # earlier versions used the wrong name
    actions = _pair_of_numbers(entry["actions"])
    regions = _pair_of_numbers(entry["regions"]) if {"prototypes", "regions"} <= entry.keys() else None
    return PriceEntry(_two_of(pair), actions, _finite(entry["lost"]), _count(entry["starts"]), regions)


def _kept(entry: Mapping[str, Any]) -> KeptEntry:
    old, new = map(_finite, entry["worst_start"])
    sizes = _pair_of_numbers(entry["prototypes"])
    return KeptEntry(
        _count(entry["trial"]), _words(entry["changes"]), sizes, (old, new), _finite(entry["gain"])
    )


#: How an entry is read, by its kind.
_UNDERSTOOD: dict[Any, Callable[[Mapping[str, Any]], Reason]] = {
    **dict.fromkeys(KINDS, _event),
    "price": _price,
    "kept": _kept,
}


def _count(number: Any) -> int:
    return whole_number("a count", number)


def _pair_of_numbers(pair: Any) -> tuple[int, int]:
    first, second = map(_count, pair)
    return first, second


def _two_of(pair: Any) -> tuple[int, int]:
    """Return the numbers of two prototypes."""
    first, second = _pair_of_numbers(pair)
    if first == second:
        raise ValueError("they are one")
    return first, second


def _pair_of_rows(pair: Any) -> tuple[Row, Row]:
    first, second = (tuple(_finite(number) for number in row) for row in pair)
    return first, second


def _finite(number: Any) -> float:
    if isinstance(number, str) or not math.isfinite(value := float(number)):
        raise ValueError("it is not a finite number")
    return value


def belongs_to(points: np.ndarray, event: ReasonEvent) -> bool:
    """Whether an event is about prototypes of a map: its numbers name the logged states."""
    named = zip(event.prototypes, event.states, strict=True)
    return all(p < len(points) and points[p].tolist() == list(state) for p, state in named)
