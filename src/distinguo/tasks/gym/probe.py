"""Try how an environment can be restored, and whether it is stochastic.

Nothing here depends on the seed of a run. The environment itself is only reset, stepped and asked for its own means;
copies are tried on a spare one. Usually this takes a few hundred steps. It ends early where the answer is certain,
and takes fewer and shorter trials where steps are slow.
"""

from __future__ import annotations

import copy
import gc
import math
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import attempt, reason_of
from distinguo.progress import show_progress
from distinguo.tasks.gym.snapshots import (
    NONE,
    OPTIONS,
    REPLAY,
    DeepCopies,
    Player,
    Restoring,
    SnapshotMethod,
    StepResult,
    TrialPlace,
    own_methods,
    set_generator,
)
from distinguo.tasks.gym.source import CheckedEnv, Spare
from distinguo.tasks.task import SAME_STARTS

TRIALS, LENGTH = 3, 30  #: the trials in which something is tried, and the most steps of each
SPARE_TRIALS = 2  #: of the spare environment
NOISE_STEPS = (
    200  #: steps without a difference after which an environment that draws numbers is deterministic
)
ENOUGH_STEPS = 60  #: where trials are short, more of them are tried, up to so many steps in all
MOST_TRIALS = 40  #: however short they are
SECONDS = 10.0  #: after which nothing is tried a second time
SHORT, SHORT_SECONDS = 8, 1.0  #: a trial that takes longer is cut, but not below so many steps
ELSEWHERE = 5  #: steps of another trial, from which a state is restored
BY_REPLAY = "a replay of the trial's seed and actions"
Played = tuple[tuple[float, ...], list[StepResult]]  #: what a trial began with, and its steps

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
    copies: bool = False  #: whether deep copies of it are as good as the original, and harmless
    harmed: bool = False  #: whether trying the spare environment changed this one


def unprobed(name: str, repeatable: bool = True) -> ProbeResult:
    """What Gymnasium promises of an environment that is not tried: the same seed and actions, the same trial.

    >>> unprobed("Slow-v0").restoring.sentence
    "Slow-v0 was not probed: it is put back by a replay of the trial's seed and actions, and taken as deterministic."
    """
    words = f"it is put back by {BY_REPLAY}, and taken as deterministic"
    if not repeatable:
        words = "its states are not restored, as its makers call it nondeterministic"
    said = Restoring(REPLAY if repeatable else NONE, f"{name} was not probed: {words}.")
    return ProbeResult(said, not repeatable, None, repeatable, 0, 0, False)


def probe(
    checked: CheckedEnv, spare: Callable[[], Spare | None] = lambda: None, by_itself: bool = False
) -> ProbeResult:
    """Try an environment, whose state is undefined afterwards; ``spare`` makes another one like it.

    ``by_itself`` leaves out methods that need to know what was observed, and not the environment alone.

    >>> from distinguo.tasks.gym.source import source_of
    >>> source = source_of("CartPole-v1", {})
    >>> found = probe(CheckedEnv(source.make(), source.name), source.spare)
    >>> found.restoring.name, found.stochastic, found.steps < 500
    ('deep copy', False, True)
    """
    with warnings.catch_warnings(), show_progress(f"Probing {checked.name}") as tell:
        warnings.simplefilter("ignore")  # a method that does not work may warn
        found = _Probe(checked, tell, by_itself).result(spare)
    _PROBED[0] += found.steps
    return found


