"""The settings of the learner by a model: those of the paper's learner that matter to it, and the model's own."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from distinguo.constants import (
    Alpha,
    Coin,
    EnoughSamples,
    Epsilon,
    EpsilonShare,
    Explore,
    Gamma,
    MaxSteps,
    MergeInterval,
    MinUpdates,
    Optimistic,
    Rescale,
)
from distinguo.settings import LearnerSettings

STACK: Literal["stack"] = "stack"  #: the paper's own scheduler; the others come from the registry


class ModelSettings(NamedTuple):
    """The constants of the learner ``model``.

    >>> ModelSettings().capacity
    20000
    """

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
    investigate_every: Annotated[
        int,
        Field(
            ge=0,
            le=10**12,
            description="steps between investigations while no trial has ever ended, 0 none; section 5.1",
        ),
    ] = 100
    capacity: Annotated[
        int, Field(ge=1, le=10**8, description="tuples that are kept; then the oldest of many goes; ours")
    ] = 20_000
    neighbours: Annotated[
        int, Field(ge=1, le=1_000, description="tuples that an answer needs, per term of a plane; ours")
    ] = 3
    reach: Annotated[
        float, Field(gt=0, le=1_000, description="scaled distance at which a tuple tells nothing; ours")
    ] = 0.5
    linear: Annotated[
        bool, Field(description="answers fit a plane to the neighbours, else take their mean; ours")
    ] = True
    rehearsals: Annotated[
        int, Field(ge=0, le=10**6, description="trials in the model after each that ended in the world; ours")
    ] = 5
    scheduler: Annotated[
        Literal["stack", "sweeping", "dyna", "dyna-oldest", "rout"],
        Field(description="what drives investigation; paper, sections 3.2, 5.3 and 5.4"),
    ] = STACK
    investigations: Annotated[
        int,
        Field(ge=0, le=10**9, description="in a session, 0 for as many as were surprising; ours"),
    ] = 0


def economy_settings(settings: ModelSettings, ended: bool) -> LearnerSettings:
    """Return what the paper's learner is told, in the world and in the model.

    Values are grounded in terminal states, and investigations begin at the ends of trials. Until a trial has
    ``ended`` the task may be one that goes on for ever, where neither would happen: all values count as reliable,
    and investigations come at regular intervals (section 5.1).

    >>> [economy_settings(ModelSettings(), ended).min_updates for ended in (True, False)]
    [3, 0]
    """
    shared = {name: value for name, value in settings._asdict().items() if name in LearnerSettings._fields}
    unended = {} if ended else {"min_updates": 0}
    shared["investigate_every"] = 0 if ended else settings.investigate_every
    return LearnerSettings(**{**shared, **unended}, discount_steps=True)
