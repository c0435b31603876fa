"""Invariant sets: the greatest set of cells that a controller, or any controller, never leaves.

Begin with all cells and strike out those from which a step could fail or leave the set, until nothing changes. For a
given controller every possible action of a cell must stay inside. The task's own *maximal set* asks for some action
only: it is what any controller at all can be proven to hold with these cells.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.proof.actions import ActionSets, action_sets_of, possible_in_block
from distinguo.proof.claims import cells_claim, controller_claim, task_claim
from distinguo.proof.enclosure import enclose, widened
from distinguo.proof.grid import Grid, around, cell_box, coordinates, cover, grid_over
from distinguo.proof.schema import HoldCertificate
from distinguo.seam import kernel, part
from distinguo.tasks.task import actions

#: Cells per coordinate: enough to prove the diagonal for what any controller can be proven for.
COUNTS = (2048, 1024)
#: Images are widened by this share of a cell, so that a checker whose bounds are a little wider can follow.
LEEWAY = 1e-2
BLOCK = 16  #: cells along the side of a block whose possible actions are asked first, in one question


class Held(NamedTuple):
    """A set of cells that is never left.

    >>> from distinguo.proof.hold.puck import Puck
    >>> held = maximal_set(Puck(), (256, 128))
    >>> held.holds((0.0, 0.0)), held.holds((1.0, 0.0))
    (True, False)
    """

    grid: Grid
    alive: np.ndarray  #: (cells, cells) whether each cell is in the set

    @property
    def cells(self) -> int:
        """Return the number of cells in the set."""
        return int(self.alive.sum())

    def holds(self, s: Any) -> bool:
        """Tell whether a state certainly lies in the set."""
        low, high = around(coordinates(self.grid.matrix, (float(s[0]), float(s[1]))))
        return bool(inside(self.grid, self.alive, low, high))


@part
def inside(grid: Grid, alive: np.ndarray, low: Any, high: Any) -> bool:
    """Tell whether every cell that a box touches is in a set.

    >>> four = Grid((1.0, 0.0, 0.0, 1.0), (0.0, 0.0), (1.0, 1.0), (2, 2))
    >>> some = np.array([[True, True], [True, False]])
    >>> inside(four, some, (0.2, 0.2), (0.8, 1.8)), inside(four, some, (0.2, 0.2), (1.8, 1.8))
    (True, False)
    """
    i0, i1, j0, j1 = cover(grid, low, high)
    if i0 < 0:
        return False
    for i in range(i0, i1 + 1):
        for j in range(j0, j1 + 1):
            if not alive[i, j]:
                return False
    return True


@part
def _keeps(task: Any, grid: Grid, alive: np.ndarray, i: int, j: int, a: int) -> bool:
    low, high = cell_box(grid, i, j, 1, 1)
    first, last, stays = enclose(task, low, high, a)
    if not stays:
        return False
    p, q = LEEWAY * grid.pitch[0], LEEWAY * grid.pitch[1]
    return inside(grid, alive, (first[0] - p, first[1] - q), (last[0] + p, last[1] + q))


@part
def _stays(task: Any, grid: Grid, alive: np.ndarray, i: int, j: int, chosen: int, every: bool) -> bool:
    """Tell whether every possible action, or some action, keeps a cell in the set."""
    for a in range(actions(task)):
        if (chosen >> a) & 1 and _keeps(task, grid, alive, i, j, a) != every:
            return not every
    return every


@kernel
def sweep(task: Any, grid: Grid, chosen: np.ndarray, every: bool, alive: np.ndarray, turn: int) -> int:
    """Go through all cells once, in one of four orders, and return how many were struck out."""
    rows, columns = alive.shape
    struck = 0
    for m in range(rows):
        i = m if turn & 1 else rows - 1 - m
        for n in range(columns):
            j = n if turn & 2 else columns - 1 - n
            if alive[i, j] and not _stays(task, grid, alive, i, j, chosen[i, j], every):
                alive[i, j] = False
                struck += 1
    return struck


@kernel
def choose_everywhere(policy: ActionSets, grid: Grid, chosen: np.ndarray) -> None:
    """Fill in the possible actions of every cell; a block that knows only one set of actions settles its cells."""
    rows, columns = chosen.shape
    for i in range(0, rows, BLOCK):
        for j in range(0, columns, BLOCK):
            m, n = min(BLOCK, rows - i), min(BLOCK, columns - j)
            whole = possible_in_block(policy, grid, i, j, m, n)
            single = whole & (whole - 1) == 0
            for k in range(i, i + m):
                for e in range(j, j + n):
                    chosen[k, e] = whole if single else possible_in_block(policy, grid, k, e, 1, 1)


def greatest(task: Any, grid: Grid, chosen: np.ndarray, every: bool, alive: np.ndarray | None = None) -> Held:
    """Return the greatest set of cells that is never left, beginning with all cells or with some."""
    remaining = np.ones(grid.counts, dtype=np.bool_) if alive is None else alive.copy()
    turn = 0
    while sweep(task, grid, chosen, every, remaining, turn % 4):
        turn += 1
    return Held(grid, remaining)


def maximal_set(task: Any, counts: tuple[int, int] = COUNTS) -> Held:
    """Return what any controller at all can be proven to hold with so many cells."""
    grid = grid_over(task, counts)
    chosen = np.full(counts, (1 << actions(task)) - 1, dtype=np.int64)
    return greatest(task, grid, chosen, False)


def held_set(task: Any, controller: Controller, within: Held) -> Held:
    """Return the greatest set of cells that a controller is proven to hold, inside a set that bounds it.

    >>> from distinguo.proof.hold.puck import Puck
    >>> from distinguo.representations.voronoi import voronoi
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> whole = maximal_set(Puck(), (256, 128))
    >>> held_set(Puck(), Controller(two, np.array([[0.0, -1.0], [-1.0, 0.0]])), whole).cells / whole.cells > 0.9
    True
    """
    chosen = np.empty(within.grid.counts, dtype=np.int64)
    choose_everywhere(action_sets_of(controller), within.grid, chosen)
    return greatest(task, within.grid, chosen, True, within.alive)


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
