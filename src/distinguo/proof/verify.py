"""The entry to proofs: the questions that can be asked, and the checks of the answers."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.actions import possible
from distinguo.proof.arrive.question import ARRIVES
from distinguo.proof.certificate import BEGINNING, LARGEST_FILE, certificate_text, read_certificate
from distinguo.proof.checker.check import check
from distinguo.proof.declared.diagnosis import obstacle
from distinguo.proof.declared.question import PROGRAM, claim_like, policy_claim, why_not
from distinguo.proof.declared.returns import RETURNS, why_no_returns
from distinguo.proof.declared.tube import CORE, why_no_core
from distinguo.proof.hold.question import HOLDS
from distinguo.proof.question import Question, Request, controller_claim, task_claim
from distinguo.proof.schema import (
    ArrivalCertificate,
    Certificate,
    CoreCertificate,
    ProgramCertificate,
    ReturnCertificate,
)
from distinguo.reading.files import read_bytes
from distinguo.seam import has_own
from distinguo.tasks.catalog import AbsentTask
from distinguo.tasks.spec import RETURN
from distinguo.writing import slug, write_atomically

QUESTIONS = (HOLDS, ARRIVES)  #: in this order; a task is asked the first that it can answer


def question_about(task: Any) -> Question | None:
    """The question that can be asked about a task, by the generics that it implements; None if there is none.

    >>> from distinguo.tasks.catalog import task_spec
    >>> asked = [question_about(task_spec(name).task) for name in ("puck", "MountainCar-v0", "CartPole-v1")]
    >>> [question and question.name for question in asked]
    ['never fails', 'arrives', None]
    """
    return next((question for question in QUESTIONS if has_own(question.capability, task)), None)


def question_by_program(request: Request) -> Question | str:
    """The question about a task whose own program can be followed over cells; or why it cannot be, in a sentence."""
    spec, controller = request.spec, request.controller
    by_return = spec.score == RETURN
    try:
        asks = request.steps is None and why_not(spec, controller) is not None
        if asks and why_no_core(spec, controller) is None:
            return obstacle(spec) or CORE
        why = (why_no_returns if by_return else why_not)(spec, controller)
    except DistinguoError as error:
        return str(error)
    if why is not None:
        return f"Not provable: {why}."
    return obstacle(spec) or (RETURNS if by_return else PROGRAM)


def question_for(request: Request) -> Question | str:
    """The question that can be asked about a controller on a task; or why there is none, in a sentence."""
    question = question_about(request.spec.task)
    if question is not None and has_own(possible, request.controller.partition):
        return question
    return question_by_program(request)


def refusal_of(data: bytes | None, controller: Controller, task: Any) -> str | None:
    """Check the bytes of a certificate: why they do not prove a controller on a task, or None if they do.

    Where the task of a run is not declared in this process, a certificate about its source is about that source.

    >>> refusal_of(None, None, None)
    'nothing is proven, so there is nothing to certify.'
    """
    if data is None:
        return "nothing is proven, so there is nothing to certify."
    try:
        certificate = read_certificate(data)
        if isinstance(certificate, ProgramCertificate | ReturnCertificate | CoreCertificate):
            absent = isinstance(task, AbsentTask)
            if absent and certificate.task.name != task.name:
                raise DistinguoError(
                    f"The certificate is about {certificate.task.name}, this is {task.name}."
                )
            claim = None if absent else claim_like(certificate.task, task)
            check(certificate, policy_claim(controller, task), claim)
        else:
            check(certificate, controller_claim(controller), task_claim(task))
    except DistinguoError as error:
        return str(error)
    return None


# The certificates of a run folder: one file for each question that was asked.
#
# ``certificate.json`` answers the plain question; further conditions are in the name, as in
# ``certificate-disturbance-0.001.json``. A proof that fails leaves the answers to other questions alone.


PLAIN = "certificate.json"
CERTIFICATES = "certificate*.json"  #: all of them


def certificate_name(request: Request) -> str:
    """Return the name of the file for a request; the number of cells is not part of it.

    >>> certificate_name(Request(None, None, cells=1000))
    'certificate.json'
    >>> certificate_name(Request(None, None, disturbance=0.5, ranges={"mass": (0.95, 1.05)}))
    'certificate-disturbance-0.5-mass-0.95-1.05.json'
    """
    asked = [
        f"{name}-{getattr(request, name)}" for name in ("steps", "disturbance") if name in request.options
    ]
    asked += [
        f"{name}-{float(low)!r}-{float(high)!r}" for name, (low, high) in sorted(request.ranges.items())
    ]
    return PLAIN if not asked else f"certificate-{slug('-'.join(asked))}.json"


class Filed(NamedTuple):
    """The result of filing a certificate: its file, why there is none, and an earlier one for the same question."""

    path: Path | None
    refusal: str | None
    earlier: Path | None = None  #: that is still true of this controller


def file_certificate(certificate: Certificate | None, request: Request, folder: Path | None) -> Filed:
    """Check a certificate and write it if it is accepted.

    Earlier proofs stay: for this question unless they no longer hold, for others always.
    """
    data = None if certificate is None else certificate_text(certificate).encode()
    controller, task = request.controller, request.spec.task
    refusal = refusal_of(data, controller, task)
    if folder is None:
        return Filed(None, refusal)
    path = folder / certificate_name(request)
    if data is not None and refusal is None:
        write_atomically(path, data)
        return Filed(path, None)
    if not path.exists():
        return Filed(None, refusal)
    if refusal_in(path, controller, task) is None:
        return Filed(None, refusal, path)
    path.unlink()  # it is damaged, or about another controller
    return Filed(None, refusal)


def check_place(request: Request, folder: Path, own: bool) -> None:
    """Refuse a folder with a file in the place of the certificate that is not one, unless the folder is our own."""
    path = folder / certificate_name(request)
    if not own and path.exists() and not read_bytes(path, LARGEST_FILE).startswith(BEGINNING):
        raise DistinguoError(f"{path} exists and is not a certificate; choose another --out, or delete it.")


def refusal_in(path: Path, controller: Controller, task: Any) -> str | None:
    """Check a certificate file: why it does not prove a controller on a task, or None if it does."""
    try:
        return refusal_of(read_bytes(path, LARGEST_FILE), controller, task)
    except DistinguoError as error:
        return str(error)


class Fingerprint(NamedTuple):
    """The name and the SHA-256 of a certificate that was checked, and the domain that it claims, in words.

    >>> Fingerprint("certificate.json", "ab" * 32).domain
    ''
    """

    file: str
    sha256: str
    domain: str = ""


class Cited(NamedTuple):
    """The certificates of a folder: the first that is true of a controller, and why others cannot be cited."""

    certificate: Fingerprint | None
    refused: tuple[str, ...] = ()  #: a sentence each
    content: Certificate | None = None


def cited_in(folder: Path, controller: Controller, task: Any) -> Cited:
    """Check the certificates in a folder, the plain one first."""
    refused: list[str] = []
    for path in sorted(folder.glob(CERTIFICATES), key=lambda path: (path.name != PLAIN, path.name)):
        why = refusal_in(path, controller, task)
        if why is None:
            data = read_bytes(path, LARGEST_FILE)
            content = read_certificate(data)
            fingerprint = Fingerprint(path.name, hashlib.sha256(data).hexdigest(), _domain(content))
            return Cited(fingerprint, tuple(refused), content)
        refused.append(f"{path.name} is not cited: {why[0].lower()}{why[1:]}")
    return Cited(None, tuple(refused))


def _domain(certificate: Certificate) -> str:
    """Which states a certificate is about."""
    if isinstance(certificate, ArrivalCertificate):
        return certificate.domain
    if isinstance(certificate, ReturnCertificate):
        return f"{certificate.domain}, with {_ranges(certificate.task)}"
    if isinstance(certificate, ProgramCertificate):
        return _domain_of_program(certificate)
    if isinstance(certificate, CoreCertificate):
        when = "never fails" if certificate.closes else f"does not fail within {certificate.steps} steps"
        return f"{when}: all starts; {certificate.task.name} with {_ranges(certificate.task)}"
    cells = certificate.cells
    count = sum(last - first + 1 for _, first, last in cells.runs)
    grid = f"matrix {cells.matrix}, low {cells.low}, pitch {cells.pitch}, counts {cells.counts}"
    return f"never left: {count} cells of the grid with {grid}; {_parameters(certificate.task)}"


def _domain_of_program(certificate: ProgramCertificate) -> str:
    cells, whose = certificate.cells, "all starts and " if certificate.all_starts else ""
    count = sum(last - first + 1 for first, last in cells.runs)
    grid = f"matrix {cells.matrix}, low {cells.low}, pitch {cells.pitch}, counts {cells.counts}"
    task = certificate.task
    return f"never fails: {whose}{count} cells of the grid with {grid}; {task.name} with {_ranges(task)}"


def _ranges(task: Any) -> str:
    known = []
    for name, low in task.low.items():
        high = task.high[name]
        known.append(f"{name} {low!r}" if low == high else f"{name} {low!r} to {high!r}")
    return ", ".join(known)


def _parameters(task: Any) -> str:
    return f"puck with {_ranges(task)}, disturbed by up to {task.disturbance}"
