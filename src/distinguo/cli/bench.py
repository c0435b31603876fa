"""``distinguo bench``: how fast the kernels are, beside C and beside the alternatives."""

from __future__ import annotations

from typing import Annotated

import typer


def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Measure for seconds rather than a minute.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the prototypes and starts.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Measure the kernels against C compiled on the spot and against a Gymnasium loop, in turns.

    Example: distinguo bench --quick
    """
    from distinguo.bench.measure import FULL, QUICK, comparisons
    from distinguo.bench.reference import compiler
    from distinguo.cli.console import answer, say

    program = compiler()
    if program is None:
        say("There is no C compiler on this machine (cc, gcc or clang), so nothing is compared with C.")
    say("kernel       prototypes   M steps/s   reference                 M steps/s   ratio (10 % to 90 %)")
    found = []
    for c in comparisons(QUICK if quick else FULL, seed):
        found.append(c._asdict())
        rate = f"{c.ours / 1e6:12.3f}   {c.reference:<24}{c.theirs / 1e6:12.4f}"
        say(f"{c.name:<12}{c.prototypes:11}{rate}{c.ratio:10.2f} ({c.low:.2f} to {c.high:.2f})")
    answer({"kernels": found, "compiler": program, "seed": seed}, as_json)
