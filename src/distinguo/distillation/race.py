"""Changes of a map on probation: tried from the same starts as the map itself, kept if they gain.

A generation of changes is tried side by side; the best of those that gain takes the place of the map. Changes come
from chance (a prototype is moved, a coordinate stretched, an action changed) and from the teacher: where it
disagrees with the map, a prototype of its action is drawn near.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from distinguo.distillation.fit import Lesson
from distinguo.distillation.trials.trials import Contender, Trials
from distinguo.learners.refinement.improvement import PrototypeMap

SEVERAL = 0.3  #: how often a change is followed by another
TAUGHT = 0.25  #: share of the changes that the teacher suggests
SHIFT = (0.01, 0.4)  #: how far a prototype moves, in standard deviations of the states: between these
STRETCH = (0.05, 0.6)  #: how much a width changes, in logarithms
CHANGES = ("move", "move", "move", "stretch", "stretch", "act")


class Standing(NamedTuple):
    """A map, and what it gained from each of its starts."""

    map: PrototypeMap
    returns: np.ndarray

    @property
    def mean(self) -> float:
        """Return what it gains on average."""
        return float(self.returns.mean())


class Race:
    """A map on its way to a better one of the same size."""

    def __init__(self, trials: Trials, lesson: Lesson, starts: list[int], rng: np.random.Generator) -> None:
        self.trials, self.lesson, self.starts, self.rng = trials, lesson, starts, rng
        self.actions = len(trials.spec.actions)
        self.spread = lesson.seen.std(axis=0)
        self.proposals = self.kept = 0

    def measured(self, map_: PrototypeMap) -> Standing:
        """Run a map from all starts of the race."""
        return Standing(map_, self.trials.judge([Contender(map_, self.starts)])[0])

    def best_of(self, maps: list[PrototypeMap], few: int = 8) -> Standing:
        """Return the best of many maps: all are run from a few starts, and the best quarter from all."""
        if len(maps) > 4:
            short = self.trials.judge([Contender(map_, self.starts[:few]) for map_ in maps])
            order = np.argsort([-returns.mean() for returns in short], kind="stable")
            maps = [maps[n] for n in order[: max(3, len(maps) // 4)]]
        returns = self.trials.judge([Contender(map_, self.starts) for map_ in maps])
        return max((Standing(*pair) for pair in zip(maps, returns, strict=True)), key=lambda one: one.mean)

    def generation(self, standing: Standing, count: int) -> Standing:
        """Try changes side by side, and return the best if it gains, else what there was."""
        changed = [self._change(standing.map) for _ in range(count)]
        results = self.trials.judge([Contender(map_, self.starts, standing.returns) for map_ in changed])
        self.proposals += count
        tried = [
            Standing(map_, returns)
            for map_, returns in zip(changed, results, strict=True)
            if len(returns) == len(self.starts)
        ]
        best = max(tried, key=lambda one: one.mean, default=standing)
        if best.mean < standing.mean:
            return standing
        self.kept += best.mean > standing.mean
        return best

    def _change(self, begun: PrototypeMap) -> PrototypeMap:
        taught = self._taught(begun) if self.rng.random() < TAUGHT else None
        changed = self._by_chance(begun) if taught is None else taught
        return self._change(changed) if self.rng.random() < SEVERAL else changed

    def _by_chance(self, begun: PrototypeMap) -> PrototypeMap:
        kind = CHANGES[self.rng.integers(len(CHANGES))]
        j = int(self.rng.integers(len(begun.actions)))
        if kind == "act" and self.actions > 1:
            other = (begun.actions[j] + 1 + self.rng.integers(self.actions - 1)) % self.actions
            return begun.with_action(j, int(other))
        if kind == "stretch":
            scale = begun.scale.copy()
            amount = self._between(STRETCH)
            scale[self.rng.integers(len(scale))] *= np.exp(self.rng.normal(0.0, amount))
            return begun._replace(scale=scale)
        shift = self._between(SHIFT) * self.spread * self.rng.normal(size=len(self.spread))
        if self.rng.random() < 0.5:  # along one coordinate
            shift *= np.arange(len(shift)) == self.rng.integers(len(shift))
        return begun.with_place(j, begun.prototypes[j] + shift)

    def _between(self, bounds: tuple[float, float]) -> float:
        low, high = np.log(bounds)
        return float(np.exp(self.rng.uniform(low, high)))

    def _taught(self, begun: PrototypeMap) -> PrototypeMap | None:
        """Draw a prototype of the right action towards a state where the map acts wrongly; None if it never does."""
        lesson = self.lesson
        rows = self.rng.integers(len(lesson.seen), size=64)
        wrong = rows[~lesson.good[rows, begun.choose(lesson.seen[rows])]]
        if not len(wrong):
            return None
        chances = lesson.weight[wrong]
        n = int(self.rng.choice(wrong, p=chances / chances.sum() if chances.sum() > 0 else None))
        alike = np.flatnonzero(lesson.good[n, begun.actions])
        if not len(alike):
            j = int(self.rng.integers(len(begun.actions)))
            return begun.with_action(j, int(lesson.good[n].argmax())).with_place(j, lesson.seen[n])
        distances = (((begun.prototypes[alike] - lesson.seen[n]) / begun.scale) ** 2).sum(axis=1)
        j = alike[distances.argmin()]
        here = begun.prototypes[j]
        return begun.with_place(j, here + 0.5 * self.rng.random() * (lesson.seen[n] - here))
