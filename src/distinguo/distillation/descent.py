"""From a large map of a teacher down to the smallest that keeps the return: the size-return curve of a distillation.

The descent starts with the largest size. At each size, maps are fitted to all answers of the teacher: from the last
map without one of its prototypes, and from scratch. If the best of them keeps the return from new starts, the size
is done. Otherwise changes are put on probation until one keeps it, or nothing helps any more.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from distinguo.distillation.condense import TRIALS
from distinguo.distillation.costs import TaughtLabel
from distinguo.distillation.fit import Lesson, first_map, fitted
from distinguo.distillation.trials import Followed, Trials
from distinguo.errors import counted
from distinguo.learners.distilled import MOST_PROTOTYPES, DistilSettings
from distinguo.search.maps import (
    PrototypeMap,
    drawn_near,
    drop_prototype,
    move_prototype,
    set_action,
    stretch_width,
)
from distinguo.search.races import Candidate, Contender
from distinguo.tasks.spec import Hold, TaskSpec

SHORT, LONG = 50, 250  #: steps of L-BFGS: of every fit, and of the best of them
REFITTED = 100  #: of a map with a prototype removed
LEFT_OUT = 4  #: the fewest maps with a prototype removed that are tried, the best by their loss
MEASURES = 3  #: how often a race may be contradicted by new trials
SHARE = 0.3  #: of the remaining steps that the race of one size may take
FAILURES = 2  #: sizes in a row that do not keep the return before the descent ends
ASSURANCE = 2.5  #: standard errors of new trials by which a map should be above the target return

SEVERAL = 0.3  #: how often a change is followed by another
TAUGHT = 0.25  #: share of changes suggested by the teacher
SHIFT = (0.01, 0.4)  #: range of a prototype's moves, in standard deviations of the states
STRETCH = (0.05, 0.6)  #: range of the changes of a width, in logarithms
CHANGES = ("move", "move", "move", "stretch", "stretch", "act")

Ask = Callable[[Followed], TaughtLabel]
Watch = Callable[[str], None]
Gains = Callable[[Sequence[int]], np.ndarray]  #: from the numbers of starts to the return of each


# ---- the return to keep -----------------------------------------------------------------------------------------


class TargetReturn(NamedTuple):
    """A mean return to keep; with a teacher, relative to the teacher's return.

    A share of the teacher's return is compared start by start: some starts are harder than others for both of them,
    and a map that acts exactly like its teacher should not fail because of that noise.
    """

    value: float
    teacher: Gains | None = None
    mean: float = 0.0  #: the teacher's mean return
    spread: float = 0.0  #: between its least and its greatest return

    def compared(self, returns: np.ndarray, starts: Sequence[int]) -> np.ndarray:
        """Return returns corrected by how much better or worse the teacher does from the same starts than on
        average.

        >>> hard = TargetReturn(-95.0, lambda starts: np.array([-100.0, -200.0]), -150.0)
        >>> hard.compared(np.array([-100.0, -200.0]), [1, 2]).tolist()
        [-150.0, -150.0]
        """
        return returns if self.teacher is None else returns - self.teacher(starts) + self.mean

    def is_reached(self, compared: np.ndarray, count: int | None = None) -> bool:
        """Whether trials are so far above it that as many new ones, or ``count``, would reach it, too."""
        return float(compared.mean()) >= aim(compared, self.value, count)


def aim(returns: np.ndarray, target: float, count: int | None = None) -> float:
    """The mean that trials should have, so that the mean of as many new ones reaches the target, too.

    >>> round(aim(np.array([190.0, 230.0] * 50), 200.0), 1)
    205.0
    """
    return target + ASSURANCE * float(np.std(returns)) / math.sqrt(count or len(returns))


def remembered(gains: Gains) -> Gains:
    """Return a function that computes the return from each start only once."""
    known: dict[int, float] = {}

    def gained(starts: Sequence[int]) -> np.ndarray:
        new = [n for n in dict.fromkeys(starts) if n not in known]
        if new:
            known.update(zip(new, gains(new).tolist(), strict=True))
        return np.array([known[n] for n in starts])

    return gained


def threshold_of(spec: TaskSpec, cap: int) -> float | None:
    """Return the mean return that solves a task; for one that should never end, the steps that count as success."""
    return float(cap) if isinstance(spec.goal, Hold) else spec.threshold


def target_return(
    spec: TaskSpec, returns: np.ndarray, keep: float | None, share: float, cap: int
) -> tuple[float, tuple[str, ...]]:
    """Return the mean return to keep, and a sentence if the teacher does not solve its task.

    >>> from distinguo.tasks.catalog import task_spec
    >>> target_return(task_spec("CartPole-v1"), np.array([480.0, 490.0]), None, 0.95, 500)
    (475.0, ())
    >>> target_return(task_spec("CartPole-v1"), np.array([100.0, 100.0]), None, 0.95, 500)[0]
    95.0
    """
    mean = float(returns.mean())
    threshold = threshold_of(spec, cap)
    notes: tuple[str, ...] = ()
    if threshold is not None and mean < threshold:
        notes = (
            f"The teacher does not solve {spec.name} itself: it gains {mean:z.4g} on average in "
            f"{counted(len(returns), 'trial')}, and {threshold:z.4g} is asked for; a better one makes a better map.",
        )
    if keep is not None:
        return float(keep), notes or _of_keep(keep, mean, len(returns))
    if threshold is not None and mean >= threshold:
        return threshold, notes
    return mean - (1.0 - share) * abs(mean), notes


def _of_keep(keep: float, mean: float, trials: int) -> tuple[str, ...]:
    if keep <= mean:
        return ()
    return (
        f"{keep:z.4g} is to be kept, more than the {mean:z.4g} that the teacher gains on average in "
        f"{counted(trials, 'trial')}; "
        "a map rarely gains more than its teacher.",
    )


# ---- changes on probation ------------------------------------------------------------------------------------------


class Race:
    """Changes of a map on probation, tried from the same starts as the map itself and kept if they gain.

    A generation of changes is tried side by side; the best of those that gain takes the place of the map. Changes
    are random (a prototype is moved, a coordinate stretched, an action changed) or come from the teacher: where it
    disagrees with the map, a prototype with its action is moved closer.
    """

    def __init__(self, trials: Trials, lesson: Lesson, starts: list[int], rng: np.random.Generator) -> None:
        self.trials, self.lesson, self.starts, self.rng = trials, lesson, starts, rng
        self.actions = len(trials.spec.actions)
        self.spread = lesson.seen.std(axis=0)
        self.proposals = self.kept = 0

    def measured(self, map_: PrototypeMap) -> Candidate:
        """Run a map from all starts of the race."""
        return Candidate(map_, self.trials.judge([Contender(map_, self.starts)])[0])

    def best_of(self, maps: list[PrototypeMap], few: int = 8) -> Candidate:
        """Return the best of many maps: all are run from a few starts, and the best quarter from all."""
        if len(maps) > 4:
            short = self.trials.judge([Contender(map_, self.starts[:few]) for map_ in maps])
            order = np.argsort([-returns.mean() for returns in short], kind="stable")
            maps = [maps[n] for n in order[: max(3, len(maps) // 4)]]
        returns = self.trials.judge([Contender(map_, self.starts) for map_ in maps])
        return max((Candidate(*pair) for pair in zip(maps, returns, strict=True)), key=lambda one: one.mean)

    def generation(self, present: Candidate, count: int) -> Candidate:
        """Try changes side by side, and return the best if it gains, else the present map."""
        changed = [self._change(present.map) for _ in range(count)]
        results = self.trials.judge([Contender(map_, self.starts, present.returns) for map_ in changed])
        self.proposals += count
        tried = [
            Candidate(map_, returns)
            for map_, returns in zip(changed, results, strict=True)
            if len(returns) == len(self.starts)
        ]
        best = max(tried, key=lambda one: one.mean, default=present)
        if best.mean < present.mean:
            return present
        self.kept += best.mean > present.mean
        return best

    def _change(self, begun: PrototypeMap) -> PrototypeMap:
        taught = self._taught(begun) if self.rng.random() < TAUGHT else None
        changed = self._by_chance(begun) if taught is None else taught
        return self._change(changed) if self.rng.random() < SEVERAL else changed

    def _by_chance(self, begun: PrototypeMap) -> PrototypeMap:
        kind = CHANGES[self.rng.integers(len(CHANGES))]
        j = int(self.rng.integers(begun.size))
        if kind == "act" and self.actions > 1:
            other = (begun.actions[j] + 1 + self.rng.integers(self.actions - 1)) % self.actions
            return begun.changed(set_action, j, int(other))
        if kind == "stretch":
            amount = self._between(STRETCH)
            i = int(self.rng.integers(len(begun.scale)))
            return begun.changed(stretch_width, i, np.exp(self.rng.normal(0.0, amount)))
        shift = self._between(SHIFT) * self.spread * self.rng.normal(size=len(self.spread))
        if self.rng.random() < 0.5:  # along one coordinate
            shift *= np.arange(len(shift)) == self.rng.integers(len(shift))
        return begun.changed(move_prototype, j, begun.prototypes[j] + shift)

    def _between(self, bounds: tuple[float, float]) -> float:
        low, high = np.log(bounds)
        return float(np.exp(self.rng.uniform(low, high)))

    def _taught(self, begun: PrototypeMap) -> PrototypeMap | None:
        """Move a prototype with the right action towards a state where the map is wrong; None if it never is."""
        lesson = self.lesson
        rows = self.rng.integers(len(lesson.seen), size=64)
        wrong = rows[~lesson.good[rows, begun.choose(lesson.seen[rows])]]
        if not len(wrong):
            return None
        chances = lesson.weight[wrong]
        n = int(self.rng.choice(wrong, p=chances / chances.sum() if chances.sum() > 0 else None))
        alike = np.flatnonzero(lesson.good[n, begun.actions])
        if not len(alike):
            j = int(self.rng.integers(begun.size))
            acting = begun.changed(set_action, j, int(lesson.good[n].argmax()))
            return acting.changed(move_prototype, j, lesson.seen[n])
        return drawn_near(begun, alike, lesson.seen[n], 0.5 * self.rng.random())


# ---- the descent ---------------------------------------------------------------------------------------------------


class BestOfSize(NamedTuple):
    """The best map of a size with the returns of new trials, and how it was found."""

    candidate: Candidate
    compared: np.ndarray  #: its returns as they are compared with the target return
    kept: bool  #: whether these trials reach the target return
    fitted: bool  #: whether the fit alone sufficed

    @property
    def map(self) -> PrototypeMap:
        """The map."""
        return self.candidate.map

    @property
    def size(self) -> int:
        """The number of its prototypes."""
        return self.candidate.size


class Limits(NamedTuple):
    """What a race aims at, and when it ends."""

    target: TargetReturn
    patience: int  #: changes without a gain
    steps: float  #: environment steps of everything run so far


class MapSearch:
    """What a search for a map is made of: trials, numbers of new starts, and a caller who may end it."""

    def __init__(
        self,
        trials: Trials,
        settings: DistilSettings,
        watch: Watch,
        drawn: Sequence[int],
        starts: Sequence[int],
    ) -> None:
        self.trials, self.settings, self.watch = trials, settings, watch
        self.stopped = False  # whether the caller asked to stop
        self.rng = np.random.default_rng(drawn)
        self._numbers = self._drawn(starts)

    @staticmethod
    def _drawn(key: Sequence[int]) -> Iterator[int]:
        """Yield numbers of starts without end; those of different keys are unrelated."""
        rng = np.random.default_rng(key)
        while True:
            yield int(rng.integers(2**31 - 1))

    def fresh(self, count: int) -> list[int]:
        """Return the numbers of new starts."""
        return [next(self._numbers) for _ in range(count)]

    def tell(self, text: str) -> None:
        """Report progress to the caller, who may raise StopIteration to end with the best map so far."""
        try:
            self.watch(text)
        except StopIteration:
            self.stopped = True
            self.trials.ledger.stop_keeping()  # what follows is not asked if it goes on later


class Descent(MapSearch):
    """The state of the descent: the teacher's answers, and the best map of each size."""

    def __init__(self, trials: Trials, ask: Ask, settings: DistilSettings, seed: int, watch: Watch) -> None:
        super().__init__(trials, settings, watch, [seed, 4], [seed, 6])
        self.ask = ask
        self._lessons: list[Lesson] = []
        self._pool = ThreadPoolExecutor(os.cpu_count())

    # ---- the teacher's answers
    # ------------------------------------------------------------------------------------

    def learn_from(self, followed: Followed) -> None:
        """Have the states of trials labelled by the teacher."""
        self._lessons.append(Lesson(followed.seen, *self.ask(followed)))

    @property
    def lesson(self) -> Lesson:
        """A sample of all answers of the teacher, about equally many from every series of trials."""
        share = max(1, 2 * self.settings.states // max(1, len(self._lessons)))
        drawn = [one.drawn(share, self.rng) for one in self._lessons]
        whole = Lesson(*(np.concatenate(column) for column in zip(*drawn, strict=True)))
        return whole.drawn(self.settings.states, self.rng)

    # ---- fits -----------------------------------------------------------------------------------------------------

    def fits(self, size: int, before: PrototypeMap | None = None) -> list[PrototypeMap]:
        """Return maps of a size fitted to the teacher's answers, from scratch and with a prototype removed."""
        lesson = self.lesson
        count = self.settings.restarts * (
            1 if before is not None else 2
        )  # without it there is nothing else to begin from
        begun = [first_map(lesson, size, self.rng) for _ in range(count)]
        short = self._fitted(lesson, begun, SHORT)
        best = self._fitted(lesson, short[: max(2, count // 3)], LONG)
        if before is None:
            return best
        without = self._without(before, size)
        return [*best, *self._fitted(lesson, without, REFITTED)[: max(LEFT_OUT, size // 2)], *without]

    def _without(self, before: PrototypeMap, size: int) -> list[PrototypeMap]:
        """Return the map without some of its prototypes: each in turn, the others at random."""
        maps = [before.changed(drop_prototype, j) for j in range(before.size)]
        while maps[0].size > size:
            maps = [one.changed(drop_prototype, int(self.rng.integers(one.size))) for one in maps]
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
            self.tell(f"round {number + 1} of {count}: {counted(size, 'prototype')} gain {max(gained):z.4g}")

    # ---- through the sizes
    # ---------------------------------------------------------------------------------------------

    def sizes(
        self, target: TargetReturn, grow: bool = True, regions: int | None = None
    ) -> Iterator[BestOfSize]:
        """Yield the best map of every size, the largest first, until sizes no longer keep the return.

        While a map is large and the fit alone keeps the return, a quarter of it is removed at once. With ``grow``,
        larger maps may follow if the first one is not good enough. The descent reaches at least ``regions``
        prototypes, whatever that costs.
        """
        failures, leap, most = 0, True, regions or MOST_PROTOTYPES
        before = self._begun(target, grow and regions is None)
        yield before
        while before.size > 1 and (failures < FAILURES or before.size > most) and not self.stopped:
            size = before.size - (max(1, before.size // 4) if leap else 1)
            patience = self.settings.patience // (1 + 3 * failures)
            best = self.best_of_size(size, before.map, target, patience)
            if before.kept and not best.kept and size < before.size - 1:  # too far: go on by one
                leap = False
                continue
            yield best
            failures = 0 if best.kept else failures + 1
            before, leap = best, best.fitted or not best.kept

    def _begun(self, target: TargetReturn, grow: bool) -> BestOfSize:
        """Return the first map: with more rounds if it is not good enough, and then one twice as large."""
        size, attempts = self.settings.most, 0
        while True:
            self.rounds(size)
            best = self.best_of_size(size, None, target, self.settings.patience)
            attempts += 1
            spent = self.trials.count.steps >= self.settings.steps or 2 * size > MOST_PROTOTYPES
            if best.kept or size == 1 or self.stopped or (attempts > 1 and (spent or not grow)):
                return best
            size *= 2 if attempts > 1 else 1

    def best_of_size(
        self, size: int, before: PrototypeMap | None, target: TargetReturn, patience: int
    ) -> BestOfSize:
        """Return the best map of a size: fitted from scratch and from a larger one, and raced if needed."""
        race = Race(self.trials, self.lesson, self.fresh(self.settings.starts), self.rng)
        if size == 1 and before is not None:  # always the same action
            return self.measured(race.best_of(self._constant(before)).map, target, fitted=True)
        first = race.best_of(self.fits(size, before))
        budget = self.trials.count.steps + SHARE * max(0, self.settings.steps - self.trials.count.steps)
        best = self.measured(first.map, target, fitted=True)
        for _ in range(MEASURES):
            if best.kept or not self.settings.race or self.stopped:
                break
            raced = self._raced(race, race.measured(best.map), Limits(target, patience, budget))
            if raced is None:
                break
            better = self.measured(raced.map, target, fitted=False)
            best = max(best, better, key=lambda one: float(one.compared.mean()))
        if self.settings.aggregate:
            self.learn_from(self.trials.follow(best.map, self.fresh(self.settings.trials)))
        return best

    def _constant(self, before: PrototypeMap) -> list[PrototypeMap]:
        alone = before.only([0])
        return [alone.changed(set_action, 0, a) for a in range(len(self.trials.spec.actions))]

    def measured(self, map_: PrototypeMap, target: TargetReturn, fitted: bool) -> BestOfSize:
        """Run a map from new starts."""
        starts = self.fresh(TRIALS)
        candidate = Candidate(map_, self.trials.judge([Contender(map_, starts)])[0])
        compared = target.compared(candidate.returns, starts)
        how = "fitted" if fitted else "raced"
        self.tell(
            f"{counted(candidate.size, 'prototype')}, {how}: {candidate.mean:z.4g} ± {candidate.error:z.2g}"
        )
        return BestOfSize(candidate, compared, target.is_reached(compared), fitted)

    def _raced(self, race: Race, present: Candidate, limits: Limits) -> Candidate | None:
        """Put changes on probation until the return is kept; None if nothing helped or no steps are left."""

        def is_enough() -> bool:
            return limits.target.is_reached(limits.target.compared(present.returns, race.starts), TRIALS)

        first, idle = present.mean, 0
        while not is_enough():
            if idle >= limits.patience or self.trials.count.steps >= limits.steps or self.stopped:
                break
            better = race.generation(present, self.settings.generation)
            idle = 0 if better.mean > present.mean else idle + self.settings.generation
            present = better
            tried = counted(race.proposals, "change")
            self.tell(f"{counted(present.size, 'prototype')}, {tried} tried: {present.mean:z.4g}")
        if present.mean <= first and not is_enough():
            return None
        if (
            len(race.starts) < self.settings.most_starts
        ):  # if new trials contradict it, the race gets more starts
            race.starts += self.fresh(self.settings.starts)
        return present

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=False)
