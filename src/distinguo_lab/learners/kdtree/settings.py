"""The settings of the learner ``kd-tree`` (docs/readings.md, "The kd-tree learner")."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field

from distinguo.constants import Explore


class KdTreeSettings(NamedTuple):
    """The constants of the learner ``kd-tree``.

    >>> KdTreeSettings().by_policy, KdTreeSettings().by_value
    (True, False)
    """

    gamma: Annotated[float, Field(gt=0, le=1, description="discount of future reward; ours")] = 0.99
    alpha: Annotated[float, Field(gt=0, le=1, description="learning rate of Q-learning, at last; ours")] = 0.1
    lambda_: Annotated[
        float, Field(ge=0, le=1, description="lambda of the returns that are replayed; ours")
    ] = 0.0
    stack: Annotated[
        int, Field(ge=1, le=10**6, description="steps that are replayed together, latest first; ours")
    ] = 256
    explore: Explore = 0.0
    hold: Annotated[
        bool, Field(description="an action is kept until its leaf is left, and learned once; ours")
    ] = True
    by_policy: Annotated[
        bool, Field(description="halve neighbours that prefer different actions; Reynolds 2000")
    ] = True
    by_value: Annotated[
        bool, Field(description="halve neighbours of different value; the other criterion of Reynolds 2000")
    ] = False
    epsilon: Annotated[
        float,
        Field(ge=0, le=10, description="difference that counts, as a share of the range of values; ours"),
    ] = 0.01
    enough: Annotated[
        int, Field(ge=1, le=10**9, description="lessons that a leaf must have had to be halved; ours")
    ] = 20
    interval: Annotated[
        int, Field(ge=1, le=10**9, description="steps per leaf between two looks at all boundaries; ours")
    ] = 50
    first_leaves: Annotated[
        int, Field(ge=2, le=10**6, description="leaves of the even tree to begin with, at most; ours")
    ] = 64
    finest: Annotated[int, Field(ge=1, le=40, description="halvings of a coordinate, at most; ours")] = 6
    leaves: Annotated[int, Field(ge=1, le=10**6, description="leaves, at most; ours")] = 2_000
