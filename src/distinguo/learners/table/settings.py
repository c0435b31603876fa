"""The settings of the learner on a fixed table; constants that the paper is silent about are ours."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from distinguo.constants import Alpha, Coin, EnoughSamples, Explore, Gamma, Investigations, MaxSteps


class TableSettings(NamedTuple):
    """The constants of the learner ``table``.

    >>> TableSettings().scheduler
    'stack'
    """

    scheduler: Annotated[
        Literal["none", "stack", "sweeping", "dyna", "dyna-oldest", "rout"],
        Field(
            description="what drives investigation: stack, sweeping, dyna, dyna-oldest or rout; none for plain "
            "Q-learning; paper, sections 5.3 and 5.4"
        ),
    ] = "stack"
    counts: Annotated[int, Field(ge=1, le=10_000, description="intervals per coordinate; ours")] = 10
    gamma: Gamma = 0.99
    alpha: Alpha = 0.1
    epsilon: Annotated[
        float, Field(gt=0, allow_inf_nan=False, description="error of a value that is surprising; ours")
    ] = 0.01
    min_updates: Annotated[
        int,
        Field(ge=0, le=10**9, description="MIN_UPDATES, 0 to back up from any region; the paper has 3"),
    ] = 0
    enough_samples: EnoughSamples = 3
    max_steps: MaxSteps = 50
    coin: Coin = 0.001
    explore: Explore = 0.0
    investigations: Investigations = 0
    simulations: Annotated[
        int, Field(ge=1, le=10**6, description="of each action in a hunt of rout; ours")
    ] = 1
    horizon: Annotated[
        int, Field(ge=1, le=10**9, description="steps of a simulation of rout, at most; ours")
    ] = 1000
