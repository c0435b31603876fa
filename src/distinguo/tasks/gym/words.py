"""What is said of an environment beside its spaces: names, units, and which mean return solves it.

People may say it; of some environments it stands in Gymnasium's documents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypedDict

from distinguo.errors import DistinguoError, shown
from distinguo.tasks.gym.wrappers import DiscreteActions
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


class Names(NamedTuple):
    """What Gymnasium's documents call coordinates, and actions where they are not amounts."""

    dimensions: tuple[str, ...]
    actions: tuple[str, ...] = ()


_LANDER = Names(
    ("x", "y", "vx", "vy", "angle", "spin", "left_leg", "right_leg"),
    ("nothing", "left_engine", "main_engine", "right_engine"),
)
#: By id; only environments that are made from their id, as an object may be wrapped into something else.
DOCUMENTED = {
    "LunarLander-v2": _LANDER,
    "LunarLander-v3": _LANDER,
    "LunarLanderContinuous-v2": Names(_LANDER.dimensions),
    "LunarLanderContinuous-v3": Names(_LANDER.dimensions),
    "MountainCarContinuous-v0": Names(("x", "v")),
}


def dimension_names(name: str, numbered: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the coordinates of a known environment are called; else their numbers.

    >>> dimension_names("MountainCarContinuous-v0", ("o0", "o1")), dimension_names("Own-v0", ("o0",))
    (('x', 'v'), ('o0',))
    """
    names = DOCUMENTED.get(name, Names(())).dimensions
    return names if len(names) == len(numbered) else numbered


def action_names(name: str, env: Any, number: int) -> tuple[str, ...]:
    """Return what the actions are called: by their documents, by the amount that they are a level of, or numbers.

    >>> import gymnasium
    >>> action_names("Own-v0", DiscreteActions(gymnasium.make("Pendulum-v1"), [-2.0, 0.5]), 2)
    ('-2', '+0.5')
    """
    if isinstance(env, DiscreteActions):
        amounts = tuple("/".join(f"{x:+.4g}" for x in row.ravel()) for row in env.table)
        if len(set(amounts)) == number:
            return amounts
    names = DOCUMENTED.get(name, Names(())).actions
    return names if len(names) == number else tuple(f"a{a}" for a in range(number))
