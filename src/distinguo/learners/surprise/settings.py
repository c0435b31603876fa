"""Every constant of the learner ``surprise``; docs/readings.md says what each of them is worth.

They are those of the paper's learner that a learner without mini-trials has a use for, with values of their own.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field

from distinguo.constants import (
    Alpha,
    Confidence,
    Delta,
    Epsilon,
    EpsilonShare,
    Explore,
    Gamma,
    MergeIntoYoungest,
    MinUpdates,
    NewUpdates,
    Optimistic,
    ReducedUpdates,
    Rescale,
    SurpriseByTransition,
    SurpriseReliable,
)
from distinguo.settings import LearnerSettings


class SurpriseSettings(NamedTuple):
    """The constants of trials, of surprise and of consolidation.

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

    @property
    def in_full(self) -> LearnerSettings:
        """Return the settings of the paper's learner that make its kernels work without mini-trials."""
        return LearnerSettings(active=False, **self._asdict())
