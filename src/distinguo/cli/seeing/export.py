"""``distinguo export``: the controller of a run, for others to use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from distinguo.cli.completion import complete_format, complete_run


def export_command(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", autocompletion=complete_run)],
    to: Annotated[str, typer.Option(help="The format: c, json, dot or npz.", autocompletion=complete_format)],
    out: Annotated[
        Path | None, typer.Option(help="The file to write; by default controller.* in RUN.")
    ] = None,
    name: Annotated[str, typer.Option(help="What the names in C begin with.")] = "distinguo",
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Export the controller of a run: a C header, JSON, a Graphviz graph or NumPy arrays.

    Example: distinguo export runs/puck-default-seed0 --to c
    """
    from distinguo.cli.console import answer, output_for, say
    from distinguo.exports.write import write_controller

    path, (certificate, refused) = write_controller(run, to, out, name, force)
    for why in refused:
        say(why)
    output_for(as_json).tell(f"Controller: {path}")
    cited = certificate and certificate.file
    answer({"path": str(path), "format": to, "certificate": cited, "not_cited": list(refused)}, as_json)
