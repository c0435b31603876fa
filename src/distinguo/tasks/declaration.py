"""What is said of a class of tasks beside its functions, and whether it makes sense."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypedDict

from distinguo.errors import DistinguoError, did_you_mean
from distinguo.tasks.spec import CATEGORIES, CONTINUOUS, LENGTH, RETURN, Parameters, Stochastic, TaskSpec

ActionNames = Sequence[str] | Callable[[Any], Sequence[str]]  #: or how they follow from the parameters
Bounds = Sequence[float] | Callable[[Any], Sequence[float]]


class TaskOptions(TypedDict, total=False):
    """What need not be said of a task."""

    name: str  #: instead of the name of the class
    observations: Sequence[str]  #: the names of what ``observe`` shows; without it, states are seen whole
    categories: bool  #: observations are labels, which are the same or not, instead of amounts
    score: str  #: "length" or "return"; by return if there is a threshold
    threshold: float  #: the mean return that solves the task
    limit: int  #: steps after which a trial is stopped
    stochastic: Stochastic  #: "some" where the task has a generator, else "no"
    units: Sequence[str]  #: of the observations, "" where there is none, for the axes of pictures
    compiled: bool  #: False runs the class body as plain Python, which may then call anything


class Declaration(NamedTuple):
    """All that was said, the options filled in.

    >>> declared("Cart", ("x",), ("left", "right"), ((-1,), (1,)), {"threshold": 5.0}, stochastic=False).score
    'return'
    """

    name: str
    states: tuple[str, ...]
    actions: ActionNames
    low: Bounds
    high: Bounds
    observations: tuple[str, ...]
    kind: str
    score: str
    threshold: float | None
    limit: int | None
    stochastic: Stochastic
    compiled: bool
    units: tuple[str, ...]

    def spec(self, task: Any, parameters: Parameters) -> TaskSpec:
        """Describe one task of the class."""
        low, high = self._bounds("low", self.low, task), self._bounds("high", self.high, task)
        for name, a, b in zip(self.observations, low, high, strict=True):
            if not a < b:
                raise DistinguoError(
                    f"{self.name} should have low < high in each coordinate, got {a} and {b} for {name}."
                )
        return TaskSpec(
            name=self.name,
            task=task,
            dimensions=self.observations,
            actions=tuple(self.actions(task) if callable(self.actions) else self.actions),
            low=low,
            high=high,
            score=self.score,
            kind=self.kind,
            threshold=self.threshold,
            limit=self.limit,
            parameters=parameters,
            stochastic=self.stochastic,
            portable=False,
            units=self.units,
        )

    def _bounds(self, side: str, bounds: Any, task: Any) -> tuple[float, ...]:
        try:
            row = tuple(float(bound) for bound in (bounds(task) if callable(bounds) else bounds))
        except (TypeError, ValueError):
            row = ()
        if len(row) != len(self.observations):
            raise DistinguoError(
                f"{side} of {self.name} should be a number for each of {', '.join(self.observations)}, got "
                f"{bounds!r}."
            )
        return row


def declared(
    name: str,
    states: Any,
    actions: Any,
    bounds: tuple[Bounds, Bounds],
    options: TaskOptions,
    stochastic: bool,
) -> Declaration:
    """Fill the options in, and check what was said; bounds are checked with the task that they may depend on."""
    _check_known(name, options)
    threshold = options.get("threshold")
    declaration = Declaration(
        options.get("name", name),
        _names(name, "states", states, 1),
        actions if callable(actions) else _names(name, "actions", actions, 2),
        *bounds,
        _names(name, "observations", options.get("observations", states), 1),
        CATEGORIES if options.get("categories") else CONTINUOUS,
        options.get("score", LENGTH if threshold is None else RETURN),
        threshold,
        options.get("limit"),
        options.get("stochastic", "some" if stochastic else "no"),
        options.get("compiled", True),
        tuple(options.get("units", ())),
    )
    _check_units(declaration)
    _check_score(declaration)
    return declaration


def _check_known(name: str, options: TaskOptions) -> None:
    for option in options:
        if option not in TaskOptions.__annotations__:
            hint = did_you_mean(option, TaskOptions.__annotations__)
            raise DistinguoError(f"{name} is given '{option}', which no task has; {hint}")


def _names(name: str, what: str, words: Any, least: int) -> tuple[str, ...]:
    listed = list(words) if isinstance(words, list | tuple) else []
    whole = all(isinstance(word, str) and word for word in listed)
    if not whole or len(set(listed)) < len(listed) or len(listed) < least:
        raise DistinguoError(
            f"The {what} of {name} should be {least} or more different names, such as ('x', 'v'), got {words!r}."
        )
    return tuple(listed)


def _check_units(declaration: Declaration) -> None:
    units, names = declaration.units, declaration.observations
    whole = all(isinstance(unit, str) for unit in units)
    if units and (not whole or len(units) != len(names)):
        raise DistinguoError(
            f"The units of {declaration.name} should be a word for each of {', '.join(names)}, got {units!r}."
        )


def _check_score(declaration: Declaration) -> None:
    name, score, limit = declaration.name, declaration.score, declaration.limit
    if score not in (LENGTH, RETURN):
        raise DistinguoError(f"The score of {name} should be '{LENGTH}' or '{RETURN}', got {score!r}.")
    if declaration.stochastic not in ("no", "some", "strong"):
        raise DistinguoError(
            f"{name} should be stochastic 'no', 'some' or 'strong', got {declaration.stochastic!r}."
        )
    threshold = 0.0 if declaration.threshold is None else declaration.threshold
    if not (isinstance(threshold, int | float) and math.isfinite(threshold)):
        raise DistinguoError(f"The threshold of {name} should be a finite mean return, got {threshold!r}.")
    if declaration.threshold is not None and score != RETURN:
        raise DistinguoError(
            f"{name} has a threshold, which is a mean return, but its score is '{score}'; leave one of them out."
        )
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise DistinguoError(f"The limit of {name} should be a number of steps from 1, got {limit!r}.")
