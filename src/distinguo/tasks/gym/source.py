"""Where an environment comes from: an id with arguments, or an object."""

from __future__ import annotations

import copy
import importlib
import math
import random
import re
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

import gymnasium
import numpy as np
from gymnasium.error import DependencyNotInstalled

from distinguo.errors import DistinguoError, attempt, call_user_code, did_you_mean, reason_of, shown
from distinguo.tasks.gym.images import ReducedObservation
from distinguo.tasks.gym.snapshots import StepResult
from distinguo.tasks.gym.spaces import (
    Choices,
    DiscreteActions,
    MisfitError,
    NumberedActions,
    View,
    box_choices,
    choices_of,
    numbered_choices,
    usual_levels,
    view_of,
)
from distinguo.tasks.spec import LARGEST

PATIENT_SECONDS = 30.0  #: that an environment may take for a step before a notice names the step

#: Arguments that are for us and not for the environment.
OURS = LEVELS, LIMIT, PROBE, RESTORE, FEATURES = "levels", "max_episode_steps", "probe", "restore", "features"
OF_OBJECTS = (LEVELS, PROBE, RESTORE, FEATURES)  #: those that an existing environment takes, too
RENDERING = "render_mode"
AMOUNTS = 0  #: the levels of actions that are taken as amounts


#: Mean returns that solve tasks without a threshold of their own: the best possible, where that is certain.
THRESHOLDS = {"CliffWalking-v1": -13.0}  # the shortest path around the cliff


class Source(NamedTuple):
    """What an environment is made from, and what Gymnasium says about it."""

    name: str
    env: Any = None  #: the object, where it is not made from its id
    arguments: Mapping[str, Any] = {}
    limit: int | None = None  #: its time limit
    threshold: float | None = None  #: the mean return that solves it
    was_given: bool = False  #: whether it was an object of which only the name is left
    maker: Callable[[], Any] | None = None  #: makes another object like it

    @property
    def is_lost(self) -> bool:
        """Whether the environment has to be handed in to be stepped."""
        return self.was_given and self.env is None

    @property
    def is_of_amounts(self) -> bool:
        """Whether its actions are taken as amounts, and not in levels."""
        levels = self.arguments.get(LEVELS)
        return levels == AMOUNTS and type(levels) is int

    @property
    def is_probed(self) -> bool:
        """Whether the environment is tried before it is used."""
        return bool(self.arguments.get(PROBE, True))

    @property
    def is_restored(self) -> bool:
        """Whether its earlier states may be restored."""
        return bool(self.arguments.get(RESTORE, True))

    @property
    def is_repeatable(self) -> bool:
        """Whether Gymnasium promises that a seed and actions repeat a trial."""
        spec = (
            registered_spec(self.name)
            if self.env is None
            else attempt(getattr, self.env, "spec", otherwise=None)
        )
        return not getattr(spec, "nondeterministic", False)

    def make(self) -> Any:
        """Return the environment; one made from its id has no time limit."""
        return self.settled()[1]

    def settled(self) -> tuple[Source, Any]:
        """Return the environment, and the source with the levels of its actions, where they were not given."""
        env = self._reduced()
        space = attempt(getattr, env, "action_space", otherwise=None)
        if self.is_of_amounts:
            if not isinstance(space, gymnasium.spaces.Box):
                raise DistinguoError(
                    f"task.levels = {AMOUNTS} asks for amounts, but {self.name} has the actions {space}; leave it "
                    "out."
                )
            return self, env
        if LEVELS in self.arguments:
            return self, DiscreteActions(env, self.arguments[LEVELS])
        if isinstance(space, gymnasium.spaces.Box):
            levels = usual_levels(space)
            return self._replace(arguments={**self.arguments, LEVELS: levels}), DiscreteActions(env, levels)
        return self, _numbered(env)

    def with_amounts(self) -> Any:
        """The environment with its continuous actions as they are."""
        return _numbered(self._reduced())

    def _reduced(self) -> Any:
        if self.is_lost:
            raise absence(self.name)
        own = {key: value for key, value in self.arguments.items() if key not in OURS}
        env = _made(self.name, own) if self.env is None else self.env
        return ReducedObservation(env, self.arguments[FEATURES]) if FEATURES in self.arguments else env

    def again(self, copies: bool = False) -> tuple[Source, bool]:
        """Return a source of an equal environment, and whether that is another object.

        An object is copied only if ``copies`` are known to be harmless; else the environment is shared.
        """
        if self.env is None:
            return self, True
        how = self.maker or (partial(copy.deepcopy, self.env) if copies else lambda: None)
        another = attempt(how, otherwise=None)
        return (self, False) if another is None else (self._replace(env=another), True)

    def spare(self) -> Spare | None:
        """Make a second environment to try things on: anew, or a copy of plain data, which runs no foreign code."""
        unseen = {key: value for key, value in self.arguments.items() if key != RENDERING}
        if self.env is None:
            return Spare(self._replace(arguments=unseen).make(), True)
        if self.maker is not None:
            return Spare(self._replace(env=self.maker()).make(), True)
        copied = attempt(copy.deepcopy, self.env, otherwise=None) if holds_plain_data(self.env) else None
        if copied is not None:  # not if it holds a lock
            return Spare(self._replace(env=copied).make(), False)
        spec = self.env.spec
        return None if spec is None else Spare(self._replace(env=gymnasium.make(_unseen(spec))).make(), True)


