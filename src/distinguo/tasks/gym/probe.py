"""Find out by trying how an environment can be restored, and whether it is stochastic.

Nothing here depends on the seed of a run: the same environment always gives the same result.
"""

from __future__ import annotations

import math
import time
import warnings
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import attempt, reason_of
from distinguo.tasks.gym.snapshots import (
    NONE,
    OPTIONS,
    REPLAY,
    SET_STATE,
    Restoring,
    SnapshotMethod,
    StepResult,
    TrialPlace,
    play_moves,
    set_generator,
    snapshot_methods,
)
from distinguo.tasks.gym.spaces import Choices, View

_TRIALS, _LENGTH = 6, 60  # the trials that a method must prove itself in, and the most steps of each
_NOISE_STEPS = 2000  # steps without a difference after which an environment is taken to be deterministic


class ProbeResult(NamedTuple):
    """What trying an environment has shown."""

    restoring: Restoring
    stochastic: bool  #: whether the same action in the same state may lead to different ones
    method: SnapshotMethod | None  #: takes snapshots, other than for a replay
    replayable: bool  #: whether the seed and the actions of a trial bring it back, or need not
    price: int  #: of restoring a snapshot, in steps that could be taken instead


class _Probed(NamedTuple):
    """An environment that is being tried."""

    env: Any
    view: View
    choices: Choices
    name: str


def probe(env: Any, view: View, choices: Choices, name: str) -> ProbeResult:
    """Try the snapshot methods in order, the best first; afterwards the environment is anywhere.

    >>> import gymnasium
    >>> from distinguo.tasks.gym.spaces import choices_of, view_of
    >>> env = gymnasium.make("CartPole-v1")
    >>> view, choices = view_of(env.observation_space, "CartPole-v1"), choices_of(env.action_space, "CartPole-v1")
    >>> probe(env, view, choices, "CartPole-v1").restoring.name
    'deep copy'
    """
    probed = _Probed(env, view, choices, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what does not work may well warn
        stochastic = _is_stochastic(probed)
        reasons, best = _first_that_works(probed, stochastic)
        cheap = best is not None and best.name in (OPTIONS, REPLAY)
        replayable = cheap or (best is not None and not _trouble(probed, _replay(probed)))
        price = 0 if best is None or cheap else attempt(_price, probed, best, otherwise=0)
    method = None if best is None or best.name == REPLAY else best
    return ProbeResult(_in_words(name, best, reasons), stochastic, method, replayable, price)


def _replay(probed: _Probed) -> SnapshotMethod:
    return snapshot_methods(probed.env, probed.view, probed.choices)[-1]


def _first_that_works(probed: _Probed, stochastic: bool) -> tuple[list[str], SnapshotMethod | None]:
    reasons: list[str] = []
    for method in snapshot_methods(probed.env, probed.view, probed.choices):
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
    """Return why a method does not work, or nothing if it does."""
    completed = 0
    for trial in range(_TRIALS):
        try:
            answer = _try_in(probed, method, trial)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever an environment may raise
            return f"raises {reason_of(error)}"
        if answer:
            return answer
        completed += answer is not None
    return "" if completed else "cannot be tried, as no trial lasts"


def _moves(probed: _Probed, *key: int) -> list[int]:
    return np.random.default_rng(key).integers(probed.choices.number, size=_LENGTH).tolist()


def _try_in(probed: _Probed, method: SnapshotMethod, trial: int) -> str | None:
    """Take a snapshot in the middle of a trial, and restore it from the end and from elsewhere."""
    env, view, choices, _ = probed
    moves = _moves(probed, trial)
    env.reset(seed=trial)
    middle = len(play_moves(env, view, choices, moves)) // 2
    start = view.flatten(env.reset(seed=trial)[0])
    before = play_moves(env, view, choices, moves[:middle])
    if before and (before[-1][2] or before[-1][3]):  # only where trials differ although their seeds do not
        return None
    here = before[-1][0] if before else start
    snapshot = method.take(env, TrialPlace(trial, middle, moves[:middle], here))
    expected = play_moves(env, view, choices, moves[middle:])
    for excursion in range(3):
        env, observation = method.restore(env, snapshot)
        if observation is not None and observation != here:
            return (
                "ignores the state it is given"
                if method.name == OPTIONS
                else "does not lead to the same state"
            )
        if play_moves(env, view, choices, moves[middle:]) != expected:
            return "does not lead to the same state"
        _go_elsewhere(probed._replace(env=env), method, snapshot, trial, excursion)
    return ""


def _go_elsewhere(probed: _Probed, method: SnapshotMethod, snapshot: Any, trial: int, excursion: int) -> None:
    """Take other steps from the same state, or in another trial."""
    env = method.restore(probed.env, snapshot)[0] if excursion == 0 else probed.env
    if excursion > 0:
        env.reset(seed=_TRIALS + trial)
    play_moves(env, probed.view, probed.choices, _moves(probed, trial, excursion + 1)[:5])


def _is_stochastic(probed: _Probed) -> bool:
    """Tell whether a trial goes another way when the environment draws other random numbers."""
    steps, draws = 0, False
    for trial in range(_NOISE_STEPS):  # trials may be of one step
        one, drew = attempt(_with_noise, probed, trial, 1, otherwise=(None, False))
        other, _ = attempt(_with_noise, probed, trial, 2, otherwise=(None, False))
        if one is None or other is None:  # then learning will say what is wrong
            return False
        if one != other:
            return True
        draws, steps = draws or drew, steps + len(one)
        if steps >= (_NOISE_STEPS if draws else _LENGTH) and trial >= _TRIALS:
            return False
    return False


def _with_noise(probed: _Probed, trial: int, stream: int) -> tuple[list[StepResult], bool]:
    """Play a trial with random numbers from a stream: what happened, and whether any were drawn."""
    env, view, choices, _ = probed
    env.reset(seed=trial)
    set_generator(env, trial, stream)
    before = env.unwrapped.np_random.bit_generator.state
    results = play_moves(env, view, choices, _moves(probed, trial))
    return results, env.unwrapped.np_random.bit_generator.state != before


def _price(probed: _Probed, method: SnapshotMethod) -> int:
    """Weigh a restoration against steps. Only speed depends on it: both lead to the same state."""
    env, view, choices, _ = probed
    env.reset(seed=0)
    snapshot = method.take(env, TrialPlace(0, 0, (), ()))
    begun = time.perf_counter()
    for _ in range(3):
        env, _ = method.restore(env, snapshot)
    restored = time.perf_counter()
    steps = len(play_moves(env, view, choices, _moves(probed, 0)))
    played = time.perf_counter()
    return math.ceil((restored - begun) / 3 / max((played - restored) / steps, 1e-9))
