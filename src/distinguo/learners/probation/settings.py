"""Every constant of the learner ``probation``; docs/robustness.md says what each of them is worth."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import Field

MOST_PROTOTYPES = 16  #: that a map has room for
MOST_STARTS = 32  #: that a race has room for


class ProbationSettings(NamedTuple):
    """The constants of search, race and proposals.

    >>> ProbationSettings().starts
    1
    """

    starts: Annotated[int, Field(ge=1, le=8, description="starts that a race begins with")] = 1
    most_starts: Annotated[
        int, Field(ge=1, le=MOST_STARTS, description="starts of a race at most; the easiest leave")
    ] = 12
    counterexamples: Annotated[
        int, Field(ge=0, le=8, description="starts of a failed confirmation that join the race")
    ] = 3
    regions: Annotated[int, Field(ge=1, le=MOST_PROTOTYPES, description="prototypes of a map at most")] = 12
    stall: Annotated[
        int,
        Field(ge=1, le=10**6, description="proposals without a gain before the race ends, in Luby's units"),
    ] = 30
    effort: Annotated[
        float, Field(ge=0, le=100, description="steps of a search at least, in trials of full length")
    ] = 2.0
    gain: Annotated[
        float, Field(ge=0, le=1, description="share by which a return must beat the constant actions")
    ] = 0.1
    furthest: Annotated[
        float, Field(ge=0, le=1, description="share of the search that varies the map that went furthest")
    ] = 0.5
    several: Annotated[float, Field(ge=0, le=0.9, description="chance of one more change in a proposal")] = (
        0.3
    )
    jump: Annotated[float, Field(ge=0, le=1, description="share of moves that go to a visited state")] = 0.5
    step: Annotated[float, Field(gt=0, le=1, description="length of the other moves, in extents")] = 0.1
    stretch: Annotated[float, Field(ge=0, le=5, description="log-normal factor of a changed weight")] = 0.5
    screen: Annotated[
        int, Field(ge=1, le=100, description="proposals that are imagined for one that is tried; 1 for none")
    ] = 10
    plain: Annotated[float, Field(ge=0, le=1, description="share of proposals tried without imagining")] = 0.2
    model: Annotated[
        int, Field(ge=1, le=10**5, description="latest transitions of each action that imagining rests on")
    ] = 1_000
    regret: Annotated[
        float, Field(ge=0, le=1, description="share of additions where imagined regret is greatest")
    ] = 0.0
    surprise: Annotated[
        float,
        Field(ge=0, le=1, description="share of additions where the value differs most from its region's"),
    ] = 0.0
    shrink: Annotated[
        int,
        Field(ge=0, le=100, description="tries per prototype to do without one, before success is claimed"),
    ] = 3
    near: Annotated[
        float, Field(ge=0, le=1, description="how near to the threshold a stalled race takes more starts")
    ] = 0.15
    more_starts: Annotated[
        int, Field(ge=1, le=MOST_STARTS, description="starts up to which a stalled race is widened")
    ] = 8
    reuse: Annotated[
        bool, Field(description="go on from the first decision that was never tried, else from the start")
    ] = True
    give_up: Annotated[bool, Field(description="end a trial that can no longer reach the present map's")] = (
        True
    )
    horizon: Annotated[
        int, Field(ge=1, le=10**6, description="steps of a trial at most, where the task has no limit")
    ] = 1_000
