"""The settings of the paper's learner under a scheduler of choice: those that matter to it, and which scheduler."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field

from distinguo.constants import (
    Alpha,
    Coin,
    EnoughSamples,
    Epsilon,
    EpsilonShare,
    Explore,
    Gamma,
    Investigations,
    MaxSteps,
    MergeInterval,
    MinUpdates,
    Optimistic,
    Rescale,
)
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
    investigations: Investigations = 0
    gamma: Gamma = 0.99
    epsilon: Epsilon = 0.1
    epsilon_share: EpsilonShare = 0.0
    alpha: Alpha = 0.05
    min_updates: MinUpdates = 3
    enough_samples: EnoughSamples = 3
    max_steps: MaxSteps = 5
    coin: Coin = 0.00001
    explore: Explore = 0.0
    merge_interval: MergeInterval = 3
    optimistic: Optimistic = False
    rescale: Rescale = False


def without_scheduler(settings: ScheduledSettings) -> LearnerSettings:
    """Return what compiled code is told: the scheduler it finds in the agenda.

    >>> without_scheduler(ScheduledSettings(gamma=0.9)).gamma
    0.9
    """
    shared = {name: value for name, value in settings._asdict().items() if name in LearnerSettings._fields}
    return LearnerSettings(**shared, discount_steps=True)
