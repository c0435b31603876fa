"""The representation generation stage (section 3.4): trials until the greedy policy holds or a budget ends.

A trial that reaches the cap is followed by a confirmation: the frozen greedy policy must hold for the required
length from the start of a trial. Its steps are counted apart; if it fails, learning goes on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from distinguo.lab.configuration import Configuration
from distinguo.learners.economy import CAPPED, RUNNING, advance, begin, follow, settle
from distinguo.learners.memory import (
    INVESTIGATION_STEPS,
    LENGTH,
    TRIAL_STEPS,
    TRIALS,
    Memory,
    fresh_memory,
    with_room,
)
from distinguo.learners.reasons import Log, drain, fresh_log
from distinguo.representation.file import Representation
from distinguo.representation.voronoi import Voronoi, count_regions, voronoi
from distinguo.tasks.task import actions, start

#: What the stage is doing between two chunks of work.
BETWEEN, TRIAL, HOLDING, DONE = "between trials", "trial", "holding", "done"
CHUNK = 200_000  #: steps between two looks at the keyboard


class Trial(NamedTuple):
    """One line of ``trials.csv``."""

    trial: int
    length: int
    ended: str  #: "wall" for a terminal state, "cap" for a trial that was stopped
    regions: int
    prototypes: int
    environment_steps: int
    investigation_steps: int


class Generation:
    """The stage as a process that can be stopped after any chunk and resumed with the same bits."""

    def __init__(self, configuration: Configuration) -> None:
        """Prepare the first trial."""
        self.configuration = configuration
        self.rng = np.random.default_rng(configuration.seed)
        task = configuration.world.task
        first = configuration.prototypes or (start(task, np.random.default_rng(configuration.seed)),)
        self.memory = fresh_memory(voronoi(first, configuration.world.scale, room=64), actions(task))
        self.log = _log_for(self.memory)
        self.phase = BETWEEN
        self.solved = False
        self.score = 0  #: steps that the frozen greedy policy held when it was last confirmed
        self.confirmation_steps = 0
        self.seconds = 0.0
        self.trials: list[Trial] = []  #: finished since the last checkpoint
        self.reasons: list[dict[str, Any]] = []  #: found since the last checkpoint

    def work(self) -> Iterator[Generation]:
        """Work to the end, pausing after every chunk."""
        while self.phase != DONE:
            began = time.perf_counter()
            self._chunk()
            self.seconds += time.perf_counter() - began
            yield self

    def _chunk(self) -> None:
        if self.phase == BETWEEN:
            self._begin_trial()
        elif self.phase == TRIAL:
            self._advance_trial()
        else:
            self._hold()

    def _begin_trial(self) -> None:
        if self._spent():
            self.phase = DONE
            return
        # process_stack pops at most one state per region and adds at most one prototype for each
        self.memory = with_room(self.memory, 2 * self.prototypes + 2)
        if len(self.log.regret) < 5 * len(self.memory.q):
            self.log = _log_for(self.memory)
        begin(self.configuration.world.task, self.memory, self.configuration.learner, self.rng)
        self.phase = TRIAL

    def _spent(self) -> bool:
        stage = self.configuration.stage
        return (
            self.memory.counters[TRIALS] >= stage.trials
            or self.environment_steps >= stage.steps
            or self.prototypes >= stage.prototypes
        )

    def _advance_trial(self) -> None:
        task, stage = self.configuration.world.task, self.configuration.stage
        ended = advance(task, self.memory, self.configuration.learner, self.rng, self.log, stage.cap, CHUNK)
        if ended == RUNNING:
            return
        if ended == CAPPED:
            self.score = 0
            self.memory.now[:] = start(task, self.rng)
            self.phase = HOLDING
        else:
            self._end_trial("wall")

    def _hold(self) -> None:
        stage, world = self.configuration.stage, self.configuration.world
        steps, fell = follow(
            world.task,
            self.memory.partition,
            self.memory.q,
            self.configuration.learner.delta,
            self.rng,
            self.memory.now,
            min(CHUNK, stage.hold - self.score),
        )
        self.score += steps
        self.confirmation_steps += steps
        if fell:
            settle(world.task, self.memory, self.configuration.learner, self.log)
            self._end_trial("cap")
        elif self.score >= stage.hold:
            self.solved = True
            self._end_trial("cap")
            self.phase = DONE

    def _end_trial(self, how: str) -> None:
        self.reasons += drain(self.log, self.memory)
        self.trials.append(
            Trial(
                self.count_trials,
                self.trial_length,
                how,
                self.regions,
                self.prototypes,
                self.environment_steps,
                self.investigation_steps,
            )
        )
        self.phase = BETWEEN

    @property
    def count_trials(self) -> int:
        """Return the number of trials begun."""
        return int(self.memory.counters[TRIALS])

    @property
    def trial_length(self) -> int:
        """Return the steps of the running, or else of the last trial."""
        return int(self.memory.counters[LENGTH])

    @property
    def final_trial_steps(self) -> int:
        """Return the length of the long trial that ended a solved run; 0 for others."""
        return self.trial_length if self.solved else 0

    @property
    def regions(self) -> int:
        """Return the number of regions."""
        return int(count_regions(self.memory.partition))

    @property
    def prototypes(self) -> int:
        """Return the number of prototypes."""
        return int(self.memory.partition.size[0])

    @property
    def investigation_steps(self) -> int:
        """Return the steps of all mini-trials."""
        return int(self.memory.counters[INVESTIGATION_STEPS])

    @property
    def environment_steps(self) -> int:
        """Return the steps of all trials and mini-trials."""
        return int(self.memory.counters[TRIAL_STEPS]) + self.investigation_steps

    def representation(self) -> Representation:
        """Return the representation as it is now."""
        size = self.prototypes
        grown = self.memory.partition
        partition = Voronoi(
            grown.prototypes[:size].copy(),
            grown.primary[:size].copy(),
            grown.size.copy(),
            grown.scale,
            grown.weight,
        )
        provenance = {
            "task": self.configuration.world.name,
            "preset": self.configuration.preset,
            "seed": self.configuration.seed,
            "trials": self.count_trials,
            "solved": self.solved,
        }
        return Representation(partition, self.configuration.world.dimensions, provenance)

    def values(self) -> dict[str, np.ndarray]:
        """Return the action values and how often each was updated."""
        size = self.prototypes
        return {"q": self.memory.q[:size].copy(), "updates": self.memory.updates[:size].copy()}


def _log_for(memory: Memory) -> Log:
    """Make room for a session: a region is popped once, so it is split and detached at most once, and every
    merge undoes one of the regions there were or that a split or detachment made.
    """
    return fresh_log(5 * len(memory.q), memory.q.shape[1])
