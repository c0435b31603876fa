"""The settings of a distilled run (docs/distil.md); its map is made in distillation/, from a teacher."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from distinguo.errors import DistinguoError
from distinguo.learners.learner import Learner, Setup, register
from distinguo.tasks.spec import TaskSpec

MOST_PROTOTYPES = 64  #: of a fit at most


class DistilSettings(NamedTuple):
    """The constants of rounds, fit and race.

    >>> DistilSettings().most
    10
    """

    teacher: Annotated[str, Field(max_length=1_000, description="what was distilled")] = ""
    most: Annotated[
        int,
        Field(ge=1, le=MOST_PROTOTYPES, description="prototypes to begin with; more if they do not suffice"),
    ] = 10
    laws: Annotated[
        bool, Field(description="fit laws to a teacher whose actions are amounts, and not only levels")
    ] = True
    rounds: Annotated[int, Field(ge=1, le=100, description="rounds of trials labelled by the teacher")] = 2
    trials: Annotated[int, Field(ge=1, le=1_000, description="trials of a round")] = 20
    restarts: Annotated[int, Field(ge=1, le=100, description="fits that are begun, for every size")] = 6
    states: Annotated[
        int, Field(ge=10, le=10**6, description="labelled states that a fit is made to at most")
    ] = 4_000
    starts: Annotated[int, Field(ge=2, le=1_000, description="trials that changes are judged by")] = 40
    most_starts: Annotated[
        int, Field(ge=2, le=10_000, description="the same at most, after new trials contradicted them")
    ] = 120
    generation: Annotated[int, Field(ge=1, le=100, description="changes that are tried side by side")] = 8
    patience: Annotated[
        int, Field(ge=1, le=10**6, description="changes without a gain before a size is taken as it is")
    ] = 160
    steps: Annotated[
        int,
        Field(
            ge=0,
            le=10**12,
            description="budget of environment steps, never exceeded: probing, all trials, the confirmation and the "
            "prices together",
        ),
    ] = 3_000_000
    keep: Annotated[
        float,
        Field(
            gt=0, le=1, description="share of the teacher's return to keep, if that is below the threshold"
        ),
    ] = 0.95
    confidence: Annotated[
        float,
        Field(
            ge=0.5,
            le=0.999999,
            description="probability that a map does not count as keeping a return that it does not keep",
        ),
    ] = 0.95
    costs: Annotated[
        bool, Field(description="weigh states by what a wrong action costs, where that is known")
    ] = True
    aggregate: Annotated[
        bool, Field(description="label the states of the map's own trials, not the teacher's alone")
    ] = True
    race: Annotated[
        bool, Field(description="put changes on probation where the fit alone does not keep the return")
    ] = True


class DistilledLearner(Learner):
    """Holds the settings of a distillation; without a teacher there is nothing to learn.

    >>> DistilledLearner().fresh(None)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: A distilled map is made from a teacher; run: distinguo distil ...
    """

    name = "distilled"
    settings = DistilSettings
    only_controls = True

    def suggested_for(self, spec: TaskSpec) -> Mapping[str, Any]:
        """More patience where steps cost little."""
        return {} if spec.interpreted else {"learner.steps": 60_000_000, "learner.patience": 1_000}

    def fresh(self, setup: Setup | None) -> Any:
        """Raise an error: such a map is made by ``distil``."""
        raise DistinguoError(
            "A distilled map is made from a teacher; run: distinguo distil TEACHER --task TASK."
        )


DISTILLED = DistilledLearner.name

register(DistilledLearner())
