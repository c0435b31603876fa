"""``distinguo condense``: the fewest prototypes that keep the return of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from distinguo.cli.completion import complete_run


def condense_command(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", autocompletion=complete_run)],
    seed: Annotated[int, typer.Option(help="Seed of the proposals and of all trials.")] = 0,
    regions: Annotated[
        int | None, typer.Option(min=1, help="Ask for at most so many prototypes, whatever that costs.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the smaller run; by default RUN-condensed.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Leave prototypes out, one after the other, as long as new trials confirm that the return is kept.

    Writes a run folder of the smaller controller with dial.csv and dial.png: the mean return of the best map of every
    size, and how many regions are left if values within epsilon count as one.

    Examples:
      distinguo condense runs/CartPole-v1-economy-seed0

      distinguo condense runs/puck-default-seed0 --regions 2
    """
    from distinguo.cli.console import answer, output_for, worked_off
    from distinguo.cli.live import live_line
    from distinguo.distillation.condense import condense, save_condensed
    from distinguo.runs.folder import open_run
    from distinguo.views.dial import dial_picture
    from distinguo.views.plots import draw, save_figure
    from distinguo.views.show import draw_run

    learned = open_run(run)
    path = out or run.with_name(f"{run.name}-condensed")
    with live_line() as line:
        smaller = worked_off(
            "Stopped; nothing was written.",
            lambda: condense(
                learned, seed=seed, regions=regions, watch=lambda size: line(f"{size} prototypes left")
            ),
        )
    saved = save_condensed(learned, smaller, path)
    save_figure(draw(dial_picture(learned.configuration.spec.name, smaller)), path / "dial.png")
    picture = draw_run(saved)
    output = output_for(as_json)
    for one in smaller.dial:
        mark = "  <- kept" if one.size == smaller.chosen.size else ""
        output.tell(f"{one.size:4} prototypes: mean return {one.mean:.1f} ± {one.error:.1f}{mark}")
    output.tell(
        f"{learned.representation.prototypes} prototypes condensed to {smaller.chosen.size}; "
        + (
            f"a mean return of {smaller.bar:.4g} is kept."
            if smaller.kept
            else f"a mean return of {smaller.bar:.4g} is NOT kept."
        )
    )
    output.tell(f"Folder: {path} (dial.png shows what each prototype is worth)")
    answer(
        {**saved.summary, "run": str(path), "picture": str(picture), "dial": str(path / "dial.csv")}, as_json
    )
