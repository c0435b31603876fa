"""Every constant of the learner, of its stopping rule and of the tester, each with its source.

A setting is a field of a ``NamedTuple`` (so that compiled code can read it) whose annotation carries the allowed
range and the source: a section of the paper, or "ours", which means that the paper is silent and that
docs/readings.md says why, with the measured effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, cast

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from distinguo.errors import DistinguoError, check_known, shown

T = TypeVar("T")


class LearnerSettings(NamedTuple):
    """The constants of Figures 1-6; the defaults are the preset ``fast``.

    >>> LearnerSettings().min_updates
    3
    """

    gamma: Gamma = 0.99
    epsilon: Epsilon = 0.1
    delta: Delta = 0.0
    alpha: Alpha = 0.05
    min_updates: MinUpdates = 3
    enough_samples: EnoughSamples = 3
    max_steps: MaxSteps = 5
    coin: Coin = 0.00001
    explore: Explore = 0.0
    fe_interval: Annotated[int, Field(ge=1, le=10**9, description="FE_TIMER of Figure 2; ours")] = 1
    fe_counts_trials: Annotated[bool, Field(description="FE_TIMER counts trials, else calls; ours")] = True
    merge_interval: MergeInterval = 3
    reduced_updates: ReducedUpdates = 3
    new_updates: NewUpdates = 0
    new_investigated: Annotated[bool, Field(description="a new region counts as investigated; ours")] = True
    discount_steps: Annotated[
        bool, Field(description="bootstrap by gamma^steps, not gamma as in Figure 3; ours")
    ] = False
    terminal_reliable: Annotated[
        bool, Field(description="terminal states are reliable in Figure 3 too; ours")
    ] = False
    surprise_by_transition: SurpriseByTransition = False
    merge_into_youngest: MergeIntoYoungest = False
    surprise_reliable: SurpriseReliable = False
    review_merged: Annotated[
        bool, Field(description="consolidation asks whether merged regions ought to stay so; section 3.3")
    ] = False

    # What the paper names as beyond it, and improvements of ours; each is off in the presets ``paper`` and ``fast``.
    samples: Annotated[
        int,
        Field(
            ge=1, le=10_000, description="look-aheads per action, for stochastic tasks; paper, Definition 5"
        ),
    ] = 1
    confidence: Confidence = 0.0
    split_confidence: Annotated[
        float,
        Field(ge=0, le=100, description="standard errors by which two profiles must differ; ours"),
    ] = 0.0
    active: Annotated[
        bool, Field(description="mini-trials, else split by surprise alone; paper, section 5.4")
    ] = True
    investigate_every: Annotated[
        int,
        Field(
            ge=0, le=10**12, description="steps between investigations in a trial, 0 at its end; section 5.1"
        ),
    ] = 0
    optimistic: Optimistic = False
    rescale: Rescale = False
    epsilon_share: EpsilonShare = 0.0


class StageSettings(NamedTuple):
    """When the generation stage ends.

    >>> StageSettings().cap
    500000
    """

    cap: Annotated[int, Field(ge=1, le=10**12, description="steps after which a trial is stopped")] = 500_000
    hold: Annotated[
        int, Field(ge=1, le=10**12, description="steps that the frozen greedy policy must hold at the end")
    ] = 500_000
    trials: Annotated[int, Field(ge=1, le=10**9, description="budget of trials")] = 300
    steps: Annotated[
        int,
        Field(
            ge=1,
            le=10**15,
            description="budget of environment steps, mini-trials included: a trial that reaches it is cut there",
        ),
    ] = 10**12
    prototypes: Annotated[int, Field(ge=1, le=10**6, description="budget of prototypes, in one attempt")] = (
        2_000
    )
    restart: Annotated[
        int,
        Field(
            ge=0, le=10**9, description="trials of an attempt before the next begins from scratch, 0 never"
        ),
    ] = 0
    confirm: Annotated[
        int, Field(ge=1, le=10**6, description="greedy trials that confirm a mean return, at most")
    ] = 2_000
    confirm_steps: Annotated[
        int,
        Field(
            ge=1,
            le=10**12,
            description="steps after which a confirmation ends undecided, if it has run three times the trials of a "
            "perfect policy; at once where trials have no time limit; the last one may take four times as many while "
            "it is likely to pass",
        ),
    ] = 70_000
    confidence: Annotated[
        float,
        Field(
            ge=0.5,
            le=0.999999,
            description="probability that a run does not say solved of a policy below the threshold, over all its "
            "claims together",
        ),
    ] = 0.95
    refine_steps: Annotated[
        int,
        Field(
            ge=0,
            le=10**6,
            description="environment steps to improve a solved map for other learners, 0 for none; for controllers "
            "that trials can be repeated for",
        ),
    ] = 0
    prove_steps: Annotated[
        int,
        Field(
            ge=0,
            le=10**12,
            description="environment steps to change a solved map until it is proven, 0 for no proof; set by --prove",
        ),
    ] = 0
    prove_ranges: Annotated[
        str,
        Field(
            description="parameters of the task that may be anywhere in a range at each step of what is proven, such "
            "as mass=0.95:1.05; set by --range"
        ),
    ] = ""
    many: Annotated[
        int,
        Field(
            ge=0,
            le=10**6,
            description="coordinates of an observation above which a short series finds those that matter, 0 never",
        ),
    ] = 0


class TesterSettings(NamedTuple):
    """The constants of the testing stage (sections 3.4 and 4.2).

    >>> TesterSettings().batch
    50
    """

    gamma: Annotated[float, Field(gt=0, lt=1, description="discount of future reward; ours")] = 0.95
    alpha: Annotated[float, Field(gt=0, le=1, description="learning rate; ours")] = 0.1
    delta: Annotated[
        float, Field(ge=0, allow_inf_nan=False, description="actions this close to the best are tied; ours")
    ] = 0.0
    explore: Annotated[float, Field(ge=0, le=1, description="share of choices made at random; ours")] = 0.0
    hold: Annotated[bool, Field(description="a region keeps its action until the trial ends; ours")] = False
    traces: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="lambda of the returns learned from at the end of a trial, 0 step by step; ours",
        ),
    ] = 0.0
    averaging: Annotated[
        bool, Field(description="the n-th lesson counts 1/n until that is less than alpha; ours")
    ] = False
    training_cap: Annotated[
        int, Field(ge=1, le=10**12, description="steps after which a training trial is stopped; ours")
    ] = 5_000
    every_steps: Annotated[
        int, Field(ge=1, le=10**12, description="learning steps between two measurements; ours")
    ] = 2_500
    every_trials: Annotated[int, Field(ge=1, le=10**12, description="or trials between them; ours")] = 25
    batch: Annotated[
        int, Field(ge=1, le=10**6, description="test trials per measurement; paper, section 4.2")
    ] = 50
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
    runs: Annotated[int, Field(ge=1, le=10**6, description="curves to average; paper, section 4.2")] = 10
    steps: Annotated[
        int, Field(ge=1, le=10**12, description="training steps of a curve; paper, section 4.2")
    ] = 50_000


#: The tester's settings for tasks that are judged by return: for numbers, where regions may be large, and for exact
#: categories (docs/readings.md, "The tester").
TESTER_BY_RETURN: Mapping[str, Any] = {
    "gamma": 0.99,
    "explore": 0.2,
    "hold": True,
    "traces": 1.0,
    "averaging": True,
    "batch": 100,
}
TESTER_OF_CATEGORIES: Mapping[str, Any] = {"gamma": 0.99, "alpha": 0.3, "explore": 0.1, "batch": 100}


def tester_suited(score: str, kind: str) -> Mapping[str, Any]:
    """Return the tester's settings that suit a task, by its score and the kind of its observations.

    >>> tester_suited("length", "continuous"), tester_suited("return", "continuous")["traces"]
    ({}, 1.0)
    """
    if score == "length":
        return {}
    return TESTER_OF_CATEGORIES if kind == "categories" else TESTER_BY_RETURN


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind, config=ConfigDict(arbitrary_types_allowed=True))  # tasks may carry a Generator


def checked(kind: type[T], values: Mapping[str, Any], where: str) -> T:
    """Build ``kind`` from named values; ``where`` names the table in messages.

    >>> checked(LearnerSettings, {"epsilom": 0.1}, "learner")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown setting learner.epsilom; did you mean 'epsilon'?
    >>> checked(LearnerSettings, {"gamma": 2}, "learner")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Setting learner.gamma should be less than 1, got 2.
    """
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    check_known(values, fields, where)
    try:
        built: T = _adapter(cast("Any", kind)).validate_python(dict(values))
        return built
    except ValidationError as error:
        raise DistinguoError(_sentence(error.errors()[0], where)) from None


def _sentence(problem: ErrorDetails, where: str) -> str:
    name = ".".join(str(place) for place in problem["loc"])
    wish = problem["msg"].removeprefix("Input ").rstrip(".")
    return f"Setting {where}.{name} {wish}, got {shown(problem['input'])}."


# The constants that several learners share: their ranges and sources. Every learner gives them values of its own.


Gamma = Annotated[float, Field(gt=0, lt=1, description="discount of future reward; ours")]
Epsilon = Annotated[
    float, Field(gt=0, allow_inf_nan=False, description="reward that may be lost by a grouping; ours")
]
Delta = Annotated[
    float, Field(ge=0, allow_inf_nan=False, description="actions this close to the best are tied; ours")
]
Alpha = Annotated[float, Field(gt=0, le=1, description="learning rate of Figure 1; ours")]
MinUpdates = Annotated[int, Field(ge=0, le=10**9, description="MIN_UPDATES; paper, section 3.1")]
EnoughSamples = Annotated[int, Field(ge=1, le=10**9, description="ENOUGH_SAMPLES of Figure 4; ours")]
MaxSteps = Annotated[int, Field(ge=1, le=10**9, description="MAX_STEPS of Figure 3; ours")]
Coin = Annotated[float, Field(ge=0, le=1, description="weight of the coin of Figure 1; ours")]
Explore = Annotated[float, Field(ge=0, le=1, description="share of random actions; ours")]
MergeInterval = Annotated[int, Field(ge=0, le=10**9, description="MERGE_TIMER of Figure 5, 0 never; ours")]
ReducedUpdates = Annotated[int, Field(ge=0, le=10**9, description="Updates left by a split at most; ours")]
NewUpdates = Annotated[int, Field(ge=0, le=10**9, description="Updates of a new prototype; ours")]
SurpriseByTransition = Annotated[
    bool, Field(description="surprise compares one action value, not Definition 8; ours")
]
MergeIntoYoungest = Annotated[bool, Field(description="consolidation tries the youngest region first; ours")]
SurpriseReliable = Annotated[
    bool, Field(description="only what a reliable region follows is surprising; section 5.4 implies it")
]
Confidence = Annotated[
    float,
    Field(ge=0, le=100, description="standard deviations that make a transition surprising; section 5.1"),
]
Optimistic = Annotated[
    bool, Field(description="values begin at what the mean reward of random play is worth for ever; ours")
]
Rescale = Annotated[
    bool, Field(description="where bounds are infinite, scale by all observations so far; ours")
]
EpsilonShare = Annotated[
    float, Field(ge=0, le=1, description="epsilon as a share of the range of Q1, 0 as it is given; ours")
]
Investigations = Annotated[
    int, Field(ge=0, le=10**9, description="at the end of a trial, 0 for as many as were surprising; ours")
]
