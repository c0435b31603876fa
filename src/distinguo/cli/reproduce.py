"""``distinguo reproduce``: the whole paper."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs and shorter test trials.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results; what is there already is not run again.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Reproduce the paper: every figure and claim of its case study, ours beside the paper's, in one HTML report.

    Example: distinguo reproduce --quick
    """
    from distinguo.cli.console import answer, progress_bar, say
    from distinguo.paper.reproduce import FULL, QUICK
    from distinguo.paper.reproduce import reproduce as run
    from distinguo.views.report import write_report

    effort = QUICK if quick else FULL
    folder = out or Path("runs") / f"reproduce-{'quick' if quick else 'full'}-seed{seed}"
    began = time.perf_counter()
    with progress_bar("testing") as watch:
        found = run(folder, effort, seed, say, watch)
    report = write_report(found, folder)
    for claim in found.claims:
        say(f"{'holds ' if claim.holds else 'FAILS '} {claim.claim}: paper {claim.paper}; ours {claim.ours}")
    say(effort.words)
    say(f"Report: {report}")
    content = {
        "claims": [claim._asdict() for claim in found.claims],
        "report": str(report),
        "quick": quick,
        "seconds": round(time.perf_counter() - began, 3),
    }
    answer(content, as_json)
