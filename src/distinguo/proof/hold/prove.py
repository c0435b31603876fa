"""From a controller to the certificate of a set of states that it never leaves, and the shares that it covers."""

from __future__ import annotations

from typing import Any, NamedTuple

from distinguo.controller import Controller
from distinguo.proof.claims import cells_claim, controller_claim, task_claim
from distinguo.proof.enclosure import widened
from distinguo.proof.hold.invariant import COUNTS, Held, held_set, maximal_set
from distinguo.proof.schema import HoldCertificate


class HoldProof(NamedTuple):
    """What was proven of a controller that should never fail."""

    task: Any  #: the tasks that the proof is about, such as ``Pucks``
    held: Held  #: the cells that the controller never leaves
    provable: Held  #: the cells that any controller can be proven never to leave
    certificate: HoldCertificate | None  #: nothing to certify if no cell is held

    @property
    def share_of_provable(self) -> float:
        """Return the share of the cells provable for any controller that are proven for this one."""
        return self.held.cells / self.provable.cells if self.provable.cells else 0.0


def prove_hold(task: Any, controller: Controller, counts: tuple[int, int] = COUNTS) -> HoldProof:
    """Prove what can be proven of the greedy policy of a controller, about one task or a set of them.

    >>> import numpy as np
    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.puck.puck import Puck
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> proof = prove_hold(Puck(), Controller(two, np.array([[0.0, -1.0], [-1.0, 0.0]])), counts=(256, 128))
    >>> proof.held.holds((0.0, 0.0)), proof.share_of_provable > 0.9
    (True, True)
    """
    tasks = as_set(task)
    provable = maximal_set(tasks, counts)
    held = held_set(tasks, controller, provable)
    certificate = _certificate(tasks, held, controller) if held.cells else None
    return HoldProof(tasks, held, provable, certificate)


def certify_task(task: Any, counts: tuple[int, int] = COUNTS) -> HoldCertificate:
    """Certify the greatest set that can be held by some controller, for a shield.

    >>> from distinguo.tasks.puck.puck import Puck
    >>> certify_task(Puck(), counts=(256, 128))
    <certificate: 10,420 cells of the puck that some controller never leaves>
    """
    tasks = as_set(task)
    return _certificate(tasks, maximal_set(tasks, counts))


def as_set(task: Any) -> Any:
    """Return the set of one task, with nothing unknown; a set is returned as it is."""
    return widened(task, {}, {}, (0.0, 0.0))


def _certificate(tasks: Any, held: Held, controller: Controller | None = None) -> HoldCertificate:
    grid = held.grid
    return HoldCertificate(
        task=task_claim(tasks),
        controller=None if controller is None else controller_claim(controller),
        cells=cells_claim(grid.matrix, grid.low, grid.pitch, held.alive),
    )
