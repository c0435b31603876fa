"""The question of tasks whose trials should never end: does the controller hold for ever?"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from distinguo.errors import counted
from distinguo.proof.enclosure import enclose, widened
from distinguo.proof.hold.invariant import HoldProof, prove_hold
from distinguo.proof.question import Answer, GreedyTrial, Question, Request, greedy_trial
from distinguo.proof.schema import HoldCertificate
from distinguo.tasks.extent import TEST, Extent
from distinguo.tasks.task import start

PROVEN, UNDECIDED, DOOMED = 2, 1, 0  #: what is known of a state, in pictures and shares
CAP = 100_000  #: steps for which a trial is followed to find a failure
CELLS = 2**21
STARTS = 121  #: states along each side of the start box, to compute shares


class HoldFinding(NamedTuple):
    """Which states a controller is proven to hold."""

    request: Request
    proof: HoldProof

    @property
    def certificate(self) -> HoldCertificate | None:
        """Return the certificate; None if no cell is held."""
        return self.proof.certificate

    def answer(self, checked: bool) -> Answer:
        """Whether the start is proven, and which share of the other starts."""
        share, doomed = self._shares()
        of_provable = self.proof.share_of_provable
        proven = checked and self._holds_the_start()
        failure = None if proven else self._failure()
        details = {
            "share_of_provable": of_provable if checked else 0.0,
            "share_of_start_box_doomed": doomed,
            "failure": failure and failure.as_json(),
        }
        held = share if checked else 0.0
        answer = Answer(proven, held, self.proof.held.cells, details, [], failure is not None)
        return answer._replace(sentences=_sentences(answer, failure))

    def codes(self, xs: np.ndarray, vs: np.ndarray) -> np.ndarray:
        """``PROVEN``, ``DOOMED`` or ``UNDECIDED`` for every state of a grid."""
        return np.array([[self._code((float(x), float(v))) for v in vs] for x in xs], dtype=np.int8)

    def _code(self, s: tuple[float, float]) -> int:
        controllable = self.request.spec.controllable
        if controllable is not None and not controllable(self.proof.task.middle, s):
            return DOOMED
        return PROVEN if self.proof.held.holds(s) else UNDECIDED

    def _holds_the_start(self) -> bool:
        return self.proof.held.holds(start(self.request.spec.task, np.random.default_rng(self.request.seed)))

    def _shares(self) -> tuple[float, float]:
        """Return the proven share of the controllable starts, and the doomed share of the start box."""
        spec = self.request.spec
        low, high = Extent(spec.low, spec.high).central(TEST)
        codes = self.codes(*(np.linspace(low[i], high[i], STARTS) for i in (0, 1)))
        doomed = (codes == DOOMED).mean()
        return float((codes == PROVEN).mean() / max(1 - doomed, 1e-300)), float(doomed)

    def _failure(self) -> GreedyTrial | None:
        """Return a trial from the start that fails; None if it does not fail within ``CAP`` steps."""
        request, task = self.request, self.proof.task.middle  # one of those that the claim is about
        trial = greedy_trial(task, request.controller, request.seed, CAP)
        return trial if trial.ended else None


def ask_hold(request: Request) -> HoldFinding:
    """Prove that the greedy policy never fails, about all tasks that the request allows."""
    side = math.isqrt((request.cells or CELLS) // 2)
    low, high = ({name: ends[i] for name, ends in request.ranges.items()} for i in (0, 1))
    tasks = widened(request.spec.task, low, high, (0.0, request.disturbance))
    return HoldFinding(request, prove_hold(tasks, request.controller, (2 * side, side)))


def _sentences(answer: Answer, failure: GreedyTrial | None) -> list[str]:
    lines = ["Not proven: the start is not among the states that are proven."]
    if failure is not None:
        lines = [
            f"Refuted: a trial from the start fails after {counted(failure.steps, 'step')}, at {failure.place}."
        ]
    if answer.proven:
        lines = [f"Proven: from its start the controller never fails ({counted(answer.cells, 'cell')})."]
    doomed, provable = (answer.details[f"share_of_{part}"] for part in ("start_box_doomed", "provable"))
    return [
        *lines,
        f"Proven for {answer.share:.2%} of the controllable states in the start box; {doomed:.1%} of the box is "
        "doomed whatever is done.",
        f"In the whole state space: {provable:.2%} of what can be proven for any controller.",
    ]


HOLDS = Question("never fails", enclose, ask_hold, needless=("steps",))
