"""Checking values against the ranges written beside the settings, in words a user can act on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from distinguo.errors import DistinguoError, did_you_mean

T = TypeVar("T")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def checked(kind: type[T], values: Mapping[str, Any], where: str) -> T:
    """Build ``kind`` from named values; ``where`` names the table in messages.

    >>> from distinguo.settings import LearnerSettings
    >>> checked(LearnerSettings, {"epsilom": 0.1}, "learner")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown setting learner.epsilom; did you mean 'epsilon'?
    >>> checked(LearnerSettings, {"gamma": 2}, "learner")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Setting learner.gamma should be less than 1, got 2.
    """
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    for name in values:
        if name not in fields:
            raise DistinguoError(f"Unknown setting {where}.{name}; {did_you_mean(name, fields)}")
    try:
        built: T = _adapter(cast("Any", kind)).validate_python(dict(values))
        return built
    except ValidationError as error:
        raise DistinguoError(_sentence(error.errors()[0], where)) from None


def _sentence(problem: ErrorDetails, where: str) -> str:
    name = ".".join(str(place) for place in problem["loc"])
    wish = problem["msg"].removeprefix("Input ").rstrip(".")
    return f"Setting {where}.{name} {wish}, got {problem['input']!r}."
