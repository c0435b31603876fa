"""``distil``: a small map of an existing policy."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from distinguo.distillation.condense import CAP, TRIALS, curve_csv
from distinguo.distillation.costs import Questions, TaughtLabel
from distinguo.distillation.descent import (
    BestOfSize,
    Descent,
    TargetReturn,
    Watch,
    remembered,
    target_return,
    threshold_of,
)
from distinguo.distillation.fidelity import Fidelity, Gained, fidelity_of
from distinguo.distillation.law_maps import SIZES, FoundLaws, LawSearch
from distinguo.distillation.ledger import RECORD, BudgetEndedError, Count, Ledger
from distinguo.distillation.levels import (
    HOLDING,
    AmountTeacher,
    Levelled,
    ShownAmounts,
    levelled,
    levels_of_run,
    without_unused,
)
from distinguo.distillation.teachers import Policy, Teacher, teacher_of, watched
from distinguo.distillation.trials import Followed, Trials, trials_of
from distinguo.errors import DistinguoError, attempt, checks_names, counted, path_from, shown, whole_number
from distinguo.evaluation.confirmation import is_reached, spent_error
from distinguo.interrupts import held
from distinguo.learners.catalog import DISTILLED
from distinguo.learners.distilled import MOST_PROTOTYPES, DistilSettings
from distinguo.progress import show_progress
from distinguo.representations.file import Representation
from distinguo.runs.configuration import Configuration, assigned_text, configure, of_table
from distinguo.runs.folder import CURVE, FIDELITY, working_on, write_whole
from distinguo.runs.history import Frame
from distinguo.runs.request import RunRequest, as_asked
from distinguo.runs.run import Run
from distinguo.search.maps import PrototypeMap, controller_of
from distinguo.search.prices import STARTS, neighbouring_prototypes, prices
from distinguo.search.races import Candidate, Contender
from distinguo.settings import checked
from distinguo.tasks.amounts import MOST_LAWS, with_laws
from distinguo.tasks.gym.probe import steps_of_probes
from distinguo.tasks.gym.source import one_of_vector
from distinguo.tasks.spec import CATEGORIES, Hold, TaskSpec
from distinguo.tasks.task import uncounted_steps
from distinguo.versions import software

#: The shares of the budget up to which steps are taken to learn, to confirm a map, to follow the teacher, also with
#: continuous actions, to follow the map, and to find what their differences cost; prices may take all the rest.
LAWS, LEARNING, CONFIRMING, TAUGHT, AMOUNTS, COMPARED, PRICED = 0.75, 0.9, 0.95, 0.96, 0.97, 0.98, 0.99
TOGETHER = 10  #: trials of a confirmation that are run side by side
MARGIN = 0.1  #: around the observed extent, as a share of it


class Distilled(NamedTuple):
    """A small map of a policy: the run, the best map of every size, and its fidelity to the teacher."""

    run: Run
    dial: list[Candidate]  #: the size-return curve, the largest map first
    fitted: int | None  #: the fewest prototypes of a fit without a race that keeps the return
    bar: float  #: the target return: the mean that had to be kept
    kept: bool  #: whether new trials confirmed that it is kept
    fidelity: Fidelity
    notes: tuple[str, ...]  #: notes on the teacher, for the user

    @property
    def share(self) -> float | None:
        """The share of the teacher's return that had to be kept, if that is the target."""
        return self.run.summary.get("share")

    def __repr__(self) -> str:
        """Return the result in a few lines."""
        return result_lines(self.run.summary, self.fidelity.document())


