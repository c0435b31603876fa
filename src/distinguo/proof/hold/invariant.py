"""Invariant sets: the greatest set of cells that a controller, or any controller, never leaves.

Begin with all cells and remove those from which a step could fail or leave the set, until nothing changes. For a
given controller, every possible action of a cell must stay inside. The task's own *maximal set* only asks for some
action: it is the most that any controller can be proven to hold with these cells.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.proof.actions import ActionSets, action_sets_of, possible, possible_in_block
from distinguo.proof.enclosure import Grid, around, cell_box, coordinates, cover, enclose, grid_over, widened
from distinguo.proof.question import cells_claim, controller_claim, task_claim
from distinguo.proof.schema import HoldCertificate
from distinguo.representations.partition import region
from distinguo.seam import has_own, kernel, part
from distinguo.tasks.task import actions, transition, unpack

#: Cells per coordinate: enough to prove the diagonal wherever any controller can be proven.
COUNTS = (2048, 1024)
#: Images are widened by this share of a cell, so that a checker whose bounds are a little wider can follow.
LEEWAY = 1e-2
BLOCK = 16  #: cells along the side of a block whose possible actions are found at once


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
        """Whether a state certainly lies in the set."""
        low, high = around(coordinates(self.grid.matrix, (float(s[0]), float(s[1]))))
        return bool(inside(self.grid, self.alive, low, high))


@part
def inside(grid: Grid, alive: np.ndarray, low: Any, high: Any) -> bool:
    """Whether every cell that a box touches is in a set.

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
    """Whether every possible action, or some action, keeps a cell in the set."""
    for a in range(actions(task)):
        if (chosen >> a) & 1 and _keeps(task, grid, alive, i, j, a) != every:
            return not every
    return every


@kernel
def sweep(task: Any, grid: Grid, chosen: np.ndarray, every: bool, alive: np.ndarray, turn: int) -> int:
    """Go through all cells once, in one of four orders, and return how many were removed."""
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
    """Fill in the possible actions of every cell; if a block has only one set of actions, all its cells do."""
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
    """The greatest set that any controller can be proven to hold with ``counts`` cells."""
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
    """Return the set of one task; a set is returned as it is."""
    return widened(task, {}, {}, (0.0, 0.0))


def _certificate(tasks: Any, held: Held, controller: Controller | None = None) -> HoldCertificate:
    grid = held.grid
    return HoldCertificate(
        task=task_claim(tasks),
        controller=None if controller is None else controller_claim(controller),
        cells=cells_claim(grid.matrix, grid.low, grid.pitch, held.alive),
    )


# Single states that never fail: everything a controller can reach from them, cell by cell.
#
# From the cell of a state, follow every action that is possible there to all cells that its image touches, and so
# on. If this ends and no step could fail, the state never fails. If some step could, or the cells run out, the
# state is *undecided*: that is no proof of failure. A trial to a wall is.


__all__ = ["FOREVER", "UNDECIDED", "StateOutcomes", "certify_states", "is_provable"]

#: Cells per coordinate, coarse to fine; each is tried on the states that the one before left undecided.
RESOLUTIONS = ((400, 200), (1600, 800), (6400, 3200))
BUDGET = 60_000  #: cells that one search may touch
#: Steps that the program itself runs before the proof: early failures are then known, and the rest has settled.
FIRST_STEPS = 150


class StateOutcomes(NamedTuple):
    """What is known of each state, and the regions that this depends on."""

    lengths: np.ndarray  #: (states,) ``FOREVER``, ``UNDECIDED``, or the steps after which it fails
    visited: np.ndarray  #: (regions,) regions that any trial or any proof may have visited
    cells: int  #: cells that the proofs touched

    @property
    def proven(self) -> np.ndarray:
        """Which states never fail."""
        return self.lengths == FOREVER


def certify_states(
    task: Any,
    controller: Controller,
    states: np.ndarray,
    *,
    enclosure: Any = None,
    horizon: int = -1,
    first_steps: int = FIRST_STEPS,
    budget: int = BUDGET,
    resolutions: tuple[tuple[int, int], ...] = RESOLUTIONS,
) -> StateOutcomes:
    """Whether the greedy policy never fails, for each state; ties count as every tied action.

    ``enclosure`` may be a set of tasks, such as ``pucks(...)``; then there are no first steps, which would show
    only one of them. With a ``horizon``, the question is about that many steps only.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.puck.puck import Puck
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> q = np.array([[0.0, -1.0], [-1.0, 0.0]])
    >>> certify_states(Puck(), Controller(two, q, 0.0), np.array([[0.0, 0.0], [2.0, 2.0]])).lengths.tolist()
    [-1, 9]
    """
    policy, now = action_sets_of(controller), np.array(states, dtype=np.float64)
    lengths = np.full(len(now), UNDECIDED, dtype=np.int64)
    if enclosure is None and horizon < 0:
        run_first(task, policy, now, lengths, first_steps)
    enclosed, cells = task if enclosure is None else enclosure, 0
    for counts in resolutions:
        if not (lengths == UNDECIDED).any():
            break
        grid = closure_grid(enclosed, counts)
        search = empty_search(grid, budget)
        search_states(enclosed, policy, grid, search, now, lengths, horizon)
        cells += int(search.used[1])
    return StateOutcomes(lengths, policy.seen, cells)


def is_provable(task: Any, partition: Any) -> bool:
    """Whether ``certify_states`` can be asked about a task and a partition.

    >>> from distinguo.representations.boxes import grid
    >>> from distinguo.tasks.puck.puck import Puck
    >>> is_provable(Puck(), grid([2, 2], [0, 0], [1, 1])), is_provable("chess", grid([2, 2], [0, 0], [1, 1]))
    (True, False)
    """
    return has_own(enclose, task) and has_own(possible, partition)


