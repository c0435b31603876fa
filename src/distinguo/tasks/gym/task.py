"""Any Gymnasium environment as a task, run as plain Python.

>>> from distinguo.tasks.task import observe, start, transition
>>> task = make_task("FrozenLake-v1", {"is_slippery": False})
>>> s = start(task, np.random.default_rng(0))
>>> s, reward, terminal = transition(task, s, 2)
>>> s, observe(task, s), terminal
((0.0, 1.0, 1.0), (1.0,), False)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

import numpy as np

from distinguo.errors import DistinguoError, shown
from distinguo.seam import implements_interpreted
from distinguo.tasks.amounts import Laws, amounts_of
from distinguo.tasks.gym.driver import Driver
from distinguo.tasks.gym.images import is_large_image
from distinguo.tasks.gym.registration import PUCK_ID
from distinguo.tasks.gym.snapshots import NONE
from distinguo.tasks.gym.source import AMOUNTS, FEATURES, LEVELS, PROBE, RESTORE, Source, source_of
from distinguo.tasks.gym.spaces import Choices, DiscreteActions, NumberedActions
from distinguo.tasks.spec import LARGEST, RETURN, Amounts, Parameters, TaskSpec
from distinguo.tasks.task import (
    Observation,
    State,
    actions,
    by_law,
    has_one_start,
    memories,
    observe,
    remember,
    seeded,
    start,
    transition,
    truncated,
    uncounted_steps,
    unpack,
)
from distinguo.tasks.vocabulary import WALKER, WALKER_ANGLES


class GymTask(NamedTuple):
    """A task whose steps are taken by a driver."""

    driver: Driver


def make_task(
    origin: Any,
    arguments: Mapping[str, Any] | None = None,
    seed: int = 0,
    maker: Callable[[], Any] | None = None,
) -> GymTask:
    """Return an environment as a task; ``origin`` is its id or the environment itself, ``maker`` makes another.

    The arguments are those of ``gymnasium.make``; ``levels`` divides continuous actions into that many levels, and
    ``probe=False`` tries nothing beforehand.

    >>> actions(make_task("Pendulum-v1", {"levels": 5}))
    5
    """
    return GymTask(Driver(source_of(origin, arguments or {}, maker), seed))


def make_absent_task(
    name: str, arguments: Mapping[str, Any] | None = None, was_given: bool = False, seed: int = 0
) -> GymTask:
    """Return a task known by its name only; its environment is made when it is needed.

    An environment that ``was_given`` as an object is not made: another of that name may differ.

    >>> make_absent_task("Nowhere-v0").driver.name
    'Nowhere-v0'
    """
    return GymTask(Driver(Source(name, None, dict(arguments or {}), was_given=was_given), seed))


def gym_spec(
    origin: Any,
    parameters: Parameters,
    port: Callable[[Parameters], TaskSpec] | None = None,
    *,
    probing: bool = True,
    maker: Callable[[], Any] | None = None,
) -> TaskSpec:
    """Describe an environment; its compiled port, if it has one, knows better names and bounds.

    ``probing`` tries by some steps whether its states can be restored and whether chance decides; without it both are
    left open. ``maker`` makes another environment like an ``origin`` that is an object.

    >>> gym_spec("FrozenLake-v1", {}).kind
    'categories'
    """
    if port is not None:
        own = {name: value for name, value in parameters.items() if name not in (PROBE, RESTORE, FEATURES)}
        return _with_facts(_in_place_of(port(own), parameters), probing)
    task = make_task(origin, dict(parameters), maker=maker)
    checked, source = task.driver.checked_env, task.driver.source
    levels = {name: value for name, value in source.arguments.items() if name == LEVELS}
    known = source.name if isinstance(origin, str) else ""
    names = dimension_names(known, checked.view.names)
    box = _amounts_of(checked.choices)
    acted = action_names(known, checked.env, checked.choices.number) if box is None else box.names
    spec = TaskSpec(
        name=source.name,
        task=task,
        dimensions=names,
        actions=acted,
        low=checked.view.low,
        high=checked.view.high,
        score=RETURN,
        kind=checked.view.kind,
        threshold=source.threshold,
        limit=source.limit,
        parameters={**parameters, **levels},
        stochastic="strong" if probing and task.driver.stochastic else "no",
        portable=isinstance(origin, str),
        units=() if names == checked.view.names else DOCUMENTED[known].units,
        amounts=box,
    )
    return _with_facts(spec, probing)


def _amounts_of(choices: Choices) -> Amounts | None:
    """The box of the actions; None if they are whole numbers."""
    if choices.box is None:
        return None
    low, high = choices.sides
    names = ("u",) if len(low) == 1 else tuple(f"u{i}" for i in range(len(low)))
    return Amounts(tuple(low), tuple(high), names)


def environment_in_amounts(spec: TaskSpec) -> TaskSpec | None:
    """Return an environment whose actions are levels of a box with its amounts instead; None for any other one."""
    if not isinstance(spec.task, GymTask) or LEVELS not in spec.parameters or spec.task.driver.source.is_lost:
        return None  # nor is an environment made only to see its actions
    driver = spec.task.driver
    env = driver.checked_env.env
    if not isinstance(env, DiscreteActions) or LEVELS not in driver.source.arguments:
        return None
    source = driver.source._replace(arguments={**driver.source.arguments, LEVELS: AMOUNTS})
    task = GymTask(driver.with_source(source))
    box = _amounts_of(task.driver.checked_env.choices)
    changed = spec._replace(task=task, parameters={**spec.parameters, LEVELS: AMOUNTS}, amounts=box)
    acted = () if box is None else box.names
    return changed._replace(actions=acted, note=spec.note.replace(_levels_of(spec) or "\0", ""))


def _in_place_of(port: TaskSpec, parameters: Parameters) -> TaskSpec:
    """Return the description of a compiled port, with Gymnasium's environment as the task.

    Only the port knows which states are controllable.
    """
    arguments = dict(parameters)
    if port.name == "Pendulum-v1":
        arguments.setdefault(LEVELS, port.parameters[LEVELS])
    task = make_task(PUCK_ID if port.name == "puck" else port.name, arguments)
    return port._replace(task=task, controllable=None, parameters=arguments)


def _with_facts(spec: TaskSpec, probing: bool) -> TaskSpec:
    """Add what trying the environment showed."""
    if not probing:
        return spec._replace(interpreted=True)
    restoring = spec.task.driver.restoring
    return spec._replace(
        interpreted=True,
        note=restoring.sentence + _levels_of(spec) + _sameness_of(spec) + _image_of(spec) + _left_out(spec),
        restorable=restoring.name != NONE,
    )


def _image_of(spec: TaskSpec) -> str:
    """A sentence on an observation that is reduced, or that is a large image; else empty."""
    space = spec.task.driver.checked_env.env.observation_space
    size = " x ".join(map(str, space.shape or ()))
    if FEATURES in spec.parameters:
        return f" Its observations are reduced to {size} = {math.prod(space.shape):,} numbers."
    if not is_large_image(space):
        return ""
    return (
        f" It observes images of {size} = {math.prod(space.shape):,} numbers; --features pool reduces them."
    )


def _sameness_of(spec: TaskSpec) -> str:
    """A sentence if the seed of a reset changes nothing; else empty."""
    alike = spec.task.driver.probed.one_start
    return (
        " Whatever its seed is, it begins in the same state, so its trials teach one start only."
        if alike
        else ""
    )


def _levels_of(spec: TaskSpec) -> str:
    """A sentence on the actions that stand for continuous ones; empty if there are none."""
    env = spec.task.driver.checked_env.env
    if not isinstance(env, DiscreteActions):
        return ""
    size, number = math.prod(env.table.shape[1:]), len(env.table)
    if not isinstance(env.levels, int):
        words = f"{number} listed ones"
    elif size == 1:
        words = f"{number} levels"
    else:
        words = f"{env.levels} levels of each of {size} coordinates, {number} combinations"
    return f" Its continuous actions are chosen from {words}; --set task.levels=3 changes that."


def _left_out(spec: TaskSpec) -> str:
    """A sentence on the parts of observations that are not read; empty if there are none."""
    parts = spec.task.driver.checked_env.view.left_out
    if not parts:
        return ""
    words = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return f" Of its observations, {words} {'are' if len(parts) > 1 else 'is'} left out, not being made of numbers."


def absent_gym_spec(
    name: str, words: Mapping[str, Any], parameters: Parameters, was_given: bool = False
) -> TaskSpec:
    """Describe an environment by a run folder; it is made at the first step.

    One that was given as an object cannot be made again and has to be handed in.
    """
    task = make_absent_task(PUCK_ID if name == "puck" else name, dict(parameters), was_given)
    known = {**words, "interpreted": True, "portable": not was_given}
    return TaskSpec(name=name, task=task, parameters=dict(parameters), **known)


@implements_interpreted(transition, GymTask)
def _transition(task: GymTask, s: State, a: Any) -> tuple[State, float, bool]:
    return task.driver.step(s, a)


@implements_interpreted(by_law, GymTask)
def _by_law(task: GymTask, given: Laws, a: int, seen: Observation) -> tuple[float, ...]:
    return amounts_of(given, a, seen)


@implements_interpreted(start, GymTask)
def _start(task: GymTask, rng: np.random.Generator) -> State:
    """Begin a trial with a seed of its own; the learner's generator is not used."""
    return task.driver.start()


