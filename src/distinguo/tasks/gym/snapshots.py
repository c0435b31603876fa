"""Methods to restore an earlier state of an environment; Gymnasium itself has none.

A *snapshot* is taken while the environment is in a state, and restores it later. Which method works cannot be seen
from outside: some environments ignore the state they are given, and some copies share data with the original.
:mod:`distinguo.tasks.gym.probe` tries the methods.
"""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from gymnasium import Wrapper
from gymnasium.wrappers import TimeLimit

from distinguo.errors import attempt
from distinguo.tasks.gym.spaces import Choices, View

OPTIONS, SET_STATE, DEEP_COPY, REPLAY, NONE = "options", "set_state", "deep copy", "replay", "none"
#: Pairs of methods that some environments have: what gives the state, and what takes it back.
METHODS = (("get_state", "set_state"), ("clone_state", "restore_state"))

StepResult = tuple[tuple[float, ...], float, bool, bool]  #: observation, reward, terminated, truncated


class Restoring(NamedTuple):
    """How earlier states of an environment are restored."""

    name: str  #: "options", "set_state", "deep copy", "replay" or "none"
    sentence: str  #: the same as a sentence, with what did not work


class TrialPlace(NamedTuple):
    """The place of a trial, as seen from outside."""

    seed: int
    step: int
    moves: Sequence[int]  #: the actions so far; only a replay needs them
    observation: tuple[float, ...]


class SnapshotMethod(Protocol):
    """A method to take snapshots of an environment and to restore them."""

    name: str
    subject: str  #: the subject of a sentence on what it does
    by: str  #: the end of "is put back by ..."

    def take(self, env: Any, moment: TrialPlace) -> Any:
        """Return a snapshot of where the environment is."""

    def restore(self, env: Any, snapshot: Any) -> tuple[Any, tuple[float, ...] | None]:
        """Restore a snapshot: the environment to go on with, and its observation if known."""


class ResetOptions:
    """The environment's own ``reset(options={"state": observation})``."""

    name = OPTIONS
    subject = 'reset(options={"state": ...})'
    by = f"its own {subject}"

    def __init__(self, view: View) -> None:
        self.view = view

    def take(self, env: Any, moment: TrialPlace) -> Any:
        """Return the observation and its step."""
        return moment.step, moment.observation

    def restore(self, env: Any, snapshot: Any) -> tuple[Any, tuple[float, ...] | None]:
        """Reset to the observation."""
        step, values = snapshot
        observation, _ = env.reset(options={"state": self.view.unflatten(values)})
        set_clock(env, step)
        return env, self.view.flatten(observation)


class StateMethods:
    """A pair of methods such as ``get_state`` and ``set_state`` of the innermost environment."""

    name = SET_STATE

    def __init__(self, getter: str, setter: str) -> None:
        self.getter, self.setter = getter, setter
        self.subject = setter
        self.by = f"its own {setter} and a replay of the few actions since"

    def take(self, env: Any, moment: TrialPlace) -> Any:
        """Return a copy of the state; the environment may go on changing what it gave."""
        return moment.step, copy.deepcopy(getattr(env.unwrapped, self.getter)())

    def restore(self, env: Any, snapshot: Any) -> tuple[Any, tuple[float, ...] | None]:
        """Set a copy of the state."""
        step, state = snapshot
        getattr(env.unwrapped, self.setter)(copy.deepcopy(state))
        set_clock(env, step)
        return env, None


class PhysicsStates:
    """The state of MuJoCo's simulation, complete enough to go on with the same bits."""

    name = SET_STATE
    subject = "mj_setState"
    by = "MuJoCo's own mj_setState and a replay of the few actions since"

    def take(self, env: Any, moment: TrialPlace) -> Any:
        """Return a copy of the simulation's state."""
        mujoco, inner = sys.modules["mujoco"], env.unwrapped
        kind = mujoco.mjtState.mjSTATE_INTEGRATION
        state = np.empty(mujoco.mj_stateSize(inner.model, kind))
        mujoco.mj_getState(inner.model, inner.data, state, kind)
        return moment.step, state

    def restore(self, env: Any, snapshot: Any) -> tuple[Any, tuple[float, ...] | None]:
        """Set the state."""
        step, state = snapshot
        mujoco, inner = sys.modules["mujoco"], env.unwrapped
        mujoco.mj_setState(inner.model, inner.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        set_clock(env, step)
        return env, None

    @staticmethod
    def are_in(env: Any) -> bool:
        """Whether the environment has a simulation of MuJoCo."""
        kind: Any = getattr(sys.modules.get("mujoco"), "MjData", ())
        return isinstance(attempt(getattr, env.unwrapped, "data", otherwise=None), kind)


class DeepCopies:
    """Deep copies of the whole environment; they are taken only if a spare environment bore them."""

    name = DEEP_COPY
    subject = "a deep copy"
    by = "a deep copy and a replay of the few actions since"

    def take(self, env: Any, moment: TrialPlace) -> Any:
        """Return a copy."""
        return copy.deepcopy(env)

    def restore(self, env: Any, snapshot: Any) -> tuple[Any, tuple[float, ...] | None]:
        """Go on with a copy of the copy, so that the snapshot can be used again."""
        return copy.deepcopy(snapshot), None


def own_methods(env: Any, view: View) -> list[SnapshotMethod]:
    """Return the means of its own that an environment may have, the best first."""
    own = [StateMethods(*pair) for pair in METHODS if all(hasattr(env.unwrapped, name) for name in pair)]
    physics = [PhysicsStates()] if PhysicsStates.are_in(env) else []
    return [ResetOptions(view), *own, *physics]


class Player:
    """Takes steps in environments with this view and these actions, and counts them."""

    def __init__(self, view: View, choices: Choices, tell: Callable[[int], None] = lambda _: None) -> None:
        self.view, self.choices = view, choices
        self.tell = tell  #: is told how many steps were taken
        self.steps = 0  #: taken so far

    def begin(self, env: Any, seed: int) -> tuple[float, ...]:
        """Begin a trial: what is observed."""
        self.tell(self.steps)
        return self.view.flatten(env.reset(seed=seed)[0])

    def play(self, env: Any, moves: Sequence[Any]) -> list[StepResult]:
        """Take these actions in order, until the trial ends."""
        results: list[StepResult] = []
        for move in moves:
            self.steps += 1
            self.tell(self.steps)
            observation, reward, terminated, truncated, _ = env.step(self.choices.sent(move))
            results.append((self.view.flatten(observation), float(reward), bool(terminated), bool(truncated)))
            if terminated or truncated or not math.isfinite(float(reward)):
                break
        return results


def set_clock(env: Any, step: int) -> None:
    """Set the step count of the time limits around an environment."""
    while isinstance(env, Wrapper):
        if isinstance(env, TimeLimit):
            env._elapsed_steps = step  # type: ignore[assignment] # it begins as None
        env = env.env


def clock_of(env: Any) -> int:
    """The step count of the time limits around an environment; 0 if there is none."""
    while isinstance(env, Wrapper):
        if isinstance(env, TimeLimit):
            return env._elapsed_steps or 0
        env = env.env
    return 0


def set_generator(env: Any, *key: int) -> None:
    """Give the environment new random numbers; in place, because its parts may hold on to its generator."""
    fresh, known = np.random.default_rng(key), env.unwrapped.np_random
    if type(getattr(known, "bit_generator", None)) is type(fresh.bit_generator):
        known.bit_generator.state = fresh.bit_generator.state
    else:
        env.unwrapped.np_random = fresh
