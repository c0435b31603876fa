"""What is asked about: a map that was learned, how it was learned, and the log of its reasons."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError, shown
from distinguo.explanations.log import ReasonLog, read_log
from distinguo.learners.catalog import ECONOMY, MODEL, SURPRISE
from distinguo.learners.learner import learner_or_absent
from distinguo.reading.arrays import read_arrays
from distinguo.representations.partition import checked_point, prototypes_of
from distinguo.runs.folder import CARRIED_VALUES, open_run
from distinguo.runs.run import Run
from distinguo.settings import LearnerSettings
from distinguo.tasks.spec import CATEGORIES, TaskSpec

ROUNDING = (
    1e-6  #: by which a state may lie outside of its box, as a share of the width: numbers come from texts
)


class Asked(NamedTuple):
    """A run with its log read, so that many questions can be asked of it."""

    run: Run
    log: ReasonLog
    notes: tuple[str, ...] = ()  #: what could not be read, in sentences
    settled: bool = False  #: whether it is a map for other learners with values of its own, settled by trials

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
        """Return what the run acts by."""
        return self.run.controller

    @property
    def is_condensed(self) -> bool:
        """Tell whether the map was made small afterwards, so that the log speaks of an earlier one."""
        return "condensed_from" in self.run.summary

    @property
    def investigates(self) -> bool:
        """Tell whether the map was made by the paper's learner, whose settings say how states are investigated."""
        return isinstance(self.run.configuration.learner, LearnerSettings) and not self.is_condensed

    @property
    def grows_by_splits(self) -> bool:
        """Tell whether every region descends from the first ones, and the log says how."""
        return self.run.configuration.learner_name in (ECONOMY, MODEL, SURPRISE) and not self.is_condensed

    @property
    def given_prototypes(self) -> int:
        """Return how many prototypes the run was begun with by whoever asked for it."""
        return len(self.run.configuration.prototypes or ())

    @property
    def values_name_actions(self) -> bool:
        """Tell whether action values are 1 for the action of a region and 0 for others: no amounts of reward."""
        learner = learner_or_absent(self.run.configuration.learner_name, {})
        return not self.settled and (learner.only_controls or self.is_condensed)

    @property
    def epsilon(self) -> float | None:
        """Return the reward that a grouping might cost, in force at the end; None for a learner without."""
        if not self.investigates:
            return None
        known = self.run.summary.get("epsilon")  # where it is a share of what was seen, the amount is here
        if isinstance(known, float) and 0.0 <= known < math.inf:
            return known
        return float(self.run.configuration.learner.epsilon)


def asked_about(run: Run | Asked | str | Path, carried: bool = False) -> Asked:
    """Read the log of a run, or of the run in a folder; what is damaged in the log is said, and the rest goes on.

    With ``carried``, what is asked about is the map for other learners, where that is not the one that acts.

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
        whole = open_run(run, reasons=False)  # what is wrong with anything else is said from here
        return _with_log(whole, (f"{error} Explained without it, by what can be seen now.",))


def _with_log(run: Run, notes: tuple[str, ...]) -> Asked:
    log = read_log(run.reasons)
    if log.unreadable:
        count = "1 entry" if log.unreadable == 1 else f"{log.unreadable:,} entries"
        notes = (*notes, f"The reason log is damaged: {count} could not be understood and were left out.")
    return Asked(run, log, notes)


def _carried(asked: Asked) -> Asked:
    """Return the map for other learners in place of the one that acts.

    Its values are those of the folder; without any, each region has the values of the region that acts where its
    state is. The log speaks of the map that acts.
    """
    run, other = asked.run, asked.run.carried
    assert other is not None
    states = representative_rows(other.partition)
    q = np.array([run.q[run.controller.region(state)] for state in states])
    settled = run.path is not None and (run.path / CARRIED_VALUES).is_file()
    if settled and run.path is not None:
        own = read_arrays(run.path / CARRIED_VALUES).get("q")
        if own is None or own.shape != q.shape or own.dtype != q.dtype:
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
        raise DistinguoError("The map for other learners has no prototypes, so its regions cannot be named.")
    return [tuple(row) for row in known.points[known.primaries].tolist()]


def checked_state(asked: Asked, s: Any) -> tuple[float, ...]:
    """Return a state that may be asked about, as numbers within the box of the task; else say what is wrong."""
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
    """Return the bounds of the task, widened where prototypes lie outside of them."""
    low, high = np.array(asked.spec.low), np.array(asked.spec.high)
    known = prototypes_of(asked.partition)
    if known is not None and len(known.points):
        low = np.minimum(low, known.points.min(axis=0))
        high = np.maximum(high, known.points.max(axis=0))
    return low.tolist(), high.tolist()
