"""``distinguo show``: a learned run, printed again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from distinguo.runs.run import Run


def show_command(
    run: Annotated[Path, typer.Argument(help="The folder of a run.")],
    view: Annotated[
        str,
        typer.Option(help="The picture: partition, values, trials, or your own as path/to/file.py:function."),
    ] = "partition",
    out: Annotated[
        Path | None,
        typer.Option(help="The file to draw into: .png, .svg or .pdf; by default VIEW.png in RUN."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Show a learned run: its map, its regions with their actions and values, and why they exist.

    Example: distinguo show runs/puck-default-seed0 --view trials
    """
    from distinguo.cli.code import code_or_word
    from distinguo.cli.console import answer, say
    from distinguo.runs.command import learn_command
    from distinguo.runs.folder import is_finished, open_run
    from distinguo.views.text import reasons_table, regions_table, text_map
    from distinguo.views.words import outcome_sentence

    opened = open_run(run)
    picture, word = _drawn(opened, code_or_word(view), out)
    say(text_map(opened))
    say()
    say(regions_table(opened))
    say()
    say(reasons_table(opened))
    say()
    say(
        outcome_sentence(opened)
        if is_finished(run)
        else f"{run} is not finished; go on with: {learn_command(opened.configuration, run)}"
    )
    say(word)
    answer({**opened.summary, "run": str(run), "picture": picture and str(picture)}, as_json)


def _drawn(run: Run, view: Any, out: Path | None) -> tuple[Path | None, str]:
    """Draw a run, and return where with a word on it; a folder that cannot be written to hides nothing else."""
    from distinguo.views.show import draw_run
    from distinguo.writing.atomic import WriteError

    try:
        picture = draw_run(run, view, out)
    except WriteError as error:
        if out is not None:
            raise
        return None, f"No picture: {error} Give a file with --out to have it elsewhere."
    return picture, f"Picture: {picture}"
