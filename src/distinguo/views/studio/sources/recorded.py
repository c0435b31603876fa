"""A run in a folder, finished or growing under the hands of another process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from distinguo.errors import DistinguoError
from distinguo.runs import folder
from distinguo.runs.run import Run
from distinguo.runs.stage import TrialRow
from distinguo.views.studio.documents import task_document
from distinguo.views.studio.sources.moments import Moment, moment_of
from distinguo.views.words import outcome_sentence

LOOK_SECONDS = 0.5  #: between two looks at a folder that grows


class Recorded:
    """A run folder, read again whenever it has changed; what cannot be read is said and passed over."""

    def __init__(self, identity: str, path: Path, name: str) -> None:
        self.identity, self.name, self.version = identity, name, 0
        self.configuration = folder.read_settings(path)
        self._path, self._alone = path, Lock()
        self._signature: tuple[Any, ...] = ()
        self._looked = -LOOK_SECONDS
        self._run: Run | None = None
        self._moments: list[Moment] = []
        self._trials: Sequence[TrialRow] = ()
        self._words = ""
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
        self._words, live = "", not folder.is_finished(self._path)
        try:
            self._run = folder.open_run(self._path)
            self._trials = self._run.trials
        except DistinguoError as error:
            if not live:
                self._words = str(error)
        history = self._history()
        if self._run is not None and not history:
            run = self._run
            trial, steps = (
                (self._trials[-1].trial, self._trials[-1].environment_steps) if self._trials else (0, 0)
            )
            history = [moment_of(self.configuration, trial, steps, run.representation, run.q)]
        self._moments = history or self._moments

    def _history(self) -> list[Moment]:
        frames = () if self._run is None else getattr(self._run, "history", ())
        return [
            moment_of(self.configuration, f.trial, f.environment_steps, f.representation, f.q) for f in frames
        ]

    def head(self) -> dict[str, Any]:
        """Return what is to be said of the run."""
        live = not folder.is_finished(self._path)
        words = self._words
        if not words and self._run is not None and not live:
            words = outcome_sentence(self._run)
        if not words:
            words = "Being learned by another process; this view follows it." if live else "There is no map."
        notes = (
            [] if len(self._moments) > 1 or live else ["This folder has no history: the final map is shown."]
        )
        return {
            **task_document(self.configuration),
            "name": self.name,
            "state": "growing" if live else "finished",
            "solved": bool(self._run and self._run.solved),
            "words": words,
            "notes": notes,
        }

    def moments(self) -> Sequence[Moment]:
        """Return the history of the run; the final map alone if the folder keeps no more."""
        return self._moments

    def trials(self) -> Sequence[TrialRow]:
        """Return the trials that were written so far."""
        return self._trials

    def run(self) -> Run:
        """Return the run, or say why there is none yet."""
        if self._run is None:
            raise DistinguoError(
                f"{self.name} has no map to ask for reasons yet; wait until it is finished, or look at another run."
            )
        return self._run


def _signature(path: Path) -> tuple[Any, ...]:
    """Return what changes when anything was written into a folder."""
    try:
        found = sorted((one.name, one.stat()) for one in path.iterdir() if one.is_file())
    except OSError:
        return ()
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in found)
