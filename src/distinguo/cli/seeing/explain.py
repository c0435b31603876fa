"""``distinguo explain``: why a state is treated as it is, and why two states are kept apart."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from distinguo.cli.completion import complete_run


def explain_command(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", autocompletion=complete_run)],
    state: Annotated[str, typer.Option(help="A state as the task is observed, such as 0.5,1.")],
    other: Annotated[
        str | None, typer.Option("--and", help="Another state: why are the two kept apart, or not?")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="The file of a task of your own: path/to/file.py:Class.")
    ] = None,
    carried: Annotated[
        bool,
        typer.Option(
            "--representation", help="Ask about the map for other learners, if that is another one."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Explain a state of a run: its region, what is done there, and why that region exists; or of two states, why
    they are told apart, what that is worth, and at which epsilon they would be merged.

    Example: distinguo explain runs/puck-default-seed0 --state 0.5,1 --and=-0.5,-1
    """
    from distinguo.cli import parse
    from distinguo.cli.console import answer, output_for
    from distinguo.explanations.explain import explain
    from distinguo.runs.folder import open_run

    world = parse.task_of_run(task, run)
    asked = run if world is None else open_run(run, world)
    first, second = parse.state_numbers(state), None if other is None else parse.state_numbers(other, "--and")
    why = explain(asked, first, second, carried=carried)
    output_for(as_json).tell(repr(why))
    answer({"run": str(run), **why.document()}, as_json)
