"""Gymnasium's spaces for a learner: observations as tuples of floats, actions as numbers from 0.

A *continuous* observation is a point, and distances matter; *categories* are equal or different, number by number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from distinguo.errors import DistinguoError, attempt, shown
from distinguo.tasks.spec import CATEGORIES, CONTINUOUS, LARGEST

#: Bounds beyond this are just the largest numbers of their type and say nothing about the task.
ASTRONOMICAL = 1e30
MOST_ACTIONS, MOST_COORDINATES = 10_000, 250_000
_ALLOWED = "allowed are Box, Discrete, MultiDiscrete, MultiBinary and a Tuple of Discretes"


class MisfitError(DistinguoError):
    """An observation outside its space; ``words`` are the sentence without its subject."""

    def __init__(self, name: str, words: str) -> None:
        super().__init__(f"{name} {words}.")
        self.words = words


class View(NamedTuple):
    """How the observations of an environment are read.

    >>> view = view_of(spaces.MultiDiscrete([3, 5]), "Corridor-v0")
    >>> view.kind, view.names, view.low, view.high
    ('categories', ('o0', 'o1'), (0.0, 0.0), (2.0, 4.0))
    >>> view.flatten(np.array([2, 4]))
    (2.0, 4.0)
    """

    kind: str  #: "continuous" or "categories"
    names: tuple[str, ...]  #: of the coordinates
    low: tuple[float, ...]
    high: tuple[float, ...]
    flatten: Callable[[Any], tuple[float, ...]]  #: from an observation to its coordinates
    unflatten: Callable[[Sequence[float]], Any]  #: and back


class Choices(NamedTuple):
    """The actions of an environment: ``number`` whole numbers from ``first``."""

    number: int
    first: int


def view_of(space: Any, name: str) -> View:
    """How observations from this space are read; ``name`` is the environment's, for messages.

    >>> view_of(spaces.Box(-1, np.inf, shape=(2, 2)), "Grid-v0").names
    ('o0_0', 'o0_1', 'o1_0', 'o1_1')
    >>> view_of(spaces.Dict(), "Robot-v0")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Robot-v0 observes a Dict, which cannot be divided into regions; ...
    """
    if isinstance(space, spaces.Box):
        return _continuous(space, name)
    ranges = _ranges(space)
    if ranges is None:
        raise _unreadable(space, name)
    return _categories(space, name, *ranges)


def choices_of(space: Any, name: str) -> Choices:
    """Return the actions of this space, which must be a Discrete one.

    >>> choices_of(spaces.Discrete(3, start=-1), "Lift-v0")
    Choices(number=3, first=-1)
    """
    if isinstance(space, spaces.Discrete):
        if space.n > MOST_ACTIONS:
            raise DistinguoError(
                f"{name} has {space.n:,} actions; allowed are {MOST_ACTIONS:,}; wrap it in a gymnasium.ActionWrapper."
            )
        return Choices(int(space.n), int(space.start))
    if isinstance(space, spaces.Box):
        advice = (
            "choose among a few levels of each: wrap the environment in "
            "distinguo.tasks.gym.spaces.DiscreteActions(env, levels=3), or add --set task.levels=3"
        )
        raise DistinguoError(f"{name} has continuous actions, {space}; allowed is Discrete; {advice}.")
    advice = "wrap it in a gymnasium.ActionWrapper that numbers the actions"
    raise DistinguoError(f"{name} has actions of {_kind(space)}; allowed is Discrete; {advice}.")


def _unreadable(space: Any, name: str) -> DistinguoError:
    advice = "write a gymnasium.ObservationWrapper that gives a Box"
    if isinstance(space, spaces.Dict | spaces.Tuple | spaces.Text) and space.is_np_flattenable:
        advice = "wrap it in gymnasium.wrappers.FlattenObservation"
    trouble = "which cannot be divided into regions"
    return DistinguoError(f"{name} observes {_kind(space)}, {trouble}; {_ALLOWED}; {advice}.")


def _kind(space: Any) -> str:
    return f"a {type(space).__name__}"


def _names(shape: tuple[int, ...]) -> tuple[str, ...]:
    places = product(*(range(length) for length in shape or (1,)))
    return tuple("o" + "_".join(map(str, place)) for place in places)


def _bounds(values: Any) -> tuple[float, ...]:
    bounds = np.asarray(values, dtype=np.float64).ravel().tolist()
    return tuple(math.copysign(math.inf, b) if abs(b) > ASTRONOMICAL else b for b in bounds)


def _continuous(space: spaces.Box, name: str) -> View:
    shape, dtype = space.shape, space.dtype
    if not math.prod(shape):
        raise DistinguoError(f"{name} observes a Box of shape {shape}, which is empty; give it a coordinate.")
    if math.prod(shape) > MOST_COORDINATES:
        raise DistinguoError(
            f"{name} observes {math.prod(shape):,} numbers; allowed are {MOST_COORDINATES:,}; wrap it in a "
            "gymnasium.ObservationWrapper that gives fewer."
        )
    names = _names(shape)

    def flatten(observation: Any) -> tuple[float, ...]:
        array = observation if type(observation) is np.ndarray else _array(observation)
        if array.dtype.char not in "fd":  # only these turn into exact Python floats directly
            array = _floats(array, observation, space, name)
        if array.shape != shape:
            raise MisfitError(name, f"changed its observation shape from {shape} to {array.shape}")
        values = tuple(array.ravel().tolist())
        if not sum(map(abs, values)) <= LARGEST:  # most are small: one sum is faster than many comparisons
            _check_numbers(values, names, name)
        return values

    def unflatten(values: Sequence[float]) -> Any:
        return np.array(values).astype(dtype).reshape(shape)

    return View(CONTINUOUS, names, _bounds(space.low), _bounds(space.high), flatten, unflatten)


def _array(observation: Any) -> np.ndarray:
    array: np.ndarray = attempt(np.asarray, observation, otherwise=np.asarray(None))
    return array


def _floats(array: np.ndarray, observation: Any, space: Any, name: str) -> np.ndarray:
    if array.dtype.kind not in "biuf":
        raise _wrong(observation, space, name)
    return array.astype(np.float64)


def _wrong(observation: Any, space: Any, name: str) -> MisfitError:
    what, kind = shown(observation, 60), type(observation).__name__
    return MisfitError(name, f"gave an observation that its space {space} does not hold: {what} ({kind})")


def _check_numbers(values: tuple[float, ...], names: tuple[str, ...], name: str) -> None:
    for coordinate, value in zip(names, values, strict=True):
        if not math.isfinite(value):
            raise MisfitError(name, f"gave an observation that is not finite: {coordinate} is {value}")
        if abs(value) > LARGEST:
            allowed = f"allowed are numbers up to {LARGEST:g}"
            raise MisfitError(name, f"gave an observation with {coordinate} = {value}; {allowed}")


def _ranges(space: Any) -> tuple[tuple[int, ...], np.ndarray, np.ndarray] | None:
    """Return the shape of categories and the least and greatest number of each; None for another space."""
    if isinstance(space, spaces.Discrete):
        return (), np.array([int(space.start)]), np.array([int(space.start) + int(space.n) - 1])
    if isinstance(space, spaces.MultiDiscrete):
        low = np.asarray(space.start).ravel()
        return space.shape, low, low + np.asarray(space.nvec).ravel().astype(np.int64) - 1
    if isinstance(space, spaces.MultiBinary):
        return space.shape, np.zeros(math.prod(space.shape), int), np.ones(math.prod(space.shape), int)
    if isinstance(space, spaces.Tuple) and all(isinstance(one, spaces.Discrete) for one in space.spaces):
        low = np.array([int(one.start) for one in space.spaces])  # type: ignore[attr-defined]
        return (len(low),), low, low + np.array([int(one.n) - 1 for one in space.spaces])  # type: ignore[attr-defined]
    return None


def _categories(space: Any, name: str, shape: tuple[int, ...], low: np.ndarray, high: np.ndarray) -> View:
    if not len(low):
        raise DistinguoError(f"{name} observes {space}, which is empty; give it a coordinate.")
    if max(abs(low).max(), abs(high).max()) > 2**53:  # a float does not hold every larger number
        raise DistinguoError(f"{name} observes {space}; allowed are numbers up to 2**53; number them from 0.")
    ranges = [range(a, b + 1) for a, b in zip(low.tolist(), high.tolist(), strict=True)]

    def flatten(observation: Any) -> tuple[float, ...]:
        array = _array(observation)
        if array.dtype.kind not in "biu":
            raise _wrong(observation, space, name)
        if array.shape != shape:
            raise MisfitError(name, f"changed its observation shape from {shape} to {array.shape}")
        numbers = array.ravel().tolist()
        for number, allowed in zip(numbers, ranges, strict=True):
            if number not in allowed:
                raise _wrong(observation, space, name)
        return tuple(map(float, numbers))

    def unflatten(values: Sequence[float]) -> Any:
        return _as_in(space, [int(value) for value in values])

    return View(CATEGORIES, _names(shape), _bounds(low), _bounds(high), flatten, unflatten)


def _as_in(space: Any, numbers: list[int]) -> Any:
    if isinstance(space, spaces.Discrete):
        return numbers[0]
    if isinstance(space, spaces.Tuple):
        return tuple(numbers)
    return np.array(numbers, dtype=space.dtype).reshape(space.shape)


# Wrappers: continuous actions in a few levels, and noisy actions.


MOST_COMBINATIONS = 1000


class DiscreteActions(gymnasium.ActionWrapper[Any, int, Any], RecordConstructorArgs):
    """Choose each coordinate of a continuous action from a few levels, evenly spaced between its bounds.

    With several coordinates the actions are all combinations; the last coordinate changes fastest. ``levels`` may
    also list the actions, each a number, or a row with a number per coordinate.

    >>> env = DiscreteActions(gymnasium.make("Pendulum-v1"), levels=5)
    >>> env.action_space
    Discrete(5)
    >>> [float(env.action(a)[0]) for a in range(5)]
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    >>> DiscreteActions(gymnasium.make("Pendulum-v1"), levels=[-2.0, 0.5]).action(1)
    array([0.5], dtype=float32)
    """

    def __init__(self, env: Any, levels: int | Sequence[Any] = 3) -> None:
        RecordConstructorArgs.__init__(self, levels=levels)
        super().__init__(env)
        if isinstance(levels, list | tuple):
            self.table = _listed(_box_of(env), levels)
        else:
            self.table = _combinations(_checked_box(env, levels), levels)
        self.action_space = spaces.Discrete(len(self.table))  # type: ignore[assignment]

    def action(self, action: int) -> Any:
        """Return the continuous action of this number."""
        return self.table[action].copy()  # the environment may change what it is given


class NoisyActions(gymnasium.ActionWrapper[Any, int, int], RecordConstructorArgs):
    """Replace an action, with the probability ``noise``, by a random one.

    >>> env = NoisyActions(gymnasium.make("CartPole-v1"), noise=1.0)
    >>> observation, info = env.reset(seed=1)
    >>> [env.action(0) for _ in range(6)]
    [1, 0, 1, 1, 1, 1]
    """

    def __init__(self, env: Any, noise: float = 0.1) -> None:
        RecordConstructorArgs.__init__(self, noise=noise)
        super().__init__(env)
        space = env.action_space
        if not isinstance(space, spaces.Discrete):
            raise DistinguoError(
                f"NoisyActions needs Discrete actions, got {space}; wrap it in DiscreteActions first."
            )
        if not isinstance(noise, int | float) or not 0.0 <= noise <= 1.0:
            raise DistinguoError(
                f"The noise of actions must be from 0 to 1, got {noise}; it is a probability."
            )
        self.noise = noise
        self.count, self.first = int(space.n), int(space.start)

    def action(self, action: int) -> int:
        """Return this action, or a random one."""
        if self.np_random.random() < self.noise:
            return self.first + int(self.np_random.integers(self.count))
        return action


def _box_of(env: Any) -> spaces.Box:
    box = env.action_space
    if not isinstance(box, spaces.Box):
        raise DistinguoError(
            f"DiscreteActions needs continuous actions, got {box}; leave the levels (task.levels) out."
        )
    return box


def _listed(box: spaces.Box, levels: Sequence[Any]) -> np.ndarray:
    """Return the actions of a list."""
    size = math.prod(box.shape)
    rows = attempt(
        lambda: np.array(levels, dtype=np.float64).reshape(len(levels), size), otherwise=np.zeros((0, 1))
    )
    inside = rows.size and (rows >= box.low.ravel()).all() and (rows <= box.high.ravel()).all()
    if not inside or not 2 <= len(rows) <= MOST_COMBINATIONS or len(np.unique(rows, axis=0)) < len(rows):
        raise DistinguoError(
            f"The levels of an action must be from 2 to {MOST_COMBINATIONS} different actions of {box}, got "
            f"{shown(levels)}."
        )
    return rows.reshape(len(rows), *box.shape).astype(box.dtype)


def _checked_box(env: Any, levels: Any) -> spaces.Box:
    """Return the action space if it can be divided into that many levels."""
    box = _box_of(env)
    if isinstance(levels, bool) or not isinstance(levels, int) or levels < 2:
        raise DistinguoError(f"The levels of an action must be a number from 2, got {levels!r}; try 3.")
    if not box.is_bounded():
        raise DistinguoError(
            f"Actions without bounds have no levels, got {box}; wrap it in gymnasium.wrappers.RescaleAction or "
            "another wrapper that gives bounds."
        )
    size = math.prod(box.shape)
    if levels**size > MOST_COMBINATIONS:
        raise DistinguoError(
            f"{levels} levels of {size} coordinates make {levels**size} actions; allowed are {MOST_COMBINATIONS}; "
            "choose fewer levels."
        )
    return box


def _combinations(box: spaces.Box, levels: Any) -> np.ndarray:
    low, high = box.low.astype(np.float64).ravel(), box.high.astype(np.float64).ravel()
    steps = np.arange(levels)[:, None]
    values = low + (high - low) * steps / (levels - 1)
    rows = np.array(list(product(*values.T))).reshape(levels ** len(low), *box.shape)
    return (rows if np.issubdtype(box.dtype, np.floating) else np.rint(rows)).astype(box.dtype)
