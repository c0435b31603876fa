"""The settings of the learner for categories; all are ours (docs/categories.md)."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field


class SweepingSettings(NamedTuple):
    """The constants of the learner ``sweeping``.

    >>> SweepingSettings().gamma
    0.99
    """

    gamma: Annotated[float, Field(gt=0, lt=1, description="discount of upper values; ours")] = 0.99
    doubt: Annotated[
        float,
        Field(
            ge=0, le=10**6, description="imagined optimistic outcomes of each pair, in stochastic tasks; ours"
        ),
    ] = 2.0
    sweeps: Annotated[
        int, Field(ge=1, le=10**6, description="back-ups of upper values after a step; ours")
    ] = 100
    precision: Annotated[
        float, Field(gt=0, le=1, description="changes to care about, as a share of the rewards' range; ours")
    ] = 0.0001
    plan_growth: Annotated[
        float,
        Field(gt=1, le=10, description="a plan is made when experience has grown by this factor; ours"),
    ] = 1.1
    horizon: Annotated[
        int, Field(ge=1, le=10**6, description="steps of a trial that a plan considers, at most; ours")
    ] = 1000
    caution: Annotated[
        float, Field(ge=0, le=100, description="standard errors by which a plan doubts a mean; ours")
    ] = 0.5
    enough: Annotated[
        int, Field(ge=1, le=10**9, description="tries that make a pair known, where chance is at work; ours")
    ] = 100
    epsilon: Annotated[
        float,
        Field(ge=0, le=1, description="return that may be lost by merging, as a share of that range; ours"),
    ] = 0.001
