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
from distinguo.tasks.amounts import check_box
from distinguo.tasks.spec import CATEGORIES, CONTINUOUS, LARGEST, Amounts

#: Bounds beyond this are just the largest numbers of their type and say nothing about the task.
ASTRONOMICAL = 1e30
MOST_ACTIONS, MOST_COORDINATES = 10_000, 250_000
MOST_INDICATORS = (
    16  #: values of a label beside numbers that get a coordinate each; more are taken as a number
)
_ALLOWED = "allowed are Box, Discrete, MultiDiscrete, MultiBinary, and a Dict or Tuple with one of them"


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
    unflatten: Callable[[Sequence[float]], Any]  #: and back; what was left out is None
    left_out: tuple[str, ...] = ()  #: parts of the observation that are not numbers
    has_parts: bool = False  #: whether an observation is a Dict or Tuple with parts of several kinds


class Choices(NamedTuple):
    """The actions of an environment: ``number`` whole numbers from ``first``, or amounts in a box.

    >>> Choices(3, first=1).sent(2), Choices(0, 0, spaces.Box(-1, 1, (2,))).sent((0.5, -0.5)).tolist()
    (3, [0.5, -0.5])
    """

    number: int
    first: int
    box: Any = None  #: of amounts; None where actions are whole numbers

    def sent(self, a: Any) -> Any:
        """An action as the environment takes it."""
        if self.box is None:
            return a + self.first
        return np.array(a, dtype=np.float64).astype(self.box.dtype).reshape(self.box.shape)

    def drawn(self, rng: np.random.Generator, count: int) -> list[Any]:
        """Some random actions."""
        if self.box is None:
            return list(rng.integers(self.number, size=count).tolist())
        low, high = self.sides
        return [tuple(row) for row in rng.uniform(low, high, (count, len(low))).tolist()]

    @property
    def sides(self) -> tuple[list[float], list[float]]:
        """The least and the greatest of each amount."""
        low, high = (side.astype(np.float64).ravel().tolist() for side in (self.box.low, self.box.high))
        return low, high


def view_of(space: Any, name: str) -> View:
    """How observations from this space are read; ``name`` is the environment's, for messages.

    >>> view_of(spaces.Box(-1, np.inf, shape=(2, 2)), "Grid-v0").names
    ('o0_0', 'o0_1', 'o1_0', 'o1_1')
    >>> robot = spaces.Dict(arm=spaces.Box(-1, 1, (2,)), gripper=spaces.Discrete(3), task=spaces.Text(9))
    >>> view = view_of(robot, "Robot-v0")
    >>> view.names, view.left_out
    (('arm_0', 'arm_1', 'gripper_0', 'gripper_1', 'gripper_2'), ('task (a Text)',))
    >>> view.flatten({"arm": np.array([0.5, -1.0], np.float32), "gripper": 1, "task": "lift"})
    (0.5, -1.0, 0.0, 1.0, 0.0)
    """
    if isinstance(space, spaces.Box):
        return _continuous(space, name)
    ranges = _ranges(space)
    if ranges is not None:
        return _categories(space, name, *ranges)
    if isinstance(space, spaces.Dict | spaces.Tuple):
        return _composite(space, name)
    raise _unreadable(space, name)


def box_choices(space: spaces.Box, name: str) -> Choices:
    """Return the actions of a box as amounts."""
    if not np.issubdtype(space.dtype, np.floating):
        raise DistinguoError(
            f"{name} has actions {space}, which are whole numbers and no amounts; give task.levels."
        )
    choices = Choices(0, 0, space)
    low, high = choices.sides
    check_box(Amounts(tuple(low), tuple(high), _names(space.shape)), f"The actions of {name}")
    return choices


