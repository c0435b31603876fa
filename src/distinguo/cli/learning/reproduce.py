"""``distinguo reproduce``: the whole paper."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer


def reproduce_command(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs and shorter test trials.")] = False,
    neighbours: Annotated[
        bool,
        typer.Option(
            "--neighbours",
            help="Instead of the case study: the systems that the paper compares itself with, on four tasks.",
        ),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results; what is there already is not run again.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Reproduce the paper: every figure and claim of its case study, ours beside the paper's, in one HTML report.

    All of it is done twice: with constants under which the paper's own numbers come out, and by default. A claim is
    reproduced, better, or differs; the report says what counts as which.

    Examples:
      distinguo reproduce --quick
      distinguo reproduce --neighbours --quick
    """
    if neighbours:
        _reproduce_neighbours(quick, out, seed, as_json)
    else:
        _reproduce_case_study(quick, out, seed, as_json)


STOPPED = "Stopped; what is finished is saved. The same command goes on from there."


def _reproduce_case_study(quick: bool, out: Path | None, seed: int, as_json: bool) -> None:
    from distinguo.cli.console import answer, output_for, say, worked_off
    from distinguo.cli.live import progress_bar
    from distinguo.paper.reproduce import reproduce
    from distinguo.views.pages.reproduction import write_report

    began = time.perf_counter()
    with progress_bar("testing") as watch:
        reproduction = worked_off(
            STOPPED, lambda: reproduce(out, quick=quick, seed=seed, say=say, watch=watch)
        )
    report = write_report(reproduction, reproduction.folder)
    output = output_for(as_json)
    output.tell(repr(reproduction))
    output.tell(f"Report: {report}")
    content = {
        "claims": reproduction.as_json(),
        "report": str(report),
        "quick": quick,
        "seconds": round(time.perf_counter() - began, 3),
    }
    answer(content, as_json)


def _reproduce_neighbours(quick: bool, out: Path | None, seed: int, as_json: bool) -> None:
    from distinguo.cli.console import answer, output_for, say, worked_off
    from distinguo.cli.live import progress_bar
    from distinguo.neighbours.page import summary_rows, tables
    from distinguo.neighbours.study import compare_neighbours
    from distinguo.views.pages.neighbours import write_neighbours

    began = time.perf_counter()
    with progress_bar("running") as watch:
        found = worked_off(
            STOPPED, lambda: compare_neighbours(out, quick=quick, seed=seed, say=say, watch=watch)
        )
    page, picture = write_neighbours(found)
    output = output_for(as_json)
    output.tell(tables(summary_rows(found)))
    output.tell(f"Page: {page}")
    output.tell(f"Picture: {picture}")
    content = {
        "rows": summary_rows(found),
        "page": str(page),
        "picture": str(picture),
        "quick": quick,
        "seconds": round(time.perf_counter() - began, 3),
    }
    answer(content, as_json)
