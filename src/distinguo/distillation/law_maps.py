"""The fewest laws that keep the return of a teacher whose actions are amounts.

One law is tried first, then two and so on. At each size maps are fitted to what the teacher takes (laws.py), in its
own trials and in those of the maps so far, whose states it labels. Where the best fit does not keep the return, it is
polished: CMA-ES changes all numbers of the map, judged by trials from common starts. At last gains are dropped as
long as the return is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from distinguo.distillation.condense import TRIALS
from distinguo.distillation.descent import TargetReturn
from distinguo.distillation.fit import NEVER_SEEN
from distinguo.distillation.laws import Box, LawMap, fitted_law_map
from distinguo.distillation.ledger import BudgetEndedError
from distinguo.distillation.trials import Take, Trials
from distinguo.errors import counted
from distinguo.learners.distilled import DistilSettings
from distinguo.search.maps import prototype_map
from distinguo.search.races import FIRST_LOOKS, Contender
from distinguo.tasks.amounts import laws_of

Watch = Callable[[str], None]

SIZES = (1, 2, 3, 4, 6, 8)  #: numbers of laws that are tried
SHARE = 0.3  #: of the remaining steps that one size may be polished for
FEW = 4  #: trials of each candidate of a generation at first; twice as many after tests without a gain
BETWEEN = 5  #: generations between two tests of the centre
WIDTHS = (
    0.4,
    0.2,
    0.1,
)  #: of the distributions that polishing begins with, one after the other, relative to each number
LEAST_SCALE = 0.3  #: of a number, relative to the usual size of those of its law
SPLIT = 0.3  #: standard deviations between the two halves of a region that is split
LEAST_GAIN = 1e-12  #: a smaller gain is 0
SURER = 4  #: times the trials of a measurement that new ones would be; those that confirm the map decide


class FoundLaws(NamedTuple):
    """The best map of laws, and whether new trials from 100 starts reached the target."""

    best: LawMap
    returns: np.ndarray  #: of these trials, as they are compared with the target
    kept: bool
    tested: np.ndarray = np.zeros(0)  #: the returns of all maps that were measured: they show their range

    @property
    def mean(self) -> float:
        """The mean of its returns."""
        return float(self.returns.mean())


class LawSearch:
    """The state of a search: what the teacher took where, and the trials."""

    def __init__(
        self,
        trials: Trials,
        take: Take,
        target: TargetReturn,
        settings: DistilSettings,
        seed: int,
        watch: Watch,
    ) -> None:
        known = laws_of(trials.spec)
        assert known is not None
        self.trials, self.take, self.target, self.settings, self.watch = trials, take, target, settings, watch
        self.box = Box(known.low, known.high)
        self.stopped = False
        self.rng = np.random.default_rng([seed, 7])
        self._numbers = self._drawn(seed)
        self._lessons: list[tuple[np.ndarray, np.ndarray]] = []
        self._tested: list[np.ndarray] = []

    @staticmethod
    def _drawn(seed: int) -> Iterator[int]:
        rng = np.random.default_rng([seed, 8])
        while True:
            yield int(rng.integers(2**31 - 1))

    def fresh(self, count: int) -> list[int]:
        """The numbers of new starts."""
        return [next(self._numbers) for _ in range(count)]

    def tell(self, text: str) -> None:
        """Report progress; the caller may raise StopIteration to end with the best map so far."""
        try:
            self.watch(text)
        except StopIteration:
            self.stopped = True
            self.trials.ledger.stop_keeping()

    # ---- lessons and trials ---------------------------------------------------------------------------------------

    def learn(self, seen: np.ndarray, taken: np.ndarray) -> None:
        """Add what the teacher takes at these states."""
        self._lessons.append((seen, taken))

    def lesson(self) -> tuple[np.ndarray, np.ndarray]:
        """A sample of all answers, about equally many from every series of trials."""
        share = max(1, self.settings.states // len(self._lessons))
        rows = [self.rng.permutation(len(seen))[:share] for seen, _ in self._lessons]
        seen, taken = zip(
            *((one[0][some], one[1][some]) for one, some in zip(self._lessons, rows, strict=True)),
            strict=True,
        )
        return np.concatenate(seen), np.concatenate(taken)

    def judge(self, maps: Sequence[LawMap], starts: Sequence[int]) -> list[np.ndarray]:
        """The returns of maps from these starts; all their laws are actions at once, and each map has its own."""
        first = np.cumsum([0, *(one.size for one in maps)])
        self.trials.use_laws(np.concatenate([one.table for one in maps]))
        return self.trials.judge(
            [
                Contender(
                    prototype_map(one.map.prototypes, at + np.arange(one.size), one.map.scale), list(starts)
                )
                for one, at in zip(maps, first, strict=False)
            ]
        )

    def _best_of(self, maps: Sequence[LawMap], starts: Sequence[int]) -> tuple[LawMap, np.ndarray]:
        """The best of many maps: all are run from a few starts, and the best three from all."""
        if len(maps) > 3:
            short = self.judge(maps, starts[: max(2, len(starts) // 5)])
            maps = [maps[n] for n in np.argsort([-one.mean() for one in short], kind="stable")[:3]]
        returns = self.judge(maps, starts)
        best = int(np.argmax([one.mean() for one in returns]))
        return maps[best], returns[best]

    def _measured(self, one: LawMap, how: str) -> FoundLaws:
        starts = self.fresh(TRIALS)
        returns = self.judge([one], starts)[0]
        compared = self.target.compared(returns, starts)
        self._tested.append(compared)
        error = returns.std() / np.sqrt(TRIALS)
        self.tell(f"{counted(one.size, 'law')}, {how}: {returns.mean():z.4g} ± {error:z.2g}")
        return FoundLaws(one, compared, self.target.is_reached(compared, SURER * TRIALS))

    # ---- sizes ----------------------------------------------------------------------------------------------------

    def fewest(self, most: int) -> FoundLaws:
        """The map of the fewest laws that keeps the return, or the best one."""
        best: FoundLaws | None = None
        try:
            for size in SIZES:
                if size > most or self.stopped:
                    break
                for one in self._of_size(size, best):
                    if best is None or (one.kept, one.mean) > (best.kept, best.mean):
                        best = one
                if best is not None and best.kept:
                    for one in self._thinner(best):
                        best = one
                    break
        except BudgetEndedError:
            if best is None:
                raise
        assert best is not None
        return best._replace(tested=np.concatenate(self._tested))

    def _of_size(self, size: int, smaller: FoundLaws | None) -> Iterator[FoundLaws]:
        """Yield measured maps of a size, fitted and then polished."""
        settings, starts = self.settings, self.fresh(self.settings.starts)
        begun = [] if smaller is None else [self._split(smaller.best, size) for _ in range(2)]
        rounds = settings.rounds if settings.aggregate else 0
        present: tuple[LawMap, np.ndarray] | None = None
        for number in range(rounds + 1):
            fits = [self._fitted(size) for _ in range(settings.restarts if size > 1 else 1)]
            found = self._best_of([*fits, *begun], starts)
            if present is None or found[1].mean() > present[1].mean():
                present = found
            begun = []
            if self._is_enough(present[1], starts) or self.stopped or number == rounds:
                break
            self.tell(f"{counted(size, 'law')}, fit {number + 1}: {present[1].mean():z.4g}")
            self._label(found[0])
        assert present is not None
        yield (fitted := self._measured(present[0], "fitted"))
        if not fitted.kept and settings.race and not self.stopped:
            yield from self._polished(present, starts)

    def _fitted(self, size: int) -> LawMap:
        return fitted_law_map(*self.lesson(), size, self.box, self.rng)

    def _label(self, one: LawMap) -> None:
        """Run a map, and ask the teacher about what it saw."""
        self.trials.use_laws(one.table)
        seen = self.trials.follow(one.map, self.fresh(self.settings.trials)).seen
        some = self.rng.permutation(len(seen))[: self.settings.states]
        self.learn(seen[some], self.take(seen[some]))

    def _split(self, one: LawMap, size: int) -> LawMap:
        """A map with regions split: both halves have the same law."""
        places, table, spread = one.map.prototypes, one.table, one.map.scale
        while len(places) < size:
            j = int(self.rng.integers(len(places)))
            shift = SPLIT * spread * self.rng.normal(size=len(spread))
            places = np.concatenate([places, [places[j] + shift]])
            places[j] -= shift
            table = np.concatenate([table, table[j : j + 1]])
        return LawMap(prototype_map(places, np.arange(size), spread), table)

    def _is_enough(self, returns: np.ndarray, starts: Sequence[int]) -> bool:
        return self.target.is_reached(self.target.compared(returns, starts), TRIALS)

    # ---- polishing ------------------------------------------------------------------------------------------------

    def _polished(self, present: tuple[LawMap, np.ndarray], starts: list[int]) -> Iterator[FoundLaws]:
        """Yield measured maps as they become better; the last one keeps the return or is the best."""
        began = self.trials.count.steps
        most = began + SHARE * max(0, self.settings.steps - began)
        reached = False
        for width in WIDTHS:
            race = LawRace(self, present, starts, width)
            while not race.is_over() and self.trials.count.steps < most and not self.stopped:
                race.generation()
                present = race.present
                if race.is_new and not reached and self._is_enough(present[1], starts):
                    yield (found := self._measured(present[0], "polished"))
                    race.is_new = False
                    if found.kept:  # as many steps again, so that it is above the target by more than luck
                        reached, now = True, self.trials.count.steps
                        most = min(most, now + (now - began))
                        continue
                    if len(starts) < self.settings.most_starts:  # it was lucky with its starts
                        starts += self.fresh(self.settings.starts)
                    race.present = present = present[0], self.judge([present[0]], starts)[0]
            if race.is_new:
                yield self._measured(present[0], "polished")
            if reached:
                return

    def _thinner(self, found: FoundLaws) -> Iterator[FoundLaws]:
        """Yield maps with fewer gains that keep the return, too."""
        spread = self.lesson()[0].std(axis=0)
        most = np.inf
        while most and not self.stopped:
            table = found.best.table
            weight = np.abs(table[..., :-1]) * spread / self.box.half[:, None]
            left = np.sort(weight[weight > LEAST_GAIN])
            dropped = int(min(math.ceil(len(left) / 2), most))
            if not dropped:
                return
            fewer = table.copy()
            fewer[..., :-1][weight <= left[dropped - 1]] = 0.0
            thinner, most = LawMap(found.best.map, fewer), dropped // 2
            starts = self.fresh(FIRST_LOOKS[1])
            short = self.target.compared(self.judge([thinner], starts)[0], starts)
            if short.mean() < self.target.value:
                continue
            tried = self._measured(thinner, f"{len(left) - dropped} gains")
            if tried.kept:
                found, most = tried, np.inf
                yield found


class LawRace:
    """Polishing: CMA-ES around a map, whose centre is now and then compared with the best map so far."""

    def __init__(
        self, search: LawSearch, present: tuple[LawMap, np.ndarray], starts: list[int], width: float
    ) -> None:
        from cmaes import CMA

        self.search, self.present, self.starts = search, present, starts
        self.code = Numbers(present[0], search.lesson()[0], search.box)
        seed = int(search.rng.integers(2**31))
        self._made: Any = CMA(mean=np.zeros(self.code.count), sigma=width, seed=seed)
        self._few, self._idle, self._generations = min(FEW, search.settings.starts), 0, 0
        self.is_new = False  #: whether the best map has not been measured yet

    def is_over(self) -> bool:
        """Whether nothing has helped for long."""
        return self._idle >= self.search.settings.patience

    def generation(self) -> None:
        """Try some maps, move towards the better ones, and now and then test the centre."""
        made, search = self._made, self.search
        drawn = [made.ask() for _ in range(made.population_size)]
        gained = search.judge([self.code.map_of(x) for x in drawn], search.fresh(self._few))
        made.tell([(x, -float(one.mean())) for x, one in zip(drawn, gained, strict=True)])
        self._generations, self._idle = self._generations + 1, self._idle + len(drawn)
        if self._generations % BETWEEN:
            return
        centre = self.code.map_of(made.mean)
        returns = search.judge([centre], self.starts)[0]
        if returns.mean() > self.present[1].mean():
            self.present, self._idle, self.is_new = (centre, returns), 0, True
        else:
            self._few = min(2 * self._few, search.settings.starts)
        count = counted(self._generations, "generation")
        search.tell(f"{counted(centre.size, 'law')}, {count} of polishing: {self.present[1].mean():z.4g}")


class Numbers:
    """The numbers of a map of laws as deviations from one map, each relative to its scale."""

    def __init__(self, one: LawMap, seen: np.ndarray, box: Box) -> None:
        self.size, self.shape = one.size, one.table.shape
        spread = seen.std(axis=0)
        self.centre, self.spread = seen.mean(axis=0), np.where(spread > NEVER_SEEN, spread, 1.0)
        self.half = box.half
        self.places, self.scale = one.map.prototypes.copy(), one.map.scale.copy()
        own = one.table / self.half[:, None]
        own[..., -1] += own[..., :-1] @ self.centre
        own[..., :-1] *= self.spread
        usual = np.sqrt((own**2).mean(axis=2, keepdims=True)) + 0.1
        self.laws, self.law_scale = own, np.maximum(np.abs(own), LEAST_SCALE * usual)
        self.borders = 0 if self.size == 1 else self.places.size + len(self.scale)
        self.count = self.borders + own.size

    def map_of(self, x: np.ndarray) -> LawMap:
        """The map that these deviations stand for."""
        places, scale = self.places, self.scale
        if self.borders:
            places = places + x[: places.size].reshape(places.shape) * self.spread
            scale = scale * np.exp(x[places.size : self.borders])
        table: Any = self.laws + self.law_scale * x[self.borders :].reshape(self.shape)
        table = table * self.half[:, None]
        table[..., :-1] /= self.spread
        table[..., -1] -= table[..., :-1] @ self.centre
        return LawMap(prototype_map(places, np.arange(self.size), scale), table)
