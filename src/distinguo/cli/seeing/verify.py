"""``distinguo verify``: proof that a controller never fails, or arrives, or the absence of a proof."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distinguo.cli.completion import complete_representation, complete_task
from distinguo.cli.grouped import HOW, WHAT, WHERE

if TYPE_CHECKING:
    from distinguo.study.verify import Proof

PICTURE = "proof.png"  #: the name of its file in the folder
NOT_PROVEN = 3  #: the exit code where a proof was asked for and there is none; 2 is for what went wrong


def verify_command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="The folder of a run, or a control such as diagonal.",
            autocompletion=complete_representation,
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
    seed: Annotated[
        int,
        typer.Option(help="Seed of the training of a control's values, and of trials.", rich_help_panel=HOW),
    ] = 0,
    task: Annotated[
        str | None,
        typer.Option(
            help="The task of a control or a representation file; puck if none is given.",
            rich_help_panel=WHAT,
            autocompletion=complete_task,
        ),
    ] = None,
    cells: Annotated[
        int | None,
        typer.Option(min=1000, max=2**26, help="Cells that the proof may use, about.", rich_help_panel=HOW),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100_000,
            help="Steps to arrive within; the task's own limit if none are given.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    disturbance: Annotated[
        float,
        typer.Option(
            min=0, help="Prove it even if every step is off by so much in v (m/s).", rich_help_panel=WHAT
        ),
    ] = 0.0,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            help="Prove it for every value in a range: NAME=LOW:HIGH, such as mass=0.95:1.05.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write; the default is the folder of the run.", rich_help_panel=WHERE),
    ] = None,
) -> None:
    """Prove that the greedy policy of a run never fails, or that it arrives; write a certificate and check it.

    The puck should never fail; MountainCar-v0 should reach its goal. For other tasks trials give exact bounds, which
    is not a proof. A control has no values of its own: they are learned as the tester learns them, with --seed. Exits
    with 3 where a proof is possible and there is none.

    Example: distinguo verify runs/puck-default-seed0
    """
    from distinguo.cli import parse
    from distinguo.cli.code import code_or_word
    from distinguo.cli.console import answer, output_for, worked_off
    from distinguo.cli.live import at_work
    from distinguo.controls.catalog import registered_name
    from distinguo.study.verify import verify

    task = None if task is None else parse.task_name(task)
    what = registered_name(code_or_word(what))
    folder = out or _folder(what, task or "puck", seed)
    with at_work("Proving"):
        proof = worked_off(
            "Stopped; nothing was proven.",
            lambda: verify(
                what,
                task=task,
                seed=seed,
                cells=cells,
                steps=steps,
                disturbance=disturbance,
                ranges=_ranges(ranges or []),
                out=folder,
            ),
        )
    output, picture = output_for(as_json), _picture(proof, folder)
    for line in proof.sentences:
        output.tell(line)
    for path in picture.values():
        output.tell(f"Picture: {path}")
    answer({**proof.as_json(), **picture}, as_json)
    if proof.question.certifies and not proof.holds:
        raise typer.Exit(NOT_PROVEN)


def _folder(what: str, task: str, seed: int) -> Path:
    """Return the folder of a run, or one for what has none, found again by the same command."""
    from distinguo.writing.atomic import slug

    name = what if task == "puck" else f"{task}-{what}"
    return Path(what) if Path(what).is_dir() else Path("runs") / f"verify-{slug(name)}-seed{seed}"


def _ranges(texts: list[str]) -> dict[str, tuple[float, float]]:
    """Read ranges of the form ``NAME=LOW:HIGH``.

    >>> _ranges(["mass=0.95:1.05"])
    {'mass': (0.95, 1.05)}
    """
    from distinguo.errors import DistinguoError

    ranges = {}
    for text in texts:
        name, _, values = text.partition("=")
        try:
            low, high = (float(value) for value in values.split(":"))
        except ValueError:
            raise DistinguoError(
                f"--range takes NAME=LOW:HIGH, such as mass=0.95:1.05, got '{text}'."
            ) from None
        ranges[name] = low, high
    return ranges


def _picture(proof: Proof, folder: Path) -> dict[str, str]:
    """Draw what was proven, and return where; nothing where only trials were run."""
    from distinguo.views.plots import save_figure
    from distinguo.views.proof import proof_figure

    figure = proof_figure(proof)
    if figure is None:
        return {}
    path = folder / PICTURE
    save_figure(figure, path)
    return {"picture": str(path)}
