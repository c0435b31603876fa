"""One pane of one page: which moment of which run it shows, and what it has shown already."""

from __future__ import annotations

from threading import Lock
from typing import Any

from distinguo.errors import DistinguoError
from distinguo.explanations.explain import explain
from distinguo.runs.written.history import Frame
from distinguo.views.studio.documents import frames_document, map_document, trials_document
from distinguo.views.studio.messages import Drive, Explain
from distinguo.views.studio.sources.source import RunSource
from distinguo.views.studio.trails import Simulator, checked_observation, fresh_world, trail_document


class Pane:
    """A run as one page looks at it."""

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
        """Turn to a moment of the history, or to whatever is newest."""
        self._moment = moment

    @property
    def may_have_news(self) -> bool:
        """Tell whether it is worth to ask for news."""
        return self.source.is_due or (self.source.version, self._moment) != self._shown

    def news(self) -> dict[str, Any] | None:
        """Return what has changed since the last time, if anything has."""
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
        """Follow the greedy policy of the shown map from where the page says."""
        if self._map is None:
            raise DistinguoError("There is no map to act by yet.")
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
    """Tell whether two moments look the same."""
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
