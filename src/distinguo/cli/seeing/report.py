"""``distinguo report``: one self-contained page on a run, or on several side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from distinguo.cli.completion import complete_run


def report_command(
    runs: Annotated[
        list[Path], typer.Argument(help="The folders of one or more runs.", autocompletion=complete_run)
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="The file to write; by default report.html, beside several runs or in the only one."
        ),
    ] = None,
    audit: Annotated[
        bool, typer.Option("--audit", help="Audit the runs too, and show what their grouping costs.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Write one HTML file to hand to others: pictures, regions in words, reasons, settings, the proof, the commands.

    It loads nothing from anywhere and runs no script. Several runs are compared, each told in short.

    Examples:
      distinguo report runs/puck-default-seed0

      distinguo report runs/puck-default-seed* --out puck.html
    """
    from distinguo.cli.console import answer, output_for
    from distinguo.cli.live import at_work
    from distinguo.views.pages.report import report

    with at_work("Drawing"):
        written = report(list(runs), out, audit=audit)
    output_for(as_json).tell(f"Report: {written}")
    answer({"report": str(written), "runs": [str(run) for run in runs]}, as_json)
