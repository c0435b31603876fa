"""``distinguo learn``: the generation stage."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distinguo.cli.completion import complete_learner, complete_preset, complete_setting, complete_task
from distinguo.cli.distil import runs_of_seeds, teach_command, told_distilled
from distinguo.cli.grouped import HOW, WHAT, WHERE
from distinguo.cli.many import Who, each, for_many
from distinguo.errors import DistinguoError, counted
from distinguo.learners.catalog import TEACHER, learner_names

if TYPE_CHECKING:
    from distinguo.engines.engine import Engine
    from distinguo.runs.configuration import Configuration
    from distinguo.runs.logged import Logged
    from distinguo.runs.run import Run
    from distinguo.runs.stage import Stage
    from distinguo.tasks.spec import TaskSpec


LONGEST_NAME = 60  #: letters for the seeds in the name of a folder
NOT_SOLVED = 3  #: the exit code of a run without success; 2 is for errors
NOT_PROVEN = 6  #: that of a run that is solved but not proven, where a proof was asked for


@for_many
def learn(
    task: Annotated[
        str | None,
        typer.Argument(
            help="The task (distinguo tasks lists them): puck, any Gymnasium id, such as CartPole-v1 or "
            "package:Name-v0, or one of your own: path/to/file.py:Class.",
            autocompletion=complete_task,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Learn from logged steps in this file (CSV, npz, Parquet, HDF5) or Minari folder instead; a task "
            "that is named as well is only there to try what was learned.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    tried: Annotated[
        str | None,
        typer.Option(
            "--task", help="The task, as the argument; reads well after --data.", rich_help_panel=WHAT
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of all random choices; 0 if none is given.", rich_help_panel=WHAT)
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(metavar="1,2,5-9", help="Learn many seeds at once, on all cores.", rich_help_panel=WHAT),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="Table of settings: 'default'; 'paper' agrees with the paper's words and numbers; 'fast' is the "
            "same algorithm with constants that learn sooner.",
            rich_help_panel=HOW,
            autocompletion=complete_preset,
        ),
    ] = "default",
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the run (with --seeds: of all runs); an interrupted one is resumed.",
            rich_help_panel=WHERE,
        ),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="TABLE.NAME=VALUE",
            help="Change a setting, such as learner.epsilon=0.05; distinguo settings lists them.",
            rich_help_panel=HOW,
            autocompletion=complete_setting,
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Start from prototypes instead of nothing: 'seeds' (the paper's two points), points like "
            "'0.27,0.62;-0.27,-0.62', a representation file or a run folder.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(
            help=f"The learner: {', '.join(learner_names())}; or one of your own, path/to/file.py:Name. The one that "
            "suits the task if none is given; 'distinguo settings learner' says what each does.",
            rich_help_panel=HOW,
            autocompletion=complete_learner,
        ),
    ] = None,
    regions: Annotated[
        int | None,
        typer.Option(
            min=1, max=16, help="Ask for a controller of at most so many prototypes.", rich_help_panel=HOW
        ),
    ] = None,
    interpreted: Annotated[
        bool,
        typer.Option(
            "--interpreted",
            help="Run Gymnasium's own environment, even if we have a compiled port.",
            rich_help_panel=WHAT,
        ),
    ] = False,
    features: Annotated[
        str | None,
        typer.Option(
            help="Reduce an image that is observed: pool (means of blocks), differences (adds the change since the "
            "previous observation) or pool+differences.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    no_probe: Annotated[
        bool,
        typer.Option(
            "--no-probe",
            help="Take no steps in a Gymnasium environment beforehand; that the same seed and actions repeat a trial "
            "is then taken on trust.",
            rich_help_panel=WHAT,
        ),
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="The mean return that solves a Gymnasium id whose makers name none.", rich_help_panel=WHAT
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            help="How sure a run must be to say 'solved', over all its claims together; 0.95 if not given.",
            rich_help_panel=HOW,
        ),
    ] = None,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Change a solved map until it is proven that it never fails, or arrives, from every start.",
            rich_help_panel=HOW,
        ),
    ] = False,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            help="With --prove, for a parameter anywhere in a range: NAME=LOW:HIGH, such as mass=0.95:1.05.",
            rich_help_panel=HOW,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
    *,
    who: Who,
) -> None:
    """Learn a representation of a task: which of its states must be kept apart.

    Examples:
      distinguo learn puck

      distinguo learn CartPole-v1

      distinguo learn MountainCar-v0 --regions 2 --confidence 0.99

      distinguo learn CartPole-v1 --prove

      distinguo learn MountainCarContinuous-v0

      distinguo learn puck --set task.noise=0.1

      distinguo learn puck --seed 3 --preset paper --from seeds --out runs/from-seeds

      distinguo learn puck --seeds 1-100 --set task.beta=0.2

      distinguo learn puck --seeds 1,2,5-9 --out runs/some

      distinguo learn Taxi-v4 --seeds 1-100 --engine dask --address tcp://10.0.0.5:8786

      distinguo learn puck --learner examples/own_learner.py:GridLearner

      distinguo learn LunarLander-v3 --learner teacher --regions 6
    """
    from distinguo.cli import parse
    from distinguo.cli.console import say, stoppable
    from distinguo.cli.live import live_line, progress_lines
    from distinguo.cli.parse import load_named, names_code
    from distinguo.proof.question import read_ranges
    from distinguo.runs.configuration import configure, to_be_proven
    from distinguo.runs.learn import warm
    from distinguo.runs.seeds import seeds as read_seeds
    from distinguo.views.words import way_sentence

    task = _one_task(task, tried, data, many=seeds is not None, others={"teacher": learner == TEACHER})
    who.check(many=seeds is not None)
    if ranges and not prove:
        raise DistinguoError("--range is for what is to be proven; add --prove, or leave it out.")

    changes = parse.changes(assignments or [])
    flags: dict[str, Any] = {"task.features": features, "task.probe": False if no_probe else None}
    flags["task.threshold"] = threshold if data is not None else None
    changes.update({name: value for name, value in flags.items() if value is not None})
    if seed is not None and seeds is not None:
        raise DistinguoError("--seed and --seeds exclude each other; give one of them.")
    numbers = [seed or 0] if seeds is None else read_seeds(seeds)
    if learner == TEACHER:
        if preset != "default" or start is not None or interpreted or prove:
            raise DistinguoError(
                "--learner teacher takes no --preset, --from, --interpreted or --prove; leave them out."
            )
        sure = {} if confidence is None else {"learner.confidence": confidence}
        if seeds is None:
            _teach(task, numbers[0], changes | sure, out, as_json, regions=regions, keep=threshold)
        else:
            each(runs_of_seeds(numbers, out), who, told_distilled, as_json)
        return
    with stoppable("Stopped before anything was learned."), progress_lines():
        setting, changes, log = _setting(task, data, changes, interpreted)
    prototypes = None if start is None else parse.prototypes(start, setting.dimensions)
    if setting.note:
        say(setting.note)

    def configured(number: int) -> Configuration:
        asked = configure(
            setting,
            seed=number,
            preset_name=preset,
            changes=changes,
            prototypes=prototypes,
            learner=load_named(learner) if learner and names_code(learner) else learner,
            words={} if threshold is None or log is not None else {"threshold": threshold},
        )
        return to_be_proven(asked, None if ranges is None else read_ranges(ranges)) if prove else asked

    limits = {"learner.regions": regions, "stage.confidence": confidence}
    changes.update({name: value for name, value in limits.items() if value is not None})
    wanted = [configured(n) for n in numbers]
    place = out
    if seeds is not None:
        many, place = _engine_for(wanted[0], who), out or _folder_of_many(wanted)
        wanted = who.share(wanted)
    _check_folder(wanted[0], out, many=seeds is not None)
    say(way_sentence(wanted[0]))
    with stoppable("Stopped before anything was learned."), live_line():
        warm(wanted[0])
    if seeds is None or place is None:
        _learn_one(wanted[0], out, as_json, file=task if names_code(task) else None, log=log)
    else:
        _learn_many(wanted, place, many, as_json)


def _one_task(
    task: str | None, tried: str | None, data: Path | None, many: bool, others: dict[str, bool]
) -> str:
    """The task that is named, by whichever way, or ""; options that do not go with a log are rejected."""
    if task is not None and tried is not None:
        raise DistinguoError(f"The task is named twice, as {task} and with --task {tried}; name it once.")
    if data is None and task is None and tried is None:
        raise DistinguoError("Name a task to learn, such as puck, or logged steps with --data FILE.")
    if data is not None and (many or any(others.values())):
        what = "--seeds" if many else "--learner teacher"
        raise DistinguoError(f"{what} does not go with --data; leave it out.")
    return task or tried or ""


def _setting(
    task: str, data: Path | None, changes: dict[str, Any], interpreted: bool
) -> tuple[TaskSpec, dict[str, Any], Logged | None]:
    """The task, the settings without those of a task that was only logged, and the log, if there is one."""
    from distinguo.cli import parse
    from distinguo.runs.configuration import of_table
    from distinguo.runs.logged import logged, of_real_task

    given = of_table(changes, "task")
    if data is None:
        return parse.named_task(task, given, interpreted), changes, None
    log = logged(data, parse.named_task(task, of_real_task(given), interpreted) if task else None, changes)
    return log.spec, dict(log.changes), log


def _engine_for(first: Configuration, who: Who) -> Engine:
    """The engine that was asked for, or the one that suits the task."""
    from distinguo.cli.console import say
    from distinguo.runs.many import one_core_only
    from distinguo.seam import is_compiled

    if who.engine is None and (reason := one_core_only(first)):
        say(reason)
        who = who._replace(engine="threads")
    return who.engine_or("threads" if is_compiled(first.spec.task) else "processes")


def _teach(
    task: str,
    seed: int,
    changes: dict[str, Any],
    out: Path | None,
    as_json: bool,
    *,
    regions: int | None,
    keep: float | None,
) -> None:
    """Train a network and distil it."""
    run = teach_command(task, seed, changes, out, as_json, regions=regions, keep=keep)
    goal = run.configuration.spec.goal
    if not (run.solved if goal.can_be_solved and keep is None else run.summary["kept"]):
        raise typer.Exit(NOT_SOLVED)


def _check_folder(first: Configuration, out: Path | None, many: bool) -> None:
    """Refuse a folder that cannot be used, before anything else is printed."""
    from distinguo.runs.folder import SETTINGS, prepare

    if many and out is not None and (out / SETTINGS).exists():
        raise DistinguoError(
            f"{out} holds one run, and --seeds makes a folder for each; choose another --out."
        )
    if out is not None:
        prepare(out / f"seed-{first.seed}" if many else out, first)


def _learn_one(
    configuration: Configuration,
    out: Path | None,
    as_json: bool,
    file: str | None = None,
    log: Logged | None = None,
) -> None:
    """Learn one run; ``file`` is the task, where it is named by a file, and ``log`` what it is learned from."""
    from distinguo.cli.console import answer, command_line, output_for, say, stoppable
    from distinguo.cli.live import live_line
    from distinguo.runs.folder import REPRESENTATION, is_finished
    from distinguo.runs.learn import default_folder, learn_configured
    from distinguo.runs.logged import tried_sentence
    from distinguo.views.terminal import ASIDE, GOOD, POOR
    from distinguo.views.words import outcome_sentence, proof_sentence, remarks, why_command, why_nothing

    path, output = out or default_folder(configuration), output_for(as_json)
    if is_finished(path):
        say(f"{path} is finished already; showing it.")
    try:
        with (
            stoppable(f"Stopped; saved in {path}. The same command continues from there."),
            live_line() as line,
        ):
            run = learn_configured(configuration, path, lambda g: line(_progress(g)), log)
    except DistinguoError as error:
        kept = f" What was learned before is in {path}." if (path / REPRESENTATION).exists() else ""
        raise DistinguoError(f"{error}{kept}") from error
    picture = _picture_in(run, path)
    output.tell(outcome_sentence(run), GOOD if run.solved else POOR)
    if "proven" in run.summary:
        output.tell(proof_sentence(run), GOOD if run.summary["proven"] else POOR)
    for word in [*why_nothing(run), *remarks(run)]:
        output.tell(word)
    if "tried_task" in run.summary:
        output.tell(tried_sentence(run.summary), GOOD if run.summary["tried_solved"] else POOR)
    output.tell(f"Picture: {picture}")
    output.tell(f"Look again with: {command_line('show', path)}", ASIDE)
    if why := why_command(run, path):
        output.tell(f"Ask why with: {why}{f' --task {shlex.quote(file)}' if file else ''}", ASIDE)
    answer({**run.summary, "run": str(path), "picture": str(picture)}, as_json)
    if not run.summary.get("tried_solved", run.solved) and configuration.spec.goal.can_be_solved:
        raise typer.Exit(NOT_SOLVED)
    if not run.summary.get("proven", True):
        raise typer.Exit(NOT_PROVEN)


def _picture_in(run: Run, path: Path) -> Path:
    """Return the picture in the folder of a run; draw it if it is missing."""
    from distinguo.views.show import PARTITION, draw_run

    known = path / f"{PARTITION}.png"
    return known if known.is_file() else draw_run(run)


def _progress(stage: Stage) -> str:
    if stage.proving:
        return f"proving: {stage.proving}"
    return (f"attempt {stage.attempts}  " if stage.attempts > 1 else "") + (
        f"trial {stage.count_trials}  length {stage.trial_length:,}  regions {stage.regions}  "
        f"prototypes {stage.prototypes}  environment steps {stage.environment_steps:,}  "
        f"({_phase(stage)})"
    )


def _phase(stage: Stage) -> str:
    """Return the phase of the stage, with the progress of a confirmation."""
    from distinguo.runs.stage import CONFIRMING

    if stage.phase != CONFIRMING:
        return stage.phase
    return f"{stage.phase}: trial {len(stage.returns)}, {counted(stage.tested, 'step')}"


def _learn_many(wanted: list[Configuration], base: Path, engine: Engine, as_json: bool) -> None:
    from distinguo.cli.console import answer, output_for, stoppable
    from distinguo.cli.live import progress_bar
    from distinguo.runs.many import learn_many
    from distinguo.views.words import distribution

    first = wanted[0]
    outs = [base / f"seed-{c.seed}" for c in wanted]
    done = 0

    def count(_: Run) -> None:
        nonlocal done
        done += 1
        watch(done, len(wanted))

    stopped = f"Stopped; all runs are saved in {base}. The same command continues from there."
    try:
        with stoppable(stopped), progress_bar("learning") as watch:
            runs = learn_many(wanted, outs, count, engine)
    except DistinguoError as error:
        kept = (
            f" What was learned before is in {base}." if base.is_dir() and str(base) not in str(error) else ""
        )
        raise DistinguoError(f"{error}{kept}") from error
    summaries = [{**run.summary, "run": str(run.path)} for run in runs]
    output = output_for(as_json)
    output.tell(distribution(summaries))
    output.tell(f"Runs: {base}")
    answer({"task": first.spec.name, "preset": first.preset, "runs": summaries}, as_json)
    if first.spec.goal.can_be_solved and not all(run.solved for run in runs):
        raise typer.Exit(NOT_SOLVED)
    if not all(run.summary.get("proven", True) for run in runs):
        raise typer.Exit(NOT_PROVEN)


def _folder_of_many(wanted: list[Configuration]) -> Path:
    """Name the folder of many runs by their seeds; a long list is cut and gets a hash."""
    import hashlib  # takes a while to load

    from distinguo.runs.seeds import seed_words
    from distinguo.writing import slug

    first, words = wanted[0], seed_words([c.seed for c in wanted])
    if len(words) > LONGEST_NAME:
        words = f"{words[:LONGEST_NAME].rpartition(',')[0]}-{hashlib.sha256(words.encode()).hexdigest()[:8]}"
    return Path("runs") / f"{slug(first.spec.name)}-{first.preset}-seeds{words}"
