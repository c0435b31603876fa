"""The checker's one entry: is a certificate true, and is it about this controller?

Nothing here, nor in what it imports, is code of the prover: the checker reads the certificate, knows the equations of
the tasks itself, and computes in numbers that carry a rigorous bound of their own error.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from flint import ctx

from distinguo.errors import DistinguoError
from distinguo.proof.checker.arrive import check_starts
from distinguo.proof.checker.core import check_core
from distinguo.proof.checker.hold import check_cells
from distinguo.proof.checker.program import check_program
from distinguo.proof.checker.returns import check_returns
from distinguo.proof.schema import (
    ArrivalCertificate,
    BoxesClaim,
    CarClaim,
    Certificate,
    CoreCertificate,
    HoldCertificate,
    ProgramCertificate,
    ProgramClaim,
    PrototypesClaim,
    PuckClaim,
    ReturnCertificate,
    VoronoiClaim,
)

PRECISION = 100  #: bits of the balls
CHECKS: dict[type, Any] = {
    HoldCertificate: check_cells,
    ArrivalCertificate: check_starts,
    ProgramCertificate: check_program,
    ReturnCertificate: check_returns,
    CoreCertificate: check_core,
}


class Checked(NamedTuple):
    """What a check went through."""

    cells: int  #: cells, or boxes of starts, that are certified, all of them verified
    blocks: int  #: blocks, or bundles, whose images were enclosed


def check(
    certificate: Certificate,
    controller: VoronoiClaim | BoxesClaim | PrototypesClaim | None = None,
    task: PuckClaim | CarClaim | ProgramClaim | None = None,
) -> Checked:
    """Verify every cell or box of starts of a certificate, and that it is about this controller and task, if given.

    A certificate about a range of tasks is about every task within. Raises a ``DistinguoError`` that says in one
    sentence why a certificate is refused.

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
    if controller is not None and not is_same_controller(certificate.controller, controller):
        raise DistinguoError("The certificate belongs to another controller.")
    if task is not None and (other := difference(certificate.task, task)):
        raise DistinguoError(f"The certificate belongs to another task: {other}.")
    with ctx.workprec(PRECISION):
        try:
            return Checked(*CHECKS[type(certificate)](certificate))
        except RecursionError:
            raise DistinguoError(
                "The certificate cannot be checked: its source is nested too deeply."
            ) from None


def is_same_controller(
    claimed: VoronoiClaim | BoxesClaim | PrototypesClaim | None,
    given: VoronoiClaim | BoxesClaim | PrototypesClaim | None,
) -> bool:
    """Tell whether two controllers do the same everywhere, also if their regions are numbered otherwise.

    >>> two = {"kind": "voronoi", "prototypes": [[0.0, 0.0], [1.0, 0.0]], "weight": [1.0, 1.0]}
    >>> gaps = VoronoiClaim(**two, primary=[1, 1], actions=[[0], [1]])
    >>> is_same_controller(gaps, VoronoiClaim(**two, primary=[0, 0], actions=[[1]]))
    True
    """
    if not isinstance(claimed, VoronoiClaim) or not isinstance(given, VoronoiClaim):
        return claimed == given
    places = claimed.prototypes == given.prototypes and claimed.weight == given.weight
    return places and _actions(claimed) == _actions(given)


def _actions(claim: VoronoiClaim) -> list[list[int]]:
    return [claim.actions[j] for j in claim.primary]


def difference(
    claimed: PuckClaim | CarClaim | ProgramClaim, given: PuckClaim | CarClaim | ProgramClaim
) -> str:
    """Say in what a task is not among those that a certificate is about; nothing if it is.

    >>> car = {"min_position": -1.2, "max_position": 0.6, "max_speed": 0.07, "goal_position": 0.5}
    >>> car |= {"goal_velocity": 0.0, "force": 0.001, "gravity": 0.0025}
    >>> heavy = CarClaim(name="MountainCar-v0", parameters={**car, "gravity": 0.003})
    >>> difference(CarClaim(name="MountainCar-v0", parameters=car), heavy)
    'it is about gravity = 0.0025, this has 0.003'
    """
    if claimed.name != given.name:
        return f"it is about {claimed.name}, this is {given.name}"
    for part in ("functions", "names", "constants", "dimensions", "actions"):
        if getattr(claimed, part, None) != getattr(given, part, None):
            return f"it is about {claimed.name} with other {part}"
    claimed_ranges, ranges = _ranges(claimed), _ranges(given)
    if list(claimed_ranges) != list(ranges):
        return f"it is about {claimed.name} with other parameters"
    for name, (low, high) in ranges.items():
        least, most = claimed_ranges[name]
        if not least <= low <= high <= most:
            return f"it is about {name} = {_range(least, most)}, this has {_range(low, high)}"
    return ""


def _ranges(claim: PuckClaim | CarClaim | ProgramClaim) -> dict[str, tuple[float, float]]:
    """Return every parameter from its least to its greatest; a disturbance begins with none."""
    if isinstance(claim, CarClaim):
        return {name: (value, value) for name, value in claim.parameters.items()}
    parameters = {name: (claim.low[name], claim.high[name]) for name in claim.low}
    if isinstance(claim, ProgramClaim):
        return parameters
    shakes = zip(("disturbance of x", "disturbance of v"), claim.disturbance, strict=True)
    return parameters | {name: (0.0, shake) for name, shake in shakes}


def _range(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
