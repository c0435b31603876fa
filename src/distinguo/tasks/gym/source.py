"""Where an environment comes from: an id with arguments, or an object."""

from __future__ import annotations

import copy
import importlib
import math
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.error import DependencyNotInstalled

from distinguo.errors import DistinguoError, attempt, call_user_code, did_you_mean, reason_of, shown
from distinguo.tasks.gym.snapshots import StepResult
from distinguo.tasks.gym.spaces import (
    Choices,
    DiscreteActions,
    MisfitError,
    NumberedActions,
    View,
    choices_of,
    numbered_choices,
    view_of,
)
from distinguo.tasks.spec import LARGEST

#: Arguments that are for us and not for the environment.
LEVELS, LIMIT = "levels", "max_episode_steps"


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

    @property
    def is_lost(self) -> bool:
        """Whether the environment has to be handed in to be stepped."""
        return self.was_given and self.env is None

    def make(self) -> Any:
        """Return the environment; one made from its id has no time limit."""
        if self.is_lost:
            raise absence(self.name)
        own = {key: value for key, value in self.arguments.items() if key not in (LEVELS, LIMIT)}
        env = _made(self.name, own) if self.env is None else self.env
        if LEVELS in self.arguments:
            return DiscreteActions(env, self.arguments[LEVELS])
        several = numbered_choices(attempt(getattr, env, "action_space", otherwise=None))
        return env if several is None else NumberedActions(env)

    def again(self) -> tuple[Source, bool]:
        """Return a source of an equal environment, and whether that is another object."""
        if self.env is None:
            return self, True
        another = attempt(copy.deepcopy, self.env, otherwise=None)  # it may fail for any reason
        return (self, False) if another is None else (self._replace(env=another), True)


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


def source_of(origin: Any, arguments: Mapping[str, Any]) -> Source:
    """Describe where an environment comes from: its id, or the environment itself.

    >>> source_of("CartPole-v1", {}).limit
    500
    >>> source_of("CartPoole-v1", {})
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: Unknown environment 'CartPoole-v1'; did you mean 'CartPole-v1'?
    """
    if isinstance(origin, str):
        spec = registered_spec(origin, may_import=True)
        limit = _limit(arguments.get(LIMIT, spec.max_episode_steps), origin)
        return Source(origin, None, dict(arguments), limit, _threshold(spec))
    if not isinstance(origin, gymnasium.Env):
        raise DistinguoError(
            f"A task must be an id such as 'CartPole-v1', a gymnasium.Env or a class with @task, got "
            f"{type(origin).__name__}; make one."
        )
    return _source_of_object(origin, arguments)


def _source_of_object(env: Any, arguments: Mapping[str, Any]) -> Source:
    unknown = sorted(set(arguments).difference([LEVELS]))
    if unknown:
        raise DistinguoError(
            f"An existing environment takes no '{unknown[0]}', only '{LEVELS}'; give it to gymnasium.make instead."
        )
    spec = attempt(getattr, env, "spec", otherwise=None)
    if spec is None:
        inner = attempt(getattr, env, "unwrapped", otherwise=env)
        return Source(type(inner).__name__, env, dict(arguments))
    return Source(spec.id, env, dict(arguments), spec.max_episode_steps, _threshold(spec))


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
                importlib.import_module(module)
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
            f"{identifier} could not be made{given}: {reason_of(error)}; check its arguments."
        ) from error


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


class CheckedEnv:
    """An environment with its name, the view of its observations and its actions."""

    def __init__(self, env: Any, name: str) -> None:
        self.env, self.name = env, name
        try:
            seen, acted = env.observation_space, env.action_space
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            words = f"{name} failed to give its spaces ({reason_of(error)}); fix the environment."
            raise DistinguoError(words) from error
        self.view: View = view_of(seen, name)
        self.choices: Choices = choices_of(acted, name)

    def reset(self, seed: int, trial: int) -> tuple[float, ...]:
        """Begin a trial, and return what is observed."""
        place = (trial, 0)
        try:
            answer = self.env.reset(seed=seed)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit, too: the environment ends, not the program
            raise self.raised(error, *place) from error
        parts = attempt(tuple, answer, otherwise=())
        if len(parts) != 2 or not isinstance(parts[1], Mapping):
            words = f"reset to {shown(answer)}; allowed is a pair, the observation and a dictionary"
            raise self.fault(words, *place)
        return self._flat(parts[0], *place)

    def step(self, a: int, trial: int, step: int, ahead: int = 0) -> StepResult:
        """Take action ``a``; the other numbers are for messages."""
        try:
            answer = self.env.step(a + self.choices.first)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise self.raised(error, trial, step, ahead) from error
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
                "add them up, as in gymnasium.wrappers.TransformReward(env, lambda r: float(r @ weights))"
            )
            raise self.fault(
                f"gave several rewards at once, {shown(reward)}; allowed is one; {advice}", *place
            )
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

    def fault(self, words: str, trial: int, step: int, ahead: int = 0) -> DistinguoError:
        """Return the error for a fault of the environment."""
        return DistinguoError(f"{self.name} {words}, {StepPlace(trial, step, ahead)}; fix the environment.")

    def raised(self, error: BaseException, trial: int, step: int, ahead: int = 0) -> DistinguoError:
        """Return the error for an exception."""
        return self.fault(f"failed ({reason_of(error)})", trial, step, ahead)


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
