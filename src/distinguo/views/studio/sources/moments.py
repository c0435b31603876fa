"""What a pane of the studio shows: a run, learned or being learned, at any moment of its history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from distinguo.controller import Controller
from distinguo.representations.file import Representation
from distinguo.runs.configuration import Configuration
from distinguo.runs.run import Run
from distinguo.runs.stage import TrialRow

MOST_MOMENTS = 400  #: of a history, when more are thinned out


class Moment(NamedTuple):
    """A map as it was after so many trials."""

    trial: int
    environment_steps: int
    representation: Representation
    controller: Controller


class Source(Protocol):
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

    def moments(self) -> Sequence[Moment]:
        """Return its history, oldest first; the last one is what it is now."""

    def trials(self) -> Sequence[TrialRow]:
        """Return the trials so far."""

    def run(self) -> Run:
        """Return it as a run, to ask for reasons."""


def moment_of(
    configuration: Configuration, trial: int, steps: int, kept: Representation, q: np.ndarray
) -> Moment:
    """Return a moment with the controller that belongs to it."""
    delta = getattr(configuration.learner, "delta", 0.0)
    return Moment(trial, steps, kept, Controller(kept.partition, q, delta))


def thinned(moments: list[Moment]) -> list[Moment]:
    """Return every second of too many moments, and always the last.

    >>> thinned(list(range(5)))
    [0, 1, 2, 3, 4]
    """
    if len(moments) <= MOST_MOMENTS:
        return moments
    return moments[(len(moments) - 1) % 2 :: 2]
