"""Every constant of the learner ``surprise``; docs/readings.md says what each of them is worth.

They are those of the paper's learner that a learner without mini-trials has a use for, with values of their own.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field

from distinguo.settings import LearnerSettings


class SurpriseSettings(NamedTuple):
    """The constants of trials, of surprise and of consolidation.

    >>> SurpriseSettings().gamma
    0.9
    """

    gamma: Annotated[float, Field(gt=0, lt=1, description="discount of future reward; ours")] = 0.9
    epsilon: Annotated[
        float, Field(gt=0, allow_inf_nan=False, description="reward that may be lost by a grouping; ours")
    ] = 0.01
    epsilon_share: Annotated[
        float,
        Field(ge=0, le=1, description="epsilon as a share of the range of Q1, 0 as it is given; ours"),
    ] = 0.0
    delta: Annotated[
        float, Field(ge=0, allow_inf_nan=False, description="actions this close to the best are tied; ours")
    ] = 0.0
    alpha: Annotated[float, Field(gt=0, le=1, description="learning rate of Figure 1; ours")] = 0.1
    min_updates: Annotated[int, Field(ge=0, le=10**9, description="MIN_UPDATES; paper, section 3.1")] = 3
    explore: Annotated[float, Field(ge=0, le=1, description="share of random actions; ours")] = 0.0
    merge_interval: Annotated[
        int, Field(ge=0, le=10**9, description="trials between consolidations, 0 never; ours")
    ] = 3
    merge_into_youngest: Annotated[
        bool, Field(description="consolidation tries the youngest region first; ours")
    ] = False
    reduced_updates: Annotated[
        int, Field(ge=0, le=10**9, description="Updates left by a split at most; ours")
    ] = 0
    new_updates: Annotated[int, Field(ge=0, le=10**9, description="Updates of a new prototype; ours")] = 1
    surprise_by_transition: Annotated[
        bool, Field(description="surprise compares one action value, not Definition 8; ours")
    ] = False
    surprise_reliable: Annotated[
        bool, Field(description="only what a reliable region follows is surprising; section 5.4 implies it")
    ] = False
    confidence: Annotated[
        float,
        Field(ge=0, le=100, description="standard deviations that make a transition surprising; section 5.1"),
    ] = 0.0
    optimistic: Annotated[
        bool, Field(description="values begin at what the mean reward of random play is worth for ever; ours")
    ] = False
    rescale: Annotated[
        bool, Field(description="where bounds are infinite, scale by all observations so far; ours")
    ] = False

    @property
    def in_full(self) -> LearnerSettings:
        """Return the settings of the paper's learner that make its kernels work without mini-trials."""
        return LearnerSettings(active=False, **self._asdict())