def _numbered(env: Any) -> Any:
    """The environment, with one number for several choices at once."""
    space = attempt(getattr, env, "action_space", otherwise=None)
    return env if numbered_choices(space) is None else NumberedActions(env)


class Spare(NamedTuple):
    """A second environment."""

    env: Any
    foreign: bool  #: whether the environment's own code made it


def _unseen(spec: Any) -> Any:
    """The specification without a window."""
    spec = copy.deepcopy(spec)
    spec.kwargs.pop(RENDERING, None)
    return spec


_VALUES = (int, float, complex, str, bytes, range, type, np.generic, np.dtype, Enum, type(None))
_GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
_CONTAINERS = (list, tuple, set, frozenset, dict, deque)
#: Methods that run when an object is copied or dropped.
_HOOKS = ("__del__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__")


def holds_plain_data(thing: Any) -> bool:
    """Whether an object holds only numbers, texts, arrays, generators and plain objects of these.

    To copy or to drop such an object runs no code of its own, and its copy shares nothing with it. A function within
    another one is no plain data: in a copy it would still belong to the original.

    >>> holds_plain_data(gymnasium.make("CartPole-v1")), holds_plain_data({"noise": lambda: _HOOKS})
    (True, False)
    """
    seen: dict[int, Any] = {}
    left = [thing]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, (*_VALUES, *_GENERATORS)):
            continue
        seen[id(one)] = one  # kept, so that no other gets its number
        if isinstance(one, np.ndarray):
            left += one.ravel().tolist() if one.dtype.hasobject else []
        elif _has_hooks(type(one)):
            return False
        elif isinstance(one, _CONTAINERS):
            left += [*one.keys(), *one.values()] if isinstance(one, dict) else one
            left += [getattr(one, "__dict__", None)]
        elif isinstance(one, gymnasium.spaces.Space) or _is_made_plainly(type(one)):
            left += [getattr(one, "__dict__", None), *_slots_of(one)]
        else:
            return False
    return True


def _is_made_plainly(kind: Any) -> bool:
    """Whether a class is written in Python: one of an extension module makes its objects itself."""
    return bool(kind.__new__ is object.__new__)


def _has_hooks(kind: type) -> bool:
    """Whether a class has methods of its own that run when it is copied or dropped; those of spaces are known."""
    for name in _HOOKS:
        owner = next((one for one in kind.__mro__ if name in vars(one)), object)
        known = owner is object or owner in _CONTAINERS or owner.__module__.startswith("gymnasium.spaces.")
        if not known and not (kind is deque and owner is deque):
            return True
    return False


def _slots_of(thing: Any) -> list[Any]:
    names = [name for kind in type(thing).__mro__ for name in vars(kind).get("__slots__", ())]
    return [getattr(thing, name, None) for name in names if name not in ("__dict__", "__weakref__")]


#: Wrappers of a vector of environments that change nothing of a step.
HARMLESS = ("HumanRendering", "RecordEpisodeStatistics", "RecordVideo")
#: Wrappers that ``gymnasium.make`` adds itself.
USUAL = ("OrderEnforcing", "PassiveEnvChecker", "TimeLimit")


