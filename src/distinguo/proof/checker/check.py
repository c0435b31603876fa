"""The checker's one entry: is a certificate true, and is it about this controller?

Nothing here, nor in what it imports, is code of the prover: the checker reads the certificate, knows the equations of
the tasks itself, and computes in numbers that carry a rigorous bound of their own error.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from flint import ctx

from distinguo.errors import DistinguoError
from distinguo.proof.checker.arrive import check_starts
from distinguo.proof.checker.hold import check_cells
from distinguo.proof.schema import ArrivalCertificate, BoxesClaim, Certificate, HoldCertificate, VoronoiClaim

PRECISION = 100  #: bits of the balls
CHECKS: dict[type, Any] = {HoldCertificate: check_cells, ArrivalCertificate: check_starts}


class Checked(NamedTuple):
    """What a check went through."""

    cells: int  #: cells, or boxes of starts, that are certified, all of them verified
    blocks: int  #: blocks, or bundles, whose images were enclosed


def check(certificate: Certificate, controller: VoronoiClaim | BoxesClaim | None = None) -> Checked:
    """Verify every cell or box of starts of a certificate, and that it is about this controller if one is given.

    Raises a ``DistinguoError`` that says in one sentence why a certificate is refused.

    >>> from distinguo.proof.schema import CellsClaim, PuckClaim
    >>> from distinguo.tasks.puck.puck import Puck
    >>> puck = Puck()._asdict()
    >>> task = PuckClaim(name="puck", low=puck, high=puck, disturbance=[0.0, 0.0])
    >>> grid = {"matrix": [1.0, 0.0, 0.0, 1.0], "low": [-1.0, -1.0], "pitch": [1.0, 1.0], "counts": [2, 2]}
    >>> everything = CellsClaim(**grid, runs=[[0, 0, 1], [1, 0, 1]])
    >>> check(HoldCertificate(task=task, controller=None, cells=everything))
    Traceback (most recent call last):
    distinguo.errors.DistinguoError: The certificate is wrong: a step from the cell around (0.5000, 0.5000) may ...
    """
    if controller is not None and controller != certificate.controller:
        raise DistinguoError("The certificate belongs to another controller.")
    with ctx.workprec(PRECISION):
        return Checked(*CHECKS[type(certificate)](certificate))
