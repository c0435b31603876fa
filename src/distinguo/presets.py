"""Presets: named tables of settings, and the settings that suit a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from distinguo.errors import DistinguoError, did_you_mean

DEFAULT, FAST, PAPER = "default", "fast", "paper"

#: What each preset changes from the defaults of the settings. ``paper`` and ``fast`` are the paper's algorithm, with
#: other constants and readings (docs/readings.md, "Two sets of constants").
PRESETS: Mapping[str, Mapping[str, Any]] = {
    # agrees with what the paper says and reports: values are small, actions within a few thousandths are tied, and
    # feature extraction is rare, "allowing time for the action values to settle" (section 3.3)
    PAPER: {
        "learner.gamma": 0.9,
        "learner.epsilon": 0.005,
        "learner.delta": 0.005,
        "learner.alpha": 0.001,
        "learner.enough_samples": 100,
        "learner.max_steps": 1,
        "learner.coin": 0.001,
        "learner.fe_interval": 100,
        "learner.merge_interval": 100,
        "learner.reduced_updates": 1,
        "learner.surprise_by_transition": True,
        # as in Figure 1, and "like the Q-learning updates done in the top level" (section 3.2); not so in Figure 3
        "learner.terminal_reliable": True,
        "stage.trials": 3_000,
    },
    FAST: {},
    # the reward of a mini-trial is discounted step by step, so what follows should be, too; one seed in a thousand
    # gets stuck with a single region, and another attempt helps; among many coordinates few matter
    DEFAULT: {"learner.discount_steps": True, "stage.restart": 60, "stage.many": 12},
}

#: What each preset changes from the defaults of the tester.
TESTER_PRESETS: Mapping[str, Mapping[str, Any]] = {
    PAPER: {"gamma": 0.99, "alpha": 0.19, "delta": 0.007},
    FAST: {},
    DEFAULT: {},
}

#: The settings for tasks judged by return, whose rewards and bounds may be anything (docs/readings.md).
BY_RETURN: Mapping[str, Any] = {
    "learner.epsilon_share": 0.05,
    "learner.optimistic": True,
    "learner.rescale": True,
    "stage.trials": 100_000,
    "stage.steps": 200_000,
    "stage.prototypes": 300,
    "stage.restart": 60,
}
#: The budget of tasks whose trials should never end, other than the paper's: 200,000 steps and a last trial.
NEVER_ENDING: Mapping[str, Any] = {"stage.trials": 100_000, "stage.steps": 700_000}
#: The settings for noise: a statistical test for surprise, and repeated look-ahead where noise may be strong
#: (docs/readings.md, "Noise").
BY_NOISE: Mapping[str, Mapping[str, Any]] = {
    "no": {},
    "some": {"learner.confidence": 2.0},
    "strong": {"learner.confidence": 2.0, "learner.samples": 8},
}
#: The settings for the learner by surprise on such tasks: without mini-trials, actions must be tried in trials and
#: values must begin optimistic, and an attempt with twenty regions leads nowhere (docs/readings.md).
SURPRISE_BY_RETURN: Mapping[str, Any] = {
    "learner.epsilon_share": 0.01,
    "learner.explore": 0.02,
    "learner.optimistic": True,
    "learner.rescale": True,
    "stage.prototypes": 20,
}
#: Without mini-trials, all actions must be tried in trials, or no region ever becomes reliable.
NON_ACTIVE: Mapping[str, Any] = {"learner.active": False, "learner.explore": 0.1}
#: Where actions are amounts, trials may last by luck, as nothing need be done near a balance: so a shorter one is
#: enough for a claim, which a confirmation judges.
OF_AMOUNTS: Mapping[str, Any] = {"stage.cap": 10_000}


class TaskFacts(Protocol):
    """The facts that decide which settings suit a task; a ``TaskSpec`` has them."""

    @property
    def score(self) -> str:
        """The score of a trial: its "length" or its "return"."""

    @property
    def stochastic(self) -> str:
        """How much noise there is: "no", "some" or "strong"."""

    @property
    def restorable(self) -> bool:
        """Whether look-ahead is possible from any earlier state."""


def suited(task: TaskFacts, preset_name: str = DEFAULT) -> dict[str, Any]:
    """Return the settings that suit a task, by dotted name; for presets other than ``default``, only the
    indispensable ones.

    >>> from distinguo.tasks.catalog import task_spec
    >>> suited(task_spec("puck")), suited(task_spec("puck", {"noise": 0.1}))
    ({}, {'learner.confidence': 2.0})
    """
    needed = {} if task.restorable else NON_ACTIVE
    if preset_name != DEFAULT:
        return dict(needed)
    by_score = BY_RETURN if task.score == "return" else {}
    return {**by_score, **BY_NOISE[task.stochastic], **needed}


def tester_preset(name: str) -> Mapping[str, Any]:
    """Return the changes that a preset makes to the tester.

    >>> tester_preset("paper")["delta"], tester_preset("default")
    (0.007, {})
    """
    preset(name)  # raises on an unknown name
    return TESTER_PRESETS[name]


def preset(name: str) -> Mapping[str, Any]:
    """Return the changes that a preset makes, by setting.

    >>> preset("paper")["learner.fe_interval"]
    100
    """
    if name not in PRESETS:
        raise DistinguoError(f"Unknown preset '{name}'; {did_you_mean(str(name), PRESETS)}")
    return PRESETS[name]