@implements_interpreted(actions, GymTask)
def _actions(task: GymTask) -> int:
    return task.driver.checked_env.choices.number


@implements_interpreted(unpack, GymTask)
def _unpack(task: GymTask, row: np.ndarray) -> State:
    return tuple(row.tolist())


@implements_interpreted(observe, GymTask)
def _observe(task: GymTask, s: State) -> Observation:
    """Leave out the trial and the step."""
    return s[2:]


@implements_interpreted(truncated, GymTask)
def _truncated(task: GymTask, s: State) -> bool:
    return task.driver.truncated(s)


@implements_interpreted(seeded, GymTask)
def _seeded(task: GymTask, seed: int) -> GymTask:
    """Return a task with a driver of its own."""
    return GymTask(task.driver.again(seed))


@implements_interpreted(memories, GymTask)
def _memories(task: GymTask, states: np.ndarray) -> dict[str, np.ndarray]:
    """Return the seeds and actions of the trials that are still needed."""
    return task.driver.memories(states)


@implements_interpreted(remember, GymTask)
def _remember(task: GymTask, arrays: dict[str, np.ndarray]) -> None:
    task.driver.remember(arrays)


@implements_interpreted(has_one_start, GymTask)
def _has_one_start(task: GymTask) -> bool:
    return task.driver.probed.one_start


