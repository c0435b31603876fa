"""What a pane of the studio shows: a run, learned or being learned, at any moment of its history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from distinguo.runs.configuration import Configuration
from distinguo.runs.run import Run
from distinguo.runs.written.history import Frame
from distinguo.runs.written.trial_table import TrialRow


class RunSource(Protocol):
    """A run that can be looked at while it grows; every change is a new version."""

    identity: str
    version: int
    watchers: int  #: panes that show it
    configuration: Configuration

    @property
    def is_due(self) -> bool:
        """Tell whether it is time to look again whether it has grown."""

    def refresh(self) -> None:
        """Look whether there is something new."""

    def head(self) -> dict[str, Any]:
        """Return what is to be said of it: what it is, how far it has come, what is wrong with it."""

    def frames(self) -> Sequence[Frame]:
        """Return its history, oldest first; the last one is what it is now."""

    def trials(self) -> Sequence[TrialRow]:
        """Return the trials so far."""

    def run(self) -> Run:
        """Return it as a run, to ask for reasons."""
