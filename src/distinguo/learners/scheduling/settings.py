"""The settings of the paper's learner under a scheduler of choice: those that matter to it, and which scheduler."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field

from distinguo.learners.scheduling.kinds import Scheduler
from distinguo.settings import LearnerSettings


class ScheduledSettings(NamedTuple):
    """The constants of the learner ``scheduled``; those that ``economy`` has, too, have its defaults.

    >>> ScheduledSettings().scheduler
    'stack'
    """

    scheduler: Annotated[
        Scheduler, Field(description="what drives investigation; paper, sections 3.2, 5.3 and 5.4")
    ] = "stack"
    investigations: Annotated[
        int,
        Field(ge=0, le=10**9, description="at the end of a trial, 0 for as many as were surprising; ours"),
    ] = 0
    gamma: Annotated[float, Field(gt=0, lt=1, description="discount of future reward; ours")] = 0.99
    epsilon: Annotated[
        float, Field(gt=0, allow_inf_nan=False, description="reward that may be lost by a grouping; ours")
    ] = 0.1
    epsilon_share: Annotated[
        float,
        Field(ge=0, le=1, description="epsilon as a share of the range of Q1, 0 as it is given; ours"),
    ] = 0.0
    alpha: Annotated[float, Field(gt=0, le=1, description="learning rate of Figure 1; ours")] = 0.05
    min_updates: Annotated[int, Field(ge=0, le=10**9, description="MIN_UPDATES; paper, section 3.1")] = 3
    enough_samples: Annotated[int, Field(ge=1, le=10**9, description="ENOUGH_SAMPLES of Figure 4; ours")] = 3
    max_steps: Annotated[int, Field(ge=1, le=10**9, description="MAX_STEPS of Figure 3; ours")] = 5
    coin: Annotated[float, Field(ge=0, le=1, description="weight of the coin of Figure 1; ours")] = 0.00001
    explore: Annotated[float, Field(ge=0, le=1, description="share of random actions; ours")] = 0.0
    merge_interval: Annotated[
        int, Field(ge=0, le=10**9, description="MERGE_TIMER of Figure 5, 0 never; ours")
    ] = 3
    optimistic: Annotated[
        bool, Field(description="values begin at what the mean reward of random play is worth for ever; ours")
    ] = False
    rescale: Annotated[
        bool, Field(description="where bounds are infinite, scale by all observations so far; ours")
    ] = False


def without_scheduler(settings: ScheduledSettings) -> LearnerSettings:
    """Return what compiled code is told: the scheduler it finds in the agenda.

    >>> without_scheduler(ScheduledSettings(gamma=0.9)).gamma
    0.9
    """
    shared = {name: value for name, value in settings._asdict().items() if name in LearnerSettings._fields}
    return LearnerSettings(**shared, discount_steps=True)
