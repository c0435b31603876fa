"""Verify a controller: prove that it never fails, or arrives, and have the certificate checked independently.

    proof = verify("runs/puck-default-seed0")
    proof.holds, proof.share                     # proven from its start? for which share of the others?
    proof.verdict                                # proven, not proven, refuted or not provable
    Shield(env, proof.certificate)               # lets no agent leave what is proven

Where nothing can be proven, trials give exact bounds; ``proof.holds`` never takes them for a proof.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping
from functools import singledispatch
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distinguo.comparison.sources import representation_named
from distinguo.controller import Controller
from distinguo.errors import DistinguoError, checks_names, counted
from distinguo.evaluation.simulate import Outcome, evaluate
from distinguo.evaluation.tester import Evaluation, trained_values
from distinguo.offline.task import OF_A_LOG, is_logged
from distinguo.progress import show_progress
from distinguo.proof.declared.diagnosis import Diagnosis, diagnose
from distinguo.proof.declared.question import PROGRAM
from distinguo.proof.number.program import NotProvableError
from distinguo.proof.question import Answer, Finding, Question, Request
from distinguo.proof.schema import Certificate
from distinguo.proof.verify import (
    PLAIN,
    Filed,
    check_place,
    file_certificate,
    question_for,
)
from distinguo.representations.file import Representation
from distinguo.runs.configuration import check_seed
from distinguo.runs.folder import as_run, open_run
from distinguo.runs.run import Run
from distinguo.settings import TesterSettings, tester_suited
from distinguo.tasks.catalog import origin_of, spec_of, task_spec
from distinguo.tasks.extent import Extent
from distinguo.tasks.spec import LENGTH, RETURN, TaskSpec
from distinguo.tasks.task import seeded, start
from distinguo.writing import check_file_place


class Subject(NamedTuple):
    """A controller to be verified."""

    name: str
    spec: TaskSpec
    representation: Representation
    controller: Controller
    folder: Path | None = None  #: the folder of the run, if it has one
    seed: int = 0  #: that it was learned with


@singledispatch
def subject_of(what: Any, task: Any, seed: int) -> Subject:
    """The subject that a word, a path or a run names; one without values learns them on a task, with a seed.

    >>> subject_of("diagonal", "puck", seed=0).controller.policy.tolist()
    [0, 1]
    """
    raise DistinguoError(
        f"A {type(what).__name__} cannot be verified; give a run, its folder, a representation file or a control."
    )


@subject_of.register
def _(what: Run, task: Any, seed: int) -> Subject:
    name = str(what.path) if what.path else f"the run of seed {what.configuration.seed}"
    home = what.configuration.spec.name
    logged = is_logged(what.configuration.spec.task)  # then the task that was logged may be named
    if isinstance(task, str) and task != home and not logged:
        raise DistinguoError(f"{name} is a run of {home}, not of {task}.")
    spec = as_run(what, task).configuration.spec
    seed = what.configuration.seed
    return Subject(name, spec, what.representation, what.controller, what.path, seed)


@subject_of.register(str)
@subject_of.register(Path)
def _(what: str | Path, task: Any, seed: int) -> Subject:
    if Path(what).is_dir():
        return subject_of(open_run(what), task, seed)._replace(name=str(what))
    return _trained(str(what), "puck" if task is None else task, seed)


def _trained(what: str, task: Any, seed: int) -> Subject:
    """Learn the values of a representation as the tester does."""
    spec = task_spec(task) if isinstance(task, str) else spec_of(task)
    spec = spec._replace(task=seeded(spec.task, seed))
    representation = representation_named(what, spec, seed).with_regions("A proof")
    _refuse_another_task(what, representation, spec)
    settings, extent = TesterSettings(**tester_suited(spec.score, spec.kind)), Extent(spec.low, spec.high)
    evaluation = Evaluation(spec, representation.partition, representation.regions, settings, extent)
    q = trained_values(evaluation, np.random.default_rng(seed))
    return Subject(
        what, spec, representation, Controller(representation.partition, q, settings.delta), seed=seed
    )


def _refuse_another_task(what: str, representation: Representation, spec: TaskSpec) -> None:
    """Reject a file that was learned on another task, even if its coordinates have the same names."""
    home = representation.provenance.get("task")
    if isinstance(home, str) and home != spec.name:
        raise DistinguoError(f"{what} was learned on {home}, not on {spec.name}; give --task {home}.")


#: The verdicts: no proof was found; a trial shows the claim to be false; there is no way to prove it.
PROVEN, NOT_PROVEN, REFUTED, NOT_PROVABLE = "proven", "not proven", "refuted", "not provable"


class Proof(NamedTuple):
    """What was proven of a controller, and the checker's verdict."""

    subject: Subject
    question: Question
    finding: Finding  #: what the prover found; pictures are drawn from it
    answer: Answer
    filed: Filed  #: the file of the certificate, or why there is none
    seconds_proving: float
    seconds: float
    diagnosis: Diagnosis | None = None  #: why it was not proven, if that was found out

    @property
    def holds(self) -> bool:
        """Whether it is proven and checked that the controller does what it should from every start asked about."""
        return self.answer.proven

    @property
    def verdict(self) -> str:
        """``proven``, ``not proven``, ``refuted`` (a trial fails) or ``not provable`` (only trials are possible).

        >>> verify("grid:2x2x2x2", task="CartPole-v1").verdict
        'refuted'
        """
        if self.holds:
            return PROVEN
        if self.answer.refuted:
            return REFUTED
        return NOT_PROVEN if self.question.certifies else NOT_PROVABLE

    @property
    def share(self) -> float:
        """Return the share of the controllable starts for which it is proven."""
        return self.answer.share

    @property
    def checked(self) -> bool:
        """Whether there is a certificate and the checker accepted it."""
        return self.filed.refusal is None

    @property
    def path(self) -> Path | None:
        """Return the file of the certificate, if one was written."""
        return self.filed.path

    @property
    def certificate(self) -> Certificate | None:
        """The certificate, to check again or to shield an agent; None if nothing is proven."""
        return self.finding.certificate

    @property
    def sentences(self) -> list[str]:
        """What is proven, in sentences."""
        lines = list(self.answer.sentences)
        if self.question.certifies and self.filed.refusal:
            lines.insert(1, f"No certificate: {self.filed.refusal}")
        if self.diagnosis is not None:
            lines += [*self.diagnosis.sentences(), f"To look for a map that can be proven: {self._to_try()}"]
        if self.filed.earlier:
            lines.append(f"An earlier certificate of the same question still holds: {self.filed.earlier}")
        if self.checked:
            filed = f"Certificate, checked independently: {self.path}"
            lines.append(filed if self.path else "The certificate was checked independently.")
        return lines

    def _to_try(self) -> str:
        """The command that learns a map that can be proven."""
        spec, seed = self.subject.spec, self.subject.seed
        task = origin_of(spec).get("task_file", spec.name)
        return shlex.join(["distinguo", "learn", task, "--seed", str(seed), "--prove"])

    def as_json(self) -> dict[str, Any]:
        """Return the proof as ``distinguo verify --json`` prints it."""
        content = {
            "verdict": self.verdict,
            "proven": self.holds,
            "share_of_controllable_starts": self.share,
            "cells": self.answer.cells,
            "certificate": self.path and str(self.path),
            "checked": self.checked,
            **self.answer.details,
            "seconds": self.seconds,
            "run": self.subject.name,
            "diagnosis": self.diagnosis and self.diagnosis.as_json(),
        }
        if self.question.certifies:
            earlier = self.filed.earlier
            content |= {"refusal": self.filed.refusal, "earlier_certificate": earlier and str(earlier)}
            content |= {"seconds_proving": self.seconds_proving}
        return content

    def __repr__(self) -> str:
        return "\n".join([f"Proof of {self.subject.name} on {self.subject.spec.name}:", *self.sentences])


