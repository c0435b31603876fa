"""Declare a task: ``@task`` turns a class of parameters and functions into a task to learn.

>>> from typing import NamedTuple
>>> @task(states=("x", "v"), actions=("left", "right"), low=(-1, -3), high=(1, 3))
... class Trolley(NamedTuple):
...     push: float = 3.0
...     def transition(self, s, a):
...         x, v = s[0] + 0.02 * s[1], s[1] + 0.02 * (self.push if a == 1 else -self.push)
...         return (x, v), (-1.0 if abs(x) > 1.0 else 0.0), abs(x) > 1.0
...     def start(self, rng):
...         return (0.0, 0.0)
>>> declared_spec(Trolley, {"push": 2}).task
Trolley(push=2.0)
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypedDict, TypeVar, Unpack

from distinguo.errors import DistinguoError, did_you_mean
from distinguo.seam import implements, implements_interpreted, part
from distinguo.settings import checked
from distinguo.tasks import task as generics
from distinguo.tasks.amounts import Levels, check_box, taker
from distinguo.tasks.noise import NoiseParameters, noise_generator, separated, with_noise
from distinguo.tasks.spec import (
    CATEGORIES,
    CONTINUOUS,
    LENGTH,
    RETURN,
    Amounts,
    Parameters,
    Stochastic,
    TaskSpec,
)

T = TypeVar("T")

#: The functions that a class body may define, and what each takes.
FUNCTIONS = {
    "transition": "(self, s, a)",
    "start": "(self, rng)",
    "actions": "(self)",
    "unpack": "(self, row)",
    "observe": "(self, s)",
    "truncated": "(self, s)",
    "seeded": "(self, seed)",
    "randomness": "(self)",
    "memories": "(self, states)",
    "remember": "(self, memories)",
    "goal_box": "(self)",
}
GENERATOR = "rng"  #: the field that a stochastic task draws its noise from

_declarations: dict[type, Declaration] = {}
_by_name: dict[str, type] = {}


def task(
    *, states: Sequence[str], actions: ActionNames, low: Bounds, high: Bounds, **options: Unpack[TaskOptions]
) -> Callable[[type[T]], type[T]]:
    """Declare a ``NamedTuple`` of parameters, with the functions of a task in its body, as a task.

    ``states`` and ``actions`` are the names of the coordinates of a state and of the actions; ``low`` and ``high``
    are the bounds of the observations, which scale distances; where one is infinite, experience takes its place.
    ``actions``, ``low`` and ``high`` may be functions of the task if they depend on its parameters. Actions may also
    be amounts (:func:`~distinguo.tasks.amounts.amounts`), or a few levels of one
    (:func:`~distinguo.tasks.amounts.levels`): then ``transition(self, s, u)`` takes the amount itself. For the
    options see :class:`~distinguo.tasks.declare.TaskOptions`.

    The class body must define ``transition(self, s, a)``, which returns the next state, the reward and whether it
    is terminal, and ``start(self, rng)``; states are tuples of floats. It may define the other generics of
    :mod:`distinguo.tasks.task`. A field ``rng``, a ``numpy.random.Generator``, makes the task stochastic: it is
    renewed for every run and kept in checkpoints. Functions of the same file that the body calls are marked with
    :func:`distinguo.seam.part`, unless ``compiled=False``.
    """

    def declare(kind: type[T]) -> type[T]:
        bodies = _checked_functions(kind, "observations" in options)
        stochastic = GENERATOR in kind._fields or "randomness" in bodies  # type: ignore[attr-defined]
        declaration = declared(kind.__name__, states, actions, (low, high), options, stochastic)
        if not any(map(callable, (actions, low, high))):  # these may call what is defined after the class
            declaration.spec(*_made(kind, {}))
        _implement(kind, declaration, bodies)
        _declarations[kind] = declaration
        _by_name[declaration.name] = kind
        return kind

    return declare


def _checked_functions(kind: Any, observations: bool) -> dict[str, Any]:
    """Return the functions of a class body; raise if it cannot be a task."""
    name = getattr(kind, "__name__", repr(kind))
    if not hasattr(kind, "_field_defaults"):
        raise DistinguoError(f"{name} should be a NamedTuple of its parameters: class {name}(NamedTuple).")
    for field in kind._fields:
        if field not in kind._field_defaults:
            raise DistinguoError(f"The parameter '{field}' of {name} has no default; give it one.")
    bodies = {word: body for word, body in vars(kind).items() if hasattr(body, "__code__")}
    for needed in ("transition", "start"):
        if needed not in bodies:
            raise DistinguoError(f"{name} has no {needed}; define {needed}{FUNCTIONS[needed]} in its body.")
    if ("observe" in bodies) != observations:
        other = "observe(self, s)" if observations else "observations=('x', ...)"
        raise DistinguoError(f"{name} lacks {other}; what observe shows needs names, and names need observe.")
    for word, body in bodies.items():
        _check_function(name, word, body)
    return {word: body for word, body in bodies.items() if word in FUNCTIONS}


def _check_function(name: str, word: str, body: Any) -> None:
    """Reject a wrong number of arguments, and a name that is nearly one of ours and would be ignored."""
    if word in FUNCTIONS:
        count = body.__code__.co_argcount
        if count != FUNCTIONS[word].count(",") + 1:
            raise DistinguoError(f"{word} of {name} should take {FUNCTIONS[word]}, got {count} arguments.")
    elif near := difflib.get_close_matches(word, FUNCTIONS, n=1, cutoff=0.8):
        raise DistinguoError(f"{name} defines '{word}', which no task has; did you mean '{near[0]}'?")


def _implement(kind: Any, declaration: Declaration, bodies: dict[str, Any]) -> None:
    """Register the functions of a class body with their generics, and those that follow from the names."""
    register = implements if declaration.compiled else implements_interpreted
    functions: dict[str, Any] = {
        "unpack": reader(len(declaration.states)) if declaration.compiled else _read_row
    }
    if declaration.amounts is not None:
        functions["by_law"] = taker(declaration.amounts)
    elif not callable(declaration.actions):
        functions["actions"] = _counter(len(declaration.actions))
    if declaration.values:
        bodies = {
            **bodies,
            "transition": _by_level(bodies["transition"], declaration.values, register is implements),
        }
    if GENERATOR in kind._fields:
        functions |= {"seeded": _reseeded, "randomness": _own_generator}
    for word, body in (functions | bodies).items():
        register(getattr(generics, word), kind)(body)


def _read_row(task: Any, row: Any) -> tuple[float, ...]:
    return tuple(row)


@cache
def reader(width: int) -> Any:
    """Return a function of a task that reads ``width`` numbers from a row; compiled, it has no loop."""
    if width == 1:
        return part(lambda task, row: (row[0],))
    shorter, last = reader(width - 1), width - 1
    return part(lambda task, row: (*shorter(task, row), row[last]))


def _by_level(body: Any, values: tuple[float, ...], compiled: bool) -> Any:
    """Return a transition that takes the number of a level, where the class body takes the amount."""
    inner = part(body) if compiled else body
    return lambda task, s, a: inner(task, s, values[a])


@cache
def _counter(number: int) -> Any:
    return lambda task: number


def _reseeded(task: Any, seed: int) -> Any:
    return task._replace(rng=noise_generator(seed))


def _own_generator(task: Any) -> Any:
    return task.rng


def is_declared(kind: Any) -> bool:
    """Whether a class was declared as a task."""
    return isinstance(kind, type) and kind in _declarations


def declared_by_name(name: str) -> type | None:
    """Return the class that was last declared under a name in this process."""
    return _by_name.get(name)


def declared_spec(kind: Any, parameters: Parameters) -> TaskSpec:
    """Return a declared task with some of its parameters changed."""
    declaration = _declarations[kind]
    if not declaration.compiled:  # the noise is compiled and cannot call plain Python
        return declaration.spec(*_made(kind, parameters))
    noise, rest = separated(NoiseParameters, parameters)
    return with_noise(declaration.spec(*_made(kind, rest)), noise)


def _made(kind: Any, parameters: Parameters) -> tuple[Any, dict[str, Any]]:
    """Return the task and its parameters, all checked."""
    task = checked(kind, {**kind._field_defaults, **parameters}, "task")
    return task, parameters_of(task)


def parameters_of(task: Any) -> dict[str, Any]:
    """Return the parameters that a task was made with; its generator is not one of them."""
    return {name: value for name, value in task._asdict().items() if name != GENERATOR}


# The declaration of a task besides its functions, and its checks.


#: Names, or how they follow from the parameters; or amounts, or levels of one.
ActionNames = Sequence[str] | Callable[[Any], Sequence[str]] | Amounts | Levels
Bounds = Sequence[float] | Callable[[Any], Sequence[float]]


class TaskOptions(TypedDict, total=False):
    """The optional arguments of ``@task``."""

    name: str  #: instead of the name of the class
    observations: Sequence[str]  #: the names of what ``observe`` shows; without it, states are seen whole
    categories: bool  #: observations are labels, which are equal or not, instead of numbers
    score: str  #: "length" or "return"; by return if there is a threshold
    threshold: float  #: the mean return that solves the task
    limit: int  #: steps after which a trial is stopped
    stochastic: Stochastic  #: "some" where the task has a generator, else "no"
    units: Sequence[str]  #: of the observations, "" where there is none, for the axes of pictures
    compiled: bool  #: False runs the class body as plain Python, which may then call anything
    controllable: Callable[[Any, tuple[float, ...]], bool]  #: whether a state of a task can be held at all


class Declaration(NamedTuple):
    """The whole declaration, with the options filled in.

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
    amounts: Amounts | None = None
    values: tuple[float, ...] = ()  #: of the levels, if actions are levels
    controllable: Callable[[Any, tuple[float, ...]], bool] | None = None

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
            actions=self._action_names(task),
            low=low,
            high=high,
            score=self.score,
            controllable=self.controllable,
            kind=self.kind,
            threshold=self.threshold,
            limit=self.limit,
            parameters=parameters,
            stochastic=self.stochastic,
            portable=False,
            units=self.units,
            amounts=self.amounts,
        )

    def _action_names(self, task: Any) -> tuple[str, ...]:
        names: Any = self.actions(task) if callable(self.actions) else self.actions
        return tuple(names)

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
    """Fill in the options and check the declaration; bounds are checked later, with the task they may depend on."""
    _check_known(name, options)
    threshold = options.get("threshold")
    declaration = Declaration(
        options.get("name", name),
        _names(name, "states", states, 1),
        actions if callable(actions) else _action_names(name, actions),
        *bounds,
        _names(name, "observations", options.get("observations", states), 1),
        CATEGORIES if options.get("categories") else CONTINUOUS,
        options.get("score", LENGTH if threshold is None else RETURN),
        threshold,
        options.get("limit"),
        options.get("stochastic", "some" if stochastic else "no"),
        options.get("compiled", True),
        tuple(options.get("units", ())),
        actions if isinstance(actions, Amounts) else None,
        actions.values if isinstance(actions, Levels) else (),
        options.get("controllable"),
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


def _action_names(name: str, actions: Any) -> tuple[str, ...]:
    if isinstance(actions, Amounts):
        check_box(actions, f"The amounts of {name}")
        return actions.names
    if isinstance(actions, Levels):
        return tuple(f"{value:+.4g}" for value in actions.values)
    return _names(name, "actions", actions, 2)


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
