"""A command in a package: distinguo smallest runs/*"""

from pathlib import Path
from typing import Annotated

import typer


def smallest(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Name the run with the fewest regions.

    Example: distinguo smallest runs/*
    """
    import distinguo as dg  # what is heavy waits until the command is run
    from distinguo.cli.console import answer, output_for

    sizes = {str(path): dg.open_run(path).summary["regions"] for path in runs}
    best = min(sizes, key=sizes.get)
    output_for(as_json).tell(f"{best}: {sizes[best]} regions")
    answer({"smallest": best, "regions": sizes[best]}, as_json)
