"""The sessions of one studio: what a page may have learned, and how many at a time."""

from __future__ import annotations

from typing import Any

from distinguo.errors import DistinguoError
from distinguo.runs.configuration import Configuration, configure
from distinguo.tasks.catalog import SPECS, task_spec
from distinguo.tasks.spec import TaskSpec
from distinguo.views.studio.messages import Learn
from distinguo.views.studio.sources.learning import LearningSession

MOST_SESSIONS = 6


def catalogued(name: str) -> TaskSpec:
    """Return a task of the catalogue or of Gymnasium's register; nothing that names code to import.

    >>> catalogued("own.py:Task")
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: The studio learns tasks of the catalogue alone, got 'own.py:Task'; a task of ...
    """
    from gymnasium import registry

    if ":" in name or (name not in SPECS and name not in registry and "/" in name):
        raise DistinguoError(
            f"The studio learns tasks of the catalogue alone, got '{name}'; a task of your own is learned by "
            f"distinguo learn, and looked at here."
        )
    return task_spec(name)


def configured(asked: Learn) -> Configuration:
    """Return what a page asked to be learned, as ``distinguo learn`` would take it."""
    wishes = {
        "learner.epsilon": asked.epsilon,
        "learner.gamma": asked.gamma,
        "learner.regions": asked.regions,
    }
    changes = {name: value for name, value in wishes.items() if value is not None}
    return configure(catalogued(asked.task), seed=asked.seed, changes=changes)


class LearningSessions:
    """The sessions of one studio, a few at a time."""

    def __init__(self) -> None:
        self._sessions: dict[str, LearningSession] = {}

    def begin(self, asked: Learn) -> LearningSession:
        """Begin a session; the oldest of those that are over, or that nobody looks at, makes room."""
        if asked.instead in self._sessions:
            self._sessions.pop(asked.instead).control("close")
        if len(self._sessions) >= MOST_SESSIONS:
            self._make_room()
        session = LearningSession(configured(asked), asked.speed)
        self._sessions[session.identity] = session
        return session

    def _make_room(self) -> None:
        unwatched = [one for one in self._sessions.values() if not one.watchers]
        gone = next((one for one in unwatched if one.is_over), unwatched[0] if unwatched else None)
        if gone is None:
            raise DistinguoError(
                f"{MOST_SESSIONS} sessions are being looked at already; close one of them first."
            )
        self._sessions.pop(gone.identity).control("close")

    def source(self, identity: str) -> LearningSession:
        """Return a session by its identity."""
        if identity not in self._sessions:
            raise DistinguoError("That session is over; start another.")
        return self._sessions[identity]

    def entries(self) -> list[dict[str, Any]]:
        """Return the sessions to choose from, the newest first."""
        return [
            {"id": one.identity, "name": one.head()["name"], "state": one.state}
            for one in reversed(self._sessions.values())
        ]

    def close(self) -> None:
        """End all of them."""
        for session in self._sessions.values():
            session.control("close")
