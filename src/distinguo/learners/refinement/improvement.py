"""Improve a map on probation: a change is judged on the same starts, run from the first decision it changes.

Changes come from investigation and from chance. Investigation tries another action for a few steps at a state of a
poor trial and follows the map from there; where that gains, a prototype of that action is drawn towards the state, or
the state becomes one. Chance adds, moves or drops a prototype, stretches a coordinate or changes an action.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.learners.refinement.reruns import Trail, Try, fresh_trail, rerun, return_of
from distinguo.representations.partition import regions_of
from distinguo.representations.voronoi import Voronoi, voronoi
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import observe, start, unpack

FEWEST = 5  #: trials before a change may be given up
HOPELESS = 2.0  #: standard errors by which it must be behind
INVESTIGATED = 0.5  #: share of the proposals that come from investigation, if it finds something
HELD = 5  #: steps that an action is tried for, as MAX_STEPS of Figure 3
SEVERAL = 0.3  #: how often a change by chance is followed by another
CHANGES = ("drop", "add", "act", "stretch", "move")
SHIFT, STRETCH = 0.1, 0.5  #: how far a prototype moves, in extents; how much a weight changes, in logarithms


class OutOfStepsError(Exception):
    """Another trial might take more steps than were allowed."""


class PrototypeMap(NamedTuple):
    """Prototypes, an action for each, and the width of each coordinate."""

    prototypes: np.ndarray
    actions: np.ndarray
    scale: np.ndarray

    @property
    def partition(self) -> Voronoi:
        """Return the regions."""
        return voronoi(self.prototypes, self.scale)

    def choose(self, seen: np.ndarray) -> np.ndarray:
        """Return the action for every row of observations.

        >>> halves = PrototypeMap(np.array([[1.0], [-1.0]]), np.array([0, 2]), np.array([1.0]))
        >>> halves.choose(np.array([[0.3], [-0.3]])).tolist()
        [0, 2]
        """
        return self.actions[regions_of(self.partition, seen)]

    def without(self, j: int) -> PrototypeMap:
        """Return the map without a prototype."""
        return self._replace(
            prototypes=np.delete(self.prototypes, j, axis=0), actions=np.delete(self.actions, j)
        )

    def with_one(self, place: np.ndarray, a: int) -> PrototypeMap:
        """Return the map with another prototype."""
        return self._replace(
            prototypes=np.vstack([self.prototypes, place]), actions=np.append(self.actions, a)
        )

    def with_action(self, j: int, a: int) -> PrototypeMap:
        """Return the map with another action in a region."""
        actions = self.actions.copy()
        actions[j] = a
        return self._replace(actions=actions)

    def with_place(self, j: int, place: np.ndarray) -> PrototypeMap:
        """Return the map with a prototype moved."""
        prototypes = self.prototypes.copy()
        prototypes[j] = place
        return self._replace(prototypes=prototypes)


class Improvement:
    """A map, the trials it is judged by, and the steps that were run, never more than ``most``."""

    def __init__(
        self,
        spec: TaskSpec,
        begun: PrototypeMap,
        cap: int,
        rng: np.random.Generator,
        most: float = np.inf,
    ) -> None:
        self.spec, self.map, self.cap, self.rng, self.most = spec, begun, cap, rng, most
        self.trails: list[Trail] = []
        self.steps = 0
        self.gains = {"investigated": 0, "chance": 0}

    def fresh_trails(self, count: int) -> list[Trail]:
        """Run the map from new starts."""
        return [self._rerun(self.map, self._begun()) for _ in range(count)]

    def _begun(self) -> Trail:
        return fresh_trail(np.array(start(self.spec.task, self.rng), dtype=np.float64), self.cap)

    def _check_budget(self) -> None:
        if self.steps + self.cap > self.most:
            raise OutOfStepsError

    def _rerun(self, changed: PrototypeMap, old: Trail) -> Trail:
        self._check_budget()
        trail, steps = rerun(self.spec.task, changed.partition, changed.actions, old)
        self.steps += steps
        return trail

    def rerun_all(self, changed: PrototypeMap, trails: list[Trail]) -> list[Trail]:
        """Return the trials of another map, from the same starts."""
        return [self._rerun(changed, old) for old in trails]

    def propose(self, most: int) -> bool:
        """Put one change on probation and tell whether it gained."""
        changed = self._investigated(most) if self.rng.random() < INVESTIGATED else None
        source = "chance" if changed is None else "investigated"
        gain = self.judge(self._by_chance(self.map, most) if changed is None else changed)
        self.gains[source] += gain
        return gain

    def judge(self, changed: PrototypeMap) -> bool:
        """Keep a change that pays, or costs nothing with no more prototypes; the poorest trials are run first."""
        differences: list[float] = []
        renewed = list(self.trails)
        for n in np.argsort([trail.total for trail in self.trails], kind="stable"):
            renewed[n] = self._rerun(changed, self.trails[n])
            differences.append(renewed[n].total - self.trails[n].total)
            if is_hopeless(differences):
                return False
        gain = sum(differences)
        if gain > 0 or (gain == 0 and len(changed.actions) <= len(self.map.actions)):
            self.map, self.trails = changed, renewed
        return gain > 0

    def _investigated(self, most: int) -> PrototypeMap | None:
        """Return the map changed where another action gains, if the action that was tried does."""
        trail = self.trails[self._poor_trail()]
        step, a = int(self.rng.integers(trail.length[0])), int(self.rng.integers(len(self.spec.actions)))
        if a == trail.actions[step] or self._return_of(trail, step, a) <= trail.total:
            return None
        place = self._seen(trail, step)
        alike = np.flatnonzero(self.map.actions == a)
        if not len(alike) or (self.rng.random() < 0.5 and len(self.map.actions) < most):
            return self.map.with_one(place, a)
        distances = (((self.map.prototypes[alike] - place) / self.map.scale) ** 2).sum(axis=1)
        j = alike[distances.argmin()]
        here = self.map.prototypes[j]
        return self.map.with_place(j, here + self.rng.random() * (place - here))

    def _poor_trail(self) -> int:
        """Return one of the trials, more likely a poor one: the poorer of two."""
        one, other = self.rng.integers(len(self.trails), size=2)
        return int(min(one, other, key=lambda n: self.trails[n].total))

    def _return_of(self, trail: Trail, step: int, a: int) -> float:
        self._check_budget()
        another = Try(step, a, HELD)
        gained, steps = return_of(self.spec.task, self.map.partition, self.map.actions, trail, another)
        self.steps += steps
        return gained

    def _by_chance(self, begun: PrototypeMap, most: int) -> PrototypeMap:
        """Return the map with a change or, now and then, several."""
        kind, j = CHANGES[self.rng.integers(len(CHANGES))], int(self.rng.integers(len(begun.actions)))
        a = int(self.rng.integers(len(self.spec.actions)))
        changed = begun.with_action(j, a)
        if kind == "drop" and len(begun.actions) > 1:
            changed = begun.without(j)
        elif kind == "add" and len(begun.actions) < most:
            changed = begun.with_one(self._visited(), a)
        elif kind == "stretch":
            stretched = begun.scale.copy()
            stretched[self.rng.integers(len(stretched))] *= np.exp(self.rng.normal(0.0, STRETCH))
            changed = begun._replace(scale=stretched)
        elif kind == "move":
            here = begun.prototypes[j]
            changed = begun.with_place(j, here + SHIFT * self._extent() * self.rng.normal(size=len(here)))
        return self._by_chance(changed, most) if self.rng.random() < SEVERAL else changed

    def _visited(self) -> np.ndarray:
        trail = self.trails[self._poor_trail()]
        return self._seen(trail, int(self.rng.integers(trail.length[0])))

    def _seen(self, trail: Trail, step: int) -> np.ndarray:
        return np.array(observe(self.spec.task, unpack(self.spec.task, trail.states[step])))

    def _extent(self) -> np.ndarray:
        """Return how far the trials range, in each coordinate of an observation."""
        rows = np.vstack([trail.states[: trail.length[0] : 10] for trail in self.trails])
        seen = np.array([observe(self.spec.task, unpack(self.spec.task, row)) for row in rows])
        extent: Any = seen.max(axis=0) - seen.min(axis=0)
        return np.asarray(extent)


def is_hopeless(differences: list[float]) -> bool:
    """Tell whether trials so far are so much poorer that the rest need not be run.

    >>> is_hopeless([-1.0, -2.0, -1.0, -2.0, -1.0]), is_hopeless([-1.0, 5.0, -1.0, -2.0, -1.0])
    (True, False)
    """
    if len(differences) < FEWEST:
        return False
    error = np.std(differences) / np.sqrt(len(differences))
    return bool(np.mean(differences) + HOPELESS * error < 0.0)
