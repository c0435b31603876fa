"""Ways to restore an earlier state of an environment; Gymnasium itself has none.

A *snapshot* is taken while the environment is in a state, and restores it later. Which method works is not known
from the outside: some environments ignore the state they are given, some copies share what they should not.
:mod:`distinguo.tasks.gym.probe` tries them.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from gymnasium import Wrapper
from gymnasium.wrappers import TimeLimit

from distinguo.tasks.gym.spaces import Choices, View

OPTIONS, SET_STATE, DEEP_COPY, REPLAY, NONE = "options", "set_state", "deep copy", "replay", "none"
#: Pairs of methods that some environments have: what gives the state, and what takes it back.
METHODS = (("get_state", "set_state"), ("clone_state", "restore_state"))

StepResult = tuple[tuple[float, ...], float, bool, bool]  #: observation, reward, terminated, truncated


class Restoring(NamedTuple):
    """How an environment is put back into an earlier state."""

    name: str  #: "options", "set_state", "deep copy", "replay" or "none"
    sentence: str  #: the same in words, with what did not work


class TrialPlace(NamedTuple):
    """Where a trial is, as seen from the outside."""

    seed: int
    step: int
    moves: Sequence[int]  #: the actions so far; only a replay needs them
    observation: tuple[float, ...]


class SnapshotMethod(Protocol):
    """One way to take snapshots of an environment and to restore them."""

    name: str
    subject: str  #: in words, to say what it does
    by: str  #: in words: "is put back by ..."

    def take(self, env: Any, moment: TrialPlace) -> Any:
        """Return a snapshot of where the environment is."""

    def restore(self, env: Any, snapshot: Any) -> tuple[Any, tuple[float, ...] | None]:
        """Go back there: the environment to go on with, and the observation where it can be had."""


class ResetOptions:
    """The environment's own ``reset(options={"state": observation})``."""

    name = OPTIONS
    subject = 'reset(options={"state": ...})'
    by = f"its own {subject}"

    def __init__(self, view: View) -> None:
        self.view = view

    def take(self, env: Any, moment: TrialPlace) -> Any:
        """Return the observation, and when it was."""
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


class DeepCopies:
    """Deep copies of the whole environment."""

    name = DEEP_COPY
    subject = "a deep copy"
    by = "a deep copy and a replay of the few actions since"

    def take(self, env: Any, moment: TrialPlace) -> Any:
        """Return a copy."""
        return copy.deepcopy(env)

    def restore(self, env: Any, snapshot: Any) -> tuple[Any, tuple[float, ...] | None]:
        """Go on with a copy of the copy, which can then be used again."""
        return copy.deepcopy(snapshot), None


class Replays:
    """The trial once more: its seed and all of its actions."""

    name = REPLAY
    subject = "a replay"
    by = "a replay of the trial's seed and actions"

    def __init__(self, view: View, choices: Choices) -> None:
        self.view, self.choices = view, choices

    def take(self, env: Any, moment: TrialPlace) -> Any:
        """Return what the trial was made of."""
        return moment._replace(moves=tuple(moment.moves))

    def restore(self, env: Any, snapshot: Any) -> tuple[Any, tuple[float, ...] | None]:
        """Take the same actions again."""
        observation = self.view.flatten(env.reset(seed=snapshot.seed)[0])
        results = play_moves(env, self.view, self.choices, snapshot.moves)
        return env, results[-1][0] if results else observation


def snapshot_methods(env: Any, view: View, choices: Choices) -> list[SnapshotMethod]:
    """Return the methods that this environment may allow, the best first."""
    own = [StateMethods(*pair) for pair in METHODS if all(hasattr(env.unwrapped, name) for name in pair)]
    return [ResetOptions(view), *own, DeepCopies(), Replays(view, choices)]


def play_moves(env: Any, view: View, choices: Choices, moves: Sequence[int]) -> list[StepResult]:
    """Take these actions one after the other, no farther than to the end of the trial."""
    results: list[StepResult] = []
    for move in moves:
        observation, reward, terminated, truncated, _ = env.step(move + choices.first)
        results.append((view.flatten(observation), float(reward), bool(terminated), bool(truncated)))
        if terminated or truncated or not math.isfinite(float(reward)):
            break
    return results


def set_clock(env: Any, step: int) -> None:
    """Tell the time limits around an environment at which step of a trial it now is."""
    while isinstance(env, Wrapper):
        if isinstance(env, TimeLimit):
            env._elapsed_steps = step  # type: ignore[assignment] # it begins as None
        env = env.env


def set_generator(env: Any, *key: int) -> None:
    """Give the environment a fresh generator of random numbers."""
    env.unwrapped.np_random = np.random.default_rng(key)
