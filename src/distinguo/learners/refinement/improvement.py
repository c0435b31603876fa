"""Improve a map on probation: a change is judged on the same starts, run from the first decision it changes.

Changes come from investigation or are random. Investigation tries another action for a few steps at a state of a
poor trial and follows the map from there. If that gains, a prototype with that action is moved towards the state,
or the state becomes one. A random change adds, moves or drops a prototype, stretches a coordinate or changes an
action.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from distinguo.search.maps import (
    PrototypeMap,
    append_prototype,
    drawn_near,
    drop_prototype,
    move_prototype,
    set_action,
    stretch_width,
)
from distinguo.search.races import FEWEST, Contender, judged
from distinguo.search.trials import Trail, Try, fresh_trail, rerun, return_of
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import observe, remember, start, unpack
from distinguo.tasks.world import world_of

INVESTIGATED = 0.5  #: share of the proposals that come from investigation, if it finds something
HELD = 5  #: steps for which an action is tried, as MAX_STEPS of Figure 3
SEVERAL = 0.3  #: how often a random change is followed by another
CHANGES = ("drop", "add", "act", "stretch", "move")
SHIFT, STRETCH = 0.1, 0.5  #: how far a prototype moves, in extents; how much a weight changes, in logarithms


class OutOfStepsError(Exception):
    """Another trial might take more steps than were allowed."""


class Improvement:
    """A map, the trials that judge it, and the steps that were run, never more than ``most``."""

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
        self._world: Any = None  # made with the first state
        self.steps = 0
        self.gains = {"investigated": 0, "chance": 0}

    def fresh_trails(self, count: int) -> list[Trail]:
        """Run the map from new starts."""
        return [self._rerun(self.map, self._begun()) for _ in range(count)]

    def _begun(self) -> Trail:
        first = np.array(start(self.spec.task, self.rng), dtype=np.float64)
        self._enter_world(len(first))
        return fresh_trail(first, self.cap)

    def _enter_world(self, width: int) -> None:
        if self._world is None:
            self._world = world_of(self.spec.task, width, len(self.spec.dimensions))

    def go_on(
        self, begun: PrototypeMap, trails: list[Trail], steps: int, rng: Any, known: dict[str, np.ndarray]
    ) -> None:
        """Go on from where another process stopped; ``known`` is what the task needs to restore its states."""
        width = len(start(self.spec.task, np.random.default_rng(0)))
        if any(trail.states.shape[1] != width for trail in trails):
            raise ValueError("its states are wrong")
        self._enter_world(width)
        remember(self.spec.task, known)
        self.map, self.trails, self.steps = begun, trails, steps
        self.rng.bit_generator.state = rng

    def _check_budget(self) -> None:
        if self.steps + self.cap > self.most:
            raise OutOfStepsError

    def _rerun(self, changed: PrototypeMap, old: Trail) -> Trail:
        self._check_budget()
        trail, steps = rerun(self._world, changed, old)
        self.steps += steps
        return trail

    def rerun_all(self, changed: PrototypeMap, trails: list[Trail]) -> list[Trail]:
        """Return the trials of another map, from the same starts."""
        return [self._rerun(changed, old) for old in trails]

    def propose(self, most: int) -> bool:
        """Put one change on probation and return whether it gained."""
        changed = self._investigated(most) if self.rng.random() < INVESTIGATED else None
        source = "chance" if changed is None else "investigated"
        gain = self.judge(self._by_chance(self.map, most) if changed is None else changed)
        self.gains[source] += gain
        return gain

    def judge(self, changed: PrototypeMap) -> bool:
        """Keep a change that pays, or costs nothing with no more prototypes; the worst trials are run first."""
        totals = np.array([trail.total for trail in self.trails])
        order = np.argsort(totals, kind="stable")
        renewed = list(self.trails)

        def run(some: Sequence[int]) -> np.ndarray:
            for n in some:
                renewed[n] = self._rerun(changed, self.trails[n])
            return np.array([renewed[n].total for n in some])

        contender = Contender(changed, order.tolist(), totals[order])
        returns = judged(contender, run, looks=range(FEWEST, len(order)))
        if len(returns) < len(order):
            return False
        gain = sum((returns - totals[order]).tolist())
        if gain > 0 or (gain == 0 and changed.size <= self.map.size):
            self.map, self.trails = changed, renewed
        return gain > 0

    def _investigated(self, most: int) -> PrototypeMap | None:
        """Return the map changed where another action gains; None if the action that was tried does not."""
        trail = self.trails[self._poor_trail()]
        step, a = int(self.rng.integers(trail.length[0])), int(self.rng.integers(len(self.spec.actions)))
        if a == trail.actions[step] or self._return_of(trail, step, a) <= trail.total:
            return None
        place = self._seen(trail, step)
        alike = np.flatnonzero(self.map.actions == a)
        if not len(alike) or (self.rng.random() < 0.5 and self.map.size < most):
            return self.map.changed(append_prototype, place, a)
        return drawn_near(self.map, alike, place, self.rng.random())

    def _poor_trail(self) -> int:
        """Return the poorer of two random trials."""
        one, other = self.rng.integers(len(self.trails), size=2)
        return int(min(one, other, key=lambda n: self.trails[n].total))

    def _return_of(self, trail: Trail, step: int, a: int) -> float:
        self._check_budget()
        another = Try(step, a, HELD)
        gained, steps = return_of(self._world, self.map, trail, another)
        self.steps += steps
        return gained

    def _by_chance(self, begun: PrototypeMap, most: int) -> PrototypeMap:
        """Return the map with a change or, now and then, several."""
        kind, j = CHANGES[self.rng.integers(len(CHANGES))], int(self.rng.integers(begun.size))
        a = int(self.rng.integers(len(self.spec.actions)))
        if kind == "drop" and begun.size > 1:
            changed = begun.changed(drop_prototype, j)
        elif kind == "add" and begun.size < most:
            changed = begun.changed(append_prototype, self._visited(), a)
        elif kind == "stretch":
            i = int(self.rng.integers(len(begun.scale)))
            changed = begun.changed(stretch_width, i, np.exp(self.rng.normal(0.0, STRETCH)))
        elif kind == "move":
            here = begun.prototypes[j]
            shift = SHIFT * self._extent() * self.rng.normal(size=len(here))
            changed = begun.changed(move_prototype, j, here + shift)
        else:
            changed = begun.changed(set_action, j, a)
        return self._by_chance(changed, most) if self.rng.random() < SEVERAL else changed

    def _visited(self) -> np.ndarray:
        trail = self.trails[self._poor_trail()]
        return self._seen(trail, int(self.rng.integers(trail.length[0])))

    def _seen(self, trail: Trail, step: int) -> np.ndarray:
        return np.array(observe(self.spec.task, unpack(self.spec.task, trail.states[step])))

    def _extent(self) -> np.ndarray:
        """How far the trials range, in each coordinate of an observation."""
        rows = np.vstack([trail.states[: trail.length[0] : 10] for trail in self.trails])
        seen = np.array([observe(self.spec.task, unpack(self.spec.task, row)) for row in rows])
        extent: Any = seen.max(axis=0) - seen.min(axis=0)
        return np.asarray(extent)