def choices_of(space: Any, name: str) -> Choices:
    """Return the actions of this space, which must be a Discrete one.

    >>> choices_of(spaces.Discrete(3, start=-1), "Lift-v0")
    Choices(number=3, first=-1, box=None)
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
    if isinstance(space, spaces.Text):
        advice = "wrap it in gymnasium.wrappers.FlattenObservation"
    trouble = "which cannot be divided into regions"
    return DistinguoError(f"{name} observes {_kind(space)}, {trouble}; {_ALLOWED}; {advice}.")


def _too_many(name: str, count: int) -> DistinguoError:
    return DistinguoError(
        f"{name} observes {count:,} numbers; allowed are {MOST_COORDINATES:,}; reduce an image "
        "by --features pool, or wrap it in a gymnasium.ObservationWrapper that gives fewer."
    )


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
        raise _too_many(name, math.prod(shape))
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


# Observations of several parts. Numbers stay numbers. A label beside numbers has a coordinate, 1 or 0, for each of
# its values, so that any two values are equally far apart; one with very many is taken as a number. If all parts are
# labels, the observation is one of labels. Parts that are not numbers, such as texts, are left out.


class _Part(NamedTuple):
    """A part of an observation: where it is, how it is read, and the values of labels that get a coordinate each."""

    path: tuple[Any, ...]
    view: View
    codes: tuple[range | None, ...]

    @property
    def coordinates(self) -> list[tuple[str, float, float]]:
        """The name of each coordinate and its bounds."""
        head, own = "_".join(map(str, self.path)), self.view.names
        names = [head] if len(own) == 1 else [f"{head}_{name.removeprefix('o')}" for name in own]
        found = []
        for name, low, high, code in zip(names, self.view.low, self.view.high, self.codes, strict=True):
            found += [(name, low, high)] if code is None else [(f"{name}_{one}", 0.0, 1.0) for one in code]
        return found

    def encoded(self, observation: Any) -> list[float]:
        """The coordinates of this part of an observation."""
        found: list[float] = []
        for value, code in zip(self.view.flatten(observation), self.codes, strict=True):
            found += [value] if code is None else [float(value == one) for one in code]
        return found

    def decoded(self, values: Sequence[float]) -> Any:
        """This part of an observation from its coordinates."""
        rest, found = list(values), []
        for code in self.codes:
            count = 1 if code is None else len(code)
            own, rest = rest[:count], rest[count:]
            found.append(own[0] if code is None else float(code[int(np.argmax(own))]))
        return self.view.unflatten(found)


def _composite(space: Any, name: str) -> View:
    views = [(path, _readable(inner, name), inner) for path, inner in _leaves(space)]
    left_out = [f"{'_'.join(map(str, path))} ({_kind(inner)})" for path, view, inner in views if view is None]
    known = [(path, view) for path, view, _ in views if view is not None]
    if not known:
        raise _unreadable(space, name)
    only_labels = all(view.kind == CATEGORIES for _, view in known)
    parts = [_Part(path, view, _codes(view, only_labels)) for path, view in known]
    coordinates = [coordinate for part in parts for coordinate in part.coordinates]
    if len(coordinates) > MOST_COORDINATES:
        raise _too_many(name, len(coordinates))

    def flatten(observation: Any) -> tuple[float, ...]:
        return tuple(
            number for part in parts for number in part.encoded(_at(observation, part.path, space, name))
        )

    def unflatten(values: Sequence[float]) -> Any:
        rest, found = list(values), {}
        for part in parts:
            count = len(part.coordinates)
            found[part.path], rest = part.decoded(rest[:count]), rest[count:]
        return _rebuilt(space, (), found)

    names, low, high = zip(*coordinates, strict=True)
    kind = CATEGORIES if only_labels else CONTINUOUS
    return View(kind, names, low, high, flatten, unflatten, tuple(left_out), has_parts=True)


def _leaves(space: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """The parts of a space that have no parts of their own, with their places."""
    if isinstance(space, spaces.Dict):
        return [leaf for key, inner in space.spaces.items() for leaf in _leaves(inner, (*path, key))]
    if isinstance(space, spaces.Tuple):
        return [leaf for n, inner in enumerate(space.spaces) for leaf in _leaves(inner, (*path, n))]
    return [(path, space)]


def _readable(space: Any, name: str) -> View | None:
    """How a part is read; None if it is not made of numbers."""
    if isinstance(space, spaces.Box):
        return _continuous(space, name) if math.prod(space.shape) else None
    ranges = _ranges(space)
    return None if ranges is None or not len(ranges[1]) else _categories(space, name, *ranges)


def _codes(view: View, only_labels: bool) -> tuple[range | None, ...]:
    """The values of each label that get a coordinate each: none for a yes or no, nor where all is labels."""
    if view.kind != CATEGORIES or only_labels:
        return (None,) * len(view.names)
    sides = [range(int(a), int(b) + 1) for a, b in zip(view.low, view.high, strict=True)]
    return tuple(side if 2 < len(side) <= MOST_INDICATORS else None for side in sides)


def _at(observation: Any, path: tuple[Any, ...], space: Any, name: str) -> Any:
    """The part of an observation at a place."""
    try:
        for key in path:
            observation = observation[key]
    except (KeyError, IndexError, TypeError):
        raise _wrong(observation, space, name) from None
    return observation


def _rebuilt(space: Any, path: tuple[Any, ...], found: dict[tuple[Any, ...], Any]) -> Any:
    if isinstance(space, spaces.Dict):
        return {key: _rebuilt(inner, (*path, key), found) for key, inner in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(_rebuilt(inner, (*path, n), found) for n, inner in enumerate(space.spaces))
    return found.get(path)


# Wrappers: several actions at once as one number, continuous actions in a few levels, and noisy actions.


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
        self.levels = levels
        if isinstance(levels, list | tuple):
            self.table = _listed(_box_of(env), levels)
        else:
            self.table = _combinations(_checked_box(env, levels), levels)
        self.action_space = spaces.Discrete(len(self.table))  # type: ignore[assignment]

    def action(self, action: int) -> Any:
        """Return the continuous action of this number."""
        return self.table[action].copy()  # the environment may change what it is given


USUAL_LEVELS, USUAL_ACTIONS = (
    (5, 3, 2),
    27,
)  #: levels of a continuous action, and the most actions they may make


def usual_levels(box: spaces.Box) -> int | list[list[float]]:
    """The levels of continuous actions where none are given: up to five of each coordinate, 27 actions in all.

    If even two of each are too many, the actions are nothing, and each coordinate alone at its bounds.

    >>> [usual_levels(spaces.Box(-1, 1, (size,))) for size in (1, 2, 3, 4)]
    [5, 5, 3, 2]
    >>> len(usual_levels(spaces.Box(-1, 1, (6,)))), usual_levels(spaces.Box(-1, 1, (6,)))[1]
    (13, [-1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    """
    size = math.prod(box.shape)
    for levels in USUAL_LEVELS:
        if levels**size <= USUAL_ACTIONS or not box.is_bounded():
            return levels
    low, high = box.low.astype(np.float64).ravel(), box.high.astype(np.float64).ravel()
    rest = np.clip(0.0, low, high)
    rows = [rest]
    for place in range(size):
        rows += [np.where(np.arange(size) == place, bound, rest) for bound in (low, high)]
    return [list(row) for row in dict.fromkeys(tuple(row.tolist()) for row in rows)]  # each once


class NumberedActions(gymnasium.ActionWrapper[Any, int, Any], RecordConstructorArgs):
    """Number all combinations of several choices that are made at once; the last choice changes fastest.

    >>> class Arcade(gymnasium.Env):
    ...     observation_space, action_space = spaces.Discrete(2), spaces.MultiDiscrete([2, 3])
    >>> env = NumberedActions(Arcade())
    >>> env.action_space, env.action(4)
    (Discrete(6), array([1, 1]))
    """

    def __init__(self, env: Any) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        self.inner = env.action_space
        self.choices = numbered_choices(self.inner) or []
        count = math.prod(map(len, self.choices))
        if not self.choices or count > MOST_COMBINATIONS:
            raise DistinguoError(
                f"{self.inner} has {count:,} combinations of actions; allowed are 1 to {MOST_COMBINATIONS:,}; wrap "
                "it in a gymnasium.ActionWrapper that offers fewer."
            )
        self.action_space = spaces.Discrete(count)  # type: ignore[assignment]

    def action(self, action: int) -> Any:
        """Return the choices of this number."""
        numbers = []
        for choice in reversed(self.choices):
            action, n = divmod(action, len(choice))
            numbers.append(choice[n])
        return _as_in(self.inner, numbers[::-1])


def numbered_choices(space: Any) -> list[range] | None:
    """What can be chosen at once in a space of several choices; None for another space.

    >>> numbered_choices(spaces.MultiBinary(2)), numbered_choices(spaces.Discrete(4))
    ([range(0, 2), range(0, 2)], None)
    """
    ranges = None if isinstance(space, spaces.Discrete) else _ranges(space)
    if ranges is None:
        return None
    _, low, high = ranges
    return [range(a, b + 1) for a, b in zip(low.tolist(), high.tolist(), strict=True)]


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
            f'Actions without bounds have no levels, got {box}; list the actions: --set task.levels="[-1, 0, 1]", or '
            "a row with a number per coordinate for each."
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
