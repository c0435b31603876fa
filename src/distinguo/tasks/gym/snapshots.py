"""Methods to restore an earlier state of an environment; Gymnasium itself has none.

A *snapshot* is taken while the environment is in a state, and restores it later. Which method works cannot be seen
from outside: some environments ignore the state they are given, and some copies share data with the original.
:func:`probe` tries the methods.
"""

from __future__ import annotations

import copy
import math
import time
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from gymnasium import Wrapper
from gymnasium.wrappers import TimeLimit

from distinguo.errors import attempt, reason_of
from distinguo.tasks.gym.spaces import Choices, View
from distinguo.tasks.task import SAME_STARTS

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


class DeepCopies:
    """Deep copies of the whole environment."""

    name = DEEP_COPY
    subject = "a deep copy"
    by = "a deep copy and a replay of the few actions since"

    def take(self, env: Any, moment: TrialPlace) -> Any:
        """Return a copy."""
        return copy.deepcopy(env)

    def restore(self, env: Any, snapshot: Any) -> tuple[Any, tuple[float, ...] | None]:
        """Go on with a copy of the copy, so that the snapshot can be used again."""
        return copy.deepcopy(snapshot), None


class Replays:
    """The trial repeated from its seed and all of its actions."""

    name = REPLAY
    subject = "a replay"
    by = "a replay of the trial's seed and actions"

    def __init__(self, player: Player) -> None:
        self.player = player

    def take(self, env: Any, moment: TrialPlace) -> Any:
        """The seed and the actions of the trial."""
        return moment._replace(moves=tuple(moment.moves))

    def restore(self, env: Any, snapshot: Any) -> tuple[Any, tuple[float, ...] | None]:
        """Take the same actions again."""
        observation = self.player.view.flatten(env.reset(seed=snapshot.seed)[0])
        results = self.player.play(env, snapshot.moves)
        return env, results[-1][0] if results else observation


def snapshot_methods(env: Any, player: Player) -> list[SnapshotMethod]:
    """Return the methods that this environment may allow, the best first."""
    own = [StateMethods(*pair) for pair in METHODS if all(hasattr(env.unwrapped, name) for name in pair)]
    return [ResetOptions(player.view), *own, DeepCopies(), Replays(player)]


class Player:
    """Takes steps in environments with this view and these actions, and counts them."""

    def __init__(self, view: View, choices: Choices) -> None:
        self.view, self.choices = view, choices
        self.steps = 0  #: taken so far

    def play(self, env: Any, moves: Sequence[int]) -> list[StepResult]:
        """Take these actions in order, until the trial ends."""
        results: list[StepResult] = []
        for move in moves:
            self.steps += 1
            observation, reward, terminated, truncated, _ = env.step(move + self.choices.first)
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


def set_generator(env: Any, *key: int) -> None:
    """Give the environment a new random generator."""
    env.unwrapped.np_random = np.random.default_rng(key)


# Try how an environment can be restored, and whether it is stochastic.
#
# Nothing here depends on the seed of a run: the same environment always gives the same result.


_TRIALS, _LENGTH = 6, 60  # the trials in which a method is tested, and the most steps of each
_NOISE_STEPS = 2000  # steps without a difference after which an environment is taken to be deterministic


_PROBED = [0]  # steps of all probes in this process


def steps_of_probes() -> int:
    """The steps that all probes in this process have taken so far."""
    return _PROBED[0]


class ProbeResult(NamedTuple):
    """The result of trying an environment."""

    restoring: Restoring
    stochastic: bool  #: whether the same action in the same state may lead to different states
    method: SnapshotMethod | None  #: takes snapshots; None if only replays work
    replayable: bool  #: whether the seed and the actions of a trial restore it, or need not
    price: int  #: of restoring a snapshot, in steps
    steps: int  #: that were taken to find this out
    one_start: bool  #: whether all trials begin, and with the same actions go on, in the same way


class _Probed(NamedTuple):
    """An environment that is being tried."""

    env: Any
    player: Player

    def play(self, moves: Sequence[int]) -> list[StepResult]:
        """Take these actions in order, until the trial ends."""
        return self.player.play(self.env, moves)


def probe(env: Any, view: View, choices: Choices, name: str) -> ProbeResult:
    """Try the snapshot methods, the best first; the environment's state is undefined afterwards.

    >>> import gymnasium
    >>> from distinguo.tasks.gym.spaces import choices_of, view_of
    >>> env = gymnasium.make("CartPole-v1")
    >>> view, choices = view_of(env.observation_space, "CartPole-v1"), choices_of(env.action_space, "CartPole-v1")
    >>> probe(env, view, choices, "CartPole-v1").restoring.name
    'deep copy'
    """
    probed = _Probed(env, Player(view, choices))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a method that does not work may warn
        stochastic = _is_stochastic(probed)
        one_start = not stochastic and attempt(_has_one_start, probed, otherwise=False)
        reasons, best = _first_that_works(probed, stochastic)
        cheap = best is not None and best.name in (OPTIONS, REPLAY)
        replayable = cheap or (best is not None and not _trouble(probed, _replay(probed)))
        price = 0 if best is None or cheap else attempt(_price, probed, best, otherwise=0)
    method = None if best is None or best.name == REPLAY else best
    said = _in_words(name, best, reasons)
    _PROBED[0] += probed.player.steps
    return ProbeResult(said, stochastic, method, replayable, price, probed.player.steps, one_start)


