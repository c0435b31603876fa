"""What is measured: the plans robustness-*.toml, whose seeds are held out, and the figures of a run.

The constants of the learner were chosen on the development seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import planned

from distinguo.studies.plan import HELD_OUT, StudyPlan

DEVELOPMENT = range(1_000, 1_100)
DEFAULT, SWITCHES, PUCK = "robustness-default", "robustness-switches", "robustness-puck"
VARIANTS = ("robustness-pucks", "robustness-walls", "robustness-poles")
AS_IT_IS = "as it is"
REGRET, SURPRISE = "with proposals by regret", "with proposals by surprise"
PLACES = 50  #: new greedy trials of a task that asks to hold on
Plans = Mapping[str, StudyPlan]


class Figures(NamedTuple):
    """A line of the data: a run in short."""

    plan: str
    task: str
    asked: str
    settings: str
    seed: int
    learner: str
    solved: int
    again: int  #: whether it was solved, and new greedy trials are still at the threshold
    fresh: float  #: their mean return, or their median length
    prototypes: int
    environment_steps: int
    confirmation_steps: int
    failed_confirmation_steps: int
    total_steps: int
    attempts: int

    @property
    def row(self) -> str:
        """The settings in words."""
        return AS_IT_IS if self.plan == DEFAULT else planned.words_of(self.settings)


def plans_in(folder: Path) -> dict[str, StudyPlan]:
    """The plans of the page that a folder has."""
    return planned.plans_of([DEFAULT, SWITCHES, *VARIANTS, PUCK], folder)


def seeds_of(plan: StudyPlan) -> Sequence[int]:
    """The seeds of a plan."""
    return plan.parts[HELD_OUT]


def measured(plans: Plans, data: Path) -> list[Figures]:
    """The figures of all runs; those that the data has already are not run again."""
    return planned.measured(data, Figures, plans)
