"""The course of an agent's learning: a stage that goes on, or the files of one until it is needed."""

from __future__ import annotations

from collections import deque
from typing import Any

from distinguo.agents import archive
from distinguo.agents.archive import AGENT, Files, Word
from distinguo.agents.pace import PacedGeneration
from distinguo.agents.policy import Policy
from distinguo.errors import DistinguoError
from distinguo.representation import file as representation_file
from distinguo.runs import folder
from distinguo.runs.configuration import Configuration, to_toml
from distinguo.runs.files import pack_arrays, write_atomically
from distinguo.runs.learn import summarise
from distinguo.runs.stage import DONE, Trial

WINDOW = 100  #: trials that means are taken over


class Course:
    """What was learned, and how to go on with it.

    The stage is begun, or resumed, when something needs it: an agent that only acts needs no environment.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.recent: deque[Trial] = deque(maxlen=WINDOW)
        self._files: Files = {}  # of the run folder that was loaded or saved last
        self._source = "the agent"
        self._summary: dict[str, Any] = {"solved": False}
        self._stage: PacedGeneration | None = None
        self._policy: Policy | None = None

    @classmethod
    def opened(cls, files: Files, source: str, word: Word | None) -> Course:
        """Return the course that was saved in these files; a run that is not finished has no summary of its own."""
        with archive.unpacked(files, source) as place:
            run = folder.open_run(place)
        course = cls(run.configuration)
        course._files, course._source = files, source
        course._summary = run.summary if word is None else word.summary
        course._policy = Policy(run.representation, run.q, run.updates)
        course.recent.extend(run.trials[-WINDOW:])
        return course

    @property
    def stage(self) -> PacedGeneration:
        """Return the stage where it is."""
        if self._stage is None:
            self._stage = self._resumed() if self._files else PacedGeneration(self.configuration)
        return self._stage

    @property
    def begun(self) -> bool:
        """Tell whether anything was learned before, here or in the files."""
        return self._stage is not None or bool(self._files)

    def _resumed(self) -> PacedGeneration:
        if folder.CHECKPOINT not in self._files:
            raise DistinguoError(
                f"{self._source} has no {folder.CHECKPOINT}: it can act, but not learn on; take a whole copy."
            )
        with archive.unpacked(self._files, self._source) as place:
            stage = PacedGeneration.of(folder.resume(place, self.configuration))
            self._files = archive.gathered(place)
        stage.reopen()
        return stage

    @property
    def policy(self) -> Policy:
        """Return what to act by now."""
        if self._policy is None:
            self._policy = self.stage.policy(self.recent)
        return self._policy

    @property
    def summary(self) -> dict[str, Any]:
        """Return the result so far in short."""
        return self._summary if self._stage is None else summarise(self._stage)

    def take_note(self) -> Trial | None:
        """Take note of what the last chunk of work changed: the trial that ended, if one did."""
        self._policy = None
        trials = self.stage.trials
        if not trials or (self.recent and trials[-1].trial <= self.recent[-1].trial):
            return None
        self.recent.append(trials[-1])
        return trials[-1]

    def packed(self, word: Word) -> Files:
        """Return the files that hold everything."""
        if self._stage is not None or not self._files:
            self._files = self._written(self.stage)
        word = word.model_copy(update={"summary": self.summary})
        return {**self._files, AGENT: word.model_dump_json(indent=2).encode()}

    def _written(self, stage: PacedGeneration) -> Files:
        growing = {name: self._files[name] for name in folder.GROWING if name in self._files}
        with archive.unpacked(growing, self._source) as place:
            write_atomically(place / folder.SETTINGS, to_toml(self.configuration))
            folder.save_checkpoint(place, stage)
            policy = self.policy
            text = representation_file.dumps(policy.representation)
            write_atomically(place / folder.REPRESENTATION, text)
            values = {"q": policy.q, "updates": policy.updates}
            write_atomically(place / folder.VALUES, pack_arrays(values))
            if stage.phase == DONE:
                folder.save_result(place, summarise(stage))
            return archive.gathered(place)
