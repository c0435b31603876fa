"""What can be proven of learned controllers: share of the starts, bounds, and seconds, a row for each seed.

Controllers are learned with the learner and the settings that their tasks have by default, and proven as ``distinguo
verify`` does. Times are those of the processor: other work on the machine does not count. A row of the table is a
function of ``ROWS`` that takes a seed.

    python -m benchmarks.proofs
    python -m benchmarks.proofs --rows swing-up,cart-pole --seeds 2
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from benchmarks import plants

import distinguo as dg
from distinguo.proof.checker.check import check
from distinguo.proof.declared.returns import ask_returns
from distinguo.proof.number.program import NotProvableError
from distinguo.proof.question import Request
from distinguo.proof.verify import question_about

SEEDS = 10


class Line(NamedTuple):
    """What was proven of one controller."""

    solved: bool  #: by its own account
    proven: float  #: share of the starts
    bound: str  #: what holds for all starts
    proving: float  #: seconds
    checking: float
    note: str = ""


def _return(task: Any, seed: int, by_hand: bool = False) -> Line:
    """What a learned controller returns, or when it arrives, from all starts."""
    run = dg.learn(task, seed=seed, out=None)
    spec = run.configuration.spec
    question = question_about(spec.task) if by_hand else None
    ask = question.ask if question else ask_returns
    begun = time.process_time()
    try:
        finding = ask(Request(spec, run.controller, seed))
    except NotProvableError as error:
        return Line(run.solved, 0.0, "none", time.process_time() - begun, 0.0, str(error))
    proving = time.process_time() - begun
    begun = time.process_time()
    if finding.certificate is not None:
        check(finding.certificate)
    checking = time.process_time() - begun
    answer = finding.answer(finding.certificate is not None)
    failure = answer.details["failure"]
    note = "" if failure is None else f"a trial from {failure['start']} fails"
    bound = answer.details["mean_return_at_least"]
    return Line(
        run.solved, answer.share, "none" if bound is None else f"mean {bound:.1f}", proving, checking, note
    )


ROWS: dict[str, Callable[[int], Line]] = {
    "mountain-car": partial(_return, "MountainCar-v0"),
    "mountain-car-by-hand": partial(_return, "MountainCar-v0", by_hand=True),
    "swing-up": partial(_return, plants.SwingUp()),
    "parking": partial(_return, plants.Parking()),
    "cart-pole": partial(_return, "CartPole-v1"),
    "acrobot": partial(_return, "Acrobot-v1"),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    asked = parser.parse_args()
    print(f"{'row':22} seed  solved  proven   bound          proof s  check s")
    for name in asked.rows.split(","):
        for seed in range(asked.seeds):
            line = ROWS[name](seed)
            print(
                f"{name:22} {seed:4}  {line.solved!s:6}  {line.proven:7.2%}  {line.bound:13}  {line.proving:7.2f}  "
                f"{line.checking:7.2f}  {line.note}",
                flush=True,
            )


if __name__ == "__main__":
    main()
