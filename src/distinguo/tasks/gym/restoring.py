"""Snapshots of any environment, for everybody: :func:`snapshot`, :func:`restore` and :class:`Restorable`.

The methods are those of :mod:`distinguo.tasks.gym.snapshots`. Which of them works is found out on other environments
of the same kind, before the first snapshot; the environment itself is neither reset nor stepped.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers import OrderEnforcing

from distinguo.errors import DistinguoError, attempt, shown
from distinguo.tasks.gym.probe import ProbeResult, probe
from distinguo.tasks.gym.snapshots import DEEP_COPY, REPLAY, TrialPlace, clock_of
from distinguo.tasks.gym.source import CheckedEnv, source_of
from distinguo.tasks.gym.spaces import view_of

LARGEST_SEED = 2**31


class Replayable(NamedTuple):
    """How a trial came to where it is."""

    seed: int
    options: Any
    actions: tuple[Any, ...]
    observation: Any  #: the last one
    seeds: np.random.Generator  #: of later trials


class Restorable(gymnasium.Wrapper, RecordConstructorArgs):
    """Remember the seed and the actions of a trial, so that a replay restores environments that nothing else does.

    It goes around all other wrappers. A trial that begins without a seed gets one, drawn from that of the last trial
    that had one.

    >>> env = Restorable(gymnasium.make("FrozenLake-v1"))
    >>> observation, _ = env.reset(seed=1)
    >>> observation, *_ = env.step(2)
    >>> len(env.trial.actions)
    1
    """

    def __init__(self, env: gymnasium.Env) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        self._seeds = np.random.default_rng()
        self._began: tuple[int, Any, np.random.Generator] | None = None
        self._actions: list[Any] = []
        self._observation: Any = None

    @property
    def trial(self) -> Replayable | None:
        """The trial that is going on, or None before the first."""
        if self._began is None:
            return None
        seed, options, seeds = self._began
        return Replayable(seed, options, tuple(self._actions), self._observation, seeds)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin a trial."""
        if seed is not None:
            self._seeds = np.random.default_rng(seed)
        chosen = int(self._seeds.integers(LARGEST_SEED)) if seed is None else seed
        self._began = None  # unless this succeeds
        observation, info = self.env.reset(seed=chosen, options=options)
        self._remember(Replayable(chosen, options, (), observation, self._seeds))
        return observation, info

    def step(self, action: Any) -> Any:
        """Take a step."""
        results = self.env.step(action)
        self._actions.append(copy.deepcopy(action))
        self._observation = copy.deepcopy(results[0])
        return results

    def _remember(self, trial: Replayable) -> None:
        self._began = trial.seed, copy.deepcopy(trial.options), copy.deepcopy(trial.seeds)
        self._actions, self._observation = list(trial.actions), copy.deepcopy(trial.observation)
        self._seeds = copy.deepcopy(trial.seeds)

    def replay(self, trial: Replayable) -> None:
        """Come to where a trial was; raise an error if its seed and actions lead elsewhere."""
        observation, _ = self.reset(seed=trial.seed, options=copy.deepcopy(trial.options))
        for action in trial.actions:
            observation, *_ = self.step(copy.deepcopy(action))
        self._remember(trial)
        view = view_of(self.observation_space, _name(self))
        if view.flatten(observation) != view.flatten(trial.observation):
            raise DistinguoError(
                f"A replay of {len(trial.actions)} actions of {_name(self)} leads elsewhere: it is not "
                "deterministic, or something was changed after its first reset; it cannot be restored."
            )


class Snapshot(NamedTuple):
    """Where an environment was; :func:`restore` takes it any number of times."""

    name: str  #: the name of the environment
    by: str  #: what restores it: "set_state", "deep copy" or "replay"
    kinds: tuple[type, ...]  #: the classes of the environment and its wrappers
    content: Any
    trial: Replayable | None  #: what a :class:`Restorable` remembers

    def __repr__(self) -> str:
        return f"<snapshot of {self.name}, restored by {self.by}>"


