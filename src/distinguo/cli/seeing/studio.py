"""``distinguo studio``: runs in the browser, learned and looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def studio_command(
    folder: Annotated[
        Path,
        typer.Argument(metavar="[DIR]", help="The folder of runs to look at; there need not be any yet."),
    ] = Path("runs"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")] = 8421,
    host: Annotated[
        str, typer.Option(help="The address to listen on; any but this machine's own asks for a token.")
    ] = "127.0.0.1",
    token: Annotated[
        str | None, typer.Option(help="What pages must know to be let in; made if the address needs one.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with the address before serving.")
    ] = False,
) -> None:
    """Open the studio: watch regions being born, drag the system, ask why two states are kept apart.

    Examples:
      distinguo studio

      distinguo studio runs/class --port 9000 --no-browser
    """
    from distinguo.cli.console import answer, say
    from distinguo.errors import DistinguoError
    from distinguo.views.studio.server import studio

    if folder.exists() and not folder.is_dir():
        raise DistinguoError(f"{folder} is a file; the studio looks at a folder of runs.")

    def tell(address: str) -> None:
        say(f"The studio of {folder} is open at {address}")
        say("Ctrl-C closes it.")
        answer({"address": address, "folder": str(folder)}, as_json)

    studio(folder, host, port, token, say=tell, browser=not no_browser)
