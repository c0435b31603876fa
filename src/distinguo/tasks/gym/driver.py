"""The driver of one Gymnasium environment: it takes steps, and restores any state of its trials.

A state is ``(trial, step, *observation)``. Trials are numbered from 0 in the order of their starts, and each has a
seed of its own. A step from the head of the latest trial makes that trial longer. A step from anywhere else is a
look-ahead: its states are ``(-1, number, *observation)``, and only the last of them can be continued, at once.
"""

from __future__ import annotations

import warnings
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from distinguo.errors import DistinguoError, attempt, reason_of
from distinguo.tasks.gym.probe import BY_REPLAY, ProbeResult, probe, unprobed
from distinguo.tasks.gym.snapshots import NONE, OPTIONS, REPLAY, Restoring, TrialPlace, set_generator
from distinguo.tasks.gym.source import CheckedEnv, Source, StepPlace
from distinguo.tasks.gym.spaces import Choices
from distinguo.tasks.task import State

AHEAD = -1.0  #: the trial of the states of look-aheads
_STREAM = 1  #: follows the seed in the keys of the noise, to keep it apart from the agent's


def trial_seed(seed: int, trial: int) -> int:
    """Return the seed of a trial; it fits into a signed 32-bit number.

    >>> trial_seed(0, 1), trial_seed(1, 0)
    (1982462498, 917752063)
    """
    return int(np.random.SeedSequence([seed, trial]).generate_state(1)[0] >> 1)


