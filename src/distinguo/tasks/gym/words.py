"""What people say of an environment beside its spaces: names, units, and which mean return solves it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypedDict

from distinguo.errors import DistinguoError, shown
from distinguo.tasks.spec import LARGEST, TaskSpec


class TaskWords(TypedDict, total=False):
    """What may be said; Gymnasium's spaces have numbers only, and few environments a threshold."""

    threshold: float  #: the mean return that solves it
    dimensions: Sequence[str]  #: the names of the coordinates of an observation
    actions: Sequence[str]  #: the names of the actions
    units: Sequence[str]  #: of the coordinates, "" for none


WORDS = tuple(TaskWords.__annotations__)


def with_words(spec: TaskSpec, words: TaskWords) -> TaskSpec:
    """Return a task with the words that are said of it.

    >>> from distinguo.tasks.gym.task import gym_spec
    >>> lake = with_words(gym_spec("FrozenLake-v1", {}), {"threshold": 0.74, "dimensions": ("field",)})
    >>> lake.threshold, lake.axes
    (0.74, ('field',))
    """
    said = {name: value for name, value in words.items() if value is not None}
    if not said:
        return spec
    if not spec.interpreted:
        raise DistinguoError(
            f"{spec.name} says itself what its {next(iter(said))} is; that is for environments of Gymnasium that "
            "are run as plain Python: leave it out, or hand the environment over."
        )
    changes: dict[str, Any] = {}
    for name, value in said.items():
        changes[name] = _CHECKS[name](spec, name, value)
    return spec._replace(**changes)


def _threshold(spec: TaskSpec, name: str, value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or abs(value) > LARGEST:
        raise DistinguoError(
            f"The threshold of {spec.name} should be a finite mean return, got {shown(value)}."
        )
    return float(value)


def _names(spec: TaskSpec, name: str, value: Any) -> tuple[str, ...]:
    listed = _listed(value)
    number = len(getattr(spec, name))
    whole = all(isinstance(word, str) and word.strip() and word.isprintable() for word in listed)
    if not whole or len(listed) != number or len(set(listed)) < number:
        raise DistinguoError(
            f"The {name} of {spec.name} should be {number} different names, got {shown(value)}."
        )
    return tuple(listed)


def _units(spec: TaskSpec, name: str, value: Any) -> tuple[str, ...]:
    listed = _listed(value)
    number = len(spec.dimensions)
    if len(listed) != number or not all(isinstance(word, str) and word.isprintable() for word in listed):
        raise DistinguoError(
            f"The units of {spec.name} should be {number} words, '' for none, got {shown(value)}."
        )
    return tuple(listed)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


_CHECKS = {"threshold": _threshold, "dimensions": _names, "actions": _names, "units": _units}
