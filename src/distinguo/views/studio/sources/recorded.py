"""A run in a folder, finished or growing under the hands of another process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from distinguo.errors import DistinguoError
from distinguo.runs import folder
from distinguo.runs.run import Run
from distinguo.runs.written.history import HISTORY, Frame, read_history
from distinguo.runs.written.trial_table import TRIALS, TrialRow, read_trials
from distinguo.views.studio.documents import task_document
from distinguo.views.words import outcome_sentence

LOOK_SECONDS = 0.5  #: between two looks at a folder that grows


class RecordedRun:
    """A run folder, read again whenever it has changed; what cannot be read is said and passed over."""

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
        """Tell whether the last look was a while ago."""
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
        """Open the run; a damaged log of reasons is said, and hides nothing else."""
        try:
            return folder.open_run(self._path)
        except DistinguoError as error:
            run = folder.open_run(self._path, reasons=False)
            self._trouble = str(error)
            return run

    def _read_parts(self) -> None:
        """Read what there is of a run that is not whole."""
        self._trials = self._whole(read_trials, TRIALS, self._trials)
        self._frames = self._whole(read_history, HISTORY, self._frames)

    def _whole(self, read: Callable[..., Any], name: str, before: Any) -> Any:
        """Return what a file says, or what it said before if it cannot be read now."""
        if not (self._path / name).is_file():
            return before
        try:
            return read(self._path / name, is_growing=True)
        except DistinguoError as error:
            self._trouble = self._trouble or str(error)
            return before

    def head(self) -> dict[str, Any]:
        """Return what is to be said of the run."""
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
        }

    def _words(self) -> str:
        if self._run is not None and not self._is_growing:
            return outcome_sentence(self._run)
        if not self._frames:
            return "Nothing was written yet; this view waits for the first checkpoint."
        last = self._frames[-1]
        return (
            f"Not finished: {last.trial:,} trials, {last.environment_steps:,} steps so far; this view follows what "
            "its process writes."
        )

    def frames(self) -> Sequence[Frame]:
        """Return the history of the run; the final map alone if the folder keeps no more."""
        return self._frames

    def trials(self) -> Sequence[TrialRow]:
        """Return the trials that were written so far."""
        return self._trials

    def run(self) -> Run:
        """Return the run, or say why there is none to ask."""
        if self._run is None:
            raise DistinguoError(
                self._trouble
                or f"{self.name} has no map to ask for reasons yet; wait until it is finished, or ask another run."
            )
        return self._run


def _is_young(path: Path) -> bool:
    """Tell whether a run has not come to its first map: there is nothing wrong with that."""
    return not (path / folder.REPRESENTATION).exists()


def _signature(path: Path) -> tuple[Any, ...]:
    """Return what changes when anything was written into a folder."""
    try:
        found = sorted((one.name, one.stat()) for one in path.iterdir() if one.is_file())
    except OSError:
        return ()
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in found)
