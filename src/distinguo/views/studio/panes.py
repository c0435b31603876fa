"""The panes of a page: what each shows, and the sessions that learn for them."""

from __future__ import annotations

from threading import Lock
from typing import Any

from distinguo.errors import DistinguoError
from distinguo.explanations.explain import explain
from distinguo.runs.configuration import Configuration, configure
from distinguo.runs.history import Frame
from distinguo.tasks.catalog import SPECS, task_spec
from distinguo.tasks.spec import TaskSpec
from distinguo.views.studio.documents import (
    Simulator,
    checked_observation,
    frames_document,
    fresh_world,
    map_document,
    trail_document,
    trials_document,
)
from distinguo.views.studio.messages import Drive, Explain, Learn
from distinguo.views.studio.sources import LearningSession, RunSource

# One pane of one page: the run and the moment it shows, and what it has sent already.


class Pane:
    """A run as one page shows it."""

    def __init__(self, pane: int, source: RunSource) -> None:
        self.pane, self.source = pane, source
        source.watchers += 1
        self._moment: int | None = None  #: None follows the newest
        self._shown: tuple[Any, ...] = ()
        self._map: Frame | None = None
        self._counts: tuple[int, int] = (-1, -1)
        self._alone = Lock()
        self._simulator: Simulator | None = None

    def look(self, moment: int | None) -> None:
        """Turn to a moment of the history, or follow the newest."""
        self._moment = moment

    @property
    def may_have_news(self) -> bool:
        """Whether there may be news."""
        return self.source.is_due or (self.source.version, self._moment) != self._shown

    def news(self) -> dict[str, Any] | None:
        """Return the changes since the last call, if there are any."""
        with self._alone:
            self.source.refresh()
            asked = (self.source.version, self._moment)
            if asked == self._shown:
                return None
            document: dict[str, Any] = {"about": "show", "pane": self.pane, "head": self.source.head()}
            moments, trials = self.source.frames(), self.source.trials()
            counts = (len(moments), len(trials))
            if counts != self._counts:
                document |= {"moments": frames_document(moments), "trials": trials_document(trials)}
            document |= self._map_news(moments)
            self._shown, self._counts = asked, counts
            return document

    def _map_news(self, moments: Any) -> dict[str, Any]:
        if not moments:
            return {}
        at = len(moments) - 1 if self._moment is None else min(self._moment, len(moments) - 1)
        chosen, before = moments[at], self._map
        self._map = chosen
        news = {"at": at, "follows": self._moment is None}
        if before is not None and _same_map(before, chosen):
            return news
        return {**news, "map": map_document(chosen, self.source.configuration)}

    def trail(self, asked: Drive) -> dict[str, Any]:
        """Follow the greedy policy of the shown map from the page's state."""
        if self._map is None:
            raise DistinguoError("There is no map to act by yet; wait for the first one.")
        if self._simulator is None:
            self._simulator = Simulator(
                fresh_world(self.source.configuration.spec), seed=self.source.configuration.seed
            )
        world = self._simulator
        if asked.state is not None:
            begin = world.resumed(asked.state)
        else:
            begin = world.first() if asked.observation is None else world.state_at(asked.observation)
        trail = world.follow(self._map.controller, begin, asked.steps)
        return {"about": "trail", "pane": self.pane, **trail_document(trail, asked.number)}

    def reason(self, asked: Explain) -> dict[str, Any]:
        """Explain one or two states of the run as it is now."""
        spec = self.source.configuration.spec
        states = [checked_observation(spec, one) for one in asked.observations]
        run = self.source.run()
        world = run.configuration._replace(spec=fresh_world(spec))
        told = explain(run._replace(configuration=world), *states)
        return {
            "about": "reason",
            "pane": self.pane,
            "observations": states,
            "sentences": list(told.sentences),
            "figures": told.document(),
        }


def _same_map(one: Frame, other: Frame) -> bool:
    """Whether two moments look the same."""
    if one is other:
        return True
    a, b = one.controller, other.controller
    if a.q.shape != b.q.shape or (a.q != b.q).any() or type(a.partition) is not type(b.partition):
        return False
    return all(_equal(x, y) for x, y in zip(a.partition, b.partition, strict=True))


def _equal(x: Any, y: Any) -> bool:
    if hasattr(x, "shape"):
        return x.shape == y.shape and bool((x == y).all())
    return bool(x == y)


# The sessions of one studio: what a page may learn, and how many at a time.


MOST_SESSIONS = 6
MOST_ENDING = 6  #: sessions that have to end before another one begins


def catalogued(name: str) -> TaskSpec:
    """Return a task of the catalogue or of Gymnasium's registry; raise for a name of code to import.

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
    """Return the configuration that a page asked for, as ``distinguo learn`` would make it."""
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
        self._ending: list[LearningSession] = []
        self._alone = Lock()

    def begin(self, asked: Learn) -> LearningSession:
        """Begin a session; if there are too many, end the oldest one that is over or that no pane shows."""
        configuration = configured(asked)
        with self._alone:
            if asked.instead in self._sessions:
                self._end(asked.instead)
            if len(self._sessions) >= MOST_SESSIONS:
                self._make_room()
            self._ending = [one for one in self._ending if one.is_at_work]
            if len(self._ending) >= MOST_ENDING:
                raise DistinguoError("Earlier sessions are still ending; try again in a moment.")
            session = LearningSession(configuration, asked.speed)
            self._sessions[session.identity] = session
            return session

    def _end(self, identity: str) -> None:
        self._ending.append(self._sessions.pop(identity))
        self._ending[-1].control("close")

    def _make_room(self) -> None:
        unwatched = [one for one in self._sessions.values() if not one.watchers]
        gone = next((one for one in unwatched if one.is_over), unwatched[0] if unwatched else None)
        if gone is None:
            raise DistinguoError(f"{MOST_SESSIONS} sessions are open already; close one of them first.")
        self._end(gone.identity)

    def source(self, identity: str) -> LearningSession:
        """Return a session by its identity."""
        if identity not in self._sessions:
            raise DistinguoError("That session is over; start another.")
        return self._sessions[identity]

    def has(self, identity: str) -> bool:
        """Whether there is a session of this identity."""
        return identity in self._sessions

    def entries(self) -> list[dict[str, Any]]:
        """Return the sessions to choose from, the newest first."""
        return [
            {"id": one.identity, "name": one.name, "state": one.state}
            for one in reversed(list(self._sessions.values()))
        ]

    def close(self) -> None:
        """End all of them."""
        for session in self._sessions.values():
            session.control("close")