def result_lines(summary: Mapping[str, Any], fidelity: Mapping[str, Any]) -> str:
    """Return a result in a few lines, from the files of its folder."""
    what = f"a mean return of {summary['bar']:z.4g}"
    if "share" in summary:
        what = f"{summary['share']:.0%} of the teacher's return, start by start,"
    of_map, of_teacher = (Gained(**fidelity[name]) for name in ("map", "teacher"))
    return (
        f"{summary['teacher']} on {summary['task']}: {counted(summary['prototypes'], 'prototype')}; {what} is "
        f"{'kept' if summary['kept'] else 'NOT kept'}\n"
        f"  the map gains {of_map}, the teacher {of_teacher}\n"
        f"  they agree in {fidelity['agreement_on_map_states']:.1%} of the map's states and in "
        f"{fidelity['agreement_on_teacher_states']:.1%} of the teacher's"
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
    """Return a small map of a policy, which can be read, drawn, exported, explained and, for some tasks, proven.

    ``teacher`` is a function from an observation to an action, an object with ``predict`` (an agent of
    Stable-Baselines3, a classifier of scikit-learn), a run of ours, a ``table_teacher``, or any of these as a
    ``Policy``, with its name and its action values: then a wrong action that costs nothing is no error. ``task`` is
    what :func:`~distinguo.learn` takes. The map has the fewest prototypes that reach the threshold of the task or,
    if the teacher does not reach it, keep most of its return. ``keep`` names another mean return to keep, and
    ``regions`` the most prototypes, whatever that costs. ``settings`` are changes by dotted name, such as
    ``learner.steps``, the most environment steps in all; ``out`` is a folder for the run, continued if it was
    interrupted. ``watch`` is called with lines of progress; if it raises StopIteration, the smallest map so far is
    confirmed and returned.

    >>> swing = lambda s: 2 if s[1] > 0 else 0
    >>> small = distil(swing, "MountainCar-v0", settings={"learner.most": 3})
    >>> small.run.summary["prototypes"], small.kept, small.fidelity.on_map > 0.9
    (2, True, True)
    """
    path = None if out is None else path_from(out)
    if watch is not None and not callable(watch):
        raise DistinguoError(f"watch should be a function of a text, got {shown(watch)}.")
    wish = Wish(teacher, task, seed, regions, keep, check_changes(settings))
    with show_progress("Distilling") as tell:
        told = watch or (lambda text: tell(f"Distilling: {text}"))
        if path is None:
            return distilled(wish, Ledger(), told)
        return distilled_in(path, wish, wish.request(), told)


class Wish(NamedTuple):
    """What is to be distilled, and how."""

    teacher: Any
    task: Any
    seed: int
    regions: int | None
    keep: float | None
    changes: Mapping[str, Any]  #: of settings, by dotted name

    def request(
        self, teacher: str = "", task: str = "", changes: Mapping[str, Any] | None = None
    ) -> RunRequest:
        """What is asked, as the folder records it; the command line has words of its own for teacher and task."""
        made = changes or self.changes
        words = ["distil", teacher or self.name_of(self.teacher), "--task", task or self.name_of(self.task)]
        words += ["--seed", str(self.seed)]
        words += [] if self.regions is None else ["--regions", str(self.regions)]
        words += [] if self.keep is None else [f"--keep={self.keep}"]
        for name, value in made.items():
            words += ["--set", f"{name}={assigned_text(value)}"]
        asked = {"teacher": words[1], "task": words[3], "seed": self.seed, "regions": self.regions}
        return RunRequest(asked | {"keep": self.keep, **made}, words)

    @staticmethod
    def name_of(thing: Any) -> str:
        """The name of a teacher or of a task."""
        if isinstance(thing, str):
            return thing
        if isinstance(thing, TaskSpec | Policy | Teacher) and thing.name:
            return thing.name
        if isinstance(thing, Run) and thing.path is not None:
            return str(thing.path)
        made = attempt(lambda: thing.spec.id, otherwise=None)  # of an environment
        return str(made or getattr(thing, "__name__", type(thing).__name__))


class NoMapError(DistinguoError):
    """The budget of environment steps ended before there was a map."""


def distilled_in(
    path: Path,
    wish: Wish,
    request: RunRequest,
    watch: Watch | None = None,
    draw: Callable[[Distilled], None] = lambda small: None,
    made: Callable[[Wish, Ledger, Watch | None], Distilled] | None = None,
) -> Distilled:
    """Distil in a folder, from where an interrupted process stopped; ``draw`` adds pictures to the folder.

    ``made`` does the work in place of :func:`distilled`.
    """
    check_asked(wish.regions, wish.keep)
    ledger = Ledger()
    with working_on(path, request, RECORD) as finish:
        try:
            with ledger.recorded_in(path / RECORD):
                small = (made or distilled)(wish, ledger, watch)
        except NoMapError:  # to go on would end in the same way
            finish()
            raise
        run = small.run._replace(path=path, summary=small.run.summary | {"request": as_asked(request.asked)})
        small = small._replace(run=run)
        size = int(run.summary["prototypes"])
        with held():
            write_whole(run, path, {CURVE: curve_csv(small.dial, size), FIDELITY: small.fidelity.text()})
        draw(small)
        if not run.summary["stopped"]:
            finish()
    return small


def distilled(wish: Wish, ledger: Ledger, watch: Watch | None = None) -> Distilled:
    """Distil in memory; every step is taken through the ledger."""
    began = time.perf_counter()
    probed = (
        uncounted_steps(wish.task.task)[0] if isinstance(wish.task, TaskSpec) else 0
    ) - steps_of_probes()
    check_asked(wish.regions, wish.keep)
    teacher, task, changes = wish.teacher, one_of_vector(wish.task), wish.changes
    known = checked(DistilSettings, of_table(changes, "learner"), "learner")
    ledger.budget = ledger.ceiling = known.steps
    ledger.beside = lambda: probed + steps_of_probes()
    thing = teacher.policy if isinstance(teacher, Policy) else teacher
    work = None
    try:
        # the matrices of L-BFGS are so small that threads of BLAS make it 30 times slower
        with threadpool_limits(limits=1, user_api="blas"):
            with ledger.up_to(LEARNING):
                found = levelled(
                    partial(teacher_of, teacher),
                    task,
                    levels_of_run(thing, task, of_table(changes, "task")),
                    lambda spec, returns: target_return(spec, returns, wish.keep, known.keep, CAP)[0],
                    numbers=isinstance(thing, Run | Teacher),
                    search=partial(_searched, wish, watch) if known.laws else None,
                    ledger=ledger,
                )
            configuration = _configured(found.spec, found.teacher, wish.seed, wish.regions, changes)
            ledger.budget = ledger.ceiling = configuration.learner.steps
            cap = found.spec.cap(HOLDING if isinstance(found.spec.goal, Hold) else CAP)
            with ledger.up_to(LEARNING):
                work = Distillation(
                    configuration,
                    found.teacher,
                    trials_of(found.spec, cap, ledger),
                    watch or (lambda text: None),
                )
            return work.done(wish.keep, wish.regions, found, (began, probed))
    except BudgetEndedError:
        steps = int(ledger.budget)
        raise NoMapError(
            f"The budget of {counted(steps, 'environment step')} ended before there was a map; allow more with --set "
            f"learner.steps={10 * max(steps, 1_000)}."
        ) from None
    finally:
        if work is not None:
            work.close()


def _searched(
    wish: Wish,
    watch: Watch | None,
    amounts: AmountTeacher,
    wide: TaskSpec,
    shown: ShownAmounts,
) -> tuple[FoundLaws, bool]:
    """Look for a map of laws; only a part of the steps is for that, as confirming it and levels take some, too."""
    cap, ledger = wide.cap(HOLDING if isinstance(wide.goal, Hold) else CAP), amounts.ledger
    assert wide.amounts is not None
    spec = with_laws(wide, np.zeros((1, len(wide.amounts.low), len(wide.dimensions) + 1)))
    settings = _configured(spec, amounts.teacher, wish.seed, wish.regions, wish.changes).learner
    ledger.budget, ledger.ceiling = settings.steps, math.floor(LEARNING * settings.steps)
    trials = trials_of(spec, cap, ledger)
    try:
        target = target_of_amounts(trials, amounts, shown.returns, wish.keep, settings.keep)[0]
        search = LawSearch(trials, amounts.takes, target, settings, wish.seed, watch or (lambda text: None))
        search.learn(shown.seen, shown.taken)
        most = min(wish.regions or max(settings.most, SIZES[-1]), MOST_LAWS)
        with ledger.up_to(LAWS):
            return search.fewest(most), search.stopped
    finally:
        trials.close()


def of_amounts(returns: np.ndarray, taken: np.ndarray, seen: np.ndarray) -> Followed:
    """Trials of a teacher that takes amounts; what it takes has no number."""
    return Followed(
        returns, np.zeros(0, dtype=np.int64), seen, np.zeros(len(taken), dtype=np.int64), taken[:, :0]
    )


def target_of_amounts(
    trials: Trials, amounts: AmountTeacher, returns: np.ndarray, keep: float | None, share: float
) -> tuple[TargetReturn, tuple[str, ...]]:
    """The return to keep of a teacher that takes amounts, and notes on it; a share is compared start by start."""
    value, remarks = target_return(trials.spec, returns, keep, share, trials.cap)
    if keep is not None or value == threshold_of(trials.spec, trials.cap):
        return TargetReturn(value), remarks
    gains = remembered(
        (lambda starts: amounts.trials(starts)[0])
        if trials.spec.interpreted
        else partial(trials.gains_of_amounts, amounts.takes)
    )
    return TargetReturn(value, gains, float(returns.mean()), float(np.ptp(returns))), remarks


def check_changes(settings: Any) -> dict[str, Any]:
    """Return the changes of settings that a distillation takes; all others are rejected."""
    if settings is not None and not isinstance(settings, Mapping):
        raise DistinguoError(f"Settings are a dictionary by dotted name, got {shown(settings)}.")
    for name in settings or {}:
        if str(name).partition(".")[0] == "stage" or name == "learner.teacher":
            raise DistinguoError(
                f"distil does not use the setting {name}; it takes those of the tables task and learner, such as "
                "learner.steps, its budget of environment steps; distinguo settings distilled lists them."
            )
    return dict(settings or {})


def check_asked(regions: Any, keep: Any) -> None:
    """Reject a number of prototypes or a mean return that cannot be asked for."""
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
    if len(spec.actions) == 1:  # one law is enough
        asked = {"learner.most": 1, **asked}
    elif regions is not None and regions > DistilSettings().most:
        asked = {"learner.most": regions, **asked}
    return configure(spec, seed=seed, changes={"learner.teacher": teacher.name, **asked}, learner=DISTILLED)


class Findings(NamedTuple):
    """What a distillation found, for the summary of its run."""

    target: float  #: the mean return to keep
    share: float | None  #: of the teacher's return, if that is the target
    kept: bool
    stopped: bool  #: whether the caller stopped it
    learning: Count  #: trials and steps until the curve was complete
    confirming: int  #: steps of its confirmation and of its comparison with the teacher
    began: float  #: on the clock of ``time.perf_counter``
    probed: int  #: minus the steps of probes that are not this distillation's


class Distillation:
    """A running distillation."""

    def __init__(self, configuration: Configuration, teacher: Teacher, trials: Trials, watch: Watch) -> None:
        self.configuration, self.trials = configuration, trials
        settings, seed = configuration.learner, configuration.seed
        self.descent = Descent(trials, self._label, settings, seed, watch)
        try:
            rows = trials.follow_teacher(teacher.answer, range(2)).seen
            self.teacher = watched(teacher, rows, trials.ledger)
        except BaseException:
            self.close()
            raise
        rng = np.random.default_rng([seed, 5])
        self.questions = Questions(self.teacher, trials, settings.costs, rng)
        self.ended = ""  # what was cut short because the budget ended

    def _label(self, followed: Followed) -> TaughtLabel:
        return self.questions.label(followed)

    def done(
        self, keep: float | None, regions: int | None, found: Levelled, began: tuple[float, int]
    ) -> Distilled:
        """Distil: follow the teacher, go down through the sizes, confirm the smallest map that keeps the return.

        ``began`` is the start time, on the clock of ``time.perf_counter``, and minus the steps of all probes by then.
        """
        ledger, settings = self.trials.ledger, self.configuration.learner
        with ledger.up_to(LEARNING):
            target, remarks, sizes = self._descended(keep, regions, found)
        stopped, learned = self.descent.stopped, ledger.count
        with ledger.up_to(CONFIRMING):
            chosen, kept = self._chosen(sizes, target, regions, found.tested)
        self.descent.tell("comparing the map with the teacher")
        fidelity, own = self._compared(chosen, found)
        findings = Findings(
            target=target.value,
            share=None if target.teacher is None else settings.keep,
            kept=kept,
            stopped=stopped,
            learning=learned,
            confirming=ledger.count.steps - learned.steps,
            began=began[0],
            probed=began[1],
        )
        run = self._run(chosen, own, fidelity, findings)
        said = (
            *(*found.notes, *remarks, *self._of_teacher(), *_of_stop(stopped, sizes[-1].size, regions)),
            *_of_budget(self.ended, settings.steps),
        )
        curve = [
            best.candidate._replace(returns=best.compared) for best in sizes
        ]  # as compared with the target
        return Distilled(run, curve, _fewest_fitted(sizes), target.value, kept, fidelity, said)

    def _descended(
        self, keep: float | None, regions: int | None, found: Levelled
    ) -> tuple[TargetReturn, tuple[str, ...], list[BestOfSize]]:
        """Return the target, notes on it, and the best map of every size that the budget allows, at least of one."""
        spec, settings = self.configuration.spec, self.configuration.learner
        if found.map is not None and found.amounts is not None and found.returns is not None:
            return self._of_laws(keep, found, found.map, found.amounts, found.returns)
        self.descent.tell("following the teacher")
        taught = self.trials.follow_teacher(self.teacher.answer, self.descent.fresh(TRIALS))
        self.descent.learn_from(taught)
        gained = taught.returns if found.returns is None else found.returns
        value, remarks = target_return(spec, gained, keep, settings.keep, self.trials.cap)
        for note in found.notes:
            self.descent.tell(note)
        mean = float(taught.returns.mean()) if found.mean is None else found.mean
        target = TargetReturn(value)
        if keep is None and value != threshold_of(spec, self.trials.cap):
            spread = float(np.ptp(taught.returns))
            target = TargetReturn(value, remembered(self._teacher_gains), mean, spread)
        sizes: list[BestOfSize] = []
        try:
            sizes.extend(self.descent.sizes(target, mean >= value, regions))
        except BudgetEndedError:
            if not sizes:
                raise
            self.ended = "before smaller maps were tried"
        return target, remarks, sizes

    def _of_laws(
        self,
        keep: float | None,
        found: Levelled,
        map_: PrototypeMap,
        amounts: AmountTeacher,
        returns: np.ndarray,
    ) -> tuple[TargetReturn, tuple[str, ...], list[BestOfSize]]:
        """The same for a map of laws, of which smaller ones were tried already: new trials measure it."""
        target, remarks = target_of_amounts(
            self.trials, amounts, returns, keep, self.configuration.learner.keep
        )
        for note in found.notes:
            self.descent.tell(note)
        self.descent.stopped |= found.stopped
        return target, remarks, [self.descent.measured(map_, target, fitted=True)]

    def _teacher_gains(self, starts: Sequence[int]) -> np.ndarray:
        return self.trials.follow_teacher(self.teacher.answer, starts).returns

    def _compared(self, map_: PrototypeMap, found: Levelled) -> tuple[Fidelity, Followed]:
        """Compare a map with its teacher in new trials; also return the map's trials."""
        starts, ledger = self.descent.fresh(TRIALS), self.trials.ledger
        amounts = found.amounts
        with ledger.up_to(TAUGHT):
            if (
                found.map is not None and amounts is not None
            ):  # the teacher as it is, and not by its nearest law
                taught = of_amounts(*amounts.trials(starts, partly=True))
            else:
                taught = self.trials.follow_teacher(self.teacher.answer, starts, partly=True)
        gained = taught.returns
        if found.map is None and amounts is not None:
            with ledger.up_to(AMOUNTS):
                gained, _, _ = amounts.trials(starts, partly=True)
        with ledger.up_to(COMPARED):
            own = self.trials.follow(map_, starts, partly=True)
        if min(len(gained), len(own.returns)) < TRIALS:
            self.ended = self.ended or "while the map was compared with its teacher"
        with ledger.up_to(PRICED):
            alike = None if found.map is None or amounts is None else amounts.alike(found.spec)
            return fidelity_of(map_, self.questions, taught._replace(returns=gained), own, starts, alike), own

    def _of_teacher(self) -> tuple[str, ...]:
        if not self.teacher.stochastic:
            return ()
        return (
            "The teacher answers the same observation differently; its most frequent answer was used, or "
            "the median of continuous ones.",
        )

    def _chosen(
        self,
        sizes: list[BestOfSize],
        target: TargetReturn,
        regions: int | None,
        tested: np.ndarray | None,
    ) -> tuple[PrototypeMap, bool]:
        """Return the smallest map that new trials confirm; if none, the best. ``tested`` are other maps' returns."""
        allowed = [best for best in sizes if regions is None or best.size <= regions] or sizes[-1:]
        others = [] if tested is None else [tested]
        seen = np.concatenate([*(best.compared for best in sizes), *others])
        claim = 0
        for best in reversed(allowed):
            if best.compared.mean() >= target.value:
                claim += 1
                error = spent_error(claim, self.configuration.learner.confidence)
                self.descent.tell(f"confirming {counted(best.size, 'prototype')}")
                try:
                    if is_confirmed(self.trials, best.map, target, seen, self.descent.fresh, error):
                        return best.map, True
                except BudgetEndedError:
                    self.ended = self.ended or "before a map was confirmed"
                    break
        return max(allowed, key=lambda best: float(best.compared.mean())).map, False

    def _run(self, chosen: PrototypeMap, own: Followed, fidelity: Fidelity, findings: Findings) -> Run:
        spec, map_ = without_unused(self.configuration.spec, chosen)
        regions = controller_of(map_, len(spec.actions)).partition.regions
        before = self.trials.count.steps
        some = own.seen[:: max(1, len(own.seen) // TRIALS)]
        starts = self.descent.fresh(TRIALS)
        try:
            reasons = prices_of_neighbours(self.trials, chosen, regions, some, starts)
        except BudgetEndedError:
            reasons, self.ended = [], self.ended or "before its distinctions were priced"
        for entry in reasons:  # with the action numbers after unused levels are removed
            entry["actions"] = map_.actions[entry["prototypes"]].tolist()
        threshold = threshold_of(spec, self.trials.cap)
        summary = {
            "solved": findings.kept and threshold is not None and findings.target >= threshold,
            "score": fidelity.map.mean,
            "score_low": fidelity.map.low,
            "score_high": fidelity.map.high,
            "teacher_score": fidelity.teacher.mean,
            "fidelity": fidelity.on_map,
            "bar": findings.target,
            **({} if findings.share is None else {"share": findings.share}),
            "kept": findings.kept,
            "stopped": findings.stopped,
            **({"budget_ended": self.ended} if self.ended else {}),
            "trials": findings.learning.trials,
            "environment_steps": findings.learning.steps,
            "confirmation_steps": findings.confirming,
            "price_steps": self.trials.count.steps - before,
            "probe_steps": (probed := findings.probed + steps_of_probes()),
            "total_steps": findings.learning.steps
            + findings.confirming
            + self.trials.count.steps
            - before
            + probed,
            "seconds": round(time.perf_counter() - findings.began, 4),
        }
        return run_of_map(self.configuration._replace(spec=spec), map_, own.seen, summary, reasons)

    def close(self) -> None:
        """Release threads and processes."""
        self.descent.close()
        self.trials.close()


def _of_stop(stopped: bool, size: int, regions: int | None) -> tuple[str, ...]:
    if not stopped:
        return ()
    left = counted(size, "prototype")
    if regions is not None and size > regions:
        return (f"It was stopped at {left}, before it reached the {regions} that were asked for.",)
    return (f"It was stopped at {left}; fewer may do.",)


def _of_budget(ended: str, steps: int) -> tuple[str, ...]:
    if not ended:
        return ()
    return (
        f"The budget of {counted(steps, 'environment step')} ended {ended}; allow more with --set "
        f"learner.steps={10 * steps}.",
    )


def _fewest_fitted(sizes: list[BestOfSize]) -> int | None:
    return min((best.size for best in sizes if best.fitted and best.kept), default=None)


# ---- confirmation, and prices --------------------------------------------------------------------------------------


def is_confirmed(
    trials: Trials,
    map_: PrototypeMap,
    target: TargetReturn,
    seen: np.ndarray,
    fresh: Callable[[int], list[int]],
    error: float = 0.05,
) -> bool:
    """Whether new trials confirm, by the sequential test of evaluation/confirmation, that a map keeps the return.

    ``seen`` are the returns of earlier maps, compared with the target: they show the range of returns.
    """

    def some() -> tuple[list[float], int]:
        began, returns = trials.count.steps, []
        groups = [Contender(map_, fresh(TOGETHER // 2)) for _ in range(2)]
        for group, gained in zip(groups, trials.judge(groups), strict=True):
            returns += target.compared(gained, group.starts).tolist()
        return returns, trials.count.steps - began

    return is_reached(target.value, seen, some, error, target.spread)


def prices_of_neighbours(
    trials: Trials, map_: PrototypeMap, regions: np.ndarray, seen: np.ndarray, starts: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the price of every distinction between prototypes that are neighbours at some observation.

    ``regions`` are those of the prototypes; trials begin from the first of ``starts``.
    """

    def means(maps: Sequence[PrototypeMap]) -> list[float]:
        contenders = [Contender(one, starts[:STARTS]) for one in maps]
        return [float(returns.mean()) for returns in trials.judge(contenders)]

    return prices(map_, regions, neighbouring_prototypes(map_, seen), means)


# ---- the run, and its folder ---------------------------------------------------------------------------------------


def run_of_map(
    configuration: Configuration,
    map_: PrototypeMap,
    seen: np.ndarray,
    summary: dict[str, Any],
    reasons: list[dict[str, Any]],
) -> Run:
    """Return a map as a run; ``seen`` are observations that show the range of its trials."""
    spec = configuration.spec
    controller = controller_of(map_, len(spec.actions))
    low, high = shown_extent(spec, seen)
    provenance = {
        "task": spec.name,
        "preset": configuration.preset,
        "seed": configuration.seed,
        "teacher": configuration.learner.teacher,
        "extent": [low.tolist(), high.tolist()],
        "observed": [seen.min(axis=0).tolist(), seen.max(axis=0).tolist()],
    }
    representation = Representation(controller.partition, spec.dimensions, provenance)
    whole = {
        "task": spec.name,
        "seed": configuration.seed,
        "preset": configuration.preset,
        "learner": configuration.learner_name,
        "teacher": configuration.learner.teacher,
        "regions": representation.regions,
        "prototypes": representation.prototypes,
        "investigation_steps": 0,
        "final_trial_steps": 0,
        "attempts": 1,
        "representation_regions": representation.regions,
        "representation_prototypes": representation.prototypes,
        **summary,
        "versions": software(),
    }
    frame = Frame(int(whole["trials"]), int(whole["environment_steps"]), representation, controller.q)
    updates = np.zeros(controller.q.shape, dtype=np.int64)
    return Run(configuration, representation, controller.q, updates, whole, [], reasons, history=[frame])


def shown_extent(spec: TaskSpec, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the extent for pictures and descriptions: the whole plane, or with more coordinates where trials go.

    Bounds may be far wider than that: LunarLander allows velocities up to 10, and trials reach a tenth of it.

    >>> from distinguo.tasks.catalog import task_spec
    >>> low, high = shown_extent(task_spec("CartPole-v1"), np.array([[-1.0, 0.0, 0.0, -2.0], [1.0, 0.0, 0.1, 2.0]]))
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([-1.2, -0.1, -0.01, -2.4], [1.2, 0.1, 0.11, 2.4])
    """
    bounds = np.array(spec.low), np.array(spec.high)
    width = np.ptp(seen, axis=0)
    margin = MARGIN * np.where(width > 0.0, width, 1.0)
    lower, upper = seen.min(axis=0) - margin, seen.max(axis=0) + margin
    if len(spec.dimensions) > 2:
        return np.maximum(bounds[0], lower), np.minimum(bounds[1], upper)
    return np.where(np.isfinite(bounds[0]), bounds[0], lower), np.where(
        np.isfinite(bounds[1]), bounds[1], upper
    )
