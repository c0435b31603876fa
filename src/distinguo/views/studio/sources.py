"""What a pane of the studio shows: a run, learned or being learned, at any moment of its history."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Condition, Lock, RLock, Thread
from typing import Any, Protocol

import numpy as np

from distinguo.errors import DistinguoError, reason_of
from distinguo.runs import folder
from distinguo.runs.configuration import Configuration
from distinguo.runs.folder import write_run
from distinguo.runs.history import HISTORY, TRIALS, Frame, TrialRow, is_due, read_history, read_trials
from distinguo.runs.learn import default_folder, warm
from distinguo.runs.restarts import of_these_regions
from distinguo.runs.run import Run, run_of
from distinguo.runs.stage import CONFIRMING, DONE, TRIAL, Stage
from distinguo.tasks.task import observe
from distinguo.views.studio.documents import result_document, task_document
from distinguo.views.words import outcome_sentence


class RunSource(Protocol):
    """A run that can be shown while it grows; every change is a new version."""

    identity: str
    version: int
    watchers: int  #: panes that show it
    configuration: Configuration

    @property
    def is_due(self) -> bool:
        """Whether it is time to refresh."""

    def refresh(self) -> None:
        """Look for changes."""

    def head(self) -> dict[str, Any]:
        """Return its description: what it is, its progress, its problems."""

    def frames(self) -> Sequence[Frame]:
        """Return its history, oldest first; the last one is the present."""

    def trials(self) -> Sequence[TrialRow]:
        """Return the trials so far."""

    def run(self) -> Run:
        """Return it as a run, for explanations."""


# A run in a folder, finished or still written by another process.


LOOK_SECONDS = 0.5  #: between two looks at a growing folder


class RecordedRun:
    """A run folder, read again whenever it has changed; unreadable files are reported and skipped."""

    def __init__(self, identity: str, path: Path, name: str) -> None:
        self.identity, self.name, self.version = identity, name, 0
        self.watchers = 0
        self.configuration = folder.read_settings(path)
        self._path, self._alone = path, Lock()
        self._signature: tuple[Any, ...] | None = None
        self._looked = -LOOK_SECONDS
        self._run: Run | None = None
        self._frames: Sequence[Frame] = ()
        self._trials: Sequence[TrialRow] = ()
        self._trouble = ""
        self._is_growing = True
        self.refresh()

    @property
    def is_due(self) -> bool:
        """Whether the last look was a while ago."""
        return time.monotonic() - self._looked >= LOOK_SECONDS

    def refresh(self) -> None:
        """Read the folder again if it has changed since the last look."""
        with self._alone:
            if not self.is_due:
                return
            self._looked = time.monotonic()
            signature = _signature(self._path)
            if signature != self._signature:
                self._signature = signature
                self._read()
                self.version += 1

    def _read(self) -> None:
        self._trouble, self._is_growing = "", not folder.is_finished(self._path)
        try:
            self._run = run = self._opened()
        except DistinguoError as error:
            self._run = None
            self._trouble = "" if self._is_growing and _is_young(self._path) else str(error)
            self._read_parts()
            return
        self._trials = run.trials
        count, steps = (run.trials[-1].trial, run.trials[-1].environment_steps) if run.trials else (0, 0)
        delta = run.controller.delta
        self._frames = run.history or [Frame(count, steps, run.representation, run.q, delta)]

    def _opened(self) -> Run:
        """Open the run; a damaged log of reasons is reported, and the rest is shown."""
        try:
            return folder.open_run(self._path)
        except DistinguoError as error:
            run = folder.open_run(self._path, reasons=False)
            self._trouble = str(error)
            return run

    def _read_parts(self) -> None:
        """Read the files of an incomplete run."""
        self._trials = self._whole(read_trials, TRIALS, self._trials)
        self._frames = self._whole(read_history, HISTORY, self._frames)

    def _whole(self, read: Callable[..., Any], name: str, before: Any) -> Any:
        """Return the content of a file, or its previous content if it cannot be read now."""
        if not (self._path / name).is_file():
            return before
        try:
            return read(self._path / name, is_growing=True)
        except DistinguoError as error:
            self._trouble = self._trouble or str(error)
            return before

    def head(self) -> dict[str, Any]:
        """Return the description of the run."""
        notes = []
        if len(self._frames) == 1 and not self._is_growing:
            notes = ["This folder has no history: the final map is shown."]
        return {
            **task_document(self.configuration),
            "name": self.name,
            "state": "growing" if self._is_growing else "finished",
            "solved": bool(self._run and self._run.solved),
            "words": self._trouble or self._words(),
            "notes": notes,
            "result": result_document(None if self._is_growing else self._run),
        }

    def _words(self) -> str:
        if self._run is not None and not self._is_growing:
            return outcome_sentence(self._run)
        if not self._frames:
            return "Nothing has been written yet; this view waits for the first checkpoint."
        last = self._frames[-1]
        return (
            f"Not finished: {last.trial:,} trials, {last.environment_steps:,} steps so far; this view follows what "
            "its process writes."
        )

    def frames(self) -> Sequence[Frame]:
        """Return the history of the run; only the final map if the folder has no history."""
        return self._frames

    def trials(self) -> Sequence[TrialRow]:
        """Return the trials that were written so far."""
        return self._trials

    def run(self) -> Run:
        """Return the run; raise if it has no map yet."""
        if self._run is None:
            raise DistinguoError(
                self._trouble
                or f"{self.name} has no map to explain yet; wait until it is finished, or choose another run."
            )
        return self._run


def _is_young(path: Path) -> bool:
    """Whether a run has not made its first map yet, which is no error."""
    return not (path / folder.REPRESENTATION).exists()


def _signature(path: Path) -> tuple[Any, ...]:
    """Return a fingerprint that changes with every file of a folder."""
    try:
        found = sorted((one.name, one.stat()) for one in path.iterdir() if one.is_file())
    except OSError:
        return ()
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in found)


# A run that is learned in the studio itself: in its own thread, which can be paused at any step.


BEAT = 1 / 60  #: seconds between two pieces of a slowed-down run
PUBLISH = 1 / 45  #: seconds between two published versions
UNWATCHED = 1.0  #: seconds after which a session that no page shows rests; it goes on when one shows it again
LONG = 40  #: most pieces of a trial before they double in length, so that every trial ends soon
COMPILING, LEARNING, PAUSED, FINISHING = "compiling", "learning", "paused", "finishing"
FINISHED, FAILED, CLOSED = "finished", "failed", "closed"


class LearningSession:
    """A learning run that pages watch and control."""

    def __init__(self, configuration: Configuration, speed: float | None) -> None:
        self.identity, self.version = secrets.token_hex(8), 0
        self.configuration = configuration
        self.name = f"{configuration.spec.name}, seed {configuration.seed}"
        self._watchers, self._left = 0, time.monotonic()
        self._progress: dict[str, Any] = {}
        self._askers: list[None] = []  #: one for every thread that waits for the stage
        self.speed = speed  #: environment steps per second; None for full speed
        self.state, self._words, self._kept = COMPILING, "", ""
        self._wish = "run"  #: run, pause, step, trial or close
        self._goal = (0, 0)  #: the counts that a single step or trial must exceed
        self._changed = Condition()
        self._stage: Stage | None = None
        self._whole = RLock()  #: held while the stage works
        self._run: Run | None = None
        self._frames: list[Frame] = []
        self._latest: Frame | None = None
        self._published = 0.0
        self._thread = Thread(target=self._work, name=f"studio-{self.identity}", daemon=True)
        self._thread.start()

    @property
    def watchers(self) -> int:
        """The panes that show it."""
        return self._watchers

    @watchers.setter
    def watchers(self, count: int) -> None:
        with self._changed:
            self._watchers, self._left = count, time.monotonic()
            self._changed.notify_all()

    # ---- what the page asks for -----------------------------------------------------------------------------------

    def control(self, what: str) -> None:
        """Run, pause, take a step, take a trial, or end."""
        with self._changed:
            self._wish, self._goal = what, self._count()
            self._changed.notify_all()

    def keep(self, base: Path) -> str:
        """Write the finished run into a folder of its own, and return its name."""
        if self._run is None:
            raise DistinguoError("Only a finished run can be kept; wait until it is finished.")
        if not self._kept:
            path = default_folder(self.configuration, base)
            write_run(self._run, path)
            self._kept = path.name
            self._publish(now=True)
        return self._kept

    @property
    def is_over(self) -> bool:
        """Whether the session is over."""
        return self.state in (FINISHED, FAILED, CLOSED)

    @property
    def is_at_work(self) -> bool:
        """Whether its thread has not ended yet."""
        return self._thread.is_alive()

    # ---- the thread -----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            warm(self.configuration)
            self._stage = Stage(self.configuration)
            self._note_frame()
            self._publish(now=True)
            self._learn(self._stage)
        except DistinguoError as error:
            self._turn(FAILED, str(error))
        except Exception as error:  # an environment's error ends its session, not the studio
            self._turn(FAILED, f"Learning {self.configuration.spec.name} failed: {reason_of(error)}.")

    def _learn(self, stage: Stage) -> None:
        work = stage.work()
        while stage.phase != DONE:
            if not self._may_go_on(stage):
                self._turn(CLOSED, "Ended before it was finished.")
                return
            began, before = time.monotonic(), stage.environment_steps
            trials = len(stage.trials)
            with self._whole:
                self._set_stride(stage)
                next(work, None)
                if len(stage.trials) != trials:
                    self._note_frame()
            self._publish()
            if self._askers:
                time.sleep(BEAT)  # or the lock would never be free for long enough
            if self.speed is not None and stage.environment_steps != before and stage.phase == TRIAL:
                self._rest(began + BEAT)
        self._conclude(stage)

    def _conclude(self, stage: Stage) -> None:
        self._turn(FINISHING)
        self._run = run = run_of(stage)  # takes long for some learners; meanwhile the stage does not change
        self._turn(FINISHED, outcome_sentence(run))

    def _may_go_on(self, stage: Stage) -> bool:
        """Wait while the session is paused; return whether it continues."""
        with self._changed:
            if (self._wish == "step" and self._count() != self._goal) or (
                self._wish == "trial" and len(stage.trials) > self._goal[1]
            ):
                self._wish = "pause"
            while self._wish == "pause" or self._is_left_alone:
                if self.state != PAUSED:
                    self._turn(PAUSED)
                self._changed.wait()
            self.state = LEARNING
            return self._wish != "close"

    @property
    def _is_left_alone(self) -> bool:
        """Whether no page has shown it for a while, as after a reload that did not come."""
        return self._wish != "close" and not self._watchers and time.monotonic() - self._left > UNWATCHED

    def _count(self) -> tuple[int, int]:
        stage = self._stage
        return (0, 0) if stage is None else (stage.environment_steps, len(stage.trials))

    def _set_stride(self, stage: Stage) -> None:
        """Choose the length of the next piece: short enough to follow, long enough that a long trial ends."""
        if self._wish == "step":
            stage.stride, stage.pause_at = 1, stage.environment_steps + 1
        elif self.speed is None:
            stage.stride, stage.pause_at = None, None
        else:
            stage.stride = max(1, round(self.speed * BEAT), stage.trial_length // LONG)
            stage.pause_at = stage.environment_steps + stage.stride

    def _rest(self, until: float) -> None:
        """Wait for the next beat or a request."""
        with self._changed:
            left = until - time.monotonic()
            if left > 0:
                self._changed.wait(left)

    def _turn(self, state: str, words: str = "") -> None:
        """Change the state, once the progress up to it is published."""
        self._publish(now=True)
        self.state, self._words = state, words
        self.version += 1

    # ---- what is to be seen ---------------------------------------------------------------------------------------

    def _note_frame(self) -> None:
        """Keep the map after a trial, as often as the history of a run folder does."""
        self._latest = frame = self._snapshot()
        kept = frame.representation
        if is_due(frame.trial, kept.prototypes, kept.regions, len(kept.dimensions), frame.q.shape[1]):
            self._frames = [*self._frames, frame]

    def _snapshot(self) -> Frame:
        stage = self._stage
        assert stage is not None
        frame = stage.frame()
        return frame._replace(representation=_detached(frame.representation))

    def _publish(self, now: bool = False) -> None:
        """Publish a new version, at most every ``PUBLISH`` seconds."""
        if not now and time.monotonic() - self._published < PUBLISH:
            return
        self._published = time.monotonic()
        if self._stage is not None:
            with self._whole:
                self._latest, self._progress = self._snapshot(), self._progress_of(self._stage)
        self.version += 1

    @property
    def is_due(self) -> bool:
        """Never: the thread publishes by itself."""
        return False

    def refresh(self) -> None:
        """Do nothing: the thread publishes by itself."""

    def head(self) -> dict[str, Any]:
        """Return the description of the session."""
        return {
            **task_document(self.configuration),
            "name": self.name,
            "session": self.identity,
            "state": self.state,
            "solved": bool(self._run and self._run.solved),
            "words": self._words,
            "speed": self.speed,
            "kept": self._kept,
            "notes": [],
            "result": result_document(self._run),
            **self._progress,
        }

    @staticmethod
    def _progress_of(stage: Stage) -> dict[str, Any]:
        is_trial = stage.phase == TRIAL
        return {
            "trial": stage.count_trials,
            "length": stage.trial_length,
            "steps": stage.environment_steps,
            "attempt": stage.attempts,
            "confirming": stage.phase == CONFIRMING,
            "now": observe(stage.task, tuple(stage.agent.progress.now.tolist())) if is_trial else None,
        }

    def frames(self) -> Sequence[Frame]:
        """Return the map after every trial, and as it is now."""
        kept, latest = self._frames, self._latest
        return [*kept, latest] if latest is not None and (not kept or latest is not kept[-1]) else kept

    def trials(self) -> Sequence[TrialRow]:
        """Return the trials so far."""
        return () if self._stage is None else tuple(self._stage.trials)

    def run(self) -> Run:
        """The run as it is so far, for explanations."""
        if self._run is not None:
            return self._run
        stage = self._stage
        if stage is None:
            raise DistinguoError("Nothing has been learned yet; wait until the first trial has begun.")
        with self._stage_at_rest():
            if stage.phase != DONE:
                stage.take_reasons()
            values = stage.values()
            return Run(
                self.configuration,
                _detached(stage.representation()),
                values["q"],
                values.get("updates", np.zeros(values["q"].shape, dtype=np.int64)),
                {"solved": False},
                list(stage.trials),
                of_these_regions(list(stage.reasons)),
            )

    @contextmanager
    def _stage_at_rest(self) -> Iterator[None]:
        self._askers.append(None)
        try:
            with self._whole:
                yield
        finally:
            self._askers.pop()


def _detached(kept: Any) -> Any:
    """Return a copy of a representation that the learner does not write to."""
    partition = kept.partition
    copies = {
        name: getattr(partition, name).copy()
        for name in partition._fields
        if isinstance(getattr(partition, name), np.ndarray)
    }
    return kept._replace(partition=partition._replace(**copies))
