"""The state of a generation stage at any moment: its counts, and what was learned so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.learners.agent import Agent
from distinguo.learners.learner import Learner
from distinguo.representations.file import Representation, can_be_read_again
from distinguo.runs.configuration import Configuration
from distinguo.runs.history import LARGEST_HISTORY, Frame, ending_with, fits, frame_line, is_due
from distinguo.search.proving import Proven
from distinguo.tasks.amounts import needs_laws, with_laws
from distinguo.tasks.extent import Extent, Preliminaries, completed, preliminary_series
from distinguo.tasks.relevance import mattering
from distinguo.tasks.spec import CONTINUOUS, LARGEST, TaskSpec
from distinguo.tasks.task import observe, start, uncounted_steps

LAWS = "laws"  #: the array of ``values.npz``, where actions are amounts
#: The provenance in a frame of the history.
_OF_A_FRAME = ("task", "preset", "seed", "extent", "observed")


class Account:
    """The counts and results of a stage; the stage itself fills in the fields."""

    configuration: Configuration
    learner: Learner
    agent: Agent
    task: Any  #: with a generator of its own
    replayed_before: int  #: steps to restore states, in earlier processes
    preliminaries: Preliminaries
    extent: Extent  #: of the observations, as far as it is known
    solved: bool
    returns: list[float]  #: of the confirmation that is under way
    reasons: list[dict[str, Any]]  #: found since the last checkpoint
    frames: list[str]  #: lines of the history since the last checkpoint
    history_size: int  #: bytes of all of them
    least: float  #: the least return of any trial
    greatest: float
    proof: Proven | None = None  #: of a solved map, where one was asked for

    def take_reasons(self) -> None:
        """Take over the learner's log of reasons."""
        self.reasons += self.learner.reasons(self.agent)

    def take_frame(self, learned: Controller, regions: int, prototypes: int) -> None:
        """Record what was learned, if the trial that ended has a frame in the history."""
        spec = self.configuration.spec
        size = (prototypes, regions, len(spec.dimensions), len(spec.actions))
        if needs_laws(spec):  # those of earlier maps are not kept
            return
        if not is_due(self.count_trials, *size) or not can_be_read_again(learned.partition):
            return
        line = frame_line(self.frame(learned))
        if fits(line) and self.history_size + len(line) <= LARGEST_HISTORY:
            self.frames.append(line)
            self.history_size += len(line)

    def note_return(self, gained: float) -> None:
        """Record the return of a trial."""
        self.least, self.greatest = min(self.least, gained), max(self.greatest, gained)

    @property
    def controller(self) -> Controller:
        """The learner's present controller; the proven one, if it was changed for that."""
        if self.proof is not None:
            return self.proof.controller
        return self.learner.controller(self.agent.memory, self.configuration.learner)

    def _count(self, name: str) -> int:
        return int(self.agent.progress.counts[name][0])

    @property
    def count_trials(self) -> int:
        """Return the number of trials begun."""
        return self._count("trials")

    @property
    def attempts(self) -> int:
        """How often learning began from scratch."""
        return self._count("attempt") + 1

    @property
    def trial_length(self) -> int:
        """Return the steps of the running, or else of the last trial."""
        return self._count("length")

    @property
    def gained(self) -> float:
        """Return the sum of its rewards."""
        return float(self.agent.progress.counts["gained"][0])

    def sizes(self, learned: Controller) -> tuple[int, int]:
        """Return the numbers of regions and of prototypes."""
        present = Representation(learned.partition, self.configuration.spec.dimensions)
        return present.regions, present.prototypes

    @property
    def regions(self) -> int:
        """Return the number of regions."""
        return self.sizes(self.controller)[0]

    @property
    def prototypes(self) -> int:
        """Return the number of prototypes."""
        return self.sizes(self.controller)[1]

    @property
    def investigation_steps(self) -> int:
        """Return the steps of all mini-trials."""
        return self._count("investigation_steps")

    @property
    def environment_steps(self) -> int:
        """Return the steps of all trials and mini-trials, and of the preliminary series if there was one."""
        return self._count("trial_steps") + self.investigation_steps + self.preliminaries.steps

    @property
    def probe_steps(self) -> int:
        """The steps that it took to find out what the task allows, before the first trial."""
        return uncounted_steps(self.task)[0]

    @property
    def replayed_steps(self) -> int:
        """The steps that were only taken to restore a state."""
        return self.replayed_before + uncounted_steps(self.task)[1]

    @property
    def final_trial_steps(self) -> int:
        """The steps of the trial that ended a solved stage and do not count as learning; by default 0."""
        return 0

    @property
    def is_sound(self) -> bool:
        """Whether all returns and values are finite; huge rewards spoil them."""
        gained = self.returns[-1] if self.returns else 0.0
        return bool(
            abs(self.gained) <= LARGEST and abs(gained) <= LARGEST and np.isfinite(self.controller.q).all()
        )

    def unsound(self) -> DistinguoError:
        """Return the error for rewards that are too large to learn from."""
        name, trial, length = self.configuration.spec.name, self.count_trials, self.trial_length
        return DistinguoError(
            f"{name} gave rewards that are not finite or too large to be added up, in trial {trial} within its first "
            f"{length:,} steps, with a return of {self.gained:g}; allowed are sums up to {LARGEST:g}; "
            "fix its rewards."
        )

    @property
    def cap(self) -> int:
        """Return the steps after which a trial is stopped."""
        return self.configuration.spec.cap(self.configuration.stage.cap)

    @property
    def steps_left(self) -> int:
        """Return the steps of the budget that were not taken yet."""
        return max(0, self.configuration.stage.steps - self.environment_steps)

    @property
    def is_spent(self) -> bool:
        """Whether a budget is used up."""
        stage = self.configuration.stage
        return (
            self.count_trials >= stage.trials
            or self.environment_steps >= stage.steps
            or (stage.restart == 0 and self.prototypes >= stage.prototypes)
        )

    def representation(self) -> Representation:
        """Return the representation as it is now."""
        return Representation(
            self.controller.partition, self.configuration.spec.dimensions, self._provenance()
        )

    def _provenance(self) -> dict[str, Any]:
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
        return provenance

    def frame(self, learned: Controller | None = None) -> Frame:
        """The result so far as a frame of the history; it holds nothing that later trials decide."""
        controller = learned or self.controller
        known = self._provenance()
        words = {name: known[name] for name in _OF_A_FRAME if name in known}
        representation = Representation(controller.partition, self.configuration.spec.dimensions, words)
        q = controller.q[: representation.regions].copy()
        return Frame(self.count_trials, self.environment_steps, representation, q, controller.delta)

    def history(self) -> list[str]:
        """Return the lines of the frames since the last checkpoint; the last is the present map."""
        return ending_with(self.frames, self.frame())

    def acting_spec(self) -> TaskSpec:
        """The task as the controller acts in it: where actions are amounts, they are the laws that were found."""
        spec, found = self.configuration.spec, self.learner.laws(self.agent.memory)
        if found is None:
            return spec._replace(task=self.task)
        return with_laws(spec._replace(task=self.task.task), found)

    def values(self) -> dict[str, np.ndarray]:
        """Return the action values, and what else the learner saves with them."""
        arrays = {"q": self.controller.q}
        if self.proof is None or not self.proof.changed:
            arrays |= self.learner.values(self.agent.memory)
        found, regions = self.learner.laws(self.agent.memory), self.regions
        values = {name: array[:regions].copy() for name, array in arrays.items()}
        return values if found is None else values | {LAWS: found}


