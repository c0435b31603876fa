"""The kinds of constants that several learners have: what is allowed, and where each comes from.

Every learner gives them values of its own (``settings``, and the settings of each learner).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Gamma = Annotated[float, Field(gt=0, lt=1, description="discount of future reward; ours")]
Epsilon = Annotated[
    float, Field(gt=0, allow_inf_nan=False, description="reward that may be lost by a grouping; ours")
]
Delta = Annotated[
    float, Field(ge=0, allow_inf_nan=False, description="actions this close to the best are tied; ours")
]
Alpha = Annotated[float, Field(gt=0, le=1, description="learning rate of Figure 1; ours")]
MinUpdates = Annotated[int, Field(ge=0, le=10**9, description="MIN_UPDATES; paper, section 3.1")]
EnoughSamples = Annotated[int, Field(ge=1, le=10**9, description="ENOUGH_SAMPLES of Figure 4; ours")]
MaxSteps = Annotated[int, Field(ge=1, le=10**9, description="MAX_STEPS of Figure 3; ours")]
Coin = Annotated[float, Field(ge=0, le=1, description="weight of the coin of Figure 1; ours")]
Explore = Annotated[float, Field(ge=0, le=1, description="share of random actions; ours")]
MergeInterval = Annotated[int, Field(ge=0, le=10**9, description="MERGE_TIMER of Figure 5, 0 never; ours")]
ReducedUpdates = Annotated[int, Field(ge=0, le=10**9, description="Updates left by a split at most; ours")]
NewUpdates = Annotated[int, Field(ge=0, le=10**9, description="Updates of a new prototype; ours")]
SurpriseByTransition = Annotated[
    bool, Field(description="surprise compares one action value, not Definition 8; ours")
]
MergeIntoYoungest = Annotated[bool, Field(description="consolidation tries the youngest region first; ours")]
SurpriseReliable = Annotated[
    bool, Field(description="only what a reliable region follows is surprising; section 5.4 implies it")
]
Confidence = Annotated[
    float,
    Field(ge=0, le=100, description="standard deviations that make a transition surprising; section 5.1"),
]
Optimistic = Annotated[
    bool, Field(description="values begin at what the mean reward of random play is worth for ever; ours")
]
Rescale = Annotated[
    bool, Field(description="where bounds are infinite, scale by all observations so far; ours")
]
EpsilonShare = Annotated[
    float, Field(ge=0, le=1, description="epsilon as a share of the range of Q1, 0 as it is given; ours")
]
Investigations = Annotated[
    int, Field(ge=0, le=10**9, description="at the end of a trial, 0 for as many as were surprising; ours")
]
