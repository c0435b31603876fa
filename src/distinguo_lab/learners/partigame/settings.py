"""The settings of parti-game, each with its source (docs/readings.md, "Parti-game")."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field


class PartiSettings(NamedTuple):
    """The constants of the learner ``parti-game``.

    >>> PartiSettings().patience
    5
    """

    count_steps: Annotated[
        bool, Field(description="whether a way costs its steps (ours) and not its cells (the paper's)")
    ] = False
    patience: Annotated[
        int,
        Field(ge=1, le=10**6, description="steps without coming closer to an aim, to be stuck; ours"),
    ] = 5
    time_counts: Annotated[
        bool, Field(description="whether an aim is stuck when the task stops the trial; ours")
    ] = True
    enough: Annotated[
        int,
        Field(ge=1, le=10**6, description="tries of every action that make a local model; ours"),
    ] = 5
    fineness: Annotated[
        int, Field(ge=0, le=10, description="halvings of a cell within which one action is taken; ours")
    ] = 6
    most_cells: Annotated[int, Field(ge=2, le=20_000, description="cells that are never exceeded; ours")] = (
        1000
    )
    finest: Annotated[
        float,
        Field(gt=0, le=1, description="share of the extent that no cell is made narrower than; ours"),
    ] = 1 / 32
