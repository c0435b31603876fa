"""``distinguo audit``: where a learned representation costs reward."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def audit(
    run: Annotated[Path, typer.Argument(help="The folder of a run.")],
    seed: Annotated[int, typer.Option(help="Seed of the random choices among tied actions.")] = 0,
    task: Annotated[
        str | None, typer.Option(help="The file of a task of your own: path/to/file.py:Class.")
    ] = None,
    visits: Annotated[int, typer.Option(min=1, max=10**7, help="How many visited states to audit.")] = 10_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Audit the states that a run visits: which are not epsilon-adequate, by which rule, at what cost.

    Example: distinguo audit runs/puck-default-seed0
    """
    from distinguo.cli import parse
    from distinguo.cli.console import answer, say
    from distinguo.evaluation.audit import audit as examine
    from distinguo.runs.folder import open_run
    from distinguo.tasks.task import observe, seeded

    if task is not None:
        parse.task_name(task)
    opened = open_run(run)
    learner = opened.configuration.learner
    epsilon = float(opened.summary.get("epsilon", learner.epsilon))  # a share of what was found, or as given
    subject = seeded(opened.configuration.spec.task, seed)
    found = examine(
        subject,
        opened.controller,
        gamma=learner.gamma,
        epsilon=epsilon,
        samples=learner.samples,
        visits=visits,
        seed=seed,
    )
    say(f"{found.adequate:.1%} of {visits:,} visited states are {epsilon:.4g}-adequate.")
    say(
        f"Policy rule (Eq. 1) broken at {found.policy_failures:,}, value rule (Eq. 2) at {found.value_failures:,}."
    )
    worst = int(found.regret.argmax())
    seen = observe(subject, tuple(found.states[worst].tolist()))
    place = ", ".join(f"{c:.4f}" for c in seen)
    say(f"Greatest regret: {found.regret[worst]:.4f} at ({place}), in region {found.regions[worst]}.")
    content: dict[str, Any] = {
        "run": str(run),
        "states": visits,
        "adequate": found.adequate,
        "policy_failures": found.policy_failures,
        "value_failures": found.value_failures,
        "greatest_regret": float(found.regret[worst]),
        "epsilon": epsilon,
        "at": list(seen),
    }
    answer(content, as_json)
