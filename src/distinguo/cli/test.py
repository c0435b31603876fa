"""``distinguo test``: the testing stage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distinguo.cli.completion import (
    BASELINES,
    complete_preset,
    complete_representation,
    complete_task,
    complete_tester_setting,
)
from distinguo.cli.grouped import HOW, WHAT, WHERE
from distinguo.cli.many import Who, for_many
from distinguo.errors import DistinguoError, counted
from distinguo.registry import REPRESENTATIONS, added

if TYPE_CHECKING:
    from distinguo.comparison.plan import Plan


@for_many
def compare_command(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="Run folders, representation files, .npy files of prototypes, path/to/file.py:name, or "
            f"representations by name: {', '.join([*BASELINES, *added(REPRESENTATIONS)])}; if none is named, the "
            "latest run in ./runs.",
            autocompletion=complete_representation,
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            help="The task, as for learn; by default that of the first run folder, or puck.",
            rich_help_panel=WHAT,
            autocompletion=complete_task,
        ),
    ] = None,
    interpreted: Annotated[
        bool,
        typer.Option(
            "--interpreted",
            help="Run Gymnasium's own environment, not our compiled port.",
            rich_help_panel=WHAT,
        ),
    ] = False,
    runs: Annotated[
        int | None, typer.Option(help="Learning curves per representation; 10.", rich_help_panel=HOW)
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="Training steps of a curve; 50,000.", rich_help_panel=HOW)
    ] = None,
    cap: Annotated[
        int | None,
        typer.Option(help="Steps after which a test trial is stopped; 5,000,000.", rich_help_panel=HOW),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of all random choices; 0 if none is given.", rich_help_panel=HOW)
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="Settings of the tester: 'default', or 'paper' for those of the reproduction.",
            rich_help_panel=HOW,
            autocompletion=complete_preset,
        ),
    ] = "default",
    plan_file: Annotated[
        Path | None,
        typer.Option("--plan", help="Read the whole plan from a TOML file instead.", rich_help_panel=WHAT),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="TABLE.NAME=VALUE",
            help="Change a setting, such as tester.gamma=0.95.",
            rich_help_panel=HOW,
            autocompletion=complete_tester_setting,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the results; finished curves in it are not run again.", rich_help_panel=WHERE
        ),
    ] = None,
    monitors: Annotated[
        list[Path] | None,
        typer.Option(
            "--monitor",
            help="Also show training that Stable-Baselines3 has logged: a monitor.csv, or a folder of them.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
    *,
    who: Who,
) -> None:
    """Compare representations: a fresh learner on each, and learning curves.

    Examples:
      distinguo test diagonal grid:10x10 runs/puck-default-seed0

      distinguo test diagonal --runs 3 --cap 100000 --set tester.gamma=0.95
    """
    from distinguo.cli import parse
    from distinguo.cli.console import USUAL_WIDTH, answer, output_for, say, stoppable
    from distinguo.cli.live import progress_bar
    from distinguo.comparison.compare import compare_plan
    from distinguo.comparison.monitor import read_monitor
    from distinguo.presets import DEFAULT, tester_preset
    from distinguo.views.curves import draw_curves
    from distinguo.views.terminal import columns_of

    name = None if task is None else parse.task_for_plan(task)
    head = _set(task=name, seed=seed, interpreted=interpreted or None)
    options = _set(runs=runs, steps=steps, cap=cap)
    if plan_file is None:
        settings = {f"tester.{name}": value for name, value in tester_preset(preset).items()}
        plan = _from_words(what or [], head, {**settings, **parse.changes(assignments or [])}, options)
    else:
        plan = _from_file(
            plan_file,
            [*(what or []), *head, *options, *(assignments or []), *([] if preset == DEFAULT else [preset])],
        )
    others = [
        read_monitor(place, score=_score_of(plan)) for place in monitors or ()
    ]  # before the work is done
    folder, part = out or _default_folder(plan, [*(what or []), task or ""]), who.part()
    stopped = f"Stopped; the finished curves are in {folder}. The same command continues from there."
    with stoppable(stopped), progress_bar("testing") as watch:
        workshop = who.engine_or("threads")
        comparison = compare_plan(plan, folder, engine=workshop, shard=part, watch=watch)
    comparison = comparison._replace(curves=[*comparison.curves, *others])
    output = output_for(as_json)
    if output.width is None or output.width >= USUAL_WIDTH:
        output.tell(repr(comparison))
    else:
        table = columns_of(comparison.rows(), output.width)
        output.tell("\n".join([comparison.observed(), "", *table, "", *comparison.legend()]))
    if comparison.curves:
        output.tell(f"Picture: {draw_curves(comparison.curves, folder / 'curves.png')}")
    output.tell(f"Results: {folder}")
    for key, reason in comparison.failures.items():
        say(f"Failed: {key}: {reason}")
    answer({**comparison.as_json(), "run": str(folder)}, as_json)
    if comparison.failures:
        say(f"{counted(len(comparison.failures), 'cell')} failed; the same command runs only those again.")
        raise typer.Exit(1)


def _score_of(plan: Plan) -> str:
    """What a monitor is asked for: the measure of the test."""
    from distinguo.tasks.spec import Hold

    return "length" if isinstance(plan.spec.goal, Hold) else "return"


def _set(**options: Any) -> dict[str, Any]:
    """Return the options that were set on the command line."""
    return {name: value for name, value in options.items() if value is not None}


def _from_words(
    what: list[str], head: dict[str, Any], settings: dict[str, Any], tester: dict[str, Any]
) -> Plan:
    from distinguo.cli.parse import chosen_run, code_or_word
    from distinguo.comparison.compare import plan_for
    from distinguo.controls import registered_name

    words = [registered_name(code_or_word(word)) for word in what or [str(chosen_run(None))]]
    return plan_for(words, **head, settings=settings, tester=tester)


def _from_file(path: Path, others: list[str]) -> Plan:
    from distinguo.comparison.plan import load_plan

    if others:
        raise DistinguoError(
            f"With --plan, everything comes from the plan; write '{others[0]}' there, or omit --plan."
        )
    return load_plan(path)


def _default_folder(plan: Plan, words: list[str]) -> Path:
    """Name the folder by a hash of the request, including code, so that the same command finds its results again."""
    import hashlib  # takes a while to load

    from distinguo.cli.parse import names_code
    from distinguo.comparison.plan import write_plan
    from distinguo.engines.code import LARGEST_CODE
    from distinguo.reading.files import read_bytes

    digest = hashlib.sha256(write_plan(plan).encode())
    for word in words:
        if names_code(word):
            digest.update(word.encode() + read_bytes(word.rpartition(":")[0], LARGEST_CODE))
    return Path("runs") / f"test-{plan.spec.name}-{digest.hexdigest()[:8]}"
