"""The past of a driver, and the ways back into it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.tasks.gym.checked_env import Handle, Place
from distinguo.tasks.gym.history import Anchors, Trial, last_steps, packed, unpacked
from distinguo.tasks.gym.probe import Verdict
from distinguo.tasks.gym.snapshots import NONE, OPTIONS, Moment
from distinguo.tasks.task import State

SPACING = 32  #: steps between two anchors of a trial, at the least
MOST_IN_TRIAL = 128  #: anchors, however long the trial is


class Past:
    """The trials so far, and the states of them that were taken down."""

    def __init__(self) -> None:
        self.count = 0  #: of trials that were begun
        self.replayed = 0  #: steps that were only taken to come back to a state
        self.trials: dict[int, Trial] = {}
        self.latest = Trial(0)
        self.anchors = Anchors()

    def begin(self, seed: int) -> int:
        """Note that a trial begins: its number."""
        self.latest = self.trials[self.count] = Trial(seed)
        self.count += 1
        return self.count - 1

    def take_beginning(self, handle: Handle, verdict: Verdict, found: tuple[float, ...]) -> None:
        """Take the beginning of the latest trial down if its seed will not bring it back."""
        if verdict.keeper is not None and not verdict.replayable:
            token = verdict.keeper.take(handle.env, Moment(self.latest.seed, 0, (), found))
            self.latest.beginning = (token, found)

    def is_head(self, trial: int, step: int) -> bool:
        """Tell whether this is where the latest trial has come to."""
        return trial == self.count - 1 and step == len(self.latest.moves)

    def stopped_at(self, trial: int, step: int) -> bool:
        """Tell whether the environment truncated the trial at this step."""
        known = self.trials.get(trial)
        return known is not None and known.stopped and step == len(known.moves)

    def go_to(self, handle: Handle, verdict: Verdict, s: State) -> None:
        """Put the environment into ``s``, a state of one of the trials, and see that it is there."""
        trial, step, wanted = int(s[0]), int(s[1]), tuple(s[2:])
        if verdict.restoring.name == NONE or trial < 0:
            raise _no_way_back(handle.name, verdict, trial, step)
        if verdict.restoring.name == OPTIONS:
            found = self._give(handle, verdict, (step, wanted), trial, step)
        else:
            found = self._return(handle, verdict, trial, step)
        if found != wanted:
            raise _lost(handle.name, verdict, s, found)

    def _return(self, handle: Handle, verdict: Verdict, trial: int, step: int) -> Any:
        known = self.trials.get(trial)
        if known is None or step > len(known.moves):
            raise _no_way_back(handle.name, verdict, trial, step)
        at, found = self._nearest(handle, verdict, trial, step)
        for place in range(at, step):
            if place > at:
                self._take_down(handle, verdict, trial, at, place, step)
            found = handle.act(known.moves[place], trial, place + 1)[0]
        self.replayed += step - at
        return found

    def _nearest(self, handle: Handle, verdict: Verdict, trial: int, step: int) -> tuple[int, Any]:
        """Go to the last state before ``step`` that was taken down, or to the beginning: its step and observation."""
        known, anchor = self.trials[trial], self.anchors.before(trial, step)
        if anchor is not None and (anchor[0] > verdict.price or known.beginning is not None):
            return anchor[0], self._give(handle, verdict, anchor[1], trial, step)
        if known.beginning is None:
            return 0, handle.reset(known.seed, trial)
        token, found = known.beginning
        self._give(handle, verdict, token, trial, step)
        return 0, found

    def _give(self, handle: Handle, verdict: Verdict, token: Any, trial: int, step: int) -> Any:
        assert verdict.keeper is not None
        try:
            handle.env, found = verdict.keeper.give(handle.env, token)
        except Exception as error:
            raise handle.raised(error, trial, step) from error
        return found

    def _take_down(
        self, handle: Handle, verdict: Verdict, trial: int, at: int, place: int, step: int
    ) -> None:
        """Take a state down on the way: one in so many, and the last before the goal, which is often wanted again."""
        known = self.trials[trial]
        if verdict.keeper is None or step - at <= 2 * verdict.price:  # to replay it again costs less
            return
        spacing = max(SPACING, 2 * verdict.price, len(known.moves) // MOST_IN_TRIAL)
        if place % spacing == 0 or place == step - 1:
            with suppress(Exception):  # then the way back stays longer
                token = verdict.keeper.take(handle.env, Moment(known.seed, place, (), ()))
                self.anchors.put(trial, place, token)

    def pack(self, verdict: Verdict, states: np.ndarray, counters: list[int]) -> dict[str, np.ndarray]:
        """Return what is needed to come back to these states, and drop what is not."""
        last = last_steps(states)
        if verdict.restoring.name == OPTIONS:  # the states are enough, but the running trial goes on
            last = {trial: step for trial, step in last.items() if trial == self.count - 1}
        arrays = packed(self.trials, last, [self.count, *counters])
        kept = {number: trial for number, trial in self.trials.items() if number in last}
        for number, trial in kept.items():
            if number != self.count - 1:  # the latest one may go on
                trial.cut(last[number])
        self.trials = kept
        self.anchors.keep_only(kept)
        return arrays

    def unpack(self, arrays: Mapping[str, np.ndarray], actions: int) -> list[int]:
        """Take back what :meth:`pack` gave: the counters."""
        trials, (count, *counters) = unpacked(arrays, actions)
        self.trials, self.count, self.anchors = trials, count, Anchors()
        self.latest = trials.get(count - 1, Trial(0))
        return counters


def _no_way_back(name: str, verdict: Verdict, trial: int, step: int) -> DistinguoError:
    if verdict.restoring.name == NONE:
        return DistinguoError(
            f"{verdict.restoring.sentence[:-1]}, asked for trial {trial}, step {step}; learn without look-aheads."
        )
    if trial < 0:
        return DistinguoError(f"{name} can only go on from the last state of a look-ahead, and at once.")
    return DistinguoError(f"{name} has no memory of trial {trial}, step {step}; go on from another state.")


def _lost(name: str, verdict: Verdict, s: State, found: Any) -> DistinguoError:
    trial, step, *wanted = s
    place = Place(int(trial), int(step))
    if verdict.restoring.name == OPTIONS:
        words, advice = "ignores the state it was given", "mend its reset, or leave the option out"
    else:
        words, advice = "is not deterministic under replay", "draw all its chances from its own np_random"
    return DistinguoError(f"{name} {words}: {place} expected {tuple(wanted)}, got {found}; {advice}.")
