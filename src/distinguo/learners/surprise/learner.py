"""The learner by surprise (section 5.4): a preset of the paper's learner that needs nothing but trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.learners.economy.learner import Economy
from distinguo.learners.economy.memory import Memory
from distinguo.learners.learner import register
from distinguo.presets import BY_NOISE, SURPRISE_BY_RETURN
from distinguo.settings import (
    Alpha,
    Confidence,
    Delta,
    Epsilon,
    EpsilonShare,
    Explore,
    Gamma,
    LearnerSettings,
    MergeIntoYoungest,
    MinUpdates,
    NewUpdates,
    Optimistic,
    ReducedUpdates,
    Rescale,
    SurpriseByTransition,
    SurpriseReliable,
)
from distinguo.tasks.spec import TaskSpec


class SurpriseSettings(NamedTuple):
    """The constants of the paper's learner that are used without mini-trials, with defaults of their own.

    >>> SurpriseSettings().gamma
    0.9
    """

    gamma: Gamma = 0.9
    epsilon: Epsilon = 0.01
    epsilon_share: EpsilonShare = 0.0
    delta: Delta = 0.0
    alpha: Alpha = 0.1
    min_updates: MinUpdates = 3
    explore: Explore = 0.0
    merge_interval: Annotated[
        int, Field(ge=0, le=10**9, description="trials between consolidations, 0 never; ours")
    ] = 3
    merge_into_youngest: MergeIntoYoungest = False
    reduced_updates: ReducedUpdates = 0
    new_updates: NewUpdates = 1
    surprise_by_transition: SurpriseByTransition = False
    surprise_reliable: SurpriseReliable = False
    confidence: Confidence = 0.0
    optimistic: Optimistic = False
    rescale: Rescale = False


class Surprise(Economy):
    """A surprising state of a reliable region becomes a region at once; no state is ever restored.

    It is a preset of the paper's learner: the same settings with ``active=false`` give the same bits there.

    >>> from distinguo.runs.learn import learn
    >>> run = learn("puck", seed=1, learner="surprise", settings={"stage.cap": 10_000, "stage.hold": 10_000})
    >>> run.solved, run.summary["regions"], run.summary["investigation_steps"]
    (True, 3, 0)
    """

    name = "surprise"
    about = "the paper's learner without mini-trials: a surprising state becomes a region at once"
    settings = SurpriseSettings
    uses_amounts = False
    suggested_by_return = SURPRISE_BY_RETURN

    def suggested_for(self, spec: TaskSpec) -> Mapping[str, Any]:
        """The settings that suit it; there are no mini-trials to repeat against strong noise."""
        confidence = BY_NOISE[spec.stochastic].get("learner.confidence")
        return {**super().suggested_for(spec), **({"learner.confidence": confidence} if confidence else {})}

    def kernel_settings(self, settings: Any, memory: Any = None) -> Any:
        """The settings of the paper's learner that make it work without mini-trials."""
        return super().kernel_settings(LearnerSettings(active=False, **settings._asdict()))

    def states_needed(self, memory: Memory) -> np.ndarray | None:
        """None: no state is ever restored."""
        return None


register(Surprise())
