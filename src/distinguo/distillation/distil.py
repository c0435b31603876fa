"""``distil``: a small map of a policy that somebody has."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from distinguo.distillation.bar import Bar, bar_of, remembered, threshold_of
from distinguo.distillation.confirmed import confirmed
from distinguo.distillation.descent import Descent, Rung, Watch
from distinguo.distillation.fidelity import Fidelity, fidelity_of
from distinguo.distillation.levels import Levelled, levelled, levels_of_run, without_unused
from distinguo.distillation.prices import neighbour_prices
from distinguo.distillation.questions import Questions
from distinguo.distillation.saved import check_free, run_of_map, write_distilled
from distinguo.distillation.teachers.teacher import Policy, Teacher, teacher_of, watched
from distinguo.distillation.trials.trials import Followed, Trials, trials_of
from distinguo.errors import DistinguoError, checks_names, path_from, shown, whole_number
from distinguo.learners.catalog import DISTILLED
from distinguo.learners.distilled import MOST_PROTOTYPES, DistilSettings
from distinguo.learners.probation.learner import acting_by
from distinguo.learners.refinement.condense import TRIALS, Notch
from distinguo.learners.refinement.improvement import PrototypeMap
from distinguo.runs.configuration import Configuration, configure, of_table
from distinguo.runs.run import Run
from distinguo.settings import checked
from distinguo.study.condense import CAP
from distinguo.tasks.spec import CATEGORIES, Hold, TaskSpec

HOLDING = 2_000  #: steps after which a trial that should never end counts as held


class Distilled(NamedTuple):
    """A small map of a policy: the run, the best map of every size, and how true it is to its teacher."""

    run: Run
    dial: list[Notch]  #: by size, the largest first
    fitted: int | None  #: the fewest prototypes of a fit without a race that keeps the return
    bar: float  #: the mean return that had to be kept
    kept: bool  #: whether new trials confirmed that it is
    fidelity: Fidelity
    notes: tuple[str, ...]  #: what should be said of the teacher

    @property
    def share(self) -> float | None:
        """Return the share of the teacher's return that had to be kept, where that is what was asked."""
        return self.run.summary.get("share")

    def __repr__(self) -> str:
        """Return the result in a few lines."""
        fidelity, summary = self.fidelity, self.run.summary
        what = f"a mean return of {self.bar:.4g}"
        if self.share is not None:
            what = f"{self.share:.0%} of the teacher's return, start by start,"
        return (
            f"{summary['teacher']} on {summary['task']}: {summary['prototypes']} prototypes; {what} is "
            f"{'kept' if self.kept else 'NOT kept'}\n"
            f"  the map gains {fidelity.map}, the teacher {fidelity.teacher}\n"
            f"  they agree in {fidelity.on_map:.1%} of the map's states and in {fidelity.on_teacher:.1%} of the "
            "teacher's"
        )


@checks_names()
def distil(
    teacher: Any,
    task: Any,
    *,
    seed: int = 0,
    regions: int | None = None,
    keep: float | None = None,
    settings: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    watch: Watch | None = None,
) -> Distilled:
    """Return a small map of a policy, which can be read, drawn, exported, explained and, in places, proven.

    ``teacher`` is a function from an observation to an action, an object with ``predict`` (an agent of
    Stable-Baselines3, a classifier of scikit-learn), a run of ours, a ``table_teacher``, or any of these as a
    ``Policy``, with its name and what actions are worth: a wrong action that costs nothing is then no error. ``task``
    is what :func:`~distinguo.learn` takes. The number of prototypes is found: the fewest that keep the threshold of
    the task or, if the teacher does not reach it, most of its own return. ``keep`` names another mean return to keep,
    and ``regions`` asks for at most so many prototypes, whatever that costs. ``settings`` are changes by dotted name,
    such as ``learner.steps``; ``out`` is a folder for the run; ``watch`` is told in words how it goes; if it
    raises StopIteration, the smallest map so far is confirmed, and is the result.

    >>> swing = lambda s: 2 if s[1] > 0 else 0
    >>> small = distil(swing, "MountainCar-v0", settings={"learner.most": 3})
    >>> small.run.summary["prototypes"], small.kept, small.fidelity.on_map > 0.9
    (2, True, True)
    """
    began = time.perf_counter()
    path = None if out is None else path_from(out)
    if path is not None:
        check_free(path)
    if watch is not None and not callable(watch):
        raise DistinguoError(f"watch should be a function of a text, got {shown(watch)}.")
    _check_asked(regions, keep)
    changes = _checked_changes(settings)
    share = checked(DistilSettings, of_table(changes, "learner"), "learner").keep
    thing = teacher.policy if isinstance(teacher, Policy) else teacher
    found = levelled(
        partial(teacher_of, teacher),
        task,
        levels_of_run(thing, task, of_table(changes, "task")),
        lambda spec, returns: bar_of(spec, returns, keep, share, CAP)[0],
        numbers=isinstance(thing, Run | Teacher),
    )
    configuration = _configured(found.spec, found.teacher, seed, regions, changes)
    trials = trials_of(found.spec, found.spec.cap(HOLDING if isinstance(found.spec.goal, Hold) else CAP))
    # L-BFGS works on matrices so small that threads of BLAS only get into each other's way: 30 times slower
    with threadpool_limits(limits=1, user_api="blas"):
        work = Distillation(configuration, found.teacher, trials, watch or (lambda text: None))
        try:
            distilled = work.done(keep, regions, found, began)
        finally:
            work.close()
    if path is None:
        return distilled
    run = write_distilled(distilled.run, distilled.dial, distilled.fidelity, path)
    return distilled._replace(run=run)