def one_of_vector(task: Any) -> Any:
    """The task of a vector of environments: an id or one environment; anything else is returned as it is.

    A new environment is made. So the copies of the vector are left as they are, and it does not matter how it resets
    them at the end of a trial. If the copies differ, each trial takes place in one of them, as its seed says.

    >>> one_of_vector(gymnasium.make_vec("CartPole-v1", num_envs=3, vectorization_mode="sync"))
    'CartPole-v1'
    >>> make = lambda: gymnasium.make("CartPole-v1", sutton_barto_reward=True)
    >>> one_of_vector(gymnasium.vector.SyncVectorEnv([make, make]))
    <TimeLimit<OrderEnforcing<PassiveEnvChecker<CartPoleEnv<CartPole-v1>>>>>
    """
    if not isinstance(task, gymnasium.vector.VectorEnv):
        return task
    inner = task
    while isinstance(inner, gymnasium.vector.VectorWrapper):
        name = type(inner).__name__
        if name not in HARMLESS:
            raise DistinguoError(
                f"The vector of environments is wrapped in {name}, which may change what they observe or gain; wrap "
                "each environment instead, as in gymnasium.make_vec(id, wrappers=[…])."
            )
        inner = inner.env
    makers, spec = getattr(inner, "env_fns", None), inner.spec
    if makers:
        different = {_maker_key(one): one for one in makers}
        envs = [call_user_code("A function that makes an environment", one) for one in different.values()]
    elif spec is not None and spec.entry_point is not None:
        own = {
            key: value for key, value in spec.kwargs.items() if key not in ("num_envs", "vectorization_mode")
        }
        envs = [gymnasium.make(spec.id, **own)]
    else:
        raise DistinguoError(
            f"{type(inner).__name__} is a vector of environments with neither functions that make them (env_fns) nor "
            "an id (spec); hand one environment over instead."
        )
    return _plain_id(envs[0]) or envs[0] if len(envs) == 1 else OneOfSeveral(envs)


def _maker_key(maker: Any) -> Any:
    """Equal for functions that make equal environments, as far as that can be seen."""
    closure = tuple(cell.cell_contents for cell in getattr(maker, "__closure__", None) or ())
    key = (getattr(maker, "__code__", maker), closure, getattr(maker, "__defaults__", None))
    return attempt(lambda: (hash(key), key)[1], otherwise=id(maker))


def _plain_id(env: Any) -> str:
    """The id of an environment that ``gymnasium.make`` makes from its id alone; empty for any other."""
    spec, inner = attempt(getattr, env, "spec", otherwise=None), env
    while isinstance(inner, gymnasium.Wrapper):
        if type(inner).__name__ not in USUAL:
            return ""
        inner = inner.env
    known = None if spec is None else gymnasium.registry.get(spec.id)
    if known is None or spec.entry_point != known.entry_point or dict(spec.kwargs) != dict(known.kwargs):
        return ""
    return str(spec.id) if spec.max_episode_steps == known.max_episode_steps else ""


