"""What can be proven of learned controllers: share of the starts, bounds, and seconds, a row for each seed.

Controllers are learned with the learner and the settings that their tasks have by default, and proven as ``distinguo
verify`` does. Times are those of the processor: other work on the machine does not count. A row of the table is a
function of ``ROWS`` that takes a seed.

    python -m benchmarks.proofs
    python -m benchmarks.proofs --rows swing-up,cart-pole --seeds 0-1
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from benchmarks import plants, rows

import distinguo as dg
from distinguo.evaluation.simulate import evaluate
from distinguo.proof.checker.check import check
from distinguo.proof.declared.returns import ask_returns
from distinguo.proof.declared.tube import ask_core
from distinguo.proof.number.program import NotProvableError, program_of, start_boxes
from distinguo.proof.question import Request
from distinguo.proof.verify import question_about

TRIALS, CORNERS = 20_000, 64  #: simulated trials from anywhere in the starts, and from corners of these


class Line(NamedTuple):
    """What was proven of one controller."""

    row: str
    seed: int
    solved: bool  #: by its own account
    proven: float  #: share of the starts
    bound: str  #: what holds for all starts
    proving: float  #: seconds
    checking: float
    note: str


def _return(task: Any, seed: int, by_hand: bool = False) -> tuple[Any, ...]:
    """What a learned controller returns, or when it arrives, from all starts."""
    run = dg.learn(task, seed=seed, out=None)
    spec = run.configuration.spec
    question = question_about(spec.task) if by_hand else None
    ask = question.ask if question else ask_returns
    begun = time.process_time()
    try:
        finding = ask(Request(spec, run.controller, seed))
    except NotProvableError as error:
        return run.solved, 0.0, "none", time.process_time() - begun, 0.0, str(error)
    proving = time.process_time() - begun
    begun = time.process_time()
    if finding.certificate is not None:
        check(finding.certificate)
    checking = time.process_time() - begun
    answer = finding.answer(finding.certificate is not None)
    failure = answer.details["failure"]
    note = "" if failure is None else f"a trial from {failure['start']} fails"
    bound = answer.details["mean_return_at_least"]
    told = "none" if bound is None else f"mean {bound:.1f}"
    return run.solved, float(answer.share), told, proving, checking, note


def _lasts(name: str, seed: int) -> tuple[Any, ...]:
    """Whether trials of a learned controller last from all starts, and how many simulated trials do not."""
    run = dg.learn(name, seed=seed, out=None)
    spec = run.configuration.spec
    (low, high), rng = start_boxes(program_of(spec.task), {})[0], np.random.default_rng(1)
    within = rng.uniform(low, high, (TRIALS, len(low)))
    corners = np.where(rng.choice([False, True], (CORNERS, len(low))), high, low)
    failed = evaluate(spec.task, run.controller, rng, np.vstack([within, corners]), spec.cap(500)).ended.sum()
    note = f"{failed:,} of {TRIALS + CORNERS:,} trials fail"
    begun = time.process_time()
    finding = ask_core(Request(spec, run.controller, seed))
    proving = time.process_time() - begun
    begun = time.process_time()
    if finding.certificate is None or finding.tube is None:
        return run.solved, 0.0, "none", proving, 0.0, f"{note}; {finding.obstacle}"
    check(finding.certificate)
    bound = "for ever" if finding.tube.closes else f"{finding.tube.steps} steps"
    return run.solved, 1.0, bound, proving, time.process_time() - begun, note


ROWS: dict[str, Callable[[int], tuple[Any, ...]]] = {
    "mountain-car": partial(_return, "MountainCar-v0"),
    "mountain-car-by-hand": partial(_return, "MountainCar-v0", by_hand=True),
    "swing-up": partial(_return, plants.SwingUp()),
    "parking": partial(_return, plants.Parking()),
    "cart-pole": partial(_lasts, "CartPole-v1"),
    "acrobot": partial(_return, "Acrobot-v1"),
}


def measured(row: str, seed: int) -> Line:
    """A line of the table."""
    return Line(row, seed, *ROWS[row](seed))


def main() -> None:
    """Print the table."""
    parser = rows.options(__doc__, "proofs", "0-9")
    parser.add_argument("--rows", default=",".join(ROWS))
    asked = parser.parse_args()
    keys = [(name, seed) for name in asked.rows.split(",") for seed in asked.seeds]
    known = rows.measured(asked.table, Line, measured, keys)
    print(f"{'row':22} seed  solved  proven   bound          proof s  check s")
    for line in known:
        print(
            f"{line.row:22} {line.seed:4}  {line.solved!s:6}  {line.proven:7.2%}  {line.bound:13}  "
            f"{line.proving:7.2f}  {line.checking:7.2f}  {line.note}"
        )


if __name__ == "__main__":
    main()