def preliminaries_for(task: Any, configuration: Configuration, learner: Learner) -> Preliminaries:
    """Find the extent and the mean reward, if the learner needs them, and which of many coordinates matter."""
    spec, stage = configuration.spec, configuration.stage
    if not 0 < stage.many < len(spec.dimensions) or spec.kind != CONTINUOUS or needs_laws(spec):
        return _first_facts(task, configuration, learner)
    matter, steps = mattering(task, configuration.seed, stage.steps)
    found = _first_facts(
        task, configuration._replace(stage=stage._replace(steps=max(1, stage.steps - steps))), learner
    )
    left_out = tuple(i for i, matters in enumerate(matter) if not matters)
    return found._replace(steps=found.steps + steps, left_out=left_out)


def _first_facts(task: Any, configuration: Configuration, learner: Learner) -> Preliminaries:
    spec, seed = configuration.spec, configuration.seed
    if spec.bounded and not learner.needs_mean_reward(configuration.learner):
        return Preliminaries(Extent(spec.low, spec.high), 0.0, 0)
    if not learner.needs_extent:  # it finds them while learning
        seen = observe(task, start(task, np.random.default_rng(seed)))
        return Preliminaries(completed(spec, seen, seen), 0.0, 0)
    return preliminary_series(task, spec, seed, configuration.stage.steps)