class OneOfSeveral(gymnasium.Env[Any, Any]):
    """Several environments of the same spaces; the seed of a trial chooses in which one it takes place."""

    def __init__(self, envs: Sequence[Any]) -> None:
        self.envs, self._now = list(envs), 0
        self.observation_space, self.action_space = envs[0].observation_space, envs[0].action_space
        self.spec = envs[0].spec

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin a trial in the environment that the seed chooses; without a seed, in the next one."""
        self._now = (self._now + 1 if seed is None else seed) % len(self.envs)
        return self.envs[self._now].reset(seed=seed, options=options)

    def step(self, action: Any) -> Any:
        """Take a step."""
        return self.envs[self._now].step(action)

    def close(self) -> None:
        """Close all of them."""
        for env in self.envs:
            env.close()


def absence(name: str) -> DistinguoError:
    """Return the error for a step of an environment object that is not there."""
    return DistinguoError(
        f"{name} was learned from an environment object, which cannot be made from its name; hand in an equal one: "
        "open_run(path, task=env), or --task path/to/file.py:Class."
    )


def source_of(origin: Any, arguments: Mapping[str, Any], maker: Callable[[], Any] | None = None) -> Source:
    """Describe where an environment comes from: its id, or the environment itself and what made it.

    >>> source_of("CartPole-v1", {}).limit
    500
    >>> source_of("CartPoole-v1", {})
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown environment 'CartPoole-v1'; did you mean 'CartPole-v1'?
    """
    for key in (PROBE, RESTORE):
        if not isinstance(arguments.get(key, True), bool):
            raise DistinguoError(f"task.{key} should be true or false, got {shown(arguments[key])}.")
    if isinstance(origin, str):
        spec = registered_spec(origin, may_import=True)
        limit = _limit(arguments.get(LIMIT, spec.max_episode_steps), origin)
        return Source(origin, None, dict(arguments), limit, _threshold(spec))
    if not isinstance(origin, gymnasium.Env):
        raise DistinguoError(
            f"A task must be an id such as 'CartPole-v1', a gymnasium.Env or a class with @task, got "
            f"{type(origin).__name__}; make one."
        )
    return _source_of_object(origin, arguments, maker)


def _source_of_object(
    env: Any, arguments: Mapping[str, Any], maker: Callable[[], Any] | None = None
) -> Source:
    unknown = sorted(set(arguments).difference(OF_OBJECTS))
    if unknown:
        raise DistinguoError(
            f"An existing environment takes no '{unknown[0]}', only {', '.join(OF_OBJECTS)}; give it to "
            "gymnasium.make instead."
        )
    spec = attempt(getattr, env, "spec", otherwise=None)
    if spec is None:
        inner = attempt(getattr, env, "unwrapped", otherwise=env)
        return Source(type(inner).__name__, env, dict(arguments), maker=maker)
    return Source(spec.id, env, dict(arguments), spec.max_episode_steps, _threshold(spec), maker=maker)


def _limit(limit: Any, name: str) -> int | None:
    if limit is None or limit == -1:
        return None
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise DistinguoError(f"{LIMIT} of {name} must be a number from 1, got {limit!r}; leave it out.")
    return limit


def registered_spec(identifier: str, may_import: bool = False) -> Any:
    """Gymnasium's specification of an id; it may begin with a module, as in ``"package:Name-v0"``.

    That module is only imported if a user named the id: no file may cause an import.
    """
    module, _, name = identifier.rpartition(":")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            if module and may_import:
                _import(module, identifier)
            return gymnasium.spec(name)
    except ImportError as error:
        raise _lacking(identifier, error) from error
    except gymnasium.error.Error:
        near = did_you_mean(identifier, gymnasium.registry)
        hint = (
            near
            if near.startswith("did")
            else "take an id that Gymnasium knows, or hand the environment over."
        )
        if module and module not in sys.modules:
            hint = f"import {module} first, or name the task yourself: --task {identifier}."
        raise DistinguoError(f"Unknown environment '{identifier}'; {hint}") from None


def _import(module: str, identifier: str) -> None:
    """Import the module that registers an id; whatever it raises but a lack is one sentence."""
    try:
        importlib.import_module(module)
    except (ImportError, KeyboardInterrupt):
        raise
    except BaseException as error:
        advice = remedy(error, f"import {module} in Python to see where, and fix it")
        raise DistinguoError(
            f"{identifier}: importing {module} failed ({reason_of(error)}); {advice}."
        ) from error


def _made(identifier: str, arguments: Mapping[str, Any]) -> Any:
    name = registered_spec(identifier).id  # without the module, which Gymnasium would import
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of the packages that it imports
            # -1 leaves the time limit out; we check the environment ourselves
            return gymnasium.make(name, max_episode_steps=-1, disable_env_checker=True, **arguments)
    except (DependencyNotInstalled, ImportError) as error:
        raise _lacking(identifier, error) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        given = f" with {dict(arguments)}" if arguments else ""
        raise DistinguoError(
            f"{identifier} could not be made{given}: {reason_of(error)}; {remedy(error, 'check its arguments')}."
        ) from error


_DISPLAY = re.compile(r"display|video (device|driver|system)|x server|glfw|opengl|egl\b", re.IGNORECASE)


def remedy(error: BaseException, otherwise: str) -> str:
    """What to do about an error: an environment may ask for a screen where there is none.

    >>> remedy(RuntimeError("No available video device"), "fix it")
    'it asks for a display: leave out render_mode="human", or put xvfb-run before the command'
    """
    if not _DISPLAY.search(reason_of(error)):
        return otherwise
    return 'it asks for a display: leave out render_mode="human", or put xvfb-run before the command'


def _lacking(identifier: str, error: Exception) -> DistinguoError:
    commands = re.findall(r"pip install [^`'\n]+?(?=[`'\n]|$)", str(error))
    missing = getattr(error, "name", None)
    if missing and Path(f"{missing}.py").is_file():
        return DistinguoError(
            f"{identifier} needs {missing}, which is a file of this folder, where modules are not looked for; name "
            f"its class, {missing}.py:Class, or run: PYTHONPATH=. distinguo learn {identifier}"
        )
    command = " and ".join(commands) or (
        f"pip install {missing}" if missing else 'pip install "gymnasium[all]"'
    )
    what = missing or str(error).split(",")[0].split(" is ")[0]
    return DistinguoError(f"{identifier} needs {what}, which is not installed; run: {command}")


def _threshold(spec: Any) -> float | None:
    """Return the mean return that solves an environment, if one is known."""
    return THRESHOLDS.get(spec.id) if spec.reward_threshold is None else spec.reward_threshold


# An environment whose every answer is checked; errors are one sentence, with trial and step.


class StepPlace(NamedTuple):
    """A place in a trial: a step, or a step of a look-ahead from there.

    >>> print(StepPlace(3, 17), StepPlace(3, 17, 2), sep=", ")
    in trial 3 at step 17, in a look-ahead from trial 3, step 17, at its step 2
    """

    trial: int
    step: int
    ahead: int = 0

    def __str__(self) -> str:
        if self.ahead:
            return f"in a look-ahead from trial {self.trial}, step {self.step}, at its step {self.ahead}"
        return f"in trial {self.trial} at step {self.step}"


class _Waiting:
    """A thread that says where an environment is that does not answer; nobody can stop it but Ctrl-C."""

    watched: ClassVar[WeakSet[CheckedEnv]] = WeakSet()
    thread: threading.Thread | None = None

    @classmethod
    def watch(cls, env: CheckedEnv) -> None:
        cls.watched.add(env)
        if cls.thread is None or not cls.thread.is_alive():  # it does not live on in a forked process
            cls.thread = threading.Thread(target=cls.look, name="waiting", daemon=True)
            cls.thread.start()

    @classmethod
    def look(cls) -> None:
        since: WeakKeyDictionary[CheckedEnv, tuple[Any, float]] = WeakKeyDictionary()
        while True:
            time.sleep(min(1.0, PATIENT_SECONDS / 2))
            env: CheckedEnv | None = None
            for env in attempt(list, cls.watched, otherwise=[]):  # another thread may add one meanwhile
                busy, (before, began) = env.busy, since.get(env, (None, 0.0))
                if busy is None or busy is not before:
                    since[env] = (busy, time.monotonic())
                elif time.monotonic() - began > PATIENT_SECONDS:
                    since[env] = (busy, math.inf)  # once
                    warnings.warn(
                        f"{env.name} has not answered for {PATIENT_SECONDS:g} s, {StepPlace(*busy)}; still waiting. "
                        "Ctrl-C stops; what was saved before is kept.",
                        stacklevel=1,
                    )
            del env  # not to keep it alive


class CheckedEnv:
    """An environment with its name, the view of its observations and its actions."""

    def __init__(self, env: Any, name: str, amounts: bool = False) -> None:
        self.env, self.name = env, name
        self.first_env = env  #: the environment itself, if a copy takes its place
        self.busy: tuple[int, int, int] | None = (
            None  #: trial, step and step of a look-ahead that it works on
        )
        _Waiting.watch(self)
        try:
            seen, acted = env.observation_space, env.action_space
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            words = f"{name} failed to give its spaces ({reason_of(error)}); fix the environment."
            raise DistinguoError(words) from error
        self.view: View = view_of(seen, name)
        is_box = isinstance(acted, gymnasium.spaces.Box) and amounts
        self.choices: Choices = (box_choices if is_box else choices_of)(acted, name)

    def reset(self, seed: int, trial: int) -> tuple[float, ...]:
        """Begin a trial, and return what is observed."""
        place = (trial, 0)
        self.busy = (trial, 0, 0)
        try:
            answer = self.env.reset(seed=seed)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit, too: the environment ends, not the program
            raise self.raised(error, *place) from error
        finally:
            self.busy = None
        parts = attempt(tuple, answer, otherwise=())
        if len(parts) != 2 or not isinstance(parts[1], Mapping):
            words = f"reset to {shown(answer)}; allowed is a pair, the observation and a dictionary"
            raise self.fault(words, *place)
        return self._flat(parts[0], *place)

    def step(self, a: Any, trial: int, step: int, ahead: int = 0) -> StepResult:
        """Take action ``a``; the other numbers are for messages."""
        self.busy = (trial, step, ahead)
        try:
            answer = self.env.step(self.choices.sent(a))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise self.raised(error, trial, step, ahead) from error
        finally:
            self.busy = None
        parts = answer if type(answer) is tuple else attempt(tuple, answer, otherwise=())
        if len(parts) != 5 or not isinstance(parts[4], Mapping):
            words = f"returned {shown(answer)} from step; allowed are five values, as Gymnasium 1.0 has them"
            raise self.fault(words, trial, step, ahead)
        observation, reward, terminated, truncated, _ = parts
        if type(reward) is not float or not -LARGEST <= reward <= LARGEST:
            reward = self._amount(reward, trial, step, ahead)
        if terminated is not True and terminated is not False:
            terminated = self._truth("terminated", terminated, trial, step, ahead)
        if truncated is not True and truncated is not False:
            truncated = self._truth("truncated", truncated, trial, step, ahead)
        return self._flat(observation, trial, step, ahead), reward, terminated, truncated

    def _flat(self, observation: Any, trial: int, step: int, ahead: int = 0) -> tuple[float, ...]:
        try:
            return self.view.flatten(observation)
        except MisfitError as misfit:
            raise self.fault(misfit.words, trial, step, ahead) from None

    def _amount(self, reward: Any, *place: int) -> float:
        """Return a reward as a float."""
        amount = number_of(reward)
        if math.isnan(amount) and np.size(attempt(np.asarray, reward, otherwise=0.0)) > 1:
            advice = (
                "allowed is one: add them up in a file of yours, as "
                "gymnasium.wrappers.TransformReward(env, lambda r: float(r @ weights)) does"
            )
            raise self.fault(f"gave several rewards at once, {shown(reward)}", *place, advice=advice)
        if not math.isfinite(amount):
            raise self.fault(f"gave the reward {shown(reward)}, which is not a finite number", *place)
        if abs(amount) > LARGEST:
            words = f"gave the reward {shown(reward)}; allowed are numbers up to {LARGEST:g}"
            raise self.fault(words, *place)
        return amount

    def _truth(self, name: str, answer: Any, *place: int) -> bool:
        """The answer as a bool; NumPy's booleans, 0 and 1 are accepted."""
        number = number_of(answer)
        if number not in (0.0, 1.0):
            raise self.fault(f"answered {shown(answer)} for {name}; allowed are True and False", *place)
        return number == 1.0

    def fault(
        self, words: str, trial: int, step: int, ahead: int = 0, *, advice: str = "fix the environment"
    ) -> DistinguoError:
        """Return the error for a fault of the environment."""
        return DistinguoError(f"{self.name} {words}, {StepPlace(trial, step, ahead)}; {advice}.")

    def raised(self, error: BaseException, trial: int, step: int, ahead: int = 0) -> DistinguoError:
        """Return the error for an exception."""
        return self.fault(
            f"failed ({reason_of(error)})", trial, step, ahead, advice=remedy(error, "fix the environment")
        )


def number_of(value: Any) -> float:
    """Return a number of any kind, or an array of one number, as a float; NaN for anything else.

    >>> number_of(np.array([2])), number_of("2"), number_of(10**400)
    (2.0, nan, nan)
    """
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if isinstance(value, str | bytes | np.ndarray | np.complexfloating):
        return math.nan
    amount = attempt(float, value, otherwise=math.nan)
    return amount if type(amount) is float else math.nan
