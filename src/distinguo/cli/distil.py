"""``distinguo distil`` and ``distinguo condense``: small maps of a policy, and of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distinguo.cli.completion import complete_setting, complete_task
from distinguo.cli.grouped import HOW, WHAT, WHERE
from distinguo.cli.many import Who, each, for_many
from distinguo.cli.seeing import RunsArgument, chosen_runs
from distinguo.errors import DistinguoError, counted

if TYPE_CHECKING:
    from distinguo.distillation.distil import Distilled
    from distinguo.runs.request import RunRequest
    from distinguo.runs.run import Run


# ``distinguo distil``: a small map of an existing policy.


NOT_KEPT = 3  #: the exit code if no map keeps the return; 2 is for errors


@for_many
def distil_command(
    teacher: Annotated[
        str,
        typer.Argument(
            help="The policy: path/to/file.py:function (observation -> action, or an object with predict), a zip of "
            "Stable-Baselines3 (DQN, QR-DQN, PPO, A2C, SAC, TD3), a run folder, or a table of decisions in CSV."
        ),
    ],
    task: Annotated[
        str,
        typer.Option(
            help="The task it was made for: puck, a Gymnasium id, or path/to/file.py:Class.",
            rich_help_panel=WHAT,
            autocompletion=complete_task,
        ),
    ],
    regions: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            help="Ask for at most so many prototypes, whatever that costs.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    keep: Annotated[
        float | None,
        typer.Option(
            help="The mean return to keep; by default the threshold of the task, or 95 % of the teacher's return if "
            "that is below it or there is none.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of all random choices; 0 if none is given.", rich_help_panel=WHAT)
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            metavar="1,2,5-9", help="Distil many seeds at once, on all cores.", rich_help_panel=WHAT
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the run (with --seeds: of all runs); by default runs/TASK-distilled-seedN. An "
            "interrupted one is continued.",
            rich_help_panel=WHERE,
        ),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="TABLE.NAME=VALUE",
            help="Change a setting, such as learner.steps=1000000 or task.levels=3; distinguo settings distilled "
            "lists them.",
            rich_help_panel=HOW,
            autocompletion=complete_setting,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
    *,
    who: Who,
) -> None:
    """Distil a policy into a map of a few prototypes that can be read, exported and explained.

    Finds the smallest map that keeps the return. Writes a run folder for all other commands, with tables and pictures
    of the dial (return against prototypes) and the fidelity (where map and teacher agree, and what disagreements
    cost). Ctrl-C ends it with the smallest map so far; the same command continues from there.

    Examples:
      distinguo distil policies.py:land --task LunarLander-v3

      distinguo distil dqn_cartpole.zip --task CartPole-v1

      distinguo distil sac_pendulum.zip --task Pendulum-v1 --keep=-200

      distinguo distil runs/puck-default-seed0 --task puck --regions 2

      distinguo distil decisions.csv --task MountainCar-v0

      distinguo distil policies.py:land --task LunarLander-v3 --seeds 0-9
    """
    from distinguo.cli import parse
    from distinguo.cli.console import output_for, say
    from distinguo.distillation.distil import Wish, check_changes, distilled_in
    from distinguo.distillation.ledger import RECORD
    from distinguo.distillation.teachers import Policy
    from distinguo.runs.configuration import of_table
    from distinguo.runs.folder import finished_run
    from distinguo.runs.seeds import seeds as read_seeds

    asked = changes = check_changes(parse.changes(assignments or []))
    if seeds is not None:
        if seed is not None:
            raise DistinguoError("--seed and --seeds exclude each other; give one of them.")
        each(runs_of_seeds(read_seeds(seeds), out), who, told_distilled, as_json)
        return
    who.check(many=False)
    seed = seed or 0
    world = _task(task, of_table(changes, "task"))
    policy = _teacher(teacher, task, of_table(changes, "task"), say)
    changes = _without_made(world, changes)
    wish = Wish(Policy(policy, teacher), world, seed, regions, keep, changes)
    request = wish.request(teacher, task, asked)
    path = out or _default_folder(task, seed, request)
    output = output_for(as_json)
    run, code = finished_run(path, request, RECORD), 0
    if run is None:
        first = (
            "Stopping: confirming and saving the smallest map so far; press Ctrl-C again to quit without it."
        )

        def work(watch: Any) -> Distilled:
            return distilled_in(path, wish, request, watch, _draw_distilled)

        run, code = _distilled(path, work, first)
    else:
        say(f"{path} is finished already; showing it.")
    _tell(run, path, output, as_json)
    if code or not run.summary["kept"]:
        raise typer.Exit(code or NOT_KEPT)


def runs_of_seeds(seeds: Sequence[int], out: Path | None) -> dict[str, dict[str, Any]]:
    """What each of many seeds has of its own: the seed, and its folder if a place for all is named."""
    places = {seed: None if out is None else str(out / f"seed-{seed}") for seed in seeds}
    return {f"seed {seed}": {"seed": seed, "seeds": None, "out": place} for seed, place in places.items()}


def told_distilled(summary: Mapping[str, Any]) -> str:
    """A distilled or condensed run in short."""
    kept = "kept" if summary["kept"] else "NOT kept"
    return (
        f"{counted(summary['prototypes'], 'prototype')}; a mean return of {summary['bar']:z.4g} is {kept}; "
        f"{summary['run']}"
    )


def _distilled(path: Path, work: Any, first: str) -> tuple[Run, int]:
    """Do the work of a distillation: the run, and the exit code if it was stopped; ``first`` is said at Ctrl-C."""
    from distinguo.cli.console import Ending, say
    from distinguo.cli.live import live_line
    from distinguo.distillation.teach import TrainingStoppedError

    ending = Ending(first, f"Stopped; saved in {path}. The same command continues from there.")

    def watch(text: str) -> None:
        line(text)
        if ending.asked():
            raise StopIteration

    with _saved_in(path), live_line() as line:
        try:
            small = ending.worked_off(lambda: work(watch))
        except TrainingStoppedError as stopped:
            say(str(stopped))
            raise typer.Exit(ending.code) from None
    for note in small.notes:
        say(note)
    if small.run.summary["stopped"]:
        say("The same command continues from there.")
    return small.run, ending.code


def teach_command(
    task: str,
    seed: int,
    asked: dict[str, Any],
    out: Path | None,
    as_json: bool,
    *,
    regions: int | None = None,
    keep: float | None = None,
) -> Run:
    """``distinguo learn --learner teacher``: train a network, then distil it; the exit code is that of a stop."""
    from distinguo.cli.console import output_for, say
    from distinguo.distillation.ledger import RECORD
    from distinguo.distillation.teach import teaching_of, training_of
    from distinguo.runs.configuration import of_table
    from distinguo.runs.folder import finished_run

    world = _task(task, of_table(asked, "task"))
    teaching = teaching_of(world, seed, regions, keep, _without_made(world, asked))
    request = teaching._replace(asked=asked).request(task)
    path = out or _default_folder(task, seed, request, "teacher")
    run, code = finished_run(path, request, RECORD), 0
    if run is None:
        training = training_of(teaching)
        say(
            f"{training.task}: training {training.name} for at most {counted(training.steps, 'environment step')}, "
            "then distilling it into a small map. Learner: teacher."
        )
        first = (
            "Stopping: a network in training is not kept; of a distillation, the smallest map so far is confirmed "
            "and saved. Press Ctrl-C again to quit at once."
        )
        run, code = _distilled(
            path, lambda watch: teaching.held_in(path, request, watch, _draw_distilled), first
        )
    else:
        say(f"{path} is finished already; showing it.")
    _tell(run, path, output_for(as_json), as_json)
    if code:
        raise typer.Exit(code)
    return run


@contextmanager
def _saved_in(path: Path) -> Iterator[None]:
    """Add to an error where the work before it was saved."""
    from distinguo.runs.request import REQUEST
    from distinguo.writing import InUseError

    try:
        yield
    except InUseError:
        raise
    except DistinguoError as error:
        began = (path / REQUEST).exists() and "holds another run" not in str(error)
        saved = f" What was done before is saved in {path}; the same command continues from there."
        raise DistinguoError(f"{error}{saved if began else ''}") from error


def _task(word: str, parameters: dict[str, Any]) -> Any:
    """Return the task that a word names; an id or an environment with continuous actions stays as it is."""
    from distinguo.cli import parse
    from distinguo.cli.parse import names_code
    from distinguo.distillation.levels import has_amounts

    if not names_code(word) and not word.endswith(".py"):
        return word
    env = parse.named_environment(word, parameters)
    return env if has_amounts(env) else parse.named_task(word, parameters)


def _without_made(world: Any, changes: dict[str, Any]) -> dict[str, Any]:
    """The settings without parameters of the task, if it is an environment, which was made with them."""
    if not hasattr(world, "action_space"):
        return changes
    return {
        key: value for key, value in changes.items() if not key.startswith("task.") or key == "task.levels"
    }


def _teacher(word: str, task: str, parameters: dict[str, Any], say: Any) -> Any:
    """Return the teacher that a word names."""
    from distinguo.cli.parse import load_named, named_task, names_code
    from distinguo.distillation.teachers import (
        WARNING,
        load_policy,
        load_zip,
        read_table,
        reported,
        table_teacher,
    )
    from distinguo.offline.readers import FILES, is_data_set, load_log
    from distinguo.runs.folder import SETTINGS, open_run

    path = Path(word)
    if names_code(word):
        return load_named(word)
    if word.endswith(".zip"):
        say(WARNING)
        return load_zip(path)
    if word.endswith(".csv"):
        return read_table(path, named_task(task, parameters))
    if path.suffix in FILES or is_data_set(path):
        log = load_log(path, named_task(task, parameters))
        return table_teacher(log.before, log.action, str(path))
    if path.is_dir() and (path / SETTINGS).exists():
        return open_run(path)
    if path.is_dir() and any(path.glob("*.zip")):
        say(WARNING)
        if words := reported(path):
            say(words)
        return load_policy(path)
    if path.is_dir():
        return open_run(path)  # says what is missing
    raise DistinguoError(
        f"'{word}' is not a teacher; give path/to/file.py:function, a zip of Stable-Baselines3 or a folder with "
        f"one, a run folder, a table in CSV or a log ({', '.join(FILES)})."
    )


def _default_folder(task: str, seed: int, request: RunRequest, word: str = "distilled") -> Path:
    """Return the first folder under ``runs`` that is free or holds this run."""
    from distinguo.distillation.ledger import RECORD
    from distinguo.runs.folder import finished_run, is_free
    from distinguo.runs.request import read_request
    from distinguo.writing import slug

    stem = f"{slug(Path(task).name)}-{word}-seed{seed}"
    for number in range(1, 10_000):
        path = Path("runs") / (stem if number == 1 else f"{stem}-{number}")
        with suppress(DistinguoError):
            if is_free(path) or finished_run(path, request, RECORD) is not None:
                return path
            begun = read_request(path)
            if begun is not None and not request.differences(begun.asked):
                return path
    raise DistinguoError(f"runs has no free name left for {stem}; choose one with --out.")


def _draw_distilled(small: Distilled) -> None:
    """Draw the pictures of a distilled run into its folder."""
    from distinguo.views.curves import picture_of_curve
    from distinguo.views.fidelity import fidelity_picture
    from distinguo.views.plots import draw, save_figure
    from distinguo.views.show import draw_run

    path, summary = small.run.path, small.run.summary
    assert path is not None
    dial = picture_of_curve(str(summary["task"]), small.dial, small.bar, int(summary["prototypes"]))
    save_figure(draw(dial), path / "dial.png")
    save_figure(draw(fidelity_picture(small.run)), path / "fidelity.png")
    draw_run(small.run)


def _tell(run: Run, path: Path, output: Any, as_json: bool) -> None:
    from distinguo.cli.console import answer, command_line
    from distinguo.distillation.distil import result_lines
    from distinguo.distillation.fidelity import read_fidelity
    from distinguo.runs.folder import CURVE, FIDELITY, PICTURE
    from distinguo.views.terminal import ASIDE, GOOD, POOR

    summary, picture = run.summary, path / PICTURE
    _tell_curve(run, output, "taken")
    kept = summary["kept"]
    output.tell(result_lines(summary, read_fidelity(path / FIDELITY)), GOOD if kept else POOR)
    output.tell(f"Pictures: {picture}, {path / 'dial.png'}, {path / 'fidelity.png'}")
    output.tell(f"Look again with: {command_line('show', path)}", ASIDE)
    answer({**summary, "run": str(path), "picture": str(picture), "dial": str(path / CURVE)}, as_json)


def _tell_curve(run: Run, output: Any, word: str) -> None:
    """Print the mean return of every size, the largest first."""
    from distinguo.views.curves import written_dial
    from distinguo.views.words import score_text

    for size, mean, error, chosen in reversed(written_dial(run)):
        mark = f"  <- {word}" if chosen else ""
        output.tell(
            f"{counted(size, 'prototype'):>15}: mean return {score_text(mean, None)} ± {error:z.2g}{mark}"
        )


# ``distinguo condense``: the smallest map that keeps the return of a run.


@for_many
def condense_command(
    runs: RunsArgument = None,
    seed: Annotated[int, typer.Option(help="Seed of the proposals and of all trials.")] = 0,
    regions: Annotated[
        int | None, typer.Option(min=1, help="Ask for at most so many prototypes, whatever that costs.")
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The most environment steps; by default 1,000,000,000, or 10,000,000 if the task runs as plain "
            "Python.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the smaller run, or of several of them; by default RUN-condensed. An interrupted one is "
            "continued."
        ),
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="The file of a task of your own: path/to/file.py:Class.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
    *,
    who: Who,
) -> None:
    """Remove prototypes one by one, as long as new trials confirm that the return is kept.

    Writes a run folder of the smaller controller with dial.csv and dial.png: the mean return of the best map of every
    size, and how many regions are left if values within epsilon count as one. Where the paper's learner sampled
    amounts, regions are merged for which one law does.

    Examples:
      distinguo condense runs/CartPole-v1-economy-seed0

      distinguo condense runs/puck-default-seed0 --regions 2

      distinguo condense runs/CartPole-v1-seeds1-100/seed-* --out runs/small
    """
    from distinguo.cli.console import answer, output_for, say, worked_off
    from distinguo.cli.live import live_line
    from distinguo.cli.parse import task_of_run
    from distinguo.distillation.condense import Condensed, condense_request, condensed_in
    from distinguo.runs.folder import CHECKPOINT, CURVE, PICTURE, finished_run, open_run
    from distinguo.views.curves import dial_picture
    from distinguo.views.plots import draw, save_figure
    from distinguo.views.show import draw_run

    about = chosen_runs(runs)
    if len(about) > 1:
        places = {one: out and str(out / one.name) for one in about}
        own = {str(one): {"runs": [one], "out": place} for one, place in places.items()}
        each(own, who, told_distilled, as_json)
        return
    who.check(many=False)
    run = about[0]
    learned = open_run(run, task_of_run(task, run))
    path = out or run.with_name(f"{run.name}-condensed")

    def draw_in(saved: Run, condensed: Condensed) -> None:
        save_figure(draw(dial_picture(learned.configuration.spec.name, condensed)), path / "dial.png")
        draw_run(saved)

    asked: dict[str, Any] = {"seed": seed, "regions": regions, "steps": steps}
    saved = finished_run(path, condense_request(learned, **asked), CHECKPOINT)
    if saved is not None:
        say(f"{path} is finished already; showing it.")
    else:
        with _saved_in(path), live_line() as line:
            saved, condensed = worked_off(
                f"Stopped; saved in {path}. The same command continues from there.",
                lambda: condensed_in(
                    path,
                    learned,
                    **asked,
                    watch=lambda size: line(f"{counted(size, 'prototype')} left"),
                    draw=draw_in,
                ),
            )
        if condensed.ended:
            say("The budget of environment steps ended; with more, smaller maps may do: --steps.")
    output, summary = output_for(as_json), saved.summary
    _tell_curve(saved, output, "kept")
    size = f", {counted(summary['numbers'], 'number')} in all" if "numbers" in summary else ""
    output.tell(
        f"{counted(learned.representation.prototypes, 'prototype')} condensed to {summary['prototypes']}{size}; "
        f"a mean return of {summary['bar']:z.4g} is {'kept' if summary['kept'] else 'NOT kept'}."
    )
    output.tell(f"Folder: {path} (dial.png shows what each prototype is worth)")
    answer({**summary, "run": str(path), "picture": str(path / PICTURE), "dial": str(path / CURVE)}, as_json)
    if not summary["kept"]:
        raise typer.Exit(NOT_KEPT)
