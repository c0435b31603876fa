"""What can be said of a generation stage at any moment: its counts, and what was learned so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.learners.agent import Agent
from distinguo.learners.learner import Learner
from distinguo.representations.file import Representation
from distinguo.runs.configuration import Configuration
from distinguo.tasks.extent import Extent, Preliminaries
from distinguo.tasks.spec import CONTINUOUS


class Account:
    """The readings of a stage; the stage itself fills in what they are read from."""

    configuration: Configuration
    learner: Learner
    agent: Agent
    preliminaries: Preliminaries
    extent: Extent  #: of the observations, as far as it is known
    solved: bool

    @property
    def controller(self) -> Controller:
        """Return what the learner would act by now."""
        return self.learner.controller(self.agent.memory, self.configuration.learner)

    def _count(self, name: str) -> int:
        return int(self.agent.progress.counts[name][0])

    @property
    def count_trials(self) -> int:
        """Return the number of trials begun."""
        return self._count("trials")

    @property
    def attempts(self) -> int:
        """Return how often learning was begun from scratch."""
        return self._count("attempt") + 1

    @property
    def trial_length(self) -> int:
        """Return the steps of the running, or else of the last trial."""
        return self._count("length")

    @property
    def gained(self) -> float:
        """Return the sum of its rewards."""
        return float(self.agent.progress.counts["gained"][0])

    @property
    def regions(self) -> int:
        """Return the number of regions."""
        return self._map().regions

    @property
    def prototypes(self) -> int:
        """Return the number of prototypes."""
        return self._map().prototypes

    @property
    def investigation_steps(self) -> int:
        """Return the steps of all mini-trials."""
        return self._count("investigation_steps")

    @property
    def environment_steps(self) -> int:
        """Return the steps of all trials and mini-trials, and of the preliminary series where there was one."""
        return self._count("trial_steps") + self.investigation_steps + self.preliminaries.steps

    @property
    def cap(self) -> int:
        """Return the steps after which a trial is stopped."""
        return self.configuration.spec.cap(self.configuration.stage.cap)

    @property
    def is_spent(self) -> bool:
        """Tell whether a budget is used up."""
        stage = self.configuration.stage
        return (
            self.count_trials >= stage.trials
            or self.environment_steps >= stage.steps
            or (stage.restart == 0 and self.prototypes >= stage.prototypes)
        )

    def _map(self) -> Representation:
        return Representation(self.controller.partition, self.configuration.spec.dimensions)

    def representation(self) -> Representation:
        """Return the representation as it is now."""
        provenance: dict[str, Any] = {
            "task": self.configuration.spec.name,
            "preset": self.configuration.preset,
            "seed": self.configuration.seed,
            "trials": self.count_trials,
            "solved": self.solved,
            "extent": [list(self.extent.low), list(self.extent.high)],
        }
        observed, spec = self.agent.progress.extent, self.configuration.spec
        if spec.bounded and spec.kind == CONTINUOUS and np.isfinite(observed).all():
            provenance["observed"] = observed.tolist()
        return Representation(self.controller.partition, self.configuration.spec.dimensions, provenance)

    def values(self) -> dict[str, np.ndarray]:
        """Return the action values, and what else the learner keeps beside them."""
        arrays = {"q": self.controller.q, **self.learner.values(self.agent.memory)}
        regions = self.regions
        return {name: array[:regions].copy() for name, array in arrays.items()}
