"""The fidelity of a map to its teacher: where they agree, both returns, and what disagreements cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from distinguo.distillation.costs import Questions
from distinguo.distillation.ledger import BudgetEndedError
from distinguo.distillation.trials import Followed
from distinguo.errors import DistinguoError
from distinguo.evaluation.audit import NEXT_TO_NOTHING
from distinguo.evaluation.statistics import interval
from distinguo.reading.files import MEBIBYTE, read_json
from distinguo.search.maps import PrototypeMap

LARGEST_FIDELITY = 16 * MEBIBYTE  #: bytes
SHOWN, MOST_NUMBERS = 2_000, 200_000  #: states that are saved, and their numbers
ASKED = 500  #: disagreements whose cost is found


class Gained(NamedTuple):
    """The mean return of new trials, with its 95 % confidence interval."""

    mean: float
    low: float
    high: float
    trials: int

    def __str__(self) -> str:
        return f"{self.mean:z.4g} ({self.low:z.4g} to {self.high:z.4g})"


def gained_by(returns: np.ndarray) -> Gained:
    """Return the mean of returns and its interval.

    >>> gained_by(np.array([1.0, 1.0]))
    Gained(mean=1.0, low=1.0, high=1.0, trials=2)
    """
    low, high = interval(returns[:, None]) if np.ptp(returns) else (returns[:1], returns[:1])
    return Gained(float(returns.mean()), float(low[0]), float(high[0]), len(returns))


class Fidelity(NamedTuple):
    """A comparison of a teacher and its map in the same states."""

    on_teacher: float  #: share of the states of the teacher's trials where the map does the same
    on_map: float  #: of the map's own
    teacher: Gained
    map: Gained
    confusion: (
        np.ndarray
    )  #: (actions, actions) how often the map takes one action where the teacher takes another
    regret: float | None  #: mean cost of a disagreement in the map's trials, None if unknown
    free: float | None  #: share of the disagreements that cost nothing
    per: str  #: how that was found
    actions: tuple[str, ...]  #: the names of the actions of the confusion
    seen: np.ndarray  #: some states of the map's trials
    agreed: np.ndarray  #: whether they agree there

    def text(self) -> str:
        """The content of its file."""
        return json.dumps(self.document()) + "\n"

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


_Share = Annotated[float, Field(ge=0, le=1)]
_Count = Annotated[int, Field(ge=0, lt=2**63)]
_STRICT = ConfigDict(strict=True, allow_inf_nan=False)


class _Return(BaseModel):
    model_config = _STRICT
    mean: float
    low: float
    high: float
    trials: _Count


class _Document(BaseModel):
    """The file of a fidelity."""

    model_config = _STRICT
    agreement_on_teacher_states: _Share
    agreement_on_map_states: _Share
    teacher: _Return
    map: _Return
    confusion: Annotated[list[list[_Count]], Field(min_length=1)]
    regret_of_disagreements: float | None
    free_disagreements: _Share | None
    regret_by: str
    actions: list[str]
    seen: list[list[float]]
    agreed: list[bool]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        sizes = {
            len(self.confusion),
            *map(len, self.confusion),
            *([len(self.actions)] if self.actions else []),
        }
        if len(sizes) > 1 or len(self.seen) != len(self.agreed) or len({len(row) for row in self.seen}) > 1:
            raise ValueError("its tables do not have the same length")
        if (self.regret_of_disagreements is None) != (self.free_disagreements is None):
            raise ValueError("one of two prices is missing")
        return self


DOCUMENT = tuple(_Document.model_fields)  #: the keys of its document


#: Whether the teacher does nearly the same as these actions where it sees these rows.
Alike = Callable[[np.ndarray, np.ndarray], np.ndarray]


def fidelity_of(
    map_: PrototypeMap,
    questions: Questions,
    taught: Followed,
    own: Followed,
    starts: Sequence[int],
    alike: Alike | None = None,
) -> Fidelity:
    """Compare a map with its teacher on the trials of both; ``starts`` are those of the map's trials.

    ``alike`` compares amounts, where actions are laws: then what disagreements cost is not known.
    """
    said = questions.teacher.answer(own.seen)
    names = questions.trials.spec.actions
    agreed = said == own.taken if alike is None else alike(own.seen, own.taken)
    chosen = map_.choose(taught.seen)
    on_teacher = chosen == taught.taken if alike is None else alike(taught.seen, chosen)
    confusion = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(confusion, (said, own.taken), 1)
    unequal = np.flatnonzero(~agreed)
    regret, free = _price_of(questions, own, starts, unequal) if alike is None else (None, None)
    shown = max(1, min(SHOWN, MOST_NUMBERS // own.seen.shape[1]))
    some = slice(None, None, max(1, len(said) // shown))
    return Fidelity(
        float(on_teacher.mean()),
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
    """Return the mean cost of disagreements, and the share of them that cost nothing; None if unknown."""
    some = rows[:: max(1, len(rows) // ASKED)]
    try:
        known = questions.costs(own, starts, some) if len(some) else None
    except BudgetEndedError:
        known = None
    if known is None:
        return None, None
    costs, usual = known
    return float(costs.mean()), float((costs <= NEXT_TO_NOTHING * usual).mean())


def read_fidelity(path: Path) -> dict[str, Any]:
    """Read the fidelity of a map to its teacher."""
    known = read_json(path, LARGEST_FIDELITY)
    try:
        _Document.model_validate(known)
    except ValidationError:
        raise DistinguoError(f"{path} is damaged; distil again to write it anew.") from None
    return dict(known)
