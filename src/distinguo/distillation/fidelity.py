"""How true a map is to its teacher: where they agree, what both gain, and what their disagreements cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from distinguo.distillation.questions import Questions
from distinguo.distillation.trials.trials import Followed
from distinguo.evaluation.policy_audit import NEXT_TO_NOTHING
from distinguo.evaluation.statistics import interval
from distinguo.learners.refinement.improvement import PrototypeMap

SHOWN = 2_000  #: states that are written down
ASKED = 500  #: disagreements of which the cost is found out


class Gained(NamedTuple):
    """The mean return of new trials, with an interval that it is in with a chance of 19 in 20."""

    mean: float
    low: float
    high: float
    trials: int

    def __str__(self) -> str:
        return f"{self.mean:.4g} ({self.low:.4g} to {self.high:.4g})"


def gained_by(returns: np.ndarray) -> Gained:
    """Return the mean of returns and its interval.

    >>> gained_by(np.array([1.0, 1.0]))
    Gained(mean=1.0, low=1.0, high=1.0, trials=2)
    """
    low, high = interval(returns[:, None]) if np.ptp(returns) else (returns[:1], returns[:1])
    return Gained(float(returns.mean()), float(low[0]), float(high[0]), len(returns))


class Fidelity(NamedTuple):
    """What a teacher and its map do in the same states."""

    on_teacher: float  #: share of the states of the teacher's trials where the map does the same
    on_map: float  #: of the map's own
    teacher: Gained
    map: Gained
    confusion: (
        np.ndarray
    )  #: (actions, actions) how often the map does one thing where the teacher does another
    regret: float | None  #: mean cost of a disagreement in the map's trials, None if nobody can tell
    free: float | None  #: share of the disagreements that cost nothing
    per: str  #: how that was found out
    actions: tuple[str, ...]  #: the names of the actions of the confusion
    seen: np.ndarray  #: some states of the map's trials
    agreed: np.ndarray  #: whether they agree there

    def document(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "agreement_on_teacher_states": self.on_teacher,
            "agreement_on_map_states": self.on_map,
            "teacher": self.teacher._asdict(),
            "map": self.map._asdict(),
            "confusion": self.confusion.tolist(),
            "regret_of_disagreements": self.regret,
            "free_disagreements": self.free,
            "regret_by": self.per,
            "actions": list(self.actions),
            "seen": self.seen.tolist(),
            "agreed": self.agreed.tolist(),
        }


#: What a document of it tells.
DOCUMENT = (
    *("agreement_on_teacher_states", "agreement_on_map_states", "teacher", "map", "confusion"),
    *("regret_of_disagreements", "free_disagreements", "regret_by", "actions", "seen", "agreed"),
)


def fidelity_of(
    map_: PrototypeMap, questions: Questions, taught: Followed, own: Followed, starts: Sequence[int]
) -> Fidelity:
    """Compare a map with its teacher on the trials of both; ``starts`` are those of the map's."""
    said = questions.teacher.answer(own.seen)
    names = questions.trials.spec.actions
    agreed = said == own.taken
    confusion = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(confusion, (said, own.taken), 1)
    regret, free = _price_of(questions, own, starts, np.flatnonzero(~agreed))
    some = slice(None, None, max(1, len(said) // SHOWN))
    return Fidelity(
        float((map_.choose(taught.seen) == taught.taken).mean()),
        float(agreed.mean()),
        gained_by(taught.returns),
        gained_by(own.returns),
        confusion,
        regret,
        free,
        questions.way if regret is not None else "",
        names,
        own.seen[some],
        agreed[some],
    )


def _price_of(
    questions: Questions, own: Followed, starts: Sequence[int], rows: np.ndarray
) -> tuple[float | None, float | None]:
    """Return the mean cost of disagreements, and the share of them that cost nothing; none if nobody can tell."""
    some = rows[:: max(1, len(rows) // ASKED)]
    known = questions.costs(own, starts, some) if len(some) else None
    if known is None:
        return None, None
    costs, usual = known
    return float(costs.mean()), float((costs <= NEXT_TO_NOTHING * usual).mean())