class Driver:
    """Drives one environment, which is made on first use.

    >>> from distinguo.tasks.gym.source import source_of
    >>> driver = Driver(source_of("CliffWalking-v1", {}), seed=3)
    >>> s = driver.start()
    >>> s, driver.step(s, 0)
    ((0.0, 0.0, 36.0), ((0.0, 1.0, 24.0), -1.0, False))
    >>> driver.step(s, 1)  # from the same state again: a look-ahead
    ((-1.0, 1.0, 36.0), -100.0, False)
    """

    def __init__(self, source: Source, seed: int = 0) -> None:
        self.source, self.seed = source, seed
        self.history = History()
        self.steps = 0  #: taken on request, replays not included
        self._branches = 0  # states of look-aheads so far
        self._looks = 0  # look-aheads so far
        self._checked: CheckedEnv | None = None
        self._probed: ProbeResult | None = None
        self._user: list[Driver | None] = [None]  # who used the environment last, if drivers share it
        self._now: State | None = None  # where the environment is
        self._stopped = False  # whether it was truncated there
        self._ahead = 0  # steps into a look-ahead; the next one is counted already
        self._origin = (0, 0)  # trial and step that the look-ahead began from

    @property
    def name(self) -> str:
        """Return the environment's name."""
        return self.source.name

    @property
    def limit(self) -> int | None:
        """Return the environment's time limit, if it has one."""
        return self.source.limit

    @property
    def replayed(self) -> int:
        """How many steps were only taken to restore a state."""
        return self.history.replayed

    @property
    def checked_env(self) -> CheckedEnv:
        """Return the environment with its view and its actions."""
        if self._checked is None:
            self.source, env = self.source.settled()
            self._checked = CheckedEnv(env, self.name, self.source.is_of_amounts)
        return self._checked

    @property
    def probed(self) -> ProbeResult:
        """The result of trying the environment, once, before the first trial."""
        if self._probed is None:
            self._take_over()
            checked = self.checked_env
            source = self.source
            probed = (
                probe(checked, source.spare)
                if source.is_probed
                else unprobed(self.name, source.is_repeatable)
            )
            if not source.is_restored:
                words = Restoring(NONE, f"{self.name} is not put back into earlier states, as was asked for.")
                probed = probed._replace(restoring=words, method=None, replayable=False)
            self._probed = probed
            if probed.harmed:
                self._make_again()
        return self._probed

    @property
    def restoring(self) -> Restoring:
        """How earlier states of the environment are restored."""
        return self.probed.restoring

    @property
    def stochastic(self) -> bool:
        """Whether the same action in the same state may lead to different states."""
        return self.probed.stochastic

    def again(self, seed: int) -> Driver:
        """Return a fresh driver of an environment like this one."""
        source, another = self.source.again(self.source.env is not None and self.probed.copies)
        driver = Driver(source, seed)
        driver._probed = self._probed
        if not another:
            driver._user, driver._checked = self._user, self.checked_env
        return driver

    def with_source(self, source: Source) -> Driver:
        """Return a driver of the same environment with other arguments for us; it is not tried again."""
        driver = Driver(source, self.seed)
        driver._probed = self._probed
        return driver

    def _make_again(self) -> bool:
        """Replace the environment by a new one, if one can be made."""
        source, another = self.source.again()
        if another:
            self.source = source
            self.checked_env.env = self.checked_env.first_env = source.make()
        return another

    def _take_over(self) -> None:
        self._user[0] = self
        self._now = None  # the environment will be somewhere else

    def start(self) -> State:
        """Begin a trial."""
        probed = self.probed
        self._take_over()
        wide = self.checked_env.choices.box is not None
        trial = self.history.begin(trial_seed(self.seed, self.history.count), wide)
        observation = self.checked_env.reset(self.history.latest.seed, trial)
        self.history.keep_beginning(self.checked_env, probed, observation)
        self._ahead, self._stopped = 0, False
        self._now = (float(trial), 0.0, *observation)
        return self._now

    def step(self, s: State, a: Any) -> tuple[State, float, bool]:
        """Take action ``a``, a number or a row of amounts: the next state, the reward, and whether it is terminal."""
        if (s is not self._now and s != self._now) or self._user[0] is not self:
            self._go_to(s)
        self._now = None  # unknown, should the step fail
        self.steps += 1
        a = int(a) if self.checked_env.choices.box is None else tuple(a)
        return self._look_ahead(a) if self._ahead else self._go_on(s, a)

    def _go_on(self, s: State, a: Any) -> tuple[State, float, bool]:
        latest = self.history.latest
        step = int(s[1]) + 1
        observation, reward, terminated, self._stopped = self.checked_env.step(a, int(s[0]), step)
        latest.moves.append(a)
        latest.stopped = self._stopped
        self._now = now = (s[0], s[1] + 1.0, *observation)
        return now, reward, terminated

    def _look_ahead(self, a: Any) -> tuple[State, float, bool]:
        observation, reward, terminated, self._stopped = self.checked_env.step(a, *self._origin, self._ahead)
        self._ahead += 1
        self._branches += 1
        self._now = now = (AHEAD, float(self._branches), *observation)
        return now, reward, terminated

    def _go_to(self, s: State) -> None:
        self._take_over()
        try:
            self.history.go_to(self.checked_env, self.probed, s)
        except _MissedError as missed:
            self._fall_back(missed)
            self._go_by_replay(s)
        self._origin = (int(s[0]), int(s[1]))
        self._ahead = 0 if self.history.is_head(*self._origin) else 1
        if self._ahead and self.probed.stochastic:
            self._looks += 1
            set_generator(self.checked_env.env, self.seed, _STREAM, self._looks)

    def _fall_back(self, missed: _MissedError) -> None:
        """Go without snapshots from now on: one of them did not restore its state."""
        known, checked = self.probed, self.checked_env
        checked.env = checked.first_env
        self.history.snapshots = Snapshots()
        how, words = (
            (REPLAY, f"is put back by {BY_REPLAY}") if known.replayable else (NONE, "cannot be put back")
        )
        sentence = f"{self.name} {words} (another way failed: {missed})."
        self._probed = known._replace(restoring=Restoring(how, sentence), method=None, price=0, copies=False)
        warnings.warn(f"{self.name} was not restored: {missed}; from now on it {words}.", stacklevel=2)

    def _go_by_replay(self, s: State) -> None:
        try:
            self.history.go_to(self.checked_env, self.probed, s)
        except DistinguoError:  # the environment itself may have suffered
            if self.probed.restoring.name == NONE or not self._make_again():
                raise
            self.history.go_to(self.checked_env, self.probed, s)

    def truncated(self, s: State) -> bool:
        """Whether the environment itself stopped the trial in ``s``, which is not terminal."""
        if s is self._now or s == self._now:
            return self._stopped
        return self.history.stopped_at(int(s[0]), int(s[1]))

    def memories(self, states: np.ndarray) -> dict[str, np.ndarray]:
        """What is needed to restore these states; everything else is dropped."""
        return self.history.to_arrays(self.probed, states, [self._branches, self._looks])

    def remember(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take back what :meth:`memories` gave."""
        self._branches, self._looks = self.history.from_arrays(arrays, self.checked_env.choices)
        self._now = None


# The trials of a driver so far, and how their states are restored.


SPACING = 32  #: steps between two snapshots of a trial, at the least
MOST_IN_TRIAL = 128  #: snapshots, however long the trial is


class History:
    """The trials so far, with snapshots of some of their states."""

    def __init__(self) -> None:
        self.count = 0  #: of trials that were begun
        self.replayed = 0  #: steps that were only taken to restore a state
        self.trials: dict[int, TrialRecord] = {}
        self.latest = TrialRecord(0)
        self.snapshots = Snapshots()

    def begin(self, seed: int, wide: bool = False) -> int:
        """Note that a trial begins: its number; ``wide`` says that its actions are amounts."""
        self.latest = self.trials[self.count] = TrialRecord(seed, (), wide)
        self.count += 1
        return self.count - 1

    def keep_beginning(
        self, checked: CheckedEnv, probed: ProbeResult, observation: tuple[float, ...]
    ) -> None:
        """Take a snapshot of the start of the latest trial if its seed does not restore it."""
        if probed.method is not None and not probed.replayable and probed.method.name != OPTIONS:
            moment = TrialPlace(self.latest.seed, 0, (), observation)
            snapshot = attempt(probed.method.take, checked.env, moment, otherwise=None)
            if (
                snapshot is not None
            ):  # else this trial cannot be restored; an attempt to do so raises an error
                self.latest.beginning = (snapshot, observation)

    def is_head(self, trial: int, step: int) -> bool:
        """Whether this is the latest state of the latest trial."""
        return trial == self.count - 1 and step == len(self.latest.moves)

    def stopped_at(self, trial: int, step: int) -> bool:
        """Whether the environment truncated the trial at this step."""
        known = self.trials.get(trial)
        return known is not None and known.stopped and step == len(known.moves)

    def go_to(self, checked: CheckedEnv, probed: ProbeResult, s: State) -> None:
        """Restore ``s``, a state of one of the trials, and check the observation."""
        trial, step, wanted = int(s[0]), int(s[1]), tuple(s[2:])
        if probed.restoring.name == NONE and step == 0 and trial in self.trials:
            checked.reset(
                self.trials[trial].seed, trial
            )  # where the seed does not decide, this is another start
            return
        if probed.restoring.name == NONE or trial < 0:
            raise _not_restorable(checked.name, probed, trial, step)
        try:
            if probed.restoring.name == OPTIONS:
                observation = self._restore(checked, probed, (step, wanted))
            else:
                observation = self._replay(checked, probed, trial, step)
        except (_MissedError, KeyboardInterrupt):
            raise
        except DistinguoError as error:
            if probed.method is None or isinstance(error, _NotKnownError):
                raise
            raise _MissedError(str(error)) from error
        if observation == wanted:
            return
        words = f"{StepPlace(trial, step)} it should show {wanted}, but shows {observation}"
        raise _lost(checked.name, words) if probed.method is None else _MissedError(words)

    def _replay(self, checked: CheckedEnv, probed: ProbeResult, trial: int, step: int) -> Any:
        known = self.trials.get(trial)
        if known is None or step > len(known.moves):
            raise _not_restorable(checked.name, probed, trial, step)
        at, observation = self._nearest(checked, probed, trial, step)
        for place in range(at, step):
            if place > at:
                self._take(checked, probed, trial, (at, place, step))
            self.replayed += 1
            observation = checked.step(known.moves[place], trial, place + 1)[0]
        return observation

    def _nearest(self, checked: CheckedEnv, probed: ProbeResult, trial: int, step: int) -> tuple[int, Any]:
        """Restore the last snapshot before ``step``, or the start of the trial: its step and observation."""
        known, nearest = self.trials[trial], self.snapshots.before(trial, step)
        if nearest is not None and (nearest[0] > probed.price or known.beginning is not None):
            return nearest[0], self._restore(checked, probed, nearest[1])
        if known.beginning is None:
            return 0, checked.reset(known.seed, trial)
        snapshot, observation = known.beginning
        if probed.method is None:
            raise _not_restorable(checked.name, probed, trial, step)
        self._restore(checked, probed, snapshot)
        return 0, observation

    def _restore(self, checked: CheckedEnv, probed: ProbeResult, snapshot: Any) -> Any:
        assert probed.method is not None
        try:
            checked.env, observation = probed.method.restore(checked.env, snapshot)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise _MissedError(f"{probed.method.subject} raises {reason_of(error)}") from error
        return observation

    def _take(
        self, checked: CheckedEnv, probed: ProbeResult, trial: int, steps: tuple[int, int, int]
    ) -> None:
        """Take a snapshot during a replay: at intervals, and the last before its end, which is often needed again.

        The steps are where the replay began, where it is, and where it goes.
        """
        first, now, last = steps
        known = self.trials[trial]
        if probed.method is None or last - first <= 2 * probed.price:  # another replay costs less
            return
        spacing = max(SPACING, 2 * probed.price, len(known.moves) // MOST_IN_TRIAL)
        if now % spacing == 0 or now == last - 1:
            moment = TrialPlace(known.seed, now, (), ())
            snapshot = attempt(probed.method.take, checked.env, moment, otherwise=None)
            if snapshot is not None:  # else replays stay longer
                self.snapshots.put(trial, now, snapshot)

    def to_arrays(
        self, probed: ProbeResult, states: np.ndarray, counters: list[int]
    ) -> dict[str, np.ndarray]:
        """What is needed to restore these states; everything else is dropped."""
        last = last_steps(states)
        if probed.restoring.name == OPTIONS:  # the states are enough, but the running trial goes on
            last = {trial: step for trial, step in last.items() if trial == self.count - 1}
        arrays = arrays_of_trials(self.trials, last, [self.count, *counters])
        kept = {number: trial for number, trial in self.trials.items() if number in last}
        for number, trial in kept.items():
            if number != self.count - 1:  # the latest one may go on
                trial.cut(last[number])
        self.trials = kept
        self.snapshots.keep_only(kept)
        return arrays

    def from_arrays(self, arrays: Mapping[str, np.ndarray], choices: Choices) -> list[int]:
        """Take back what :meth:`to_arrays` gave: the counters."""
        trials, (count, *counters) = trials_of_arrays(arrays, choices)
        self.trials, self.count, self.snapshots = trials, count, Snapshots()
        self.latest = trials.get(count - 1, TrialRecord(0))
        return counters


class _MissedError(Exception):
    """A snapshot did not restore its state; a replay may."""


class _NotKnownError(DistinguoError):
    """A state that no method restores."""


def _not_restorable(name: str, probed: ProbeResult, trial: int, step: int) -> DistinguoError:
    if probed.restoring.name == NONE:
        return _NotKnownError(
            f"{probed.restoring.sentence[:-1]}, asked for trial {trial}, step {step}; learn without look-aheads."
        )
    if trial < 0:
        return _NotKnownError(f"{name} can only go on from the last state of a look-ahead, and at once.")
    return _NotKnownError(f"{name} has no memory of trial {trial}, step {step}; go on from another state.")


def _lost(name: str, words: str) -> DistinguoError:
    return DistinguoError(
        f"{name} does not repeat its trials: with the same seed and actions, {words}; learn without restoring "
        "states: --set task.restore=false, or settings={'task.restore': False} in Python."
    )


# Records of trials: seeds, actions, snapshots on the way, and the arrays that a checkpoint keeps of them.
#
# The seed and the actions of a trial are enough to replay it; snapshots save replaying from the start.


MOST_SNAPSHOTS = 1000
_NAMES = ("trials", "seeds", "offsets", "counters")


class TrialRecord:
    """The seed of a trial and its actions."""

    def __init__(self, seed: int, moves: Iterable[Any] = (), wide: bool = False) -> None:
        self.seed = seed
        #: whole numbers; or rows, where actions are amounts
        self.moves: Any = list(moves) if wide else array("I", moves)
        #: a snapshot of its start and what was observed there, where its seed is not enough
        self.beginning: tuple[Any, tuple[float, ...]] | None = None
        self.stopped = False  #: whether the environment truncated it

    def cut(self, step: int) -> None:
        """Forget what came after this step."""
        if step < len(self.moves):
            del self.moves[step:]
            self.stopped = False


class Snapshots:
    """Snapshots by trial and step; the least recently used ones are dropped.

    >>> snapshots = Snapshots(most=2)
    >>> for step in (32, 64, 96):
    ...     snapshots.put(0, step, f"state at {step}")
    >>> snapshots.before(0, 70), snapshots.before(0, 64), snapshots.before(1, 70)
    ((64, 'state at 64'), None, None)
    """

    def __init__(self, most: int = MOST_SNAPSHOTS) -> None:
        self.most = most
        self.kept: OrderedDict[tuple[int, int], Any] = OrderedDict()
        self.steps: dict[int, set[int]] = {}

    def put(self, trial: int, step: int, snapshot: Any) -> None:
        """Keep a snapshot."""
        self.kept[trial, step] = snapshot
        self.kept.move_to_end((trial, step))
        self.steps.setdefault(trial, set()).add(step)
        if len(self.kept) > self.most:
            (oldest, at), _ = self.kept.popitem(last=False)
            self.steps[oldest].discard(at)

    def before(self, trial: int, step: int) -> tuple[int, Any] | None:
        """Return the last snapshot before this step: the step from it shows whether it was restored correctly."""
        nearest = max((at for at in self.steps.get(trial, ()) if at < step), default=None)
        if nearest is None:
            return None
        self.kept.move_to_end((trial, nearest))
        return nearest, self.kept[trial, nearest]

    def keep_only(self, trials: Iterable[int]) -> None:
        """Drop the snapshots of all other trials."""
        for trial in set(self.steps).difference(trials):
            for step in self.steps.pop(trial):
                del self.kept[trial, step]


def last_steps(states: np.ndarray) -> dict[int, int]:
    """Return the trials of these rows of states, and the last step that is needed of each.

    >>> last_steps(np.array([[4.0, 7.0, 0.1], [4.0, 2.0, 0.2], [-1.0, 9.0, 0.3]]))
    {4: 7}
    """
    last: dict[int, int] = {}
    for trial, step in np.asarray(states, dtype=np.float64)[:, :2].astype(np.int64).tolist():
        if trial >= 0:  # a look-ahead cannot be restored
            last[trial] = max(step, last.get(trial, 0))
    return last


def arrays_of_trials(
    trials: Mapping[int, TrialRecord], last: Mapping[int, int], counters: list[int]
) -> dict[str, np.ndarray]:
    """Return trials as arrays, each up to its last step that is needed."""
    numbers = sorted(set(trials).intersection(last))
    parts = [trials[number].moves[: last[number]] for number in numbers]
    wide = next(
        (len(part[0]) for part in parts if isinstance(part, list) and part), 0
    )  # amounts of an action
    moves = [
        np.array(part, dtype=np.float64).reshape(-1, wide) if wide else np.array(part, dtype=np.uint32)
        for part in parts
    ]
    return {
        "trials": np.array(numbers, dtype=np.int64),
        "seeds": np.array([trials[number].seed for number in numbers], dtype=np.int64),
        "moves": np.concatenate([np.zeros((0, wide)) if wide else np.zeros(0, np.uint32), *moves]),
        "offsets": np.cumsum([0, *map(len, moves)], dtype=np.int64),
        "counters": np.array(counters, dtype=np.int64),
    }


def trials_of_arrays(
    arrays: Mapping[str, np.ndarray], choices: Choices
) -> tuple[dict[int, TrialRecord], list[int]]:
    """Return the trials and the counters from arrays, after checks; the actions are among these."""
    moves, whole = _moves_of_arrays(arrays, choices)
    trials, seeds, offsets, counters = _of_whole_numbers(arrays)
    _require(len(trials) == len(seeds) == len(offsets) - 1, "its parts have different lengths")
    _require(len(counters) == 3 and min(counters) >= 0, "its counters are wrong")
    _require(offsets[0] == 0 and offsets[-1] == len(moves), "its offsets are wrong")
    _require(offsets == sorted(offsets), "its offsets are wrong")
    _require(whole, "it has an unknown action")
    _require(all(seed >= 0 for seed in seeds), "it has a negative seed")
    _require(len(set(trials)) == len(trials), "it has a trial twice")
    _require(all(0 <= number < counters[0] for number in trials), "it has an unknown trial")
    parts = zip(trials, seeds, offsets, offsets[1:], strict=False)
    return {
        number: TrialRecord(seed, moves[a:b], choices.box is not None) for number, seed, a, b in parts
    }, counters


def _moves_of_arrays(arrays: Mapping[str, np.ndarray], choices: Choices) -> tuple[list[Any], bool]:
    """The actions of all trials, and whether the environment takes them."""
    _require("moves" in arrays, "it lacks 'moves'")
    moves = arrays["moves"]
    if not len(moves):
        return [], True
    if choices.box is None:
        _require(moves.ndim == 1 and moves.dtype.kind in "iu", "'moves' is not a row of whole numbers")
        return moves.tolist(), bool((moves >= 0).all() and (moves < choices.number).all())
    low, high = choices.sides
    _require(
        moves.ndim == 2 and moves.shape[1] == len(low) and moves.dtype == np.float64, "'moves' has no amounts"
    )
    inside = (moves >= low) & (moves <= high)
    return [tuple(row) for row in moves.tolist()], bool(inside.all())


def _of_whole_numbers(arrays: Mapping[str, np.ndarray]) -> list[list[int]]:
    for name in _NAMES:
        _require(name in arrays, f"it lacks '{name}'")
        whole = arrays[name].ndim == 1 and arrays[name].dtype.kind in "iu"
        _require(whole, f"'{name}' is not a row of whole numbers")
    return [arrays[name].tolist() for name in _NAMES]


def _require(truth: bool, trouble: str) -> None:
    if not truth:
        raise ValueError(f"The memory of trials is damaged: {trouble}.")
