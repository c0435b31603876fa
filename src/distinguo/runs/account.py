"""What can be said of a generation stage at any moment: its counts, and what was learned so far."""

from __future__ import annotations

import numpy as np

from distinguo.learners.economy.memory import (
    ATTEMPT,
    INVESTIGATION_STEPS,
    LENGTH,
    TRIAL_STEPS,
    TRIALS,
    Memory,
)
from distinguo.learners.economy.values import current_epsilon
from distinguo.representation.file import Representation
from distinguo.representation.partition import count_regions
from distinguo.representation.prototypes import trimmed
from distinguo.runs.configuration import Configuration
from distinguo.tasks.extent import Extent, Preliminaries
from distinguo.tasks.spec import LENGTH as BY_LENGTH


class Account:
    """The readings of a stage; the stage itself fills in what they are read from."""

    configuration: Configuration
    memory: Memory
    preliminaries: Preliminaries
    extent: Extent  #: of the observations, as far as it is known
    solved: bool

    @property
    def count_trials(self) -> int:
        """Return the number of trials begun."""
        return int(self.memory.counters[TRIALS])

    @property
    def epsilon(self) -> float:
        """Return the reward that may be lost: as given, or the present share of what was found."""
        return float(current_epsilon(self.memory, self.configuration.learner))

    @property
    def attempts(self) -> int:
        """Return how often learning was begun from scratch."""
        return int(self.memory.counters[ATTEMPT]) + 1

    @property
    def trial_length(self) -> int:
        """Return the steps of the running, or else of the last trial."""
        return int(self.memory.counters[LENGTH])

    @property
    def final_trial_steps(self) -> int:
        """Return the length of the long trial that ended a solved run; 0 for others."""
        by_length = self.configuration.spec.score == BY_LENGTH
        return self.trial_length if self.solved and by_length else 0

    @property
    def regions(self) -> int:
        """Return the number of regions."""
        return count_regions(self.memory.partition)

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
        """Return the steps of all trials and mini-trials, and of the preliminary series where there was one."""
        return int(self.memory.counters[TRIAL_STEPS]) + self.investigation_steps + self.preliminaries.steps

    def representation(self) -> Representation:
        """Return the representation as it is now."""
        provenance = {
            "task": self.configuration.spec.name,
            "preset": self.configuration.preset,
            "seed": self.configuration.seed,
            "trials": self.count_trials,
            "solved": self.solved,
            "extent": [list(self.extent.low), list(self.extent.high)],
        }
        return Representation(trimmed(self.memory.partition), self.configuration.spec.dimensions, provenance)

    def values(self) -> dict[str, np.ndarray]:
        """Return the action values and how often each was updated."""
        size = self.prototypes
        return {"q": self.memory.q[:size].copy(), "updates": self.memory.updates[:size].copy()}
