"""The fewest laws that keep the return of a teacher whose actions are amounts.

One law is tried first, then two and so on. At each size maps are fitted to what the teacher takes (laws.py), in its
own trials and in those of the maps so far, whose states it labels. Where the best fit does not keep the return, it is
polished: CMA-ES changes all numbers of the map, judged by trials from common starts. At last gains are dropped as
long as the return is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from distinguo.distillation.condense import TRIALS
from distinguo.distillation.descent import MapSearch, TargetReturn, Watch
from distinguo.distillation.fit import NEVER_SEEN
from distinguo.distillation.laws import Box, LawMap, fitted_law_map
from distinguo.distillation.ledger import BudgetEndedError
from distinguo.distillation.trials import Take, Trials
from distinguo.errors import counted
from distinguo.evaluation.confirmation import is_within_reach, spent_error
from distinguo.learners.distilled import DistilSettings
from distinguo.search.maps import prototype_map
from distinguo.search.races import FIRST_LOOKS, Contender
from distinguo.tasks.amounts import laws_of

SIZES = (1, 2, 3, 4, 6, 8)  #: numbers of laws that are tried
SHARE = 0.4  #: of the remaining steps that one size may be polished for
HEATS, MOST_HEATS = 0.7, 8  #: the part of these that heats take, and races that begin
LEAST_GENERATIONS, HEATED = 10, 5  #: of a heat, and times as many of the whole polishing at least
LONGER = 0.5  #: of the steps so far that polishing goes on for when the return is kept
FEW = 4  #: trials of each candidate of the first generation
NOISY, CLEAR = 0.5, 0.1  #: shares of chance in what tells candidates apart, for more and for fewer trials
BEST = 3  #: maps that are run from all starts
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

    def is_better_than(self, other: FoundLaws) -> bool:
        """Whether it should take the place of another; with more laws, it should gain more by a standard error."""
        if self.kept != other.kept:
            return self.kept
        error = np.hypot(*(one.returns.std() / np.sqrt(len(one.returns)) for one in (self, other)))
        return self.mean > other.mean + (float(error) if self.best.size > other.best.size else 0.0)


class Tried(NamedTuple):
    """A map and its place among those of its round, by the returns from a few starts."""

    map: LawMap
    place: int


class LawSearch(MapSearch):
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
        super().__init__(trials, settings, watch, [seed, 7], [seed, 8])
        known = laws_of(trials.spec)
        assert known is not None
        self.take, self.target = take, target
        self.box = Box(known.low, known.high)
        self._lessons: list[tuple[np.ndarray, np.ndarray]] = []
        self._tested: list[np.ndarray] = []

    # ---- lessons and trials ---------------------------------------------------------------------------------------

    def learn(self, seen: np.ndarray, taken: np.ndarray) -> None:
        """Add what the teacher takes at these states."""
        self._lessons.append((seen, taken))

    @property
    def shown(self) -> np.ndarray:
        """What the teacher saw in its own trials: how far numbers usually go."""
        return self._lessons[0][0]

    def lesson(self) -> tuple[np.ndarray, np.ndarray]:
        """A sample of all answers, about equally many from every series of trials."""
        share = max(1, self.settings.states // len(self._lessons))
        rows = [self.rng.permutation(len(seen))[:share] for seen, _ in self._lessons]
        seen, taken = zip(
            *((one[0][some], one[1][some]) for one, some in zip(self._lessons, rows, strict=True)),
            strict=True,
        )
        return np.concatenate(seen), np.concatenate(taken)

    def judge(
        self, maps: Sequence[LawMap], starts: Sequence[int], present: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """The returns of maps from these starts; all their laws are actions at once, and each map has its own.

        One that is clearly behind the returns of the ``present`` map is given up.
        """
        first = np.cumsum([0, *(one.size for one in maps)])
        self.trials.use_laws(np.concatenate([one.table for one in maps]))
        return self.trials.judge(
            [
                Contender(
                    prototype_map(one.map.prototypes, at + np.arange(one.size), one.map.scale),
                    list(starts),
                    present,
                )
                for one, at in zip(maps, first, strict=False)
            ]
        )

    def _best_of(
        self, maps: Sequence[LawMap], starts: Sequence[int], tried: list[Tried]
    ) -> tuple[LawMap, np.ndarray]:
        """The best of many maps: all are run from a few starts, and the best three from all."""
        short = self.judge(maps, starts[: max(2, len(starts) // 5)])
        order = np.argsort([-one.mean() for one in short], kind="stable")
        tried += [Tried(maps[n], place) for place, n in enumerate(order)]
        maps = [maps[n] for n in order[:BEST]]
        returns = self.judge(maps, starts)
        best = int(np.argmax([one.mean() for one in returns]))
        return maps[best], returns[best]

    def _measured(self, one: LawMap, how: str) -> FoundLaws:
        starts, before = self.fresh(TRIALS), self.trials.count.steps
        returns = self.judge([one], starts)[0]
        compared = self.target.compared(returns, starts)
        self._tested.append(compared)
        error = returns.std() / np.sqrt(TRIALS)
        self.tell(f"{counted(one.size, 'law')}, {how}: {returns.mean():z.4g} ± {error:z.2g}")
        length = max(1.0, (self.trials.count.steps - before) / TRIALS)
        kept = self.target.is_reached(compared, SURER * TRIALS) and is_within_reach(
            self.target.value,
            np.concatenate(self._tested),
            compared,
            length,
            spent_error(1, self.settings.confidence),
            self.target.spread,
        )
        return FoundLaws(one, compared, kept)

    # ---- sizes ----------------------------------------------------------------------------------------------------

    def fewest(self, most: int) -> FoundLaws:
        """The map of the fewest laws that keeps the return, or the best one."""
        best: FoundLaws | None = None
        try:
            for size in SIZES:
                if size > most or self.stopped:
                    break
                for one in self._of_size(size, best):
                    if best is None or one.is_better_than(best):
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
        tried: list[Tried] = []
        for number in range(rounds + 1):
            fits = [self._fitted(size) for _ in range(settings.restarts if size > 1 else 1)]
            found = self._best_of([*fits, *begun], starts, tried)
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
            yield from self._polished(present, tried, starts)

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

    def _polished(
        self, present: tuple[LawMap, np.ndarray], tried: list[Tried], starts: list[int]
    ) -> Iterator[FoundLaws]:
        """Yield measured maps as they become better; the last one keeps the return or is the best."""
        began = self.trials.count.steps
        most = began + SHARE * max(0, self.settings.steps - began)
        race, reached = self._ahead(present, tried, starts, most - began), False
        course = [(began, float(self.target.compared(present[1], starts).mean()))]
        for width in WIDTHS:
            if width < race.width:
                race = race.anew(width)
            while not race.is_over() and self.trials.count.steps < most and not self.stopped:
                race.generation()
                if race.is_new and not reached and self._is_enough(race.present[1], starts):
                    yield (found := self._measured(race.present[0], "polished"))
                    race.is_new = False
                    if found.kept:  # some more steps, so that it is above the target by more than luck
                        reached, now = True, self.trials.count.steps
                        most = min(most, now + LONGER * (now - began))
                        continue
                    if len(starts) < self.settings.most_starts:  # it was lucky with its starts
                        starts += self.fresh(self.settings.starts)
                        race.present = race.present[0], self.judge([race.present[0]], starts)[0]
                mean = float(self.target.compared(race.present[1], starts).mean())
                course.append((self.trials.count.steps, mean))
                if not reached and falls_short(course, self.target.value, most):
                    break
            if race.is_new:
                yield self._measured(race.present[0], "polished")
            if reached or falls_short(course, self.target.value, most):
                return

    def _ahead(
        self, present: tuple[LawMap, np.ndarray], tried: list[Tried], starts: list[int], steps: float
    ) -> LawRace:
        """The race that is ahead after heats, from the best of all fits: half of the races go on each time.

        Neither a squared error nor a return tells which fit leads to a good map, so the best of each round of fits
        begin. All heats together take a part of the ``steps``; where a heat would have too few generations, there are
        fewer of them.
        """
        first = LawRace(self, present, starts, WIDTHS[0], steps)
        before = self.trials.count.steps
        first.generation()
        usual, count = self.trials.count.steps - before, MOST_HEATS
        while count > 1 and HEATS * steps < count * math.log2(count) * LEAST_GENERATIONS * usual:
            count //= 2
        others = sorted((one for one in tried if one.map is not present[0]), key=lambda one: one.place)
        chosen = [one.map for one in others[: count - 1]]
        races = [first]
        for one, returns in zip(chosen, self.judge(chosen, starts) if chosen else [], strict=True):
            races.append(LawRace(self, (one, returns), starts, WIDTHS[0], steps))
        rounds = max(1, math.ceil(math.log2(len(races))))
        while len(races) > 1:
            share = HEATS * steps / rounds / len(races)
            for race in races:
                until = self.trials.count.steps + share
                while self.trials.count.steps < until and not race.is_over() and not self.stopped:
                    race.generation()
                    if self._is_enough(race.present[1], starts):
                        return race
                race.test()
            races.sort(key=lambda race: -float(race.present[1].mean()))
            races = races[: len(races) // 2]
            best = f"{races[0].present[1].mean():z.4g}"
            self.tell(f"{counted(first.code.size, 'law')}, a heat of polishing: {best}")
        return races[0]

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


def falls_short(course: Sequence[tuple[int, float]], target: float, most: float) -> bool:
    """Whether a race that goes on as in its second half would miss the target; not before half of its steps.

    ``course`` are the steps so far and the return then.

    >>> falls_short([(0, 0.0), (40, 50.0), (80, 60.0)], 100.0, 100), falls_short([(0, 0.0), (40, 50.0)], 100.0, 100)
    (True, False)
    """
    (began, _), (now, best) = course[0], course[-1]
    if now == began or now - began < (most - began) / 2:
        return False
    when, before = [one for one in course if one[0] <= (began + now) / 2][-1]
    return best + (best - before) * max(0.0, most - now) / (now - when) < target


class LawRace:
    """Polishing: CMA-ES around a map, whose centre is now and then compared with the best map so far.

    Candidates of a generation have the same starts. There are as many as it takes to tell the candidates apart, as
    far as ``steps``, those of the whole polishing, allow some generations.
    """

    def __init__(
        self,
        search: LawSearch,
        present: tuple[LawMap, np.ndarray],
        starts: list[int],
        width: float,
        steps: float,
    ) -> None:
        from cmaes import CMA

        self.search, self.present, self.starts = search, present, starts
        self.width, self.steps = width, steps
        self.code = Numbers(present[0], search.shown, search.box)
        seed = int(search.rng.integers(2**31))
        self._made: Any = CMA(mean=np.zeros(self.code.count), sigma=width, seed=seed)
        self._few, self._idle, self._generations = min(FEW, search.settings.starts), 0, 0
        self.is_new = False  #: whether the best map has not been measured yet

    def anew(self, width: float) -> LawRace:
        """Another race around its best map."""
        race = LawRace(self.search, self.present, self.starts, width, self.steps)
        race._few = self._few
        return race

    def is_over(self) -> bool:
        """Whether nothing has helped for long."""
        return self._idle >= self.search.settings.patience

    def generation(self) -> None:
        """Try some maps, move towards the better ones, and now and then test the centre."""
        made, search = self._made, self.search
        drawn = [made.ask() for _ in range(made.population_size)]
        before = search.trials.count.steps
        gained = search.judge([self.code.map_of(x) for x in drawn], search.fresh(self._few))
        made.tell([(x, -float(one.mean())) for x, one in zip(drawn, gained, strict=True)])
        self._generations, self._idle = self._generations + 1, self._idle + len(drawn)
        each = (search.trials.count.steps - before) / self._few
        most = min(search.settings.most_starts, max(1, int(self.steps / LEAST_GENERATIONS / HEATED / each)))
        self._few = min(most, starts_needed(np.array(gained)))
        if self._generations % BETWEEN == 0:
            self.test()

    def test(self) -> None:
        """Compare the centre with the best map so far."""
        search, best = self.search, self.present[1]
        centre = self.code.map_of(self._made.mean)
        returns = search.judge([centre], self.starts, best)[0]
        if len(returns) == len(self.starts) and returns.mean() > best.mean():
            self.present, self._idle, self.is_new = (centre, returns), 0, True
        count = counted(self._generations, "generation")
        search.tell(f"{counted(centre.size, 'law')}, {count} of polishing: {self.present[1].mean():z.4g}")


def starts_needed(gained: np.ndarray) -> int:
    """How many starts the next candidates need, from the returns of these: (candidates, starts).

    Twice as many where chance is more than half of what tells the means of the better half of them apart, and half as
    many where it is little.

    >>> clear = np.arange(8.0)[:, None] + np.zeros(4)
    >>> starts_needed(clear), starts_needed(clear + 9.0 * np.eye(4)[[1, 0, 3, 2, 0, 1, 2, 3]])
    (4, 8)
    """
    count = gained.shape[1]
    if count < 2:
        return FEW
    better = np.argsort(-gained.mean(axis=1), kind="stable")[: max(2, len(gained) // 2)]
    gained = gained[better]
    means = gained.mean(axis=1)
    rest = gained - means[:, None] - gained.mean(axis=0) + gained.mean()
    chance = float((rest**2).sum()) / ((len(gained) - 1) * (count - 1)) / count
    apart = float(means.var(ddof=1))
    if chance > NOISY * apart:
        return 2 * count
    return max(FEW, count // 2) if chance < CLEAR * apart else count


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
