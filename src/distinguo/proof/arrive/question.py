"""The question of tasks whose trials should arrive: from which starts, and within how many steps?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from distinguo.errors import counted
from distinguo.proof.arrive.arrival import HORIZON, PIECES, ROUNDS, Arrivals, arrivals, certified
from distinguo.proof.arrive.car import enclose_strip, step_cost
from distinguo.proof.question import Answer, GreedyTrial, Question, Request, bound_text, greedy_trial
from distinguo.proof.schema import ArrivalCertificate
from distinguo.tasks.spec import TaskSpec

TRIALS = 200  #: unproven pieces of the starts that are tried to find a failure


class ArrivalFinding(NamedTuple):
    """Which starts a controller is proven to bring to the goal."""

    request: Request
    proof: Arrivals
    asked: int  #: steps within which all should arrive
    certificate: ArrivalCertificate | None

    def answer(self, checked: bool) -> Answer:
        """Which share of the starts arrives, and what that means for the mean return."""
        spec, proof = self.request.spec, self.proof
        proven = checked and bool(proof.proven.all())
        failure = None if proven else self._failure()
        details = {
            "steps": proof.longest if checked else None,
            "asked_steps": self.asked,
            "mean_return_at_least": mean_return_at_least(spec, proof, self.asked) if checked else None,
            "threshold": spec.threshold,
            "failure": failure and {"start": list(failure[0]), **failure[1].as_json()},
        }
        share = proof.share(self.asked) if checked else 0.0
        answer = Answer(proven, share, int(proof.proven.sum()), details, [], failure is not None)
        return answer._replace(sentences=_sentences(answer, failure))

    def _failure(self) -> tuple[tuple[float, float], GreedyTrial] | None:
        """Try the middles of unproven pieces: a start that does not arrive and its trial; None if all do."""
        request, unproven = self.request, self.proof.boxes[~self.proof.proven]
        chosen = np.linspace(0, len(unproven) - 1, min(TRIALS, len(unproven))).astype(int)
        for box in unproven[chosen]:
            first = (float(box[:2].mean()), float(box[2:].mean()))
            trial = greedy_trial(request.spec.task, request.controller, request.seed, self.asked, first)
            if not trial.ended:
                return first, trial
        return None


def ask_arrival(request: Request) -> ArrivalFinding:
    """Prove that the greedy policy arrives."""
    spec, controller = request.spec, request.controller
    asked = request.steps or spec.cap(HORIZON)
    pieces = PIECES if request.cells is None else max(1, request.cells >> ROUNDS)
    proof = arrivals(spec.task, controller, horizon=asked, pieces=pieces)
    return ArrivalFinding(request, proof, asked, certified(spec.task, controller, proof))


def mean_return_at_least(spec: TaskSpec, proof: Arrivals, asked: int) -> float | None:
    """A lower bound of the mean return over all starts: unproven trials may go on until the task stops them.

    None if the task never does.
    """
    if spec.limit is None and not proof.proven.all():
        return None
    return -step_cost(spec.task) * proof.mean(max(asked, spec.limit or asked))


def _sentences(answer: Answer, failure: tuple[tuple[float, float], GreedyTrial] | None) -> list[str]:
    details = answer.details
    share = f"{answer.share:.2%} of the starts are proven to arrive within {counted(details['asked_steps'], 'step')}."
    lines = [f"Not proven: {share}"]
    if failure is not None:
        (x, v), trial = failure
        lines = [
            f"Refuted: a trial from ({x:z.4f}, {v:z.4f}) has not arrived after {counted(trial.steps, 'step')}; "
            f"it is at {trial.place}.",
            share,
        ]
    if answer.proven:
        lines = [
            f"Proven: every start arrives within {counted(details['steps'], 'step')} "
            f"({counted(answer.cells, 'box')} of starts)."
        ]
    if details["mean_return_at_least"] is not None:
        solved = "" if details["threshold"] is None else f" ({details['threshold']:zg} solves the task)"
        mean = bound_text(details["mean_return_at_least"])
        lines.append(
            "So the mean return over all starts, of trials that are stopped after "
            f"{counted(details['asked_steps'], 'step')}, is at least {mean}{solved}."
        )
    return lines


ARRIVES = Question("arrives", enclose_strip, ask_arrival, needless=("disturbance", "ranges"))
