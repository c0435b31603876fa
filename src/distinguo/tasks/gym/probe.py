"""Find out by trying how an environment can be put back, and whether it leaves anything to chance.

Nothing here depends on the seed of a run: the same environment is always found to be the same.
"""

from __future__ import annotations

import math
import time
import warnings
from typing import Any, NamedTuple

import numpy as np

from distinguo.tasks.gym.snapshots import (
    NONE,
    OPTIONS,
    REPLAY,
    SET_STATE,
    Keeper,
    Moment,
    Outcome,
    Restoring,
    keepers,
    play,
    set_chance,
)
from distinguo.tasks.gym.spaces import Choices, View

TRIALS, LENGTH = 6, 60  #: the trials that a way back must prove itself in, and the most steps of each
CHANCE_STEPS = 2000  #: steps without a difference after which chance is taken to have no part


class Verdict(NamedTuple):
    """What was found out about an environment."""

    restoring: Restoring
    stochastic: bool  #: whether the same action in the same state may lead to different ones
    keeper: Keeper | None  #: takes states down, other than by replay
    replayable: bool  #: whether the seed and the actions of a trial bring it back, or need not
    price: int  #: of going back by the keeper, in steps that could be taken instead


class Trying(NamedTuple):
    """An environment that is being tried."""

    env: Any
    view: View
    choices: Choices
    name: str


def find(env: Any, view: View, choices: Choices, name: str) -> Verdict:
    """Try the ways back in order, the best first; afterwards the environment is anywhere.

    >>> import gymnasium
    >>> from distinguo.tasks.gym.spaces import choices_of, view_of
    >>> env = gymnasium.make("CartPole-v1")
    >>> view, choices = view_of(env.observation_space, "CartPole-v1"), choices_of(env.action_space, "CartPole-v1")
    >>> find(env, view, choices, "CartPole-v1").restoring.name
    'deep copy'
    """
    trying = Trying(env, view, choices, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what does not work may well warn
        stochastic = _is_stochastic(trying)
        reasons, found = _first_that_works(trying, stochastic)
        replayable = found is not None and (
            found.name in (OPTIONS, REPLAY) or not _trouble(trying, _replay(trying))
        )
        price = _price(trying, found) if found is not None and found.name not in (OPTIONS, REPLAY) else 0
    keeper = None if found is None or found.name == REPLAY else found
    return Verdict(_in_words(name, found, reasons), stochastic, keeper, replayable, price)


def _replay(trying: Trying) -> Keeper:
    return keepers(trying.env, trying.view, trying.choices)[-1]


def _first_that_works(trying: Trying, stochastic: bool) -> tuple[list[str], Keeper | None]:
    reasons: list[str] = []
    ways = keepers(trying.env, trying.view, trying.choices)
    for keeper in ways:
        if stochastic and keeper.name in (OPTIONS, SET_STATE):
            reasons.append(f"{keeper.subject} would not bring the trial's own chances back")
            continue
        trouble = _trouble(trying, keeper)
        if not trouble:
            return reasons, keeper
        reasons.append(f"{keeper.subject} {trouble}")
    return reasons, None


def _in_words(name: str, found: Keeper | None, reasons: list[str]) -> Restoring:
    why = f" ({'; '.join(reasons)})" if reasons else ""
    if found is None:
        return Restoring(NONE, f"{name} cannot be put back into an earlier state{why}.")
    return Restoring(found.name, f"{name} is put back by {found.by}{why}.")


def _trouble(trying: Trying, keeper: Keeper) -> str:
    """Return why a keeper does not work, or nothing if it does."""
    tried = 0
    for trial in range(TRIALS):
        try:
            answer = _try_in(trying, keeper, trial)
        except Exception as error:  # whatever an environment may raise
            return f"raises {_told(error)}"
        if answer:
            return answer
        tried += answer is not None
    return "" if tried else "cannot be tried, as no trial lasts"


def _told(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].rstrip('.')}" if lines else type(error).__name__


def _moves(trying: Trying, *key: int) -> list[int]:
    return np.random.default_rng(key).integers(trying.choices.number, size=LENGTH).tolist()


def _try_in(trying: Trying, keeper: Keeper, trial: int) -> str | None:
    """Take the middle of a trial down, and come back from its end and from elsewhere."""
    env, view, choices, _ = trying
    moves = _moves(trying, trial)
    env.reset(seed=trial)
    middle = len(play(env, view, choices, moves)) // 2
    start = view.flatten(env.reset(seed=trial)[0])
    before = play(env, view, choices, moves[:middle])
    if before and (before[-1][2] or before[-1][3]):  # only where trials differ although their seeds do not
        return None
    here = before[-1][0] if before else start
    token = keeper.take(env, Moment(trial, middle, moves[:middle], here))
    expected = play(env, view, choices, moves[middle:])
    for excursion in range(3):
        env, found = keeper.give(env, token)
        if found is not None and found != here:
            return (
                "ignores the state it is given"
                if keeper.name == OPTIONS
                else "does not lead to the same state"
            )
        if play(env, view, choices, moves[middle:]) != expected:
            return "does not lead to the same state"
        _go_elsewhere(trying._replace(env=env), keeper, token, trial, excursion)
    return ""


def _go_elsewhere(trying: Trying, keeper: Keeper, token: Any, trial: int, excursion: int) -> None:
    """Take other steps from the same state, or in another trial."""
    env = keeper.give(trying.env, token)[0] if excursion == 0 else trying.env
    if excursion > 0:
        env.reset(seed=TRIALS + trial)
    play(env, trying.view, trying.choices, _moves(trying, trial, excursion + 1)[:5])


def _is_stochastic(trying: Trying) -> bool:
    """Tell whether a trial goes another way when the environment draws other random numbers."""
    steps, draws = 0, False
    for trial in range(CHANCE_STEPS):  # trials may be of one step
        try:
            one, drew = _with_chance(trying, trial, 1)
            other, _ = _with_chance(trying, trial, 2)
        except Exception:  # then nothing can be found out, and learning will say what is wrong
            return False
        if one != other:
            return True
        draws, steps = draws or drew, steps + len(one)
        if steps >= (CHANCE_STEPS if draws else LENGTH) and trial >= TRIALS:
            return False
    return False


def _with_chance(trying: Trying, trial: int, stream: int) -> tuple[list[Outcome], bool]:
    """Play a trial with random numbers from a stream: what happened, and whether any were drawn."""
    env, view, choices, _ = trying
    env.reset(seed=trial)
    set_chance(env, trial, stream)
    before = env.unwrapped.np_random.bit_generator.state
    outcomes = play(env, view, choices, _moves(trying, trial))
    return outcomes, env.unwrapped.np_random.bit_generator.state != before


def _price(trying: Trying, keeper: Keeper) -> int:
    """Weigh a way back against steps. Only speed depends on it: both ways lead to the same state."""
    env, view, choices, _ = trying
    env.reset(seed=0)
    token = keeper.take(env, Moment(0, 0, (), ()))
    begun = time.perf_counter()
    for _ in range(3):
        env, _ = keeper.give(env, token)
    gave = time.perf_counter()
    steps = len(play(env, view, choices, _moves(trying, 0)))
    played = time.perf_counter()
    return math.ceil((gave - begun) / 3 / max((played - gave) / steps, 1e-9))
