"""What a pane of the studio shows: a run, learned or being learned, at any moment of its history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from distinguo.runs.configuration import Configuration
from distinguo.runs.run import Run
from distinguo.runs.written.history import Frame
from distinguo.runs.written.trial_table import TrialRow

MOST_FRAMES = 400  #: of a history in memory, when more are thinned out


class RunSource(Protocol):
    """A run that can be looked at while it grows; every change is a new version."""

    identity: str
    version: int
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


def thinned(frames: list[Frame]) -> list[Frame]:
    """Return every second of too many frames, and always the last.

    >>> thinned(list(range(5))), len(thinned(list(range(401))))
    ([0, 1, 2, 3, 4], 201)
    """
    if len(frames) <= MOST_FRAMES:
        return frames
    return frames[(len(frames) - 1) % 2 :: 2]
