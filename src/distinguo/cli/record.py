"""``distinguo record``: logged steps of a task under random actions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from distinguo.cli.completion import complete_task


def record_command(
    task: Annotated[str, typer.Argument(help="The task, as for learn.", autocompletion=complete_task)],
    out: Annotated[Path, typer.Option(help="The file to write: CSV if its name ends in .csv, else npz.")],
    steps: Annotated[int, typer.Option(help="How many steps to log.")] = 20_000,
    seed: Annotated[int, typer.Option(help="Seed of the actions and of the task.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Take random actions in a task and log every step, for learn --data.

    Examples:
      distinguo record puck --out puck.csv

      distinguo record CartPole-v1 --steps 50000 --seed 1 --out cartpole.npz
    """
    from distinguo.cli import parse
    from distinguo.cli.console import answer, output_for, stoppable
    from distinguo.errors import counted
    from distinguo.offline.record import record_log

    with stoppable("Stopped; nothing was written."):
        log = record_log(parse.named_task(task), steps=steps, seed=seed, out=out)
    episodes = counted(len(log.starts), "episode")
    output_for(as_json).tell(f"{counted(len(log.action), 'step')} in {episodes}: {out}")
    answer({"task": task, "steps": len(log.action), "episodes": len(log.starts), "file": str(out)}, as_json)
