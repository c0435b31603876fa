"""``distinguo show``: a learned run, printed again. Nothing is written but what --out names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distinguo.cli.completion import VIEWS, complete_run, complete_view

if TYPE_CHECKING:
    from distinguo.cli.console import Output
    from distinguo.runs.run import Run

MOST_IN_WORDS = 16  #: regions that are told of one by one
MAP = "partition"  #: the view that there is as text, too


def show_command(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", autocompletion=complete_run)],
    view: Annotated[
        str,
        typer.Option(
            help=f"The picture: {', '.join(VIEWS)}, or your own as path/to/file.py:function.",
            autocompletion=complete_view,
        ),
    ] = MAP,
    out: Annotated[
        Path | None,
        typer.Option(help="The file to draw into: .png, .svg or .pdf; without it, there is text only."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Show a learned run: its map, its regions with their actions and values, and why they exist.

    Nothing is written into the run. A view other than the map is a picture, which needs --out.

    Examples:
      distinguo show runs/puck-default-seed0

      distinguo show runs/puck-default-seed0 --view trials --out trials.png
    """
    from distinguo.cli.code import code_or_word
    from distinguo.cli.console import answer, output_for
    from distinguo.cli.live import at_work
    from distinguo.errors import DistinguoError
    from distinguo.runs.folder import open_run
    from distinguo.views.show import draw_run, view_named

    opened, output, wanted = open_run(run), output_for(as_json), code_or_word(view)
    if isinstance(wanted, str):
        view_named(wanted)  # says what is wrong with an unknown one
    if out is None and wanted != MAP:
        raise DistinguoError(
            f"The view '{view}' is a picture; name a file for it, as in --out {_file_name(view)}."
        )
    picture = None
    if out is not None:
        with at_work("Drawing"):
            picture = draw_run(opened, wanted, out)
    _tell(opened, run, output)
    output.tell(f"Picture: {picture}" if picture else _how_to_draw(run))
    answer({**opened.summary, "run": str(run), "picture": picture and str(picture)}, as_json)


def _file_name(view: str) -> str:
    from distinguo.writing.atomic import slug

    return f"{slug(view.rpartition(':')[2])}.png"


def _how_to_draw(run: Path) -> str:
    import shlex

    return f"For the picture: {shlex.join(['distinguo', 'show', str(run), '--out', f'{MAP}.png'])}"


def _tell(opened: Run, folder: Path, output: Output) -> None:
    from distinguo.cli.live import live_line
    from distinguo.runs.command import learn_command
    from distinguo.runs.folder import is_finished
    from distinguo.views.terminal.paint import GOOD, POOR
    from distinguo.views.text import reasons_table, regions_table, text_map
    from distinguo.views.words import outcome_sentence

    width = output.width
    with live_line():  # a kernel finds the regions of places, and may have to be compiled
        parts = [
            text_map(opened, width, output.colours),
            regions_table(opened, width=width),
            _in_words(opened, width),
        ]
    parts.append(reasons_table(opened, width=width))
    output.tell("\n\n".join(filter(None, parts)) + "\n")
    if is_finished(folder):
        fine = opened.solved or opened.summary.get("kept") is True
        output.tell(outcome_sentence(opened), GOOD if fine else POOR)
    else:
        unfinished = f"{folder} is not finished; go on with: {learn_command(opened.configuration, folder)}"
        output.tell(unfinished, POOR)


def _in_words(opened: Run, width: int | None) -> str:
    """Return where each region lies and what is done there, as one would tell it; nothing where they are many."""
    from distinguo.views.descriptions.border import border_in_words
    from distinguo.views.descriptions.regions import regions_in_words
    from distinguo.views.terminal.layout import listed

    if not 1 < opened.representation.regions <= MOST_IN_WORDS:
        return ""
    rows = [[f"region {one.region}", str(one)] for one in regions_in_words(opened)]
    border = border_in_words(opened)
    return "\n".join(listed(rows + ([["border", border]] if border else []), width))