@checks_names()
def verify(
    what: Run | str | Path,
    *,
    task: Any = None,
    seed: int = 0,
    cells: int | None = None,
    steps: int | None = None,
    disturbance: float = 0.0,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    out: str | Path | None = None,
) -> Proof:
    """Prove what can be proven of a run, its folder, a representation file or a control.

    The puck should never fail; MountainCar-v0 should reach its goal, within ``steps``. A representation without
    values learns them as the tester does, on ``task``, with ``seed``. For a run, give ``task`` only if its
    environment or your own task cannot be found by name. A proof may use about ``cells`` cells. It can be asked to
    hold even if every step is off by a ``disturbance`` of the velocity, or if parameters are only known to lie in
    ``ranges``. The certificate is written to the folder of the run or to ``out``; without either, nothing is
    written.

    >>> proof = verify("diagonal", cells=40_000)
    >>> proof.holds, round(proof.share, 2), proof.checked
    (True, 0.97, True)
    """
    subject = subject_of(what, task, check_seed(seed))
    request = Request(subject.spec, subject.controller, seed, cells, steps, disturbance, ranges or {})
    folder = _made(subject.folder if out is None else Path(out))
    found = OF_A_LOG if is_logged(request.spec.task) else question_for(request)
    question, obstacle = (BOUNDED, found) if isinstance(found, str) else (found, "")
    if folder is not None and question.certifies:
        check_place(request, folder, own=folder == subject.folder)
    begun = time.monotonic()
    with show_progress(f"Proving {subject.name}"):
        try:
            finding = question.ask(request)
        except NotProvableError as error:
            question, obstacle = BOUNDED, str(error)
            finding = question.prove(request)  # the options were of the proof
    if isinstance(finding, TrialsFinding):
        finding = finding._replace(obstacle=obstacle)
    proving = time.monotonic() - begun
    filed = file_certificate(finding.certificate, request, folder if question.certifies else None)
    answer = finding.answer(filed.refusal is None)
    diagnosis = None
    if question is PROGRAM and not answer.proven:
        diagnosis = diagnose(request, finding)
    return Proof(subject, question, finding, answer, filed, proving, time.monotonic() - begun, diagnosis)


