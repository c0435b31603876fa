"""A learning run: in memory or in a folder, resumed where it was stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Unpack

from distinguo.errors import DistinguoError, checks_names, path_from, shown
from distinguo.interrupts import held
from distinguo.learners.catalog import ECONOMY, TEACHER
from distinguo.presets import DEFAULT
from distinguo.progress import ProgressPlace, show_progress
from distinguo.proof.question import Request
from distinguo.proof.verify import certificate_name
from distinguo.runs import folder
from distinguo.runs.configuration import (
    Configuration,
    configure,
    differences,
    of_table,
    ranges_of,
    to_be_proven,
)
from distinguo.runs.history import TRIALS, read_trials
from distinguo.runs.logged import Logged, logged
from distinguo.runs.run import Run, run_of, whole_summary
from distinguo.runs.stage import Stage
from distinguo.seam import is_compiled
from distinguo.settings import LearnerSettings, StageSettings
from distinguo.tasks.amounts import laws_of, with_laws
from distinguo.tasks.catalog import spec_of
from distinguo.tasks.gym.task import WORDS, TaskWords
from distinguo.tasks.spec import TaskSpec
from distinguo.writing import slug, write_atomically

CHECKPOINT_SECONDS = 2.0  #: between two checkpoints of a run that has a folder
Watch = Callable[[Stage], None]
_BY_DOTTED_NAME = {
    name: f"settings={{'{table}.{name}': …}}"
    for table, kind in (("stage", StageSettings), ("learner", LearnerSettings))
    for name in kind._fields
}


@checks_names(_BY_DOTTED_NAME, WORDS)
def learn(
    task: Any = None,
    *,
    data: Any = None,
    seed: int = 0,
    preset: str = DEFAULT,
    learner: Any = None,
    settings: Mapping[str, Any] | None = None,
    prototypes: Any = None,
    out: str | Path | None = None,
    watch: Watch | None = None,
    prove: bool = False,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    **words: Unpack[TaskWords],
) -> Run:
    """Learn a representation of a task from scratch, or from given prototypes.

    ``task`` is a name such as ``puck``, any Gymnasium id, a Gymnasium environment, or a task of your own.
    ``learner`` is a name or a declared class; by default it is the one that suits the task. For an id with a
    compiled port, the port is used; pass the environment itself to use Gymnasium's.

    ``data`` are logged transitions to learn from instead: a CSV or npz file, a dictionary of arrays, or a log
    (docs/how-to/offline.md). No step is then taken in the task, until what was learned is tried there; it may be left
    out.

    With ``prove``, a solved map is changed until a certificate shows that it never fails, or arrives, from every
    start (docs/proof.md, "Learn until proven"); ``run.summary["proven"]`` says whether that succeeded. Parameters
    of the task may then lie anywhere in ``ranges``, such as ``{"mass": (0.95, 1.05)}``, at each step anew.

    ``settings`` are changes by dotted name; ``out`` is a folder for the run, resumed if it was interrupted;
    ``watch`` is called after every chunk of work. For a Gymnasium environment you may add what it does not say
    itself: ``threshold``, the mean return that solves it (without one, no run counts as solved); the names of its
    ``dimensions`` and ``actions``; and the ``units`` of its dimensions.

    >>> run = learn("puck", seed=3, settings={"stage.cap": 1000, "stage.hold": 1000})
    >>> run.solved, run.summary["score"]
    (True, 1000)
    """
    if settings is not None and not isinstance(settings, Mapping):
        raise DistinguoError(f"Settings are a dictionary by dotted name, got {shown(settings)}.")
    if watch is not None and not callable(watch):
        raise DistinguoError(f"watch should be a function of the stage, got {shown(watch)}.")
    if learner == TEACHER:
        keep = words.pop("threshold", None)
        unused = any(x is not None for x in (watch, prototypes, data)) or prove or bool(words or ranges)
        return _taught(task, preset, unused, seed=seed, settings=settings, keep=keep, out=out)
    if data is None and task is None:
        raise DistinguoError("Nothing to learn is given; name a task, such as puck, or logged data=FILE.")
    log = None if data is None else logged(data, task, settings or {})
    configuration = configure(
        log.spec if log is not None else _spec_given(task, settings),
        seed=seed,
        preset_name=preset,
        changes=settings if log is None else log.changes,
        prototypes=prototypes,
        learner=learner,
        words=words,
    )
    if prove:
        configuration = to_be_proven(configuration, ranges)
    elif ranges is not None:
        raise DistinguoError("The ranges are those of what is proven; add prove=True, or leave them out.")
    with show_progress(f"Learning {configuration.spec.name}") as tell:
        place = None if out is None else path_from(out)
        if watch is None and ProgressPlace.line is not None:
            watch = lambda stage: tell(_so_far(stage))  # noqa: E731
        return learn_configured(configuration, place, watch, log)


def _spec_given(task: Any, settings: Mapping[str, Any] | None) -> str | TaskSpec:
    return task if isinstance(task, str | TaskSpec) else spec_of(task, of_table(settings or {}, "task"))


def _taught(task: Any, preset: str, unused: Any, **options: Any) -> Run:
    """The run of a network that is trained and distilled, which is the work of a room to the left of this one."""
    if preset != DEFAULT or unused:
        raise DistinguoError(
            "The learner 'teacher' takes no data, preset, prototypes, watch, prove or names; leave them out, or call "
            "distinguo.teach."
        )
    run: Run = import_module("distinguo.distillation.teach").teach_run(task, **options)
    return run


def _so_far(stage: Stage) -> str:
    """Return how far a stage has come."""
    if stage.proving:
        return f"Proving {stage.configuration.spec.name}: {stage.proving}"
    counts = f"{stage.count_trials:,} trials, {stage.environment_steps:,} steps, {stage.regions:,} regions"
    return f"Learning {stage.configuration.spec.name}: {counts} ({stage.phase})"


def learn_configured(
    configuration: Configuration,
    out: Path | None = None,
    watch: Watch | None = None,
    log: Logged | None = None,
) -> Run:
    """Learn as configured, in a folder or in memory; from a ``log``, what it cannot answer is found out as well."""
    if configuration.stage.prove_ranges and not configuration.stage.prove_steps:
        raise DistinguoError(
            "stage.prove_ranges is for what is to be proven; add --prove, or set stage.prove_steps."
        )
    if out is None:
        stage = Stage(configuration)
        for _ in stage.work():
            if watch:
                watch(stage)
        stage.prove(watch)
        run = run_of(stage)
        return run._replace(summary={**run.summary, **_findings(stage, log)})
    folder.prepare(out, configuration)
    if not folder.is_finished(out):
        warm(configuration)  # signals are held back below, and compiling takes long
        with folder.alone_in(out):
            if not folder.is_finished(out):  # the journal of a killed process may hold the result
                _learn_in(out, folder.resume(out, configuration), watch, log)
    run = folder.open_run(out)
    if configuration.spec.portable:
        return run
    known, spec = laws_of(run.configuration.spec), configuration.spec  # with its environment
    spec = spec if known is None else with_laws(spec, known.table)
    return run._replace(configuration=run.configuration._replace(spec=spec))


def _findings(stage: Stage, log: Logged | None) -> dict[str, Any]:
    """What can be said of a controller that was learned from a log."""
    hold = stage.configuration.stage.hold
    return {} if log is None else log.findings(stage.controller, stage.configuration.seed, hold)


def _learn_in(out: Path, stage: Stage, watch: Watch | None, log: Logged | None) -> None:
    saved = time.monotonic()
    with held() as let_in:
        for _ in _kept_if_it_fails(out, stage):
            try:
                let_in()
                if watch:
                    watch(stage)  # before a checkpoint takes the trials
            except BaseException:  # stopped between two chunks: save what was learned so far
                _save(out, stage)
                raise
            if time.monotonic() - saved > CHECKPOINT_SECONDS:
                folder.save_checkpoint(out, stage)
                saved = time.monotonic()
        _save(out, stage)
    stage.prove(watch)  # takes long; if it is stopped or fails, it is repeated from the checkpoint above
    stage.refine()  # this, too
    summary = {**whole_summary(stage, read_trials(out / TRIALS)), **_findings(stage, log)}
    certificate = None if stage.proof is None else stage.proof.verdict.certificate
    with held():
        if certificate is not None:
            summary["certificate"] = _certificate_name(stage)
            write_atomically(out / summary["certificate"], certificate)
        folder.save_finished(out, stage, summary)


def _certificate_name(stage: Stage) -> str:
    asked = stage.configuration
    return certificate_name(Request(asked.spec, stage.controller, ranges=ranges_of(asked.stage)))


def _kept_if_it_fails(out: Path, stage: Stage) -> Iterator[Stage]:
    """Work; if the task fails, save what was learned so far, so that only the running trial is lost.

    Any other error leaves the last checkpoint as it is, because the state within a chunk is inconsistent. So do
    numbers that are not finite.
    """
    try:
        yield from stage.work()
    except DistinguoError:
        if stage.is_sound:
            stage.abandon_trial()
            _save(out, stage)
        raise


def _save(out: Path, stage: Stage) -> None:
    folder.save_checkpoint(out, stage)
    folder.save_learned(out, stage)


def default_folder(configuration: Configuration, base: Path = Path("runs")) -> Path:
    """Return the first folder under ``base`` that is free or holds this run."""
    way = configuration.preset if configuration.learner_name == ECONOMY else configuration.learner_name
    stem = f"{slug(configuration.spec.name)}-{slug(way)}-seed{configuration.seed}"
    for number in range(1, 10_000):
        path = base / (stem if number == 1 else f"{stem}-{number}")
        try:
            if folder.is_free(path) or _same_run(path, configuration):
                return path
        except DistinguoError:
            continue
    raise DistinguoError(f"{base} has no free name left for {stem}; choose one with --out.")


def _same_run(path: Path, configuration: Configuration) -> bool:
    if not (path / folder.SETTINGS).is_file():
        return False
    return not differences(configuration, folder.read_settings(path))


def warm(configuration: Configuration) -> None:
    """Compile by running a stage of one step with the same types; plain Python needs no warming."""
    if not is_compiled(configuration.spec.task):
        return
    stage = Stage(configuration._replace(stage=StageSettings(cap=1, hold=1, trials=1, confirm=1)))
    for _ in stage.work():
        pass
    stage.settle()
