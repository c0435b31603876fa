"""Presets: named tables of settings, and the settings that suit a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from distinguo.errors import DistinguoError, did_you_mean

DEFAULT, PAPER = "default", "paper"

#: What each preset changes from the defaults of the settings, which are the paper's algorithm to the letter.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    PAPER: {},
    # the reward of a mini-trial is discounted step by step, so what follows it should be, too; and one seed in a
    # thousand gets stuck with a single region, which another attempt mends
    DEFAULT: {"learner.discount_steps": True, "stage.restart": 60},
}

#: What suits tasks that are judged by return, whose rewards and bounds may be anything (docs/readings.md).
BY_RETURN: Mapping[str, Any] = {
    "learner.epsilon_share": 0.05,
    "learner.optimistic": True,
    "learner.rescale": True,
    "stage.trials": 100_000,
    "stage.steps": 200_000,
    "stage.prototypes": 300,
    "stage.restart": 60,
}
#: What noise asks of the learner: a statistical test for surprise, and, where it may be strong, repeated look-ahead
#: (docs/readings.md, "Noise").
BY_NOISE: Mapping[str, Mapping[str, Any]] = {
    "no": {},
    "some": {"learner.confidence": 2.0},
    "strong": {"learner.confidence": 2.0, "learner.samples": 8},
}
#: Without mini-trials all actions must be tried in trials, or no region ever becomes reliable.
NON_ACTIVE: Mapping[str, Any] = {"learner.active": False, "learner.explore": 0.1}


class TaskFacts(Protocol):
    """What decides which settings suit a task; a ``TaskSpec`` says so."""

    @property
    def score(self) -> str:
        """Return what a trial is judged by: its "length" or its "return"."""

    @property
    def stochastic(self) -> str:
        """Return how much noise there is: "no", "some" or "strong"."""

    @property
    def restorable(self) -> bool:
        """Tell whether look-ahead is possible from any earlier state."""


def suited(task: TaskFacts, preset_name: str = DEFAULT) -> dict[str, Any]:
    """Return the settings that suit a task, by dotted name; ``paper`` takes only those it cannot do without.

    >>> from distinguo.tasks.catalog import task_spec
    >>> suited(task_spec("puck")), suited(task_spec("puck", {"noise": 0.1}))
    ({}, {'learner.confidence': 2.0})
    """
    needed = {} if task.restorable else NON_ACTIVE
    if preset_name == PAPER:
        return dict(needed)
    by_score = BY_RETURN if task.score == "return" else {}
    return {**by_score, **BY_NOISE[task.stochastic], **needed}


def preset(name: str) -> Mapping[str, Any]:
    """Return the changes that a preset makes, by setting.

    >>> preset("paper")
    {}
    """
    if name not in PRESETS:
        raise DistinguoError(f"Unknown preset '{name}'; {did_you_mean(name, PRESETS)}")
    return PRESETS[name]