def _checked_changes(settings: Any) -> dict[str, Any]:
    if settings is not None and not isinstance(settings, Mapping):
        raise DistinguoError(f"Settings are a dictionary by dotted name, got {shown(settings)}.")
    return dict(settings or {})


def _check_asked(regions: Any, keep: Any) -> None:
    if regions is not None:
        whole_number("regions", regions, 1, MOST_PROTOTYPES)
    if keep is not None and (
        isinstance(keep, bool) or not isinstance(keep, Real) or not np.isfinite(float(keep))
    ):
        raise DistinguoError(f"keep should be a mean return, a finite number, got {shown(keep)}.")


def _configured(
    spec: TaskSpec, teacher: Teacher, seed: int, regions: int | None, changes: Mapping[str, Any]
) -> Configuration:
    if spec.kind == CATEGORIES:
        raise DistinguoError(
            f"{spec.name} observes labels, which have no nearest prototype; learn it with --learner sweeping."
        )
    asked = {key: value for key, value in changes.items() if not key.startswith("task.")}
    if regions is not None and regions > DistilSettings().most:
        asked = {"learner.most": regions, **asked}
    return configure(spec, seed=seed, changes={"learner.teacher": teacher.name, **asked}, learner=DISTILLED)


class Distillation:
    """One distillation at work."""

    def __init__(self, configuration: Configuration, teacher: Teacher, trials: Trials, watch: Watch) -> None:
        self.configuration, self.trials = configuration, trials
        rows = trials.follow_teacher(teacher.answer, range(2)).seen
        self.teacher = watched(teacher, rows)
        settings, seed = configuration.learner, configuration.seed
        rng = np.random.default_rng([seed, 5])
        self.questions = Questions(self.teacher, trials, settings.costs, rng)
        self.descent = Descent(trials, self.questions.label, settings, seed, watch)

    def done(self, keep: float | None, regions: int | None, found: Levelled, began: float) -> Distilled:
        """Distil: follow the teacher, go down through the sizes, confirm the smallest map that keeps the return.

        ``began`` is when all of it did, on the clock of ``time.perf_counter``.
        """
        spec, settings = self.configuration.spec, self.configuration.learner
        self.descent.tell("following the teacher")
        taught = self.trials.follow_teacher(self.teacher.answer, self.descent.fresh(TRIALS))
        self.descent.learn_from(taught)
        gained = taught.returns if found.returns is None else found.returns
        value, remarks = bar_of(spec, gained, keep, settings.keep, self.trials.cap)
        for note in found.notes:
            self.descent.tell(note)
        mean = float(taught.returns.mean()) if found.mean is None else found.mean
        bar = Bar(value)
        if keep is None and value != threshold_of(spec, self.trials.cap):
            bar = Bar(value, remembered(self._teacher_gains), mean)
        rungs = list(self.descent.rungs(bar, mean >= value, regions))
        stopped = self.descent.stopped
        learned, before = self.trials.count, found.spent
        chosen, kept = self._chosen(rungs, bar, regions)
        self.descent.tell("comparing the map with the teacher")
        fidelity, own, steps = self._compared(chosen.map, found)
        facts = {"bar": value, "kept": kept, "learned": learned, "before": before, "stopped": stopped}
        facts |= {"share": {} if bar.teacher is None else {"share": settings.keep}, "began": began}
        run = self._run(chosen, own, fidelity=fidelity, steps=steps, **facts)
        said = (*found.notes, *remarks, *self._of_teacher(), *_of_stop(stopped, rungs[-1].size, regions))
        notches = [rung.notch._replace(returns=rung.compared) for rung in rungs]  # which the bar is for
        return Distilled(run, notches, _fewest_fitted(rungs), value, kept, fidelity, said)

    def _teacher_gains(self, starts: Sequence[int]) -> np.ndarray:
        return self.trials.follow_teacher(self.teacher.answer, starts).returns

    def _compared(self, map_: PrototypeMap, found: Levelled) -> tuple[Fidelity, Followed, int]:
        """Compare a map with its teacher by new trials of both; return also the map's, and steps not counted yet."""
        starts = self.descent.fresh(TRIALS)
        taught = self.trials.follow_teacher(self.teacher.answer, starts)
        gained, steps = taught.returns, 0
        if found.amounts is not None:
            gained, taken = found.amounts.trials(starts)
            steps = len(taken)
        own = self.trials.follow(map_, starts)
        return fidelity_of(map_, self.questions, taught._replace(returns=gained), own, starts), own, steps

    def _of_teacher(self) -> tuple[str, ...]:
        if not self.teacher.stochastic:
            return ()
        return (
            "The teacher answers the same observation differently; its most frequent answer was taken, of amounts "
            "the median.",
        )

    def _chosen(self, rungs: list[Rung], bar: Bar, regions: int | None) -> tuple[Notch, bool]:
        """Return the smallest map that new trials confirm; if none, the best there is."""
        allowed = [rung for rung in rungs if regions is None or rung.size <= regions] or rungs[-1:]
        seen = np.concatenate([rung.compared for rung in rungs])
        for rung in reversed(allowed):
            if rung.compared.mean() >= bar.value:
                self.descent.tell(f"confirming {rung.size} prototypes")
                if confirmed(self.trials, rung.notch.map, bar, seen, self.descent.fresh):
                    return rung.notch, True
        return max(allowed, key=lambda rung: float(rung.compared.mean())).notch, False

    def _run(self, chosen: Notch, own: Followed, **facts: Any) -> Run:
        fidelity = facts["fidelity"]
        spec, map_ = without_unused(self.configuration.spec, chosen.map)
        controller = acting_by(map_.prototypes, map_.scale, map_.actions, len(spec.actions))
        after = self.trials.count
        some = own.seen[:: max(1, len(own.seen) // TRIALS)]
        starts = self.descent.fresh(TRIALS)
        reasons = neighbour_prices(self.trials, chosen.map, controller.partition.regions, some, starts)
        for entry in reasons:  # by the numbers that actions have without unused levels
            entry["actions"] = map_.actions[entry["prototypes"]].tolist()
        threshold = threshold_of(spec, self.trials.cap)
        summary = {
            "solved": facts["kept"] and threshold is not None and facts["bar"] >= threshold,
            "score": fidelity.map.mean,
            "score_low": fidelity.map.low,
            "score_high": fidelity.map.high,
            "teacher_score": fidelity.teacher.mean,
            "fidelity": fidelity.on_map,
            "bar": facts["bar"],
            **facts["share"],
            "kept": facts["kept"],
            "stopped": facts["stopped"],
            "trials": facts["learned"].trials + facts["before"].trials,
            "environment_steps": facts["learned"].steps + facts["before"].steps,
            "confirmation_steps": after.steps - facts["learned"].steps + facts["steps"],
            "price_steps": self.trials.count.steps - after.steps,
            "seconds": round(time.perf_counter() - facts["began"], 4),
        }
        return run_of_map(self.configuration._replace(spec=spec), map_, own.seen, summary, reasons)

    def close(self) -> None:
        """Give back what was taken."""
        self.descent.close()
        self.trials.close()


def _of_stop(stopped: bool, size: int, regions: int | None) -> tuple[str, ...]:
    if not stopped:
        return ()
    if regions is not None and size > regions:
        return (f"It was stopped at {size} prototypes, before it came to the {regions} that were asked for.",)
    return (f"It was stopped at {size} prototypes; fewer may do.",)


def _fewest_fitted(rungs: list[Rung]) -> int | None:
    return min((rung.size for rung in rungs if rung.fitted and rung.kept), default=None)
