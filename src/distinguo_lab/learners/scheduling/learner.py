"""The paper's learner under a scheduler of choice, as the stage sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.economy.learner import Economy
from distinguo.learners.learner import Setup, register
from distinguo.settings import (
    Alpha,
    Coin,
    EnoughSamples,
    Epsilon,
    EpsilonShare,
    Explore,
    Gamma,
    Investigations,
    LearnerSettings,
    MaxSteps,
    MergeInterval,
    MinUpdates,
    Optimistic,
    Rescale,
)
from distinguo_lab.learners.scheduling.agenda import Scheduler
from distinguo_lab.learners.scheduling.trials import with_agenda


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


class Scheduled(Economy):
    """The learner of Figures 1-6 with another order of investigations in place of its replacing-stack.

    Under the scheduler ``stack`` it learns what ``economy`` does, bit for bit.
    """

    name = "scheduled"
    about = "the paper's learner with another order of investigations"
    settings: Any = ScheduledSettings
    uses_amounts = False

    def fresh(self, setup: Setup) -> Any:
        """Begin as the paper's learner does, with an empty agenda."""
        if not setup.restorable:
            raise DistinguoError(
                "The learner 'scheduled' investigates earlier states, and this task cannot restore them; take "
                "the learner model."
            )
        return with_agenda(super().fresh(setup), setup.settings.scheduler, setup.settings.investigations)

    def kernel_settings(self, settings: Any, memory: Any = None) -> LearnerSettings:
        """The settings of the paper's learner; the scheduler is in the agenda.

        >>> Scheduled().kernel_settings(ScheduledSettings(gamma=0.9)).gamma
        0.9
        """
        shared = {
            name: value for name, value in settings._asdict().items() if name in LearnerSettings._fields
        }
        return LearnerSettings(**shared, discount_steps=True)

    def controller(self, memory: Any, settings: Any) -> Controller:
        """Act by the action values of the regions."""
        return super().controller(memory, self.kernel_settings(settings))

    def figures(self, memory: Any, settings: Any) -> Mapping[str, Any]:
        """The epsilon in force; for rout also how many searches ended in a cycle."""
        cycles = {"cycles": int(memory.agenda.counters["cycles"][0])} if settings.scheduler == "rout" else {}
        return {**super().figures(memory, settings), **cycles}

    def states_needed(self, memory: Any) -> np.ndarray:
        """The states of prototypes, on the stack and on the agenda."""
        agenda, own = memory.agenda, super().states_needed(memory)
        return np.concatenate([own, agenda.state[agenda.seen_at > 0]])


SCHEDULED = Scheduled.name

register(Scheduled())