def _made(folder: Path | None) -> Path | None:
    """Make the folder to write to, if one is given."""
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            check_file_place(folder / PLAIN)
    except OSError as error:
        raise DistinguoError(f"Cannot write to {folder}: {error.strerror}.") from None
    return folder


# What trials show of a controller where nothing can be proven: exact bounds, which are not a proof.


CONFIDENCE = 0.95
LABEL = "not a proof"


def binomial_bound(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) bounds of a probability after ``successes`` in ``trials``.

    >>> low, high = binomial_bound(50, 50)
    >>> round(low, 3), high
    (0.929, 1.0)
    """
    from scipy.stats import binomtest

    if not 0 <= successes <= trials or trials < 1 or not 0 < confidence < 1:
        raise DistinguoError(
            f"A bound needs at least one trial and 0 to {trials} successes, got {successes} of {trials}."
        )
    interval = binomtest(successes, trials).proportion_ci(confidence, method="exact")
    return float(interval.low), float(interval.high)


def median_bound(numbers: np.ndarray, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return bounds of the median of the distribution that numbers were drawn from, whatever it is.

    Of n numbers, fewer than k lie on one side of the median with the probability that a fair coin shows heads fewer
    than k times. So two of the sorted numbers enclose it. Too few numbers enclose nothing.

    >>> median_bound(np.arange(100.0)), median_bound(np.arange(3.0))
    ((39.0, 60.0), (-inf, inf))
    """
    from scipy.stats import binom

    ordered = np.concatenate([[-np.inf], np.sort(numbers), [np.inf]])
    k = int(binom.ppf((1.0 - confidence) / 2.0, len(numbers), 0.5))
    return float(ordered[k]), float(ordered[len(numbers) + 1 - k])


TRIALS, CAP = 100, 100_000  #: trials, and steps of each


class TrialsFinding(NamedTuple):
    """The outcome of the trials."""

    spec: TaskSpec
    outcome: Outcome
    asked: int  #: steps after which a trial is stopped
    identical: bool = False  #: whether nothing in the trials is random
    obstacle: str = ""  #: why nothing can be proven

    @property
    def certificate(self) -> None:
        """Return nothing: trials prove nothing."""
        return

    def answer(self, checked: bool) -> Answer:
        """Bound the probability that a trial is good."""
        scores = self.outcome.lengths if self.spec.score == LENGTH else self.outcome.returns
        details = {
            "label": LABEL,
            "trials": len(scores),
            **bounds(self.spec, self.outcome, self.identical),
            "threshold": _threshold(self.spec),
            "mean": float(scores.mean()),
            "asked_steps": self.asked,
        }
        sentences = [*trial_sentences(details), *([self.obstacle] if self.obstacle else [])]
        return Answer(False, 0.0, 0, details, sentences, fails(details))


