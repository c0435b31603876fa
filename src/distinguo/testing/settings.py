"""Every constant of the tester, each with its source."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field


class TesterSettings(NamedTuple):
    """The constants of the testing stage (sections 3.4 and 4.2).

    >>> TesterSettings().batch
    50
    """

    gamma: Annotated[float, Field(gt=0, lt=1, description="discount of future reward; ours")] = 0.95
    alpha: Annotated[float, Field(gt=0, le=1, description="learning rate; ours")] = 0.1
    delta: Annotated[float, Field(ge=0, description="actions this close to the best are tied; ours")] = 0.0
    training_cap: Annotated[
        int, Field(ge=1, le=10**12, description="steps after which a training trial is stopped; ours")
    ] = 5_000
    every_steps: Annotated[int, Field(ge=1, description="learning steps between two measurements; ours")] = (
        2_500
    )
    every_trials: Annotated[int, Field(ge=1, description="or trials between them; ours")] = 25
    batch: Annotated[int, Field(ge=1, description="test trials per measurement; paper, section 4.2")] = 50
    cap: Annotated[
        int,
        Field(ge=1, le=10**12, description="steps after which a test trial is stopped; paper, section 4.2"),
    ] = 5_000_000
    proof: Annotated[
        bool, Field(description="a trial that is proven never to fail counts as having reached the cap; ours")
    ] = True
    patience: Annotated[
        int,
        Field(
            ge=1,
            le=10**12,
            description="steps after which surviving trials are followed only if the median depends on them; ours",
        ),
    ] = 100_000
    runs: Annotated[int, Field(ge=1, description="curves to average; paper, section 4.2")] = 10
    steps: Annotated[int, Field(ge=1, description="training steps of a curve; paper, section 4.2")] = 50_000
