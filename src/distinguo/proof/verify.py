"""The one entry to proofs: the questions that can be asked, and the checking of what they find."""

from __future__ import annotations

from typing import Any

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.arrive.question import ARRIVES
from distinguo.proof.certificate import read_certificate
from distinguo.proof.checker.check import check
from distinguo.proof.claims import controller_claim, task_claim
from distinguo.proof.hold.question import HOLDS
from distinguo.proof.question import Question
from distinguo.seam import has_own

QUESTIONS = (HOLDS, ARRIVES)  #: in this order; a task is asked the first that it can answer


def question_about(task: Any) -> Question | None:
    """Return what can be proven about a task, by the generics that it implements; None if nothing can.

    >>> from distinguo.tasks.catalog import task_spec
    >>> asked = [question_about(task_spec(name).task) for name in ("puck", "MountainCar-v0", "CartPole-v1")]
    >>> [question and question.name for question in asked]
    ['never fails', 'arrives', None]
    """
    return next((question for question in QUESTIONS if has_own(question.capability, task)), None)


def refusal_of(data: bytes | None, controller: Controller, task: Any) -> str | None:
    """Check the bytes of a certificate: why they prove nothing about a controller on a task, or None if they do.

    >>> refusal_of(None, None, None)
    'nothing is proven, so there is nothing to certify.'
    """
    if data is None:
        return "nothing is proven, so there is nothing to certify."
    try:
        check(read_certificate(data), controller_claim(controller), task_claim(task))
    except DistinguoError as error:
        return str(error)
    return None
