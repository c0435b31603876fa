"""An agent's learning session: a stage that goes on, or the files of one until it is needed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from distinguo.agents import archive
from distinguo.agents.archive import AGENT, Files, Word
from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.representations import file as representation_file
from distinguo.representations.file import Representation
from distinguo.runs import folder
from distinguo.runs.configuration import Configuration
from distinguo.runs.run import Run, summarise
from distinguo.runs.stage import BETWEEN, DONE, SAMPLE, TRIAL, Stage
from distinguo.runs.written.history import HISTORY, ending_with
from distinguo.runs.written.settings_file import to_toml
from distinguo.runs.written.trial_table import TrialRow
from distinguo.writing.atomic import pack_arrays, write_atomically

WINDOW = 100  #: trials that means are taken over


class Acting(NamedTuple):
    """What an agent acts by at one moment; nothing changes it."""

    representation: Representation
    controller: Controller
    values: dict[str, np.ndarray]  #: what ``values.npz`` holds


class Session:
    """What was learned, and how to go on with it.

    The stage is begun, or resumed, when something needs it: an agent that only acts needs no environment.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.recent: deque[TrialRow] = deque(maxlen=WINDOW)
        self._files: Files = {}  # of the run folder that was loaded or saved last
        self._source = "the agent"
        self._summary: dict[str, Any] = {"solved": False}
        self._stage: Stage | None = None
        self._learned: Acting | None = None

    @classmethod
    def opened(cls, files: Files, source: str, word: Word | None) -> Session:
        """Return the session that was saved in these files; a run that is not finished has no summary of its own."""
        with archive.unpacked(files, source) as place:
            run = folder.open_run(place)
        session = cls(run.configuration)
        session._files, session._source = files, source
        session._summary = run.summary if word is None else word.summary
        values = {"q": run.q, "updates": run.updates}
        session._learned = Acting(run.representation, run.controller, values)
        session.recent.extend(run.trials[-WINDOW:])
        return session

    @property
    def stage(self) -> Stage:
        """Return the stage where it is."""
        if self._stage is None:
            self._stage = self._resumed() if self._files else Stage(self.configuration)
        return self._stage

    @property
    def begun(self) -> bool:
        """Tell whether anything was learned before, here or in the files."""
        return self._stage is not None or bool(self._files)

    def _resumed(self) -> Stage:
        if folder.CHECKPOINT not in self._files:
            raise DistinguoError(
                f"{self._source} has no {folder.CHECKPOINT}: it can act, but not learn on; take a whole copy."
            )
        with archive.unpacked(self._files, self._source) as place:
            stage = folder.resume(place, self.configuration)
            self._files = archive.gathered(place)
        if stage.phase == DONE and not stage.solved and not stage.is_spent:
            stage.phase = BETWEEN  # it ended without success, but its budgets allow more
        return stage

    @property
    def is_out_of_steps(self) -> bool:
        """Tell whether the stage had its steps; a confirmation that is under way goes on to its end."""
        stage = self.stage
        steps = stage.pause_at or 0
        return stage.phase in (BETWEEN, TRIAL) and stage.environment_steps >= steps

    @property
    def learned(self) -> Acting:
        """Return what to act by now."""
        if self._learned is None:
            self._learned = learned_by(self.stage, self.recent)
        return self._learned

    @property
    def summary(self) -> dict[str, Any]:
        """Return the result so far in short."""
        return self._summary if self._stage is None else summarise(self._stage)

    def take_note(self) -> TrialRow | None:
        """Take note of what the last chunk of work changed: the trial that ended, if one did."""
        self._learned = None
        trials = self.stage.trials
        if not trials or (self.recent and trials[-1].trial <= self.recent[-1].trial):
            return None
        self.recent.append(trials[-1])
        return trials[-1]

    @property
    def run(self) -> Run:
        """Return what was learned so far as a run, with its trials, reasons and history."""
        with archive.unpacked(self.packed(Word()), self._source) as place:
            run = folder.open_run(place)
        return run._replace(configuration=self.configuration, summary=self.summary, path=None)

    def packed(self, word: Word) -> Files:
        """Return the files that hold everything."""
        if self._stage is not None or not self._files:
            self._files = self._written(self.stage)
        word = word.model_copy(update={"summary": self.summary})
        return {**self._files, **self._ended(), AGENT: word.model_dump_json(indent=2).encode()}

    def _ended(self) -> Files:
        """Return the history of a stage that has ended; what is kept to go on with ends at its checkpoint."""
        if self._stage is None or self._stage.phase != DONE:
            return {}
        frames = self._files[HISTORY].decode().splitlines(keepends=True)
        return {HISTORY: "".join(ending_with(frames, self._stage.frame())).encode()}

    def _written(self, stage: Stage) -> Files:
        growing = {name: self._files[name] for name in folder.GROWING if name in self._files}
        with archive.unpacked(growing, self._source) as place:
            write_atomically(place / folder.SETTINGS, to_toml(self.configuration))
            folder.save_checkpoint(place, stage)
            text = representation_file.dumps(self.learned.representation)
            write_atomically(place / folder.REPRESENTATION, text)
            write_atomically(place / folder.VALUES, pack_arrays(self.learned.values))
            if stage.phase == DONE:
                write_atomically(place / folder.RESULT, folder.result_text(summarise(stage)))
            return archive.gathered(place)


def learned_by(stage: Stage, recent: Iterable[TrialRow]) -> Acting:
    """Return what to act by: the present attempt, or the best one before it if that did better.

    A good attempt that was given up, or learned on and became worse, is known by the mean return of its greedy
    trials; the present one by that of its last trials, once there are enough.
    """
    memory, best = stage.agent.memory, stage.best
    if not stage.solved and best is not None and best.score > _present_score(stage, recent):
        memory = best.memory
    controller = stage.learner.controller(memory, stage.configuration.learner)
    representation = stage.representation()._replace(partition=controller.partition)
    arrays = {"q": controller.q, **stage.learner.values(memory)}
    values = {name: array[: representation.regions].copy() for name, array in arrays.items()}
    return Acting(representation, Controller(representation.partition, values["q"], controller.delta), values)


def _present_score(stage: Stage, recent: Iterable[TrialRow]) -> float:
    since = stage.agent.progress.counts["since"][0]
    returns = [trial.gained for trial in recent if trial.trial > since][-SAMPLE:]
    return float(np.mean(returns)) if len(returns) == SAMPLE else -np.inf
