"""``distinguo study``: many runs by a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from distinguo.cli.grouped import HOW, WHAT, WHERE
from distinguo.cli.many import Who, for_many
from distinguo.errors import counted


@for_many
def study_command(
    plan: Annotated[
        Path, typer.Argument(help="A TOML file that says what is studied; docs/how-to/studies.md has one.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the results; by default runs/study-NAME. Runs that it has are not done again.",
            rich_help_panel=WHERE,
        ),
    ] = None,
    code: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE.py",
            help="A file that declares tasks or learners of yours, which the plan then names; may be repeated.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            help="Seconds after which a run is given up; without, it may take as long as it wants.",
            rich_help_panel=HOW,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
    *,
    who: Who,
) -> None:
    """Study learners: tasks × learners × settings × seeds, as a table and a picture.

    The folder has a line for each run (runs.csv), the table (table.md) and the picture (study.png). The same command
    continues a study that was stopped.

    Examples:
      distinguo study plan.toml

      distinguo study plan.toml --code my_task.py --seconds 600

      distinguo study plan.toml --out /shared/study --shard 2/5

      distinguo study plan.toml --address tcp://10.0.0.5:8786
    """
    from distinguo.cli.console import answer, output_for, say, stoppable
    from distinguo.cli.live import progress_bar
    from distinguo.engines.code import imported
    from distinguo.studies.plan import in_words, load_study
    from distinguo.studies.study import PICTURE, study
    from distinguo.views.study import draw_study_file

    for path in code or []:
        imported(path)
    asked, part = load_study(plan), who.part()
    folder = out or Path("runs") / f"study-{plan.stem}"
    say(in_words(asked))
    stopped = f"Stopped; the finished runs are in {folder}. The same command continues from there."
    with stoppable(stopped), progress_bar("studying") as watch:
        found = study(
            asked,
            folder,
            engine=who.name_or("processes"),
            workers=who.workers,
            address=who.address,
            shard=part,
            seconds=seconds,
            watch=watch,
        )
    output = output_for(as_json)
    output.tell(repr(found))
    if any(len(row.scores) for row in found.results()):
        output.tell(f"Picture: {draw_study_file(found, folder / PICTURE)}")
    output.tell(f"Results: {folder}")
    answer({**found.as_json(), "run": str(folder)}, as_json)
    if found.failures:
        say(f"{counted(len(found.failures), 'run')} failed; the same command runs only those again.")
        raise typer.Exit(1)