def run_trials(request: Request) -> TrialsFinding:
    """Run greedy trials from the starts of the task."""
    spec = request.spec._replace(task=seeded(request.spec.task, request.seed))
    rng, steps = np.random.default_rng(request.seed), request.steps or spec.cap(CAP)
    starts = np.array([start(spec.task, rng) for _ in range(TRIALS)])
    outcome = evaluate(spec.task, request.controller, rng, starts, steps)
    identical = spec.stochastic == "no" and bool(
        (starts == starts[0]).all() and (outcome.returns == outcome.returns[0]).all()
    )
    return TrialsFinding(spec, outcome, steps, identical)


def bounds(spec: TaskSpec, outcome: Outcome, identical: bool = False) -> dict[str, Any]:
    """Bound the probability that a trial is good, or the median return if the task does not say what is good.

    Trials that are all the same bound nothing: they are one trial.
    """
    good = _good(spec, outcome)
    if identical:
        return {"held": None if good is None else int(good.sum()), "bound": None, "identical": True}
    if good is None:
        return {"held": None, "bound": None, "median_return": list(median_bound(outcome.returns))}
    held = int(good.sum())
    return {"held": held, "bound": list(binomial_bound(held, len(good)))}


def _good(spec: TaskSpec, outcome: Outcome) -> np.ndarray | None:
    """Which trials were good; None if the task does not say."""
    threshold = _threshold(spec)
    if threshold is not None:
        return outcome.returns >= threshold
    return ~outcome.ended if spec.score == LENGTH else None


def _threshold(spec: TaskSpec) -> float | None:
    """The return that makes a trial good; None if a trial is good while it goes on."""
    return spec.threshold if spec.score == RETURN else None


def fails(details: dict[str, Any]) -> bool:
    """Whether trials refute a controller: one that should go on has ended, or the mean return is below the threshold.

    A task with a threshold asks for the mean return, so a single trial below it refutes nothing.
    """
    if details["held"] is None:
        return False
    if details["threshold"] is not None:
        return not details["mean"] >= details["threshold"]
    return bool(details["held"] < details["trials"])


def trial_sentences(details: dict[str, Any]) -> list[str]:
    """What the trials show, and that it is not a proof."""
    head = (
        f"Not provable: there is no proof for this task and this kind of map, so this is {details['label']}:"
    )
    if fails(details):
        head = "Refuted by trials:"
    if details.get("identical"):
        return [f"{head} {_the_one_trial(details)}"]
    if details["bound"] is None:
        low, high = details["median_return"]
        return [
            f"{head} with 95 % confidence from {counted(details['trials'], 'trial')} the median return lies between "
            f"{low:z.4g} and {high:z.4g}; the task does not say which return is good."
        ]
    low, high = details["bound"]
    threshold, steps = details["threshold"], details["asked_steps"]
    did, do = f"were still running after {counted(steps, 'step')}", "are"
    if threshold is not None:
        did, do = f"had a return of at least {threshold:zg} within {counted(steps, 'step')}", "have"
    lines = [
        f"{head} {details['held']} of {counted(details['trials'], 'trial')} {did}, so with 95 % confidence "
        f"{low:.1%} to {high:.1%} {do}."
    ]
    if threshold is not None:
        lines.append(f"Their mean return is {details['mean']:z.4g}; {threshold:zg} solves the task.")
    return lines


def _the_one_trial(details: dict[str, Any]) -> str:
    """What trials show that are all the same."""
    same = f"all {counted(details['trials'], 'trial')} were the same, so they count as one:"
    if details["held"] is None:
        return f"{same} its return is {details['mean']:z.4g}; the task does not say which return is good."
    steps, threshold = counted(details["asked_steps"], "step"), details["threshold"]
    if threshold is not None:
        return f"{same} its return within {steps} is {details['mean']:z.4g}; {threshold:zg} solves the task."
    return f"{same} it {'was still running' if details['held'] else 'had ended'} after {steps}."


#: Asked of every task that no other question can be asked about.
BOUNDED = Question("holds in trials", None, run_trials, ("disturbance", "ranges", "cells"), certifies=False)