@implements_interpreted(uncounted_steps, GymTask)
def _uncounted_steps(task: GymTask) -> tuple[int, int]:
    return task.driver.probed.steps, task.driver.replayed


# What spaces do not say of an environment: names, units, and which mean return solves it. Users may give it; for
# some environments Gymnasium's documentation has it.


class TaskWords(TypedDict, total=False):
    """Words that users may give; Gymnasium's spaces only have numbers, and few environments have a threshold."""

    threshold: float  #: the mean return that solves it
    dimensions: Sequence[str]  #: the names of the coordinates of an observation
    actions: Sequence[str]  #: the names of the actions
    units: Sequence[str]  #: of the coordinates, "" for none


WORDS = tuple(TaskWords.__annotations__)


def with_words(spec: TaskSpec, words: TaskWords) -> TaskSpec:
    """Return a task with the user's words.

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
    """The names of coordinates, of discrete actions, and the units, in Gymnasium's documentation."""

    dimensions: tuple[str, ...]
    actions: tuple[str, ...] = ()
    units: tuple[str, ...] = ()


_LANDER = Names(
    ("x", "y", "vx", "vy", "angle", "spin", "left_leg", "right_leg"),
    ("nothing", "left_engine", "main_engine", "right_engine"),
    ("", "", "", "", "rad", "", "", ""),
)
_LAKE = Names(("field",), ("left", "down", "right", "up"))
_CLIFF = Names(("field",), ("up", "right", "down", "left"))
#: By id; only for environments that are made from their id, as an object may be wrapped.
DOCUMENTED = {
    "LunarLander-v2": _LANDER,
    "LunarLander-v3": _LANDER,
    "LunarLanderContinuous-v2": _LANDER._replace(actions=()),
    "LunarLanderContinuous-v3": _LANDER._replace(actions=()),
    "BipedalWalker-v3": Names(WALKER, (), tuple("rad" if name in WALKER_ANGLES else "" for name in WALKER)),
    "MountainCarContinuous-v0": Names(("x", "v")),
    "FrozenLake-v1": _LAKE,
    "FrozenLake8x8-v1": _LAKE,
    "CliffWalking-v1": _CLIFF,
    "CliffWalkingSlippery-v1": _CLIFF,
    "Taxi-v4": Names(("situation",), ("south", "north", "east", "west", "pick_up", "drop_off")),
    "Blackjack-v1": Names(("sum", "dealer", "ace"), ("stick", "hit")),
}


def dimension_names(name: str, numbered: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the coordinates of a known environment; else their numbers.

    >>> dimension_names("MountainCarContinuous-v0", ("o0", "o1")), dimension_names("Own-v0", ("o0",))
    (('x', 'v'), ('o0',))
    """
    names = DOCUMENTED.get(name, Names(())).dimensions
    return names if len(names) == len(numbered) else numbered


def action_names(name: str, env: Any, number: int) -> tuple[str, ...]:
    """The names of the actions: from the documentation, by the value of a level, or numbers.

    >>> import gymnasium
    >>> action_names("Own-v0", DiscreteActions(gymnasium.make("Pendulum-v1"), [-2.0, 0.5]), 2)
    ('-2', '+0.5')
    """
    if isinstance(env, DiscreteActions):
        amounts = tuple("/".join(f"{x:+.4g}" for x in row.ravel()) for row in env.table)
        if len(set(amounts)) == number:
            return amounts
    if isinstance(env, NumberedActions):
        return tuple("/".join(map(str, np.ravel(env.action(a)).tolist())) for a in range(number))
    names = DOCUMENTED.get(name, Names(())).actions
    return names if len(names) == number else tuple(f"a{a}" for a in range(number))
