"""``distinguo audit``: where a learned representation costs reward."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from distinguo.cli.completion import complete_run


def audit_command(
    run: Annotated[Path, typer.Argument(help="The folder of a run.", autocompletion=complete_run)],
    seed: Annotated[int, typer.Option(help="Seed of the random choices among tied actions.")] = 0,
    task: Annotated[
        str | None, typer.Option(help="The file of a task of your own: path/to/file.py:Class.")
    ] = None,
    visits: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10**7,
            help="How many visited states to audit; by default 10,000, or 200 where each takes plain Python trials.",
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="The reward that may be lost; by default that of the run, or for a map without values a twentieth "
            "of what actions differ by on average."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Audit the states that a run visits: which are not epsilon-adequate, by which rule, at what cost.

    Example: distinguo audit runs/puck-default-seed0
    """
    from distinguo.cli import parse
    from distinguo.cli.console import answer, output_for, worked_off
    from distinguo.cli.live import progress_bar
    from distinguo.study.audit import audit

    world = parse.task_of_run(task, run)
    with progress_bar("auditing") as bar:
        findings = worked_off(
            "Stopped; nothing was written.",
            lambda: audit(run, visits=visits, epsilon=epsilon, seed=seed, watch=bar, task=world),
        )
    output_for(as_json).tell(repr(findings))
    content = {
        "run": str(run),
        "states": len(findings.states),
        "adequate": findings.adequate,
        "policy_failures": findings.policy_failures,
        "value_failures": findings.value_failures,
        "greatest_regret": float(findings.regret[findings.worst]),
        "epsilon": findings.epsilon,
        "at": findings.observations[findings.worst].tolist(),
    }
    answer(content, as_json)
