"""The generation stage at the pace of an agent: up to a number of steps, and in chunks that callbacks can follow."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from distinguo.agents.policy import Policy
from distinguo.learners.economy.memory import SINCE, Memory
from distinguo.representation.file import Representation
from distinguo.representation.prototypes import trimmed
from distinguo.runs.stage import BETWEEN, DONE, SAMPLE, TRIAL, Generation, Trial


class PacedGeneration(Generation):
    """A stage that stops in the midst of a trial when it has had its steps.

    Where it stops decides nothing: what is learned has the same bits in one stretch or in many.
    """

    goal: int = 0  #: environment steps at which it stops
    stride: int | None = None  #: steps of a trial at once; None as many as is fast

    @classmethod
    def of(cls, generation: Generation) -> PacedGeneration:
        """Take a stage over where it is."""
        paced = cls.__new__(cls)
        paced.__dict__.update(generation.__dict__)
        return paced

    @property
    def _steps_at_once(self) -> int:
        usual = super()._steps_at_once
        if self.phase != TRIAL:
            return usual
        return max(1, min(self.stride or usual, self.goal - self.environment_steps))

    @property
    def out_of_steps(self) -> bool:
        """Tell whether the goal is reached; a confirmation that is under way goes on to its end."""
        return self.phase in (BETWEEN, TRIAL) and self.environment_steps >= self.goal

    def reopen(self) -> None:
        """Go on with a stage that ended without success, if its budgets allow."""
        if self.phase == DONE and not self.solved and not self._spent():
            self.phase = BETWEEN

    def policy(self, recent: Iterable[Trial]) -> Policy:
        """Return what to act by: the present attempt, or the best one before it if that did better.

        A good attempt that was given up, or learned on and became worse, is known by the mean return of its greedy
        trials; the present one by that of its last trials, once there are enough.
        """
        memory = self.memory
        if not self.solved and self.best is not None and self.best.score > self._present(recent):
            memory = self.best.memory
        size = memory.partition.size[0]
        return Policy(self._represented(memory), memory.q[:size].copy(), memory.updates[:size].copy())

    def _present(self, recent: Iterable[Trial]) -> float:
        ours = [trial.gained for trial in recent if trial.trial > self.memory.counters[SINCE]][-SAMPLE:]
        return float(np.mean(ours)) if len(ours) == SAMPLE else -np.inf

    def _represented(self, memory: Memory) -> Representation:
        return self.representation()._replace(partition=trimmed(memory.partition))
