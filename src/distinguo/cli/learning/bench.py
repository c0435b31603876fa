"""``distinguo bench``: how fast the kernels are, beside C and beside the alternatives."""

from __future__ import annotations

from typing import Annotated

import typer


def bench_command(
    quick: Annotated[bool, typer.Option("--quick", help="Measure for seconds rather than a minute.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the prototypes and starts.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Measure the kernels against C compiled on the spot and against a Gymnasium loop, in turns.

    Example: distinguo bench --quick
    """
    from distinguo.bench.measure import FULL_EFFORT, QUICK_EFFORT, timings
    from distinguo.bench.reference import c_compiler
    from distinguo.cli.console import answer, output_for, say
    from distinguo.cli.live import live_line

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
