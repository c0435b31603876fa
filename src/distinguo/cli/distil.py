"""``distinguo distil`` and ``distinguo condense``: small maps of a policy, and of a run."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distinguo.cli.completion import complete_run, complete_setting, complete_task
from distinguo.cli.grouped import HOW, WHAT, WHERE
from distinguo.errors import DistinguoError

if TYPE_CHECKING:
    from distinguo.distillation.distil import Distilled


# ``distinguo distil``: a small map of an existing policy.


NOT_KEPT = 3  #: the exit code if no map keeps the return; 2 is for errors


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
    seed: Annotated[int, typer.Option(help="Seed of all random choices.", rich_help_panel=WHAT)] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the run; by default runs/TASK-distilled-seedN.", rich_help_panel=WHERE),
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
) -> None:
    """Distil a policy into a map of a few prototypes that can be read, exported and explained.

    Finds the smallest map that keeps the return. Writes a run folder for all other commands, with tables and pictures
    of the dial (return against prototypes) and the fidelity (where map and teacher agree, and what disagreements
    cost). Ctrl-C ends it with the smallest map so far.

    Examples:
      distinguo distil policies.py:land --task LunarLander-v3

      distinguo distil dqn_cartpole.zip --task CartPole-v1

      distinguo distil sac_pendulum.zip --task Pendulum-v1 --keep=-200

      distinguo distil runs/puck-default-seed0 --task puck --regions 2

      distinguo distil decisions.csv --task MountainCar-v0
    """
    from distinguo.cli import parse
    from distinguo.cli.console import Ending, output_for, say
    from distinguo.cli.live import live_line
    from distinguo.distillation.distil import distil, write_distilled
    from distinguo.distillation.teachers import Policy
    from distinguo.interrupts import held
    from distinguo.runs.configuration import of_table

    changes = parse.changes(assignments or [])
    world = _task(task, of_table(changes, "task"))
    policy = _teacher(teacher, task, of_table(changes, "task"), say)
    if hasattr(world, "action_space"):  # an environment, already made with them
        changes = {
            key: v for key, v in changes.items() if not key.startswith("task.") or key == "task.levels"
        }
    path, made = _claimed(out, task, seed)
    ending = Ending(
        "Stopping: confirming and saving the smallest map so far; press Ctrl-C again to quit without it.",
        "Stopped; nothing was written.",
        leave=lambda: _given_back(made),
    )

    def watch(text: str) -> None:
        line(text)
        if ending.asked():
            raise StopIteration

    options: dict[str, Any] = {"seed": seed, "regions": regions, "keep": keep, "settings": changes}
    try:
        with live_line() as line:
            small = ending.worked_off(lambda: distil(Policy(policy, teacher), world, **options, watch=watch))
        with held():  # everything is written, or nothing
            small = small._replace(run=write_distilled(small.run, small.dial, small.fidelity, path))
    finally:
        _given_back(made)
    _tell(small, path, output_for(as_json), as_json)
    if ending.asked() or not small.kept:
        raise typer.Exit(ending.code or NOT_KEPT)


def _task(word: str, parameters: dict[str, Any]) -> Any:
    """Return the task that a word names; an id or an environment with continuous actions stays as it is."""
    from distinguo.cli import parse
    from distinguo.cli.parse import names_code
    from distinguo.distillation.levels import has_amounts

    if not names_code(word) and not word.endswith(".py"):
        return word
    env = parse.named_environment(word, parameters)
    return env if has_amounts(env) else parse.named_task(word, parameters)


def _teacher(word: str, task: str, parameters: dict[str, Any], say: Any) -> Any:
    """Return the teacher that a word names."""
    from distinguo.cli.parse import load_named, named_task, names_code
    from distinguo.distillation.teachers import WARNING, load_zip, read_table
    from distinguo.runs.folder import open_run

    path = Path(word)
    if names_code(word):
        return load_named(word)
    if word.endswith(".zip"):
        say(WARNING)
        return load_zip(path)
    if word.endswith(".csv"):
        return read_table(path, named_task(task, parameters))
    if path.is_dir():
        return open_run(path)
    raise DistinguoError(
        f"'{word}' is not a teacher; give path/to/file.py:function, a zip of Stable-Baselines3, a run folder or a "
        "table in CSV."
    )


def _claimed(out: Path | None, task: str, seed: int) -> tuple[Path, list[Path]]:
    """Make the folder before the work, to reserve it and to report problems with it at once."""
    from distinguo.distillation.distil import check_free
    from distinguo.writing import slug

    stem = f"{slug(Path(task).name)}-distilled-seed{seed}"
    usual = (Path("runs") / (stem if n == 1 else f"{stem}-{n}") for n in range(1, 10_000))
    for path in usual if out is None else (out,):
        made = [one for one in (path, *path.parents) if not one.exists()]
        if out is not None:
            check_free(path)
        try:
            path.mkdir(parents=True, exist_ok=out is not None)
        except FileExistsError:
            continue
        except OSError as error:
            raise DistinguoError(f"Cannot write to {path}: {error.strerror}; choose another --out.") from None
        return path, made
    raise DistinguoError(f"{out or 'runs'} cannot take a run; choose another --out.")


def _given_back(made: list[Path]) -> None:
    """Remove the folders that were made if they are still empty."""
    with suppress(OSError):
        for path in made:
            path.rmdir()


def _tell(small: Distilled, path: Path, output: Any, as_json: bool) -> None:
    from distinguo.cli.console import answer, say
    from distinguo.views.curves import picture_of_curve
    from distinguo.views.fidelity import fidelity_picture
    from distinguo.views.plots import draw, save_figure
    from distinguo.views.show import draw_run
    from distinguo.views.terminal import ASIDE, GOOD, POOR

    for note in small.notes:
        say(note)
    summary, size = small.run.summary, int(small.run.summary["prototypes"])
    for one in small.dial:
        mark = "  <- taken" if one.size == size else ""
        output.tell(f"{one.size:4} prototypes: mean return {one.mean:.1f} ± {one.error:.1f}{mark}")
    output.tell(repr(small), GOOD if small.kept else POOR)
    dial = picture_of_curve(str(summary["task"]), small.dial, small.bar, size)
    save_figure(draw(dial), path / "dial.png")
    save_figure(draw(fidelity_picture(small.run)), path / "fidelity.png")
    picture = draw_run(small.run)
    output.tell(f"Pictures: {picture}, {path / 'dial.png'}, {path / 'fidelity.png'}")
    output.tell(f"Look again with: distinguo show {path}", ASIDE)
    answer({**summary, "run": str(path), "picture": str(picture), "dial": str(path / "dial.csv")}, as_json)


# ``distinguo condense``: the smallest map that keeps the return of a run.


def condense_command(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", autocompletion=complete_run)],
    seed: Annotated[int, typer.Option(help="Seed of the proposals and of all trials.")] = 0,
    regions: Annotated[
        int | None, typer.Option(min=1, help="Ask for at most so many prototypes, whatever that costs.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the smaller run; by default RUN-condensed.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Remove prototypes one by one, as long as new trials confirm that the return is kept.

    Writes a run folder of the smaller controller with dial.csv and dial.png: the mean return of the best map of every
    size, and how many regions are left if values within epsilon count as one.

    Examples:
      distinguo condense runs/CartPole-v1-economy-seed0

      distinguo condense runs/puck-default-seed0 --regions 2
    """
    from distinguo.cli.console import answer, output_for, worked_off
    from distinguo.cli.live import live_line
    from distinguo.distillation.condense import condense, save_condensed
    from distinguo.runs.folder import open_run
    from distinguo.views.curves import dial_picture
    from distinguo.views.plots import draw, save_figure
    from distinguo.views.show import draw_run

    learned = open_run(run)
    path = out or run.with_name(f"{run.name}-condensed")
    with live_line() as line:
        smaller = worked_off(
            "Stopped; nothing was written.",
            lambda: condense(
                learned, seed=seed, regions=regions, watch=lambda size: line(f"{size} prototypes left")
            ),
        )
    saved = save_condensed(learned, smaller, path)
    save_figure(draw(dial_picture(learned.configuration.spec.name, smaller)), path / "dial.png")
    picture = draw_run(saved)
    output = output_for(as_json)
    for one in smaller.dial:
        mark = "  <- kept" if one.size == smaller.chosen.size else ""
        output.tell(f"{one.size:4} prototypes: mean return {one.mean:.1f} ± {one.error:.1f}{mark}")
    output.tell(
        f"{learned.representation.prototypes} prototypes condensed to {smaller.chosen.size}; "
        + (
            f"a mean return of {smaller.bar:.4g} is kept."
            if smaller.kept
            else f"a mean return of {smaller.bar:.4g} is NOT kept."
        )
    )
    output.tell(f"Folder: {path} (dial.png shows what each prototype is worth)")
    answer(
        {**saved.summary, "run": str(path), "picture": str(picture), "dial": str(path / "dial.csv")}, as_json
    )
    if not smaller.kept:
        raise typer.Exit(NOT_KEPT)
