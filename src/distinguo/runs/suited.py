"""What suits a task: the learner, and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from distinguo.learners.catalog import ECONOMY, PROBATION, SURPRISE, SWEEPING
from distinguo.learners.learner import Learner, learner_named
from distinguo.presets import BY_RETURN, DEFAULT, preset, suited
from distinguo.tasks.spec import CATEGORIES, Hold, MeanReturn, TaskSpec


def suited_learner(
    spec: TaskSpec, preset_name: str = DEFAULT, asked: Mapping[str, Any] | None = None, begun: bool = False
) -> str:
    """Return the learner that suits a task, and that has the settings that were asked for.

    ``begun`` says that there are prototypes to begin from, which only the paper's learner makes use of. Where states
    cannot be restored, it does without mini-trials: that is ``surprise``.

    >>> from distinguo.tasks.catalog import task_spec
    >>> [suited_learner(task_spec(name)) for name in ("puck", "CartPole-v1")]
    ['economy', 'probation']
    """
    if preset_name != DEFAULT:
        return ECONOMY
    papers = (ECONOMY,) if spec.restorable else (SURPRISE, ECONOMY)  # the latter has settings of its own
    suits = SWEEPING if spec.kind == CATEGORIES else PROBATION
    # where chance is at work the paper's learner is the surer one, except on labels (docs/robustness.md)
    by_chance = spec.stochastic != "no" and suits == PROBATION and spec.restorable
    if begun:
        order: tuple[str, ...] = papers
    else:
        order = (*papers, suits) if by_chance or isinstance(spec.goal, Hold) else (suits, *papers)
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
        return _with_amount({**shared, **learner.suggested_for(spec)}, changes)
    return {**changed, **_with_amount(suited(spec, preset_name), changes)}


def _with_amount(suggested: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the suggestions without a share where an amount is given: who gives it wants just that."""
    if "learner.epsilon" in changes and "learner.epsilon_share" in suggested:
        return {**suggested, "learner.epsilon_share": 0.0}
    return suggested