class _Probe:
    """An environment that is being tried."""

    def __init__(self, checked: CheckedEnv, tell: Callable[[str], None], by_itself: bool = False) -> None:
        self.env, self.name, self.by_itself = checked.env, checked.name, by_itself
        words = f"Probing {checked.name}: "
        self.player = Player(
            checked.view, checked.choices, lambda steps: tell(f"{words}{steps:,} steps so far")
        )
        self.began = time.monotonic()
        self.trials: list[Played] = []  # the first ones, each from its own seed with its own actions
        self.restored = self.played = 0.0  # seconds
        self.restores = self.steps = 0  # that took these seconds

    def result(self, spare: Callable[[], Spare | None]) -> ProbeResult:
        """Try everything."""
        stochastic = attempt(self._is_stochastic, otherwise=False)  # learning will report a fault
        if not self.trials:
            said = Restoring(NONE, f"{self.name} was not probed: its first trial fails.")
            return ProbeResult(said, stochastic, None, False, 0, self.player.steps, False)
        replayable = not attempt(self._trouble_of_replays, stochastic, otherwise="raises an error")
        one_start = not stochastic and attempt(self._has_one_start, otherwise=False)
        reasons: list[str] = []
        method = self._own_method(stochastic, replayable, reasons)
        copies = harmed = False
        if method is None:
            trouble, harmed = self._trouble_of_copies(spare, replayable)
            copies = not trouble
            method = DeepCopies() if copies else None
            reasons += [trouble] if trouble else []
        known = replayable or (method is not None and method.name == OPTIONS)
        price = 0 if method is None or method.name == OPTIONS else self._price()
        said = self._in_words(method, replayable, reasons)
        return ProbeResult(
            said, stochastic, method, known, price, self.player.steps, one_start, copies, harmed
        )

    def _in_words(self, method: SnapshotMethod | None, replayable: bool, reasons: list[str]) -> Restoring:
        if method is None and not replayable:
            reasons.append("a replay does not lead to the same state")
        why = f" ({'; '.join(reasons)})" if reasons else ""
        if method is not None:
            return Restoring(method.name, f"{self.name} is put back by {method.by}{why}.")
        if replayable:
            return Restoring(REPLAY, f"{self.name} is put back by {BY_REPLAY}{why}.")
        return Restoring(NONE, f"{self.name} cannot be put back into an earlier state{why}.")

    def _each(self, most: int) -> Iterator[int]:
        """Numbers of trials: the first one always, the others while there is time, and more if they are short."""
        for number in range(MOST_TRIALS):
            if number and time.monotonic() - self.began > SECONDS:
                return
            if number >= most and sum(len(results) for _, results in self.trials[:number]) >= ENOUGH_STEPS:
                return
            yield number

    def _moves(self, trial: int) -> list[Any]:
        return self.player.choices.drawn(np.random.default_rng((trial,)), LENGTH)

    def _play(self, env: Any, moves: Sequence[Any]) -> list[StepResult]:
        begun = time.perf_counter()
        results = self.player.play(env, moves)
        self.played += time.perf_counter() - begun
        self.steps += len(results)
        return results

    def _trial(self, number: int) -> Played:
        """A seeded trial of the environment, which is kept; a slow one is cut."""
        while len(self.trials) <= number:
            trial, begun = len(self.trials), time.monotonic()
            seen, results = self.player.begin(self.env, trial), []
            for move in self._moves(trial):
                results += self._play(self.env, [move])
                slow = len(results) >= SHORT and time.monotonic() - begun > SHORT_SECONDS
                if slow or _is_over(results):
                    break
            self.trials.append((seen, results))
        return self.trials[number]

    def _moves_of(self, number: int) -> list[Any]:
        """The actions that the kept trial of that number took."""
        return self._moves(number)[: len(self._trial(number)[1])]

    def _again(self, number: int, noise: bool = False) -> tuple[Played, bool]:
        """A kept trial once more, with other random numbers if asked for; and whether any were drawn."""
        seen, before = self.player.begin(self.env, number), None
        if noise:
            set_generator(self.env, number, 1)
            before = _random_state(self.env)
        results = self._play(self.env, self._moves_of(number))
        return (seen, results), noise and _random_state(self.env) != before

    def _is_stochastic(self) -> bool:
        """Whether a trial's outcome depends on the environment's random numbers."""
        for number in self._each(TRIALS):
            self._trial(number)  # the first ones before any is repeated
        steps, draws = 0, False
        for number in self._each(MOST_TRIALS):
            expected = self._trial(number)
            found, drew = self._again(number, noise=True)
            if found != expected:
                return True
            draws, steps = draws or drew, steps + len(expected[1])
            if number + 1 >= TRIALS and steps >= (NOISE_STEPS if draws else ENOUGH_STEPS):
                return False
        return False

    def _trouble_of_replays(self, stochastic: bool) -> bool:
        """Whether a trial's seed and actions fail to restore it; a deterministic one was repeated already."""
        if not stochastic:
            return not self.trials
        return any(self._again(number)[0] != self._trial(number) for number in self._each(TRIALS))

    def _has_one_start(self) -> bool:
        """Whether resets with other seeds show the same, and the first of them also lead to the same trial."""
        seen, results = self._trial(0)
        if any(begun != seen for begun, _ in self.trials):
            return False
        for seed in range(1, SAME_STARTS):
            if time.monotonic() - self.began > SECONDS or self.player.begin(self.env, seed) != seen:
                return False
            if seed < TRIALS and self._play(self.env, self._moves_of(0)) != results:
                return False
        return True

    def _own_method(self, stochastic: bool, replayable: bool, reasons: list[str]) -> SnapshotMethod | None:
        """The first of the environment's own means that works; what is wrong with others joins the reasons."""
        for method in attempt(own_methods, self.env, self.player.view, otherwise=[]):
            if self.by_itself and method.name == OPTIONS:
                continue
            if stochastic:
                reasons.append(f"{method.subject} would not restore the trial's own noise")
                continue
            trouble = self._trouble(partial(self._try, method, replayable), TRIALS)
            if not trouble:
                return method
            reasons.append(f"{method.subject} {trouble}")
        return None

    def _trouble(self, trying: Callable[[int], str | None], most: int) -> str:
        """Why something does not work in some trials, or nothing if it does."""
        completed = 0
        for number in self._each(most):
            try:
                trouble = trying(number)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # an environment may raise anything
                return f"raises {reason_of(error)}"
            if trouble:
                return trouble
            completed += trouble is not None
        return "" if completed else "cannot be tried, as no trial lasts"

    def _halves(self, number: int) -> tuple[list[Any], list[Any]]:
        moves = self._moves_of(number)
        return moves[: len(moves) // 2], moves[len(moves) // 2 :]

    def _try(self, method: SnapshotMethod, replayable: bool, number: int) -> str | None:
        """Take a snapshot in the middle of a trial, and restore it from the end and from elsewhere."""
        env, (first, rest) = self.env, self._halves(number)
        seen = self.player.begin(env, number)
        before = self._play(env, first)
        if _is_over(before):  # only if trials differ although their seeds are equal
            return None
        here = before[-1][0] if before else seen
        snapshot = method.take(env, TrialPlace(number, len(first), first, here))
        expected = self._play(env, rest)
        if replayable and expected != self._trial(number)[1][len(first) :]:
            return "changes the environment when the state is taken"
        for excursion in range(2):
            begun = time.perf_counter()
            env, observation = method.restore(env, snapshot)
            self._restored_since(begun)
            if observation is not None and observation != here:
                ignored = method.name == OPTIONS
                return "ignores the state it is given" if ignored else "does not lead to the same state"
            if self._play(env, rest) != expected:
                return "does not lead to the same state"
            if excursion == 0:
                self._go_elsewhere(env, number)
        return ""

    def _go_elsewhere(self, env: Any, number: int) -> None:
        self.player.begin(env, SAME_STARTS + number)
        self._play(env, self._moves(SAME_STARTS + number)[:ELSEWHERE])

    def _trouble_of_copies(self, spare: Callable[[], Spare | None], replayable: bool) -> tuple[str, bool]:
        """Why deep copies are not taken, if so, and whether trying them changed this environment."""
        made = attempt(spare, otherwise=None)
        if made is None:
            return "a deep copy was not tried, as there is no second environment to try it on", False
        trouble = self._trouble(partial(self._try_copies, made.env, replayable), SPARE_TRIALS)
        foreign, left = made.foreign, weakref.ref(made.env.unwrapped)
        del made
        _collect(left)
        harmed = foreign and replayable and not attempt(self._is_as_before, otherwise=False)
        if harmed and not trouble:
            trouble = "changes other environments"
        return (f"a deep copy {trouble}" if trouble else ""), harmed

    def _try_copies(self, env: Any, replayable: bool, number: int) -> str | None:
        """Whether a spare environment and its copies go on alike, whichever is used or dropped first."""
        first, rest = self._halves(number)
        self.player.begin(env, number)
        before = self._play(env, first)
        if _is_over(before):
            return None
        kept = self._copy(env)
        twin, drawn = self._copy(kept), _random_state(env)
        expected = self._play(twin, rest)
        shares = _random_state(env) != drawn or _generator(twin) is _generator(env)
        left = weakref.ref(twin.unwrapped)
        del twin
        _collect(left, always=number == 0)  # what a copy does when it ends must not matter
        if shares:
            return "shares its random numbers with the original"
        if self._play(env, rest) != expected:
            return "does not lead to the same state"
        self._go_elsewhere(env, number)
        twin = self._copy(kept)
        if self._play(twin, rest) != expected:
            return "does not lead to the same state"
        left = weakref.ref(twin.unwrapped)
        del kept, twin
        _collect(left)
        self.player.begin(env, number)
        if replayable and self._play(env, first) != before:
            return "changes the original when it ends"
        return ""

    def _copy(self, env: Any) -> Any:
        begun = time.perf_counter()
        copied = copy.deepcopy(env)
        self._restored_since(begun)
        return copied

    def _is_as_before(self) -> bool:
        """Whether the environment still repeats its first trial."""
        seen, results = self._trial(0)
        begun = self.player.begin(self.env, 0)
        return begun == seen and self._play(self.env, self._moves_of(0)[:SHORT]) == results[:SHORT]

    def _restored_since(self, begun: float) -> None:
        self.restored += time.perf_counter() - begun
        self.restores += 1

    def _price(self) -> int:
        """The cost of restoring a snapshot, in steps. Only speed depends on it: both lead to the same state."""
        step = max(self.played / max(self.steps, 1), 1e-9)
        return math.ceil(self.restored / max(self.restores, 1) / step)


def _is_over(results: list[StepResult]) -> bool:
    return bool(results) and (results[-1][2] or results[-1][3] or not math.isfinite(results[-1][1]))


def _collect(left: weakref.ref[Any], always: bool = False) -> None:
    """Let what was dropped come to its end: at once where nothing refers to itself."""
    if always or left() is not None:
        gc.collect()


def _generator(env: Any) -> Any:
    return env.unwrapped.np_random


def _random_state(env: Any) -> Any:
    return _generator(env).bit_generator.state