def closure_grid(task: Any, counts: tuple[int, int]) -> Grid:
    """Return a cached grid for searches: finding the extent takes longer than many proofs."""
    key = (type(task), task, counts)
    if key not in _GRIDS:
        if len(_GRIDS) > 100:
            _GRIDS.clear()
        _GRIDS[key] = grid_over(task, counts)
    return _GRIDS[key]


_GRIDS: dict[Any, Grid] = {}


# Following a state everywhere a controller can take it: the compiled part of ``closure``.


#: What is known of a state; a number of steps not below 0 says after how many it fails.
FOREVER, UNDECIDED = -1, -2
#: What is known of a cell: nothing, that all it leads to is safe, that the search under way has been there, or
#: that it leads to a step that could fail.
_NEW, _SAFE, _HERE, _BAD = 0, 1, 2, 3


class Search(NamedTuple):
    """The data of the searches over one grid."""

    marks: np.ndarray  #: (cells, cells) what is known of each cell
    queue: np.ndarray  #: (budget, 3) cells touched, in order, and the place of the cell that led to each
    used: np.ndarray  #: (2,) cells in the queue, and cells touched by all searches


def empty_search(grid: Grid, budget: int) -> Search:
    """Return an empty search of a grid; one state may touch ``budget`` cells."""
    marks, queue = np.zeros(grid.counts, dtype=np.int8), np.empty((budget, 3), dtype=np.int32)
    return Search(marks, queue, np.zeros(2, dtype=np.int64))


@part
def _touch(grid: Grid, search: Search, low: Any, high: Any, origin: int) -> bool:
    """Append the new cells of a box to the queue; False if it is full or the box leads too far."""
    i0, i1, j0, j1 = cover(grid, low, high)
    if i0 < 0:
        return False
    for i in range(i0, i1 + 1):
        for j in range(j0, j1 + 1):
            if search.marks[i, j] == _BAD:
                return False
            if search.marks[i, j] == _NEW:
                if search.used[0] == len(search.queue):
                    return False
                search.marks[i, j] = _HERE
                search.queue[search.used[0], 0] = i
                search.queue[search.used[0], 1] = j
                search.queue[search.used[0], 2] = origin
                search.used[0] += 1
    return True


@part
def _expand(task: Any, policy: ActionSets, grid: Grid, search: Search, at: int) -> bool:
    """Follow every possible action from one cell of the queue; False if a step could fail or lead too far."""
    i, j = search.queue[at, 0], search.queue[at, 1]
    chosen = possible_in_block(policy, grid, i, j, 1, 1)
    low, high = cell_box(grid, i, j, 1, 1)
    for a in range(actions(task)):
        if (chosen >> a) & 1:
            first, last, stays = enclose(task, low, high, a)
            if not (stays and _touch(grid, search, first, last, at)):
                return False
    return True


@part
def _mark_bad(search: Search, at: int) -> None:
    """Mark the cells that led to one from which a step could fail, so that no other search follows them again."""
    while at >= 0:
        search.marks[search.queue[at, 0], search.queue[at, 1]] = _BAD
        at = search.queue[at, 2]


@part
def _is_safe(task: Any, policy: ActionSets, grid: Grid, search: Search, s: Any, horizon: int) -> bool:
    """Follow one state everywhere, for ``horizon`` steps if that is not negative.

    A cell that is met again needs no second visit: it was followed for longer the first time.
    """
    search.used[0] = 0
    low, high = around(coordinates(grid.matrix, s))
    if not _touch(grid, search, low, high, -1):
        return False
    at, level, steps = 0, search.used[0], 0
    while at < search.used[0] and steps != horizon:
        if not _expand(task, policy, grid, search, at):
            if horizon < 0 and search.used[0] < len(search.queue):
                _mark_bad(search, at)
            return False
        at += 1
        if at == level:
            level, steps = search.used[0], steps + 1
    return True


@kernel
def search_states(
    task: Any,
    policy: ActionSets,
    grid: Grid,
    search: Search,
    states: np.ndarray,
    lengths: np.ndarray,
    horizon: int,
) -> None:
    """Search from every undecided state; what is proven for ever serves the states after it.

    All failed searches together may cost as much as one search: what exhausts one often exhausts all.
    """
    wasted = 0
    for n in range(len(states)):
        if lengths[n] != UNDECIDED or wasted >= len(search.queue):
            continue
        proven = _is_safe(task, policy, grid, search, (states[n, 0], states[n, 1]), horizon)
        if proven:
            lengths[n] = FOREVER
        else:
            wasted += search.used[0]
        mark = _SAFE if proven and horizon < 0 else _NEW
        for at in range(search.used[0]):
            if search.marks[search.queue[at, 0], search.queue[at, 1]] == _HERE:
                search.marks[search.queue[at, 0], search.queue[at, 1]] = mark
        search.used[1] += search.used[0]


@kernel
def run_first(task: Any, policy: ActionSets, states: np.ndarray, lengths: np.ndarray, steps: int) -> None:
    """Advance every state by some steps, or until actions are tied; note those that fail."""
    for n in range(len(states)):
        s = unpack(task, states[n])
        for step in range(steps):
            j = region(policy.partition, s)
            policy.seen[j] = True
            preferred = policy.sets[j]
            a = 0
            while not (preferred >> a) & 1:
                a += 1
            if preferred != 1 << a:
                break
            s, _, terminal = transition(task, s, a)
            if terminal:
                lengths[n] = step + 1
                break
        for i in range(len(s)):
            states[n, i] = s[i]
