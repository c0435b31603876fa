"""The trials of a driver so far, and how their states are restored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from distinguo.errors import DistinguoError, attempt
from distinguo.tasks.gym.checked_env import CheckedEnv, StepPlace
from distinguo.tasks.gym.probe import ProbeResult
from distinguo.tasks.gym.records import Snapshots, TrialRecord, arrays_of_trials, last_steps, trials_of_arrays
from distinguo.tasks.gym.snapshots import NONE, OPTIONS, TrialPlace
from distinguo.tasks.task import State

SPACING = 32  #: steps between two snapshots of a trial, at the least
MOST_IN_TRIAL = 128  #: snapshots, however long the trial is


class History:
    """The trials so far, with snapshots of some of their states."""

    def __init__(self) -> None:
        self.count = 0  #: of trials that were begun
        self.replayed = 0  #: steps that were only taken to come back to a state
        self.trials: dict[int, TrialRecord] = {}
        self.latest = TrialRecord(0)
        self.snapshots = Snapshots()

    def begin(self, seed: int) -> int:
        """Note that a trial begins: its number."""
        self.latest = self.trials[self.count] = TrialRecord(seed)
        self.count += 1
        return self.count - 1

    def keep_beginning(
        self, checked: CheckedEnv, probed: ProbeResult, observation: tuple[float, ...]
    ) -> None:
        """Take a snapshot of the start of the latest trial if its seed will not bring it back."""
        if probed.method is not None and not probed.replayable:
            moment = TrialPlace(self.latest.seed, 0, (), observation)
            snapshot = attempt(probed.method.take, checked.env, moment, otherwise=None)
            if (
                snapshot is not None
            ):  # else this trial cannot be come back to, which is said if it is asked for
                self.latest.beginning = (snapshot, observation)

    def is_head(self, trial: int, step: int) -> bool:
        """Tell whether this is where the latest trial has come to."""
        return trial == self.count - 1 and step == len(self.latest.moves)

    def stopped_at(self, trial: int, step: int) -> bool:
        """Tell whether the environment truncated the trial at this step."""
        known = self.trials.get(trial)
        return known is not None and known.stopped and step == len(known.moves)

    def go_to(self, checked: CheckedEnv, probed: ProbeResult, s: State) -> None:
        """Put the environment into ``s``, a state of one of the trials, and see that it is there."""
        trial, step, wanted = int(s[0]), int(s[1]), tuple(s[2:])
        if probed.restoring.name == NONE or trial < 0:
            raise _not_restorable(checked.name, probed, trial, step)
        if probed.restoring.name == OPTIONS:
            observation = self._restore(checked, probed, (step, wanted), trial, step)
        else:
            observation = self._replay(checked, probed, trial, step)
        if observation != wanted:
            raise _lost(checked.name, probed, s, observation)

    def _replay(self, checked: CheckedEnv, probed: ProbeResult, trial: int, step: int) -> Any:
        known = self.trials.get(trial)
        if known is None or step > len(known.moves):
            raise _not_restorable(checked.name, probed, trial, step)
        at, observation = self._nearest(checked, probed, trial, step)
        for place in range(at, step):
            if place > at:
                self._take(checked, probed, trial, (at, place, step))
            observation = checked.step(known.moves[place], trial, place + 1)[0]
        self.replayed += step - at
        return observation

    def _nearest(self, checked: CheckedEnv, probed: ProbeResult, trial: int, step: int) -> tuple[int, Any]:
        """Restore the last snapshot before ``step``, or the start of the trial: its step and observation."""
        known, nearest = self.trials[trial], self.snapshots.before(trial, step)
        if nearest is not None and (nearest[0] > probed.price or known.beginning is not None):
            return nearest[0], self._restore(checked, probed, nearest[1], trial, step)
        if known.beginning is None:
            return 0, checked.reset(known.seed, trial)
        snapshot, observation = known.beginning
        self._restore(checked, probed, snapshot, trial, step)
        return 0, observation

    def _restore(self, checked: CheckedEnv, probed: ProbeResult, snapshot: Any, trial: int, step: int) -> Any:
        assert probed.method is not None
        try:
            checked.env, observation = probed.method.restore(checked.env, snapshot)
        except (DistinguoError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise checked.raised(error, trial, step) from error
        return observation

    def _take(
        self, checked: CheckedEnv, probed: ProbeResult, trial: int, steps: tuple[int, int, int]
    ) -> None:
        """Take a snapshot on the way: one in so many, and the last before the goal, which is often wanted again.

        The steps are where the replay began, where it is, and where it goes.
        """
        first, now, last = steps
        known = self.trials[trial]
        if probed.method is None or last - first <= 2 * probed.price:  # to replay it again costs less
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
        """Return what is needed to come back to these states, and drop what is not."""
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

    def from_arrays(self, arrays: Mapping[str, np.ndarray], actions: int) -> list[int]:
        """Take back what :meth:`to_arrays` gave: the counters."""
        trials, (count, *counters) = trials_of_arrays(arrays, actions)
        self.trials, self.count, self.snapshots = trials, count, Snapshots()
        self.latest = trials.get(count - 1, TrialRecord(0))
        return counters


def _not_restorable(name: str, probed: ProbeResult, trial: int, step: int) -> DistinguoError:
    if probed.restoring.name == NONE:
        return DistinguoError(
            f"{probed.restoring.sentence[:-1]}, asked for trial {trial}, step {step}; learn without look-aheads."
        )
    if trial < 0:
        return DistinguoError(f"{name} can only go on from the last state of a look-ahead, and at once.")
    return DistinguoError(f"{name} has no memory of trial {trial}, step {step}; go on from another state.")


def _lost(name: str, probed: ProbeResult, s: State, observation: Any) -> DistinguoError:
    trial, step, *wanted = s
    place = StepPlace(int(trial), int(step))
    if probed.restoring.name == OPTIONS:
        words, advice = "ignores the state it was given", "mend its reset, or leave the option out"
    else:
        words, advice = "is not deterministic under replay", "draw all its noise from its own np_random"
    return DistinguoError(f"{name} {words}: {place} expected {tuple(wanted)}, got {observation}; {advice}.")
