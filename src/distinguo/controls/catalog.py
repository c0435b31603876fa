"""The representations by name: the simple ones here, those of installed packages, and those declared by users."""

from __future__ import annotations

import inspect
import math
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from distinguo.controls.fixed import diagonal, near_start, seed_points, uniform, with_provenance
from distinguo.errors import DistinguoError, call_user_code, did_you_mean
from distinguo.features.feature import is_features
from distinguo.registry import REPRESENTATIONS, added, load_added
from distinguo.representations.check import check_partition
from distinguo.representations.declare import is_declared
from distinguo.representations.file import Representation
from distinguo.representations.partition import region
from distinguo.seam import has_own
from distinguo.tasks.spec import TaskSpec

CHECKED_STATES = 200  #: on which a partition of a user's is tried before it is used
F = TypeVar("F", bound=Callable[..., Any])


class _Builder(NamedTuple):
    function: Callable[..., Any]
    usage: str  #: how it is asked for


_builders: dict[str, _Builder] = {}


def representation(name: str, usage: str | None = None) -> Callable[[F], F]:
    """Register a function of a task and a seed that builds a representation, or a bare partition, under a name.

    It is then found wherever a representation is asked for by name. A function with a third parameter is given what
    follows a colon, as in ``grid:10x10``; ``usage`` shows how.

    >>> from distinguo.representations.boxes import grid
    >>> @representation("strips", usage="strips:4")
    ... def strips(spec, seed, count):
    ...     return grid([int(count)] + [1] * (len(spec.dimensions) - 1), spec.low, spec.high)
    >>> from distinguo.tasks.catalog import task_spec
    >>> build_representation("strips:4", task_spec("puck"), seed=0).regions
    4
    """

    def register(function: F) -> F:
        if not re.fullmatch(r"[\w.-]+", name):
            raise DistinguoError(
                f"The name of a representation is made of letters, digits and dashes, got '{name}'."
            )
        _builders[name] = _Builder(function, usage or name)
        return function

    return register


def registered_name(what: Any) -> str:
    """Return the name that a builder, a partition or a class of partitions goes by; it gets its own if it has none.

    >>> from distinguo.representations.declare import FunctionPartition
    >>> registered_name(FunctionPartition(lambda s: 0, 1)), registered_name("grid:2x2")
    ('FunctionPartition', 'grid:2x2')
    """
    if isinstance(what, str):
        return what
    known = [name for name, builder in _builders.items() if builder.function is what]
    if known:
        return known[0]
    name = str(getattr(what, "__name__", type(what).__name__))
    is_builder = callable(what) and not isinstance(what, type) and not has_own(region, what)
    representation(name)(
        what if is_builder else lambda spec, seed: what() if isinstance(what, type) else what
    )
    return name


def representation_names() -> list[str]:
    """Return how to ask for each representation that has a name; a warning names those that cannot be imported.

    >>> representation_names()[:3]
    ['diagonal', 'grid:10x10', 'seeds']
    """
    for name in added(REPRESENTATIONS):
        try:
            _import_builder(name)
        except DistinguoError as error:
            warnings.warn(str(error), stacklevel=2)
    return [builder.usage for builder in _builders.values()]


def _import_builder(name: str) -> None:
    """Import the package that adds a representation, which may register it with more words."""
    if name not in _builders and name in added(REPRESENTATIONS):
        function = load_added(REPRESENTATIONS, name)
        if name not in _builders:
            representation(name)(function)


def build_representation(name: str, spec: TaskSpec, seed: int) -> Representation:
    """Build the representation of that name for a task.

    >>> from distinguo.tasks.catalog import task_spec
    >>> build_representation("grid:3x4", task_spec("puck"), seed=0).regions
    12
    >>> build_representation("diagnoal", task_spec("puck"), seed=0)
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown representation 'diagnoal'; did you mean 'diagonal'?
    """
    word, colon, argument = name.partition(":")
    _import_builder(word)
    if word not in _builders:
        raise DistinguoError(f"Unknown representation '{name}'; {did_you_mean(name, representation_names())}")
    function = _builders[word].function
    arguments = [argument] if len(inspect.signature(function).parameters) > 2 else []
    if colon and not arguments:
        raise DistinguoError(f"The representation '{word}' takes nothing after a colon, got '{name}'.")
    built = call_user_code(f"The representation '{name}'", function, spec, seed, *arguments)
    return as_representation(built, spec, name)


def as_representation(built: Any, spec: TaskSpec, name: str) -> Representation:
    """Return what a builder made: a representation as it is, a bare partition with the coordinates of the task."""
    if isinstance(built, Representation):
        return built
    if not has_own(region, built) and not is_features(built):
        raise DistinguoError(
            f"'{name}' should be a representation, a partition (dg.partition makes one) or features, got a value of "
            f"the class {type(built).__name__}."
        )
    if is_declared(built):  # compiled code follows its word without a look
        check_partition(built, *_finite(spec), states=CHECKED_STATES)
    return with_provenance(spec, built, name)


def _finite(spec: TaskSpec) -> tuple[list[float], list[float]]:
    """Return the extent of a task, with something in place of what is infinite."""
    low = [a if math.isfinite(a) else -1.0 for a in spec.low]
    high = [b if math.isfinite(b) else 1.0 for b in spec.high]
    return low, [max(a + 1e-9, b) for a, b in zip(low, high, strict=True)]


@representation("diagonal")
def _diagonal(spec: TaskSpec, seed: int) -> Representation:
    return diagonal(spec)


@representation("grid", usage="grid:10x10")
def _grid(spec: TaskSpec, seed: int, counts: str) -> Representation:
    if not re.fullmatch(r"\d{1,6}(x\d{1,6})*", counts, re.ASCII):
        raise DistinguoError(
            "A grid is written with a number of intervals per coordinate, as in grid:10x10, got "
            f"'grid:{counts}'."
        )
    return uniform(spec, [int(count) for count in counts.split("x")])


@representation("seeds")
def _seeds(spec: TaskSpec, seed: int) -> Representation:
    return seed_points(spec)


@representation("near-start", usage="near-start:3")
def _near_start(spec: TaskSpec, seed: int, levels: str) -> Representation:
    return near_start(spec, seed, whole_argument("near-start", levels, 3))


def whole_argument(name: str, text: str, usual: int) -> int:
    """Return the number after the colon, or the usual one if there is none."""
    if not re.fullmatch(r"\d{0,6}", text, re.ASCII):
        raise DistinguoError(
            f"{name} is followed by a whole number, as in {name}:{usual}, got '{name}:{text}'."
        )
    return int(text or usual)
