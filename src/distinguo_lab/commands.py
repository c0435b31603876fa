"""The lab's commands: ``distinguo reproduce`` (the whole paper) and ``distinguo bench`` (our kernels against C)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distinguo.cli.many import Who, for_many
from distinguo.errors import DistinguoError

if TYPE_CHECKING:
    from distinguo.engines.engine import Engine


@for_many
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
        Path | None, typer.Option(help="Folder of the results; finished parts in it are not run again.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
    *,
    who: Who,
) -> None:
    """Reproduce the paper: every figure and claim of its case study, ours beside the paper's, in one HTML report.

    Everything is done twice: with constants that give the paper's own numbers, and with our defaults. A claim is
    reproduced, better, or differs; the report gives the criterion of each. The exit code is 3 if a claim differs
    under the paper's constants.

    Examples:
      distinguo reproduce --quick
      distinguo reproduce --neighbours --quick
    """
    workshop = who.engine_or("threads")
    if neighbours:
        _reproduce_neighbours(quick, out, seed, as_json, workshop, who.part())
    elif who.shard is not None:
        raise DistinguoError(
            "--shard is for --neighbours: each part of the case study needs those before it."
        )
    else:
        _reproduce_case_study(quick, out, seed, as_json, workshop)


NOT_REPRODUCED = 3  #: the exit code if a claim differs under the paper's constants; 2 is for errors
STOPPED = "Stopped; finished parts are saved. The same command continues from there."


def _reproduce_case_study(quick: bool, out: Path | None, seed: int, as_json: bool, engine: Engine) -> None:
    from distinguo.cli.console import answer, output_for, say, worked_off
    from distinguo.cli.live import progress_bar
    from distinguo_lab.paper.report import write_report
    from distinguo_lab.paper.reproduce import reproduce

    began = time.perf_counter()
    with progress_bar("testing") as watch:
        reproduction = worked_off(
            STOPPED, lambda: reproduce(out, quick=quick, seed=seed, say=say, watch=watch, engine=engine)
        )
    report = write_report(reproduction, reproduction.folder)
    output = output_for(as_json)
    output.tell(repr(reproduction))
    output.tell(f"Report: {report}")
    content = {
        "claims": reproduction.as_json(),
        "adequacy": {study.reading.name: study.adequacy for study in reproduction.studies},
        "report": str(report),
        "quick": quick,
        "seconds": round(time.perf_counter() - began, 3),
    }
    answer(content, as_json)
    if not reproduction.holds:
        raise typer.Exit(NOT_REPRODUCED)


def _reproduce_neighbours(
    quick: bool, out: Path | None, seed: int, as_json: bool, engine: Engine, part: tuple[int, int]
) -> None:
    from distinguo.cli.console import answer, output_for, worked_off
    from distinguo.cli.live import progress_bar
    from distinguo_lab.neighbours.page import summary_rows, tables, write_neighbours
    from distinguo_lab.neighbours.study import compare_neighbours

    began = time.perf_counter()
    with progress_bar("running") as watch:
        found = worked_off(
            STOPPED,
            lambda: compare_neighbours(out, quick=quick, seed=seed, watch=watch, engine=engine, shard=part),
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


def bench_command(
    quick: Annotated[bool, typer.Option("--quick", help="Measure for seconds rather than a minute.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the prototypes and starts.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Measure the kernels against C compiled on the spot and against a Gymnasium loop, in turns.

    Example: distinguo bench --quick
    """
    from distinguo.cli.console import answer, output_for, say
    from distinguo.cli.live import live_line
    from distinguo_lab.bench.measure import FULL_EFFORT, QUICK_EFFORT, timings
    from distinguo_lab.bench.reference import c_compiler

    program = c_compiler()
    if program is None:
        say("There is no C compiler on this machine (cc, gcc or clang), so nothing is compared with C.")
    output = output_for(as_json)
    output.tell(
        "kernel       prototypes   M steps/s   reference                 M steps/s   ratio (10 % to 90 %)"
    )
    kernels = []
    with live_line():
        for timing in timings(QUICK_EFFORT if quick else FULL_EFFORT, seed):
            kernels.append(timing._asdict())
            output.tell(str(timing))
    answer({"kernels": kernels, "compiler": program, "seed": seed}, as_json)
