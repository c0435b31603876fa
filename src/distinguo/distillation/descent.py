"""From a large map down to the smallest that keeps the return: the dial of a distillation.

Sizes are gone through from the top. At each, maps are fitted to all that the teacher was asked about: from the last
map with a prototype left out, and from scratch. Where the best of them keeps the return from new starts, that size
is done; else changes are put on probation until it does, or nothing helps any more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from distinguo.distillation.bar import Bar
from distinguo.distillation.fit import Lesson, first_map, fitted
from distinguo.distillation.race import Race, Standing
from distinguo.distillation.teachers.costs import TaughtLabel
from distinguo.distillation.trials.trials import Contender, Followed, Trials
from distinguo.learners.distilled import MOST_PROTOTYPES, DistilSettings
from distinguo.learners.refinement.condense import TRIALS, Notch
from distinguo.learners.refinement.improvement import PrototypeMap

SHORT, LONG = 50, 250  #: steps of L-BFGS: of every fit that is begun, and of the best of them
REFITTED = 100  #: of a map with a prototype left out
LEFT_OUT = 4  #: maps with a prototype left out that are tried at least, the best by their loss
MEASURES = 3  #: how often a race may be contradicted by new trials
SHARE = 0.3  #: of the steps that are left, that the race of one size may take
FAILURES = 2  #: sizes in a row that do not keep the return before the descent ends

Ask = Callable[[Followed], TaughtLabel]
Watch = Callable[[str], None]


class Rung(NamedTuple):
    """The best map of a size with the returns of new trials, and how it was come by."""

    notch: Notch
    compared: np.ndarray  #: its returns as they are compared with what is to be kept
    kept: bool  #: whether these trials are at what is to be kept
    fitted: bool  #: whether the fit alone sufficed

    @property
    def size(self) -> int:
        """Return its prototypes."""
        return self.notch.size


class Limits(NamedTuple):
    """What a race aims at, and when it ends."""

    bar: Bar
    patience: int  #: changes without a gain
    steps: float  #: environment steps of all that was run


class Descent:
    """What is known on the way down: what the teacher said, and the best map of each size."""

    def __init__(self, trials: Trials, ask: Ask, settings: DistilSettings, seed: int, watch: Watch) -> None:
        self.trials, self.ask, self.settings, self.watch = trials, ask, settings, watch
        self.stopped = False  # whether somebody is content with what there is
        self.rng = np.random.default_rng([seed, 4])
        self._numbers: Iterator[int] = self._drawn(seed)
        self._lessons: list[Lesson] = []
        self._pool = ThreadPoolExecutor(os.cpu_count())

    @staticmethod
    def _drawn(seed: int) -> Iterator[int]:
        """Give numbers of starts for ever; those of different seeds have nothing to do with each other."""
        rng = np.random.default_rng([seed, 6])
        while True:
            yield int(rng.integers(2**31 - 1))

    def fresh(self, count: int) -> list[int]:
        """Return the numbers of new starts."""
        return [next(self._numbers) for _ in range(count)]

    def tell(self, text: str) -> None:
        """Tell whoever watches how it goes; it ends with what it has if that one raises StopIteration."""
        try:
            self.watch(text)
        except StopIteration:
            self.stopped = True

    # ---- what the teacher says ------------------------------------------------------------------------------------

    def learn_from(self, followed: Followed) -> None:
        """Have the states of trials labelled by the teacher."""
        self._lessons.append(Lesson(followed.seen, *self.ask(followed)))

    @property
    def lesson(self) -> Lesson:
        """Return a draw of all that the teacher said, from every series of trials about as much."""
        share = max(1, 2 * self.settings.states // max(1, len(self._lessons)))
        drawn = [one.drawn(share, self.rng) for one in self._lessons]
        whole = Lesson(*(np.concatenate(column) for column in zip(*drawn, strict=True)))
        return whole.drawn(self.settings.states, self.rng)

    # ---- fits -----------------------------------------------------------------------------------------------------

    def fits(self, size: int, before: PrototypeMap | None = None) -> list[PrototypeMap]:
        """Return maps of a size that are fitted to what the teacher said, and those with a prototype left out."""
        lesson = self.lesson
        count = self.settings.restarts * (
            1 if before is not None else 2
        )  # else there is nothing else to begin from
        begun = [first_map(lesson, size, self.rng) for _ in range(count)]
        short = self._fitted(lesson, begun, SHORT)
        best = self._fitted(lesson, short[: max(2, count // 3)], LONG)
        if before is None:
            return best
        without = self._without(before, size)
        return [*best, *self._fitted(lesson, without, REFITTED)[: max(LEFT_OUT, size // 2)], *without]

    def _without(self, before: PrototypeMap, size: int) -> list[PrototypeMap]:
        """Return maps that are left if some prototypes are left out: each in turn, and others by chance."""
        maps = [before.without(j) for j in range(len(before.actions))]
        while len(maps[0].actions) > size:
            maps = [one.without(int(self.rng.integers(len(one.actions)))) for one in maps]
        return maps

    def _fitted(self, lesson: Lesson, begun: list[PrototypeMap], steps: int) -> list[PrototypeMap]:
        done = self._pool.map(lambda map_: fitted(lesson, map_, steps), begun)
        return [map_ for map_, _ in sorted(done, key=lambda pair: pair[1])]

    def rounds(self, size: int) -> None:
        """Fit maps, run them, and ask the teacher about what they saw; again and again."""
        count = self.settings.rounds if self.settings.aggregate else 0
        for number in range(count):
            if self.stopped:
                break
            best = self.fits(size)[:2]
            gained = []
            for map_ in best:
                followed = self.trials.follow(map_, self.fresh(max(1, self.settings.trials // len(best))))
                self.learn_from(followed)
                gained.append(followed.returns.mean())
            self.tell(f"round {number + 1} of {count}: {size} prototypes gain {max(gained):.4g}")

    # ---- the way down ---------------------------------------------------------------------------------------------

    def rungs(self, bar: Bar, grow: bool = True, regions: int | None = None) -> Iterator[Rung]:
        """Give the best map of every size, the largest first, until sizes no longer keep the return.

        While a map is large and the fit alone keeps the return, a quarter of it is left out at once. ``grow`` tells
        whether a first map that does not suffice may be followed by larger ones. At most ``regions`` are come to,
        whatever that costs.
        """
        failures, leap, most = 0, True, regions or MOST_PROTOTYPES
        before = self._begun(bar, grow and regions is None)
        yield before
        while before.size > 1 and (failures < FAILURES or before.size > most) and not self.stopped:
            size = before.size - (max(1, before.size // 4) if leap else 1)
            rung = self.rung(size, before.notch.map, bar, self.settings.patience // (1 + 3 * failures))
            if before.kept and not rung.kept and size < before.size - 1:  # too far: go on by one
                leap = False
                continue
            yield rung
            failures = 0 if rung.kept else failures + 1
            before, leap = rung, rung.fitted or not rung.kept

    def _begun(self, bar: Bar, grow: bool) -> Rung:
        """Return the map to begin with: more rounds if it does not suffice, and then one twice as large."""
        size, attempts = self.settings.most, 0
        while True:
            self.rounds(size)
            rung = self.rung(size, None, bar, self.settings.patience)
            attempts += 1
            spent = self.trials.count.steps >= self.settings.steps or 2 * size > MOST_PROTOTYPES
            if rung.kept or size == 1 or self.stopped or (attempts > 1 and (spent or not grow)):
                return rung
            size *= 2 if attempts > 1 else 1

    def rung(self, size: int, before: PrototypeMap | None, bar: Bar, patience: int) -> Rung:
        """Return the best map of a size: fitted from scratch and from a larger one, and raced if that does not do."""
        race = Race(self.trials, self.lesson, self.fresh(self.settings.starts), self.rng)
        if size == 1 and before is not None:  # always the same action: there is nothing else to it
            return self._measured(race.best_of(self._constant(before)), bar, fitted=True)
        standing = race.best_of(self.fits(size, before))
        budget = self.trials.count.steps + SHARE * max(0, self.settings.steps - self.trials.count.steps)
        rung = self._measured(standing, bar, fitted=True)
        for _ in range(MEASURES):
            if rung.kept or not self.settings.race or self.stopped:
                break
            limits = Limits(bar, patience, budget)
            raced = self._raced(race, race.measured(rung.notch.map), limits)
            if raced is None:
                break
            better = self._measured(raced, bar, fitted=False)
            rung = max(rung, better, key=lambda one: float(one.compared.mean()))
        if self.settings.aggregate:
            self.learn_from(self.trials.follow(rung.notch.map, self.fresh(self.settings.trials)))
        return rung

    def _constant(self, before: PrototypeMap) -> list[PrototypeMap]:
        alone = PrototypeMap(before.prototypes[:1], before.actions[:1], before.scale)
        return [alone.with_action(0, a) for a in range(len(self.trials.spec.actions))]

    def _measured(self, standing: Standing, bar: Bar, fitted: bool) -> Rung:
        """Run a map from new starts."""
        starts = self.fresh(TRIALS)
        notch = Notch(standing.map, self.trials.judge([Contender(standing.map, starts)])[0])
        compared = bar.compared(notch.returns, starts)
        way = "fitted" if fitted else "raced"
        self.tell(f"{notch.size} prototypes, {way}: {notch.mean:.4g} ± {notch.error:.2g}")
        return Rung(notch, compared, bar.is_reached(compared), fitted)

    def _raced(self, race: Race, standing: Standing, limits: Limits) -> Standing | None:
        """Put changes on probation until the return is kept; none if nothing helped or there are no steps left."""

        def is_enough() -> bool:
            return limits.bar.is_reached(limits.bar.compared(standing.returns, race.starts), TRIALS)

        first, idle = standing.mean, 0
        while not is_enough():
            if idle >= limits.patience or self.trials.count.steps >= limits.steps or self.stopped:
                break
            better = race.generation(standing, self.settings.generation)
            idle = 0 if better.mean > standing.mean else idle + self.settings.generation
            standing = better
            size = len(standing.map.actions)
            self.tell(f"{size} prototypes, {race.proposals} changes tried: {standing.mean:.4g}")
        if standing.mean <= first and not is_enough():
            return None
        if (
            len(race.starts) < self.settings.most_starts
        ):  # should new trials contradict it, there are more to judge by
            race.starts += self.fresh(self.settings.starts)
        return standing

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=False)
