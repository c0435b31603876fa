"""``distinguo play``: the greedy policy at work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from distinguo.cli.completion import complete_run, complete_task


def play_command(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", autocompletion=complete_run)],
    state: Annotated[
        str | None,
        typer.Option(metavar="X,V,…", help="Where to begin; where the task begins if none is given."),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Steps at most; the task's limit, or 500 if it is longer.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the task's start and of tied actions.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="The film to write, .gif or .mp4; a window opens without it.")
    ] = None,
    speed: Annotated[float, typer.Option(help="2 is twice as fast as the task's own time.")] = 1.0,
    task: Annotated[
        str | None,
        typer.Option(
            help="The file of a task of your own: path/to/file.py:Class.", autocompletion=complete_task
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Play a run: the system under the greedy policy, with the way of its state over the map.

    Examples:
      distinguo play runs/puck-default-seed0

      distinguo play runs/puck-default-seed0 --state 1.5,-2 --out puck.gif

      distinguo play runs/CartPole-v1-probation-seed0 --steps 200 --speed 0.5 --out pole.mp4
    """
    import os

    from distinguo.cli import parse
    from distinguo.cli.console import answer, output_for, worked_off
    from distinguo.cli.live import progress_bar
    from distinguo.views.motion.play import play

    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # its greeting would be on standard output
    if task is not None:
        parse.task_name(task)  # declares it, so that the run can be opened with it
    start = None if state is None else parse.state_numbers(state)
    output = output_for(as_json)
    if out is None:
        film = play(run, start=start, steps=steps, seed=seed, speed=speed)
    else:
        with progress_bar("drawing") as bar:
            film = worked_off(
                "Stopped; nothing was written.",
                lambda: play(run, out, start=start, steps=steps, seed=seed, speed=speed, watch=bar),
            )
    output.tell(repr(film.trial))
    if out is not None:
        output.tell(f"Film: {out} ({len(film.moments)} frames, {film.seconds:.1f} s)")
    content = {
        "run": str(run),
        "task": film.trial.task,
        "steps": len(film.trial.choices),
        "gained": film.trial.gained,
        "ended": film.trial.ended,
        "frames": len(film.moments),
        "film": None if out is None else str(out),
    }
    answer(content, as_json)
