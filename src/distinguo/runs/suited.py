"""What suits a task: the learner, and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from distinguo.learners.catalog import ECONOMY, PROBATION, SWEEPING
from distinguo.learners.learner import Learner, learner_named
from distinguo.presets import BY_RETURN, DEFAULT, preset, suited
from distinguo.tasks.spec import CATEGORIES, Hold, MeanReturn, TaskSpec


def suited_learner(
    spec: TaskSpec, preset_name: str = DEFAULT, asked: Mapping[str, Any] | None = None, begun: bool = False
) -> str:
    """Return the learner that suits a task, and that has the settings that were asked for.

    ``begun`` says that there are prototypes to begin from, which only the paper's learner makes use of.

    >>> from distinguo.tasks.catalog import task_spec
    >>> [suited_learner(task_spec(name)) for name in ("puck", "CartPole-v1")]
    ['economy', 'probation']
    """
    if preset_name != DEFAULT or begun:
        return ECONOMY
    suits = SWEEPING if spec.kind == CATEGORIES else PROBATION
    # where chance is at work the paper's learner is the surer one, except on labels (docs/robustness.md)
    by_chance = spec.stochastic != "no" and suits == PROBATION and spec.restorable
    order = (ECONOMY, suits) if isinstance(spec.goal, Hold) or by_chance else (suits, ECONOMY)
    able = [name for name in order if set(asked or {}) <= set(learner_named(name).settings._fields)]
    return able[0] if able else order[0]


def suggested_settings(
    spec: TaskSpec, preset_name: str, learner: Learner, changes: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the settings that suit the task and the learner, by dotted name."""
    changed = preset(preset_name)
    if learner.name != ECONOMY:
        by_goal = BY_RETURN if isinstance(spec.goal, MeanReturn) else {}
        shared = {
            key: value for key, value in {**changed, **by_goal}.items() if not key.startswith("learner.")
        }
        by_return = learner.suggested_by_return if isinstance(spec.goal, MeanReturn) else {}
        return {**shared, **learner.suggested, **by_return}
    suggested = suited(spec, preset_name)
    if "learner.epsilon" in changes:  # who gives an amount does not want a share of something
        suggested["learner.epsilon_share"] = 0.0
    return {**changed, **suggested}