def snapshot(env: gymnasium.Env) -> Snapshot:
    """Keep the state of an environment, with its random numbers, its wrappers and its time limit.

    Before the first snapshot, the methods are tried on other environments of the same kind, which takes them some
    hundred steps. An environment that can only be restored by a replay, such as LunarLander-v3, has to be wrapped in
    :class:`Restorable` before it is reset.

    >>> env = gymnasium.make("CartPole-v1")
    >>> observation, _ = env.reset(seed=1)
    >>> state = snapshot(env)
    >>> state
    <snapshot of CartPole-v1, restored by deep copy>
    >>> first = env.step(1)[0]
    >>> restore(env, state)
    >>> bool((env.step(1)[0] == first).all())
    True
    """
    _check_env(env)
    name, found = _name(env), _found(env)
    trial = env.trial if isinstance(env, Restorable) else None
    if found.method is not None:
        step = clock_of(env)
        content = found.method.take(env, TrialPlace(0, step, (), ()))
        numbers = attempt(_random_state, env, otherwise=None)
        return Snapshot(name, found.method.name, _kinds(env), (found.method, content, numbers), trial)
    if not found.replayable:
        raise DistinguoError(f"{found.restoring.sentence} A snapshot of it would restore nothing.")
    if trial is None:
        raise DistinguoError(
            f"{found.restoring.sentence} So wrap it first: env = distinguo.Restorable(env), around all other "
            "wrappers, and reset it."
        )
    return Snapshot(name, REPLAY, _kinds(env), None, trial)


def restore(env: gymnasium.Env, state: Snapshot) -> None:
    """Restore a :func:`snapshot` in the environment it was taken of, or in another one that was made in the same way.

    >>> restore(gymnasium.make("FrozenLake-v1"), snapshot(gymnasium.make("CartPole-v1")))
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: This snapshot is of CartPole-v1, not of FrozenLake-v1; restore it in ...
    """
    _check_env(env)
    if not isinstance(state, Snapshot):
        raise DistinguoError(
            f"The state to restore should be what distinguo.snapshot(env) returned, got {shown(state)}."
        )
    if state.kinds != _kinds(env):
        raise DistinguoError(
            f"This snapshot is of {state.name}, not of {_name(env)}; restore it in an environment that was made in "
            "the same way, with the same wrappers."
        )
    if state.by == REPLAY and isinstance(env, Restorable) and state.trial is not None:
        env.replay(state.trial)
        return
    method, content, numbers = state.content
    if any(isinstance(one, OrderEnforcing) and not one.has_reset for one in _layers(env)):
        env.reset()
    known, _ = method.restore(env, content)
    if state.by == DEEP_COPY:
        _become(env, known)
        return
    if numbers is not None:
        env.unwrapped.np_random.bit_generator.state = copy.deepcopy(numbers)
    if isinstance(env, Restorable) and state.trial is not None:
        env._remember(state.trial)


def _random_state(env: gymnasium.Env) -> Any:
    return copy.deepcopy(env.unwrapped.np_random.bit_generator.state)


def _check_env(env: Any) -> None:
    if isinstance(env, gymnasium.vector.VectorEnv):
        raise DistinguoError(
            "Snapshots are of one environment, got a vector of them; take one of each (env.envs of a SyncVectorEnv)."
        )
    if not isinstance(env, gymnasium.Env):
        raise DistinguoError(
            f"A snapshot is of a gymnasium.Env, got {shown(env)}; make one with gymnasium.make."
        )


def _name(env: gymnasium.Env) -> str:
    """The id of an environment, or the name of its class."""
    spec = attempt(getattr, env, "spec", otherwise=None)
    return type(env.unwrapped).__name__ if spec is None else str(spec.id)


def _layers(env: Any) -> list[Any]:
    """The environment and what it wraps, from the outside."""
    found = [env]
    while isinstance(found[-1], gymnasium.Wrapper):
        found.append(found[-1].env)
    return found


def _kinds(env: Any) -> tuple[type, ...]:
    return tuple(type(one) for one in _layers(env))


def _become(env: Any, known: Any) -> None:
    """Give every layer the attributes of a copy; whoever holds a layer sees the restored state."""
    for ours, theirs in zip(_layers(env), _layers(known), strict=True):
        inner = vars(ours).get("env")
        ours.__dict__ = theirs.__dict__  # shared: methods that are bound to the copy change ours, too
        if inner is not None and isinstance(ours, gymnasium.Wrapper):
            ours.env = inner


_FOUND: WeakKeyDictionary[Any, ProbeResult] = WeakKeyDictionary()


def _found(env: gymnasium.Env) -> ProbeResult:
    """How environments of this kind are restored, as two others show."""
    known = attempt(_FOUND.get, env, otherwise=None)
    if known is None:
        source = source_of(env, {})
        first = attempt(source.spare, otherwise=None)
        if first is None:
            raise DistinguoError(
                f"No second {source.name} could be made to find out how its states are restored; make it with "
                "gymnasium.make, with wrappers that inherit from gymnasium.utils.RecordConstructorArgs."
            )
        known = probe(CheckedEnv(first.env, source.name), source.spare, by_itself=True)
        attempt(_FOUND.__setitem__, env, known, otherwise=None)
    return known
