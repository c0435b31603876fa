"""Following a state everywhere a controller can take it: the compiled part of ``closure``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.proof.actions import ActionSets, possible_in_block
from distinguo.proof.enclosure import enclose
from distinguo.proof.grid import Grid, around, cell_box, coordinates, cover
from distinguo.representations.partition import region
from distinguo.seam import kernel, part
from distinguo.tasks.task import actions, transition, unpack

#: What is known of a state; a number of steps not below 0 says after how many it fails.
FOREVER, UNDECIDED = -1, -2
#: What is known of a cell: nothing, that all it leads to is safe, that the search under way has been there, or
#: that it leads to a step that could fail.
_NEW, _SAFE, _HERE, _BAD = 0, 1, 2, 3


class Search(NamedTuple):
    """What the searches over one grid write down."""

    marks: np.ndarray  #: (cells, cells) what is known of each cell
    queue: np.ndarray  #: (budget, 3) cells touched, in order, and the place of the cell that led to each
    used: np.ndarray  #: (2,) cells in the queue, and cells touched by all searches


def empty_search(grid: Grid, budget: int) -> Search:
    """Return a search of a grid of which nothing is known yet; one state may touch ``budget`` cells."""
    marks, queue = np.zeros(grid.counts, dtype=np.int8), np.empty((budget, 3), dtype=np.int32)
    return Search(marks, queue, np.zeros(2, dtype=np.int64))


@part
def _touch(grid: Grid, search: Search, low: Any, high: Any, origin: int) -> bool:
    """Put the new cells of a box at the end of the queue; false if it is full or the box leads too far."""
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
    """Follow every possible action from one cell of the queue; false if a step could fail or lead too far."""
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

    A cell met again needs no second visit: it was followed for longer the first time.
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

    As much as one search may cost, all that come to nothing may cost together: what exhausts one often exhausts all.
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
    """Move every state on by some steps, or until chance would choose among tied actions; note those that fail."""
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