def _replay(probed: _Probed) -> SnapshotMethod:
    return snapshot_methods(probed.env, probed.player)[-1]


def _first_that_works(probed: _Probed, stochastic: bool) -> tuple[list[str], SnapshotMethod | None]:
    reasons: list[str] = []
    for method in snapshot_methods(probed.env, probed.player):
        if stochastic and method.name in (OPTIONS, SET_STATE):
            reasons.append(f"{method.subject} would not restore the trial's own noise")
            continue
        trouble = _trouble(probed, method)
        if not trouble:
            return reasons, method
        reasons.append(f"{method.subject} {trouble}")
    return reasons, None


def _in_words(name: str, method: SnapshotMethod | None, reasons: list[str]) -> Restoring:
    why = f" ({'; '.join(reasons)})" if reasons else ""
    if method is None:
        return Restoring(NONE, f"{name} cannot be put back into an earlier state{why}.")
    return Restoring(method.name, f"{name} is put back by {method.by}{why}.")


def _trouble(probed: _Probed, method: SnapshotMethod) -> str:
    """Why a method does not work, or nothing if it does."""
    completed = 0
    for trial in range(_TRIALS):
        try:
            answer = _try_in(probed, method, trial)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # an environment may raise anything
            return f"raises {reason_of(error)}"
        if answer:
            return answer
        completed += answer is not None
    return "" if completed else "cannot be tried, as no trial lasts"


def _moves(probed: _Probed, *key: int) -> list[int]:
    return np.random.default_rng(key).integers(probed.player.choices.number, size=_LENGTH).tolist()


def _try_in(probed: _Probed, method: SnapshotMethod, trial: int) -> str | None:
    """Take a snapshot in the middle of a trial, and restore it from the end and from elsewhere."""
    env, player = probed
    moves = _moves(probed, trial)
    env.reset(seed=trial)
    middle = len(probed.play(moves)) // 2
    start = player.view.flatten(env.reset(seed=trial)[0])
    before = probed.play(moves[:middle])
    if before and (before[-1][2] or before[-1][3]):  # only if trials differ although their seeds are equal
        return None
    here = before[-1][0] if before else start
    snapshot = method.take(env, TrialPlace(trial, middle, moves[:middle], here))
    expected = probed.play(moves[middle:])
    for excursion in range(3):
        env, observation = method.restore(env, snapshot)
        if observation is not None and observation != here:
            return (
                "ignores the state it is given"
                if method.name == OPTIONS
                else "does not lead to the same state"
            )
        if player.play(env, moves[middle:]) != expected:
            return "does not lead to the same state"
        _go_elsewhere(probed._replace(env=env), method, snapshot, trial, excursion)
    return ""


def _go_elsewhere(probed: _Probed, method: SnapshotMethod, snapshot: Any, trial: int, excursion: int) -> None:
    """Take other steps from the same state, or in another trial."""
    env = method.restore(probed.env, snapshot)[0] if excursion == 0 else probed.env
    if excursion > 0:
        env.reset(seed=_TRIALS + trial)
    probed.player.play(env, _moves(probed, trial, excursion + 1)[:5])


def _is_stochastic(probed: _Probed) -> bool:
    """Whether a trial's outcome depends on the environment's random numbers."""
    steps, draws = 0, False
    for trial in range(_NOISE_STEPS):  # trials may have a single step
        one, drew = attempt(_with_noise, probed, trial, 1, otherwise=(None, False))
        other, _ = attempt(_with_noise, probed, trial, 2, otherwise=(None, False))
        if one is None or other is None:  # learning will report the fault
            return False
        if one != other:
            return True
        draws, steps = draws or drew, steps + len(one)
        if steps >= (_NOISE_STEPS if draws else _LENGTH) and trial >= _TRIALS:
            return False
    return False


def _has_one_start(probed: _Probed) -> bool:
    """Whether resets with other seeds show the same, and the first of them also lead to the same trial."""
    moves = _moves(probed, 0)

    def begun(seed: int) -> tuple[Any, list[StepResult]]:
        seen = probed.player.view.flatten(probed.env.reset(seed=seed)[0])
        return seen, probed.play(moves) if seed < _TRIALS else []

    seen, results = begun(0)
    for seed in range(1, SAME_STARTS):
        if begun(seed) != (seen, results if seed < _TRIALS else []):
            return False
    return True


def _with_noise(probed: _Probed, trial: int, stream: int) -> tuple[list[StepResult], bool]:
    """Play a trial with random numbers from a stream: what happened, and whether any were drawn."""
    env = probed.env
    env.reset(seed=trial)
    set_generator(env, trial, stream)
    before = env.unwrapped.np_random.bit_generator.state
    results = probed.play(_moves(probed, trial))
    return results, env.unwrapped.np_random.bit_generator.state != before


def _price(probed: _Probed, method: SnapshotMethod) -> int:
    """The cost of restoring a snapshot, in steps. Only speed depends on it: both lead to the same state."""
    env, player = probed
    env.reset(seed=0)
    snapshot = method.take(env, TrialPlace(0, 0, (), ()))
    begun = time.perf_counter()
    for _ in range(3):
        env, _ = method.restore(env, snapshot)
    restored = time.perf_counter()
    steps = len(player.play(env, _moves(probed, 0)))
    played = time.perf_counter()
    return math.ceil((restored - begun) / 3 / max((played - restored) / steps, 1e-9))
