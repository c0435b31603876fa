"""From a controller to a checked certificate, and the shares that it covers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.errors import DistinguoError
from distinguo.proof.actions import action_bits
from distinguo.proof.certificate import Certificate, cells_claim, controller_claim, task_claim
from distinguo.proof.hold.closure import certify_states
from distinguo.proof.hold.hill import COUNTS, Held, held_set, maximal_set
from distinguo.proof.hold.puck import Pucks, pucks
from distinguo.tasks.puck.analysis import controllable
from distinguo.tasks.puck.puck import Puck

PROVEN, UNDECIDED, DOOMED = 2, 1, 0  #: what is known of a state, in pictures and shares


class Verification(NamedTuple):
    """What was proven of a controller."""

    task: Pucks
    held: Held  #: the cells that the controller never leaves
    provable: Held  #: the cells that any controller can be proven never to leave
    certificate: Certificate | None  #: nothing to certify if no cell is held

    @property
    def share_of_provable(self) -> float:
        """Return the share of the cells provable for any controller that are proven for this one."""
        return self.held.cells / self.provable.cells if self.provable.cells else 0.0

    def codes(self, xs: np.ndarray, vs: np.ndarray) -> np.ndarray:
        """Say of every state of a grid whether it is proven, doomed whatever is done, or undecided."""
        middle = Puck(*((a + b) / 2 for a, b in zip(self.task.low, self.task.high, strict=True)))
        known = [[self._code(middle, (float(x), float(v))) for v in vs] for x in xs]
        return np.array(known, dtype=np.int8)

    def _code(self, puck: Puck, s: tuple[float, float]) -> int:
        if not controllable(puck, s):
            return DOOMED
        return PROVEN if self.held.holds(s) else UNDECIDED


def verify(task: Any, controller: Controller, counts: tuple[int, int] = COUNTS) -> Verification:
    """Prove what can be proven of the greedy policy over a partition; the task is a ``Puck`` or a set of ``pucks``.

    >>> from distinguo.representation.voronoi import voronoi
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> found = verify(Puck(), Controller(two, np.array([[0.0, -1.0], [-1.0, 0.0]])), counts=(256, 128))
    >>> found.held.holds((0.0, 0.0)), found.share_of_provable > 0.9
    (True, True)
    """
    every, sets, partition = as_pucks(task), action_bits(controller), controller.partition
    provable = maximal_set(every, counts)
    held = held_set(every, partition, sets, provable)
    certificate = None
    if held.cells:
        certificate = _certificate(every, held).model_copy(
            update={"controller": controller_claim(partition, sets)}
        )
    return Verification(every, held, provable, certificate)


def certify_task(task: Any, counts: tuple[int, int] = COUNTS) -> Certificate:
    """Certify the greatest set that can be held by some controller, for a shield.

    >>> certify_task(Puck(), counts=(256, 128)).controller is None
    True
    """
    every = as_pucks(task)
    return _certificate(every, maximal_set(every, counts))


def _certificate(task: Pucks, held: Held) -> Certificate:
    claim = task_claim(task.low, task.high, (task.shake_x, task.shake_v))
    grid = held.grid
    return Certificate(
        task=claim, controller=None, cells=cells_claim(grid.matrix, grid.low, grid.pitch, held.alive)
    )


def as_pucks(task: Any) -> Pucks:
    """Return a task as a set of pucks; other tasks have no enclosure yet.

    >>> as_pucks(Puck()).shake_v
    0.0
    """
    if isinstance(task, Pucks):
        return task
    if isinstance(task, Puck):
        return pucks(task)
    raise DistinguoError(f"There is no enclosure for a {type(task).__name__}; only the puck can be proven.")


def never_fails(task: Any, controller: Controller, s: tuple[float, float]) -> bool:
    """Tell whether one state is proven, followed on its own rather than as part of a set of cells.

    >>> from distinguo.representation.voronoi import voronoi
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> never_fails(Puck(), Controller(two, np.array([[0.0, -1.0], [-1.0, 0.0]]), 0.0), (0.0, 0.0))
    True
    """
    every = as_pucks(task)
    plain = every.low == every.high and every.shake_x == every.shake_v == 0.0
    found = certify_states(every.low, controller, np.array([s]), enclosure=None if plain else every)
    return bool(found.proven[0])
