"""``distinguo verify``: proof that a controller never fails, or arrives, or the absence of a proof."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def verify(
    what: Annotated[
        str, typer.Argument(metavar="RUN", help="The folder of a run, or a control such as diagonal.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the training of a control's values, and of trials.")] = 0,
    task: Annotated[
        str | None,
        typer.Option(help="The task of a control or a representation file; puck if none is given."),
    ] = None,
    cells: Annotated[
        int | None, typer.Option(min=1000, max=2**26, help="Cells that the proof may use, about.")
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1, max=100_000, help="Steps to arrive within; the task's own limit if none are given."
        ),
    ] = None,
    disturbance: Annotated[
        float, typer.Option(min=0, help="Prove it even if every step is off by so much in v (m/s).")
    ] = 0.0,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range", help="Prove it for every value in a range: NAME=LOW:HIGH, such as mass=0.95:1.05."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to write; the default is the folder of the run.")
    ] = None,
) -> None:
    """Prove that the greedy policy of a run never fails, or that it arrives; write a certificate and check it.

    The puck should never fail; MountainCar-v0 should reach its goal. For other tasks trials give exact bounds, which
    is not a proof. A control has no values of its own: they are learned as the tester learns them, with --seed.

    Example: distinguo verify runs/puck-default-seed0
    """
    from distinguo.cli.console import answer, say, word_if_slow
    from distinguo.cli.verify_subject import Request, subject_of

    subject = subject_of(what, task, seed, out)
    method = _method(subject.spec.task)
    with word_if_slow("Proving; the first time on this machine the prover is compiled …"):
        content = method.prove(Request(subject, seed, cells, steps, disturbance, tuple(ranges or ())))
    for line in method.sentences(content):
        say(line)
    if content["checked"]:
        say(f"Certificate, checked independently: {content['certificate']}")
    if "picture" in content:
        say(f"Picture: {content['picture']}")
    answer(content, as_json)


def _method(task: Any) -> Any:
    """Return the module that knows how to prove things about a task.

    It has ``prove(request)``, which gives the answer for programs, and ``sentences(content)``, the one for people.
    The answer has at least the keys proven, share_of_controllable_starts, cells, certificate and checked.
    """
    from distinguo.cli import verify_arrive, verify_hold, verify_trials
    from distinguo.proof.questions import ARRIVES, HOLDS, question_about

    return {HOLDS: verify_hold, ARRIVES: verify_arrive}.get(question_about(task) or "", verify_trials)
