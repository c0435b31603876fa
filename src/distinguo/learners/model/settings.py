"""The settings of the learner by a model: those of the paper's learner that matter to it, and the model's own."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field

from distinguo.learners.scheduling.kinds import Scheduler
from distinguo.settings import LearnerSettings


class ModelSettings(NamedTuple):
    """The constants of the learner ``model``.

    >>> ModelSettings().capacity
    20000
    """

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
        Scheduler, Field(description="what drives investigation; paper, sections 3.2, 5.3 and 5.4")
    ] = "stack"
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
