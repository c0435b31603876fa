"""An independent check of a certificate of arrival, in ball arithmetic (Arb).

Every box of starts is followed anew, as bundles (``arrive_balls``), for the steps that the certificate allows it. A
bundle that may go on in several ways is halved where that makes fewer of them, and followed in all of them where it
does not. A box that does not certainly arrive is halved; one that fails four times over refutes the certificate.
"""

from __future__ import annotations

from flint import arb

from distinguo.errors import DistinguoError
from distinguo.proof.checker.actions import decisions
from distinguo.proof.checker.balls import NOTHING, BallBundle, CarEquations, StateBlock, bundle_of
from distinguo.proof.schema import ArrivalCertificate

HALVINGS = 4  #: how often a box of starts may be halved
BUDGET = 50_000  #: steps of bundles that one box of starts may take
#: An observation is a state rounded to 32 bits, half a unit of the last of 24 digits; tiny numbers have fewer.
HALF_UNIT, TINY = arb(2) ** -24, arb(2) ** -149
ACTIONS = 3


class ArrivalChecker:
    """Follows bundles under the controller of a certificate."""

    def __init__(self, certificate: ArrivalCertificate) -> None:
        self.car = CarEquations(certificate.task)
        self.decisions = decisions(certificate.controller)
        self.bundles = 0

    def arrives(self, box: list[float], steps: int, halvings: int = HALVINGS) -> bool:
        """Tell whether a box of starts certainly arrives within so many steps."""
        if self._follow(bundle_of(box), steps):
            return True
        return halvings > 0 and all(self.arrives(half, steps, halvings - 1) for half in _halves(box))

    def _follow(self, first: BallBundle, steps: int) -> bool:
        todo: list[tuple[BallBundle, int, list[BallBundle | None]]] = [(first, 0, self._ways(first))]
        limit = self.bundles + BUDGET
        while todo:
            bundle, done, ways = todo.pop()
            if self.bundles > limit:
                return False
            halves = self._halved(bundle, ways)
            if halves:
                todo += [(half, done, its_ways) for half, its_ways in halves]
                continue
            going = [way for way in ways if way is not None]
            if going and done + 1 == steps:
                return False
            todo += [(way, done + 1, self._ways(way)) for way in going]
        return True

    def _ways(self, bundle: BallBundle) -> list[BallBundle | None]:
        """Return all that one step may lead to."""
        self.bundles += 1
        chosen = self.decisions.possible(observed(bundle))
        if max(chosen) >= ACTIONS:
            raise DistinguoError("The certificate is wrong: its controller takes actions that the car lacks.")
        return [way for a in chosen for way in self.car.outcomes(bundle, a)]

    def _halved(
        self, bundle: BallBundle, ways: list[BallBundle | None]
    ) -> list[tuple[BallBundle, list[BallBundle | None]]]:
        """Return the halves with their ways, if there are several and halving makes fewer."""
        if len(ways) < 2 or not _is_long(bundle):
            return []
        halves = [(half, self._ways(half)) for half in bundle.halves()]
        return halves if sum(len(its_ways) for _, its_ways in halves) < 2 * len(ways) else []


def _is_long(bundle: BallBundle) -> bool:
    """Tell whether a bundle is longer than what is unknown of it."""
    return bool(abs(bundle.dx.mid()) > bundle.x.rad() or abs(bundle.dv.mid()) > bundle.v.rad())


def observed(bundle: BallBundle) -> StateBlock:
    """Return the observations of a bundle: a centre, and edges for its length, what is unknown, and rounding.

    >>> float(observed(BallBundle(arb(0.5), arb(0), arb(0.25), arb(0))).rx) > 0.25
    True
    """
    off_x = bundle.x.rad() + HALF_UNIT * abs(bundle.all_x) + TINY
    off_v = bundle.v.rad() + HALF_UNIT * abs(bundle.all_v) + TINY
    edges = ((bundle.dx, bundle.dv), (off_x, NOTHING), (NOTHING, off_v))
    return StateBlock(bundle.x.mid(), bundle.v.mid(), abs(bundle.dx) + off_x, abs(bundle.dv) + off_v, edges)


def _halves(box: list[float]) -> list[list[float]]:
    x0, x1, v0, v1 = box
    if x1 - x0 >= v1 - v0:
        middle = (x0 + x1) / 2
        return [[x0, middle, v0, v1], [middle, x1, v0, v1]]
    middle = (v0 + v1) / 2
    return [[x0, x1, v0, middle], [x0, x1, middle, v1]]


def check_starts(certificate: ArrivalCertificate) -> tuple[int, int]:
    """Verify every box of starts, or raise: how many there are, and how many steps of bundles it took."""
    checker, starts = ArrivalChecker(certificate), certificate.starts
    for box, steps in zip(starts.boxes, starts.steps, strict=True):
        if not checker.arrives(box, steps):
            raise DistinguoError(
                f"The certificate is wrong: a start between ({box[0]:.4f}, {box[2]:.4f}) and ({box[1]:.4f}, "
                f"{box[3]:.4f}) may not be at the goal after {steps} steps."
            )
    return len(starts.boxes), checker.bundles
