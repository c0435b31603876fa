"""Following a state everywhere a controller can take it: the compiled part of ``closure``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.proof.actions import possible_in_block, room
from distinguo.proof.enclosure import enclose
from distinguo.proof.grid import Grid, around, cell_box, coordinates, cover
from distinguo.representation.partition import region
from distinguo.seam import kernel, part
from distinguo.tasks.task import actions, transition, unpack

#: What is known of a state; a number of steps not below 0 says after how many it fails.
FOREVER, UNDECIDED = -1, -2
#: What is known of a cell: nothing, that all it leads to is safe, that the search under way has been there, or
#: that it leads to a step that could fail.
_NEW, _SAFE, _HERE, _BAD = 0, 1, 2, 3


class Room(NamedTuple):
    """Arrays that a search works in."""

    marks: np.ndarray  #: (cells, cells) what is known of each cell
    queue: np.ndarray  #: (budget, 3) cells touched, in order, and the place of the cell that led to each
    used: np.ndarray  #: (2,) cells in the queue, and cells touched by all searches
    seen: np.ndarray  #: (regions,) regions touched by any search
    stack: np.ndarray  #: for ``possible``


def make_room(grid: Grid, partition: Any, regions: int, budget: int) -> Room:
    """Make the arrays for searches over a grid."""
    marks, queue = np.zeros(grid.counts, dtype=np.int8), np.empty((budget, 3), dtype=np.int32)
    return Room(marks, queue, np.zeros(2, dtype=np.int64), np.zeros(regions, dtype=np.bool_), room(partition))


@part
def _touch(grid: Grid, work: Room, low: Any, high: Any, origin: int) -> bool:
    """Put the new cells of a box at the end of the queue; false if it is full or the box leads too far."""
    i0, i1, j0, j1 = cover(grid, low, high)
    if i0 < 0:
        return False
    for i in range(i0, i1 + 1):
        for j in range(j0, j1 + 1):
            if work.marks[i, j] == _BAD:
                return False
            if work.marks[i, j] == _NEW:
                if work.used[0] == len(work.queue):
                    return False
                work.marks[i, j] = _HERE
                work.queue[work.used[0], 0] = i
                work.queue[work.used[0], 1] = j
                work.queue[work.used[0], 2] = origin
                work.used[0] += 1
    return True


@part
def _expand(task: Any, partition: Any, sets: np.ndarray, grid: Grid, work: Room, at: int) -> bool:
    """Follow every possible action from one cell of the queue; false if a step could fail or lead too far."""
    i, j = work.queue[at, 0], work.queue[at, 1]
    chosen = possible_in_block(grid, partition, sets, i, j, 1, 1, work.seen, work.stack)
    low, high = cell_box(grid, i, j, 1, 1)
    for a in range(actions(task)):
        if (chosen >> a) & 1:
            first, last, stays = enclose(task, low, high, a)
            if not (stays and _touch(grid, work, first, last, at)):
                return False
    return True


@part
def _blame(work: Room, at: int) -> None:
    """Mark the cells that led to one from which a step could fail, so that no other search follows them again."""
    while at >= 0:
        work.marks[work.queue[at, 0], work.queue[at, 1]] = _BAD
        at = work.queue[at, 2]


@part
def _search(
    task: Any, partition: Any, sets: np.ndarray, grid: Grid, work: Room, s: Any, horizon: int
) -> bool:
    """Follow one state everywhere, for ``horizon`` steps if that is not negative.

    A cell met again needs no second visit: it was followed for longer the first time.
    """
    work.used[0] = 0
    low, high = around(coordinates(grid.matrix, s))
    if not _touch(grid, work, low, high, -1):
        return False
    at, level, steps = 0, work.used[0], 0
    while at < work.used[0] and steps != horizon:
        if not _expand(task, partition, sets, grid, work, at):
            if horizon < 0 and work.used[0] < len(work.queue):
                _blame(work, at)
            return False
        at += 1
        if at == level:
            level, steps = work.used[0], steps + 1
    return True


@kernel
def close(
    task: Any,
    partition: Any,
    sets: np.ndarray,
    grid: Grid,
    work: Room,
    states: np.ndarray,
    lengths: np.ndarray,
    horizon: int,
) -> None:
    """Search from every undecided state; what is proven for ever serves the states after it.

    As much as one search may cost, all that come to nothing may cost together: what exhausts one often exhausts all.
    """
    wasted = 0
    for n in range(len(states)):
        if lengths[n] != UNDECIDED or wasted >= len(work.queue):
            continue
        proven = _search(task, partition, sets, grid, work, (states[n, 0], states[n, 1]), horizon)
        if proven:
            lengths[n] = FOREVER
        else:
            wasted += work.used[0]
        mark = _SAFE if proven and horizon < 0 else _NEW
        for at in range(work.used[0]):
            if work.marks[work.queue[at, 0], work.queue[at, 1]] == _HERE:
                work.marks[work.queue[at, 0], work.queue[at, 1]] = mark
        work.used[1] += work.used[0]


@kernel
def rehearse(
    task: Any,
    partition: Any,
    sets: np.ndarray,
    states: np.ndarray,
    lengths: np.ndarray,
    visited: np.ndarray,
    steps: int,
) -> None:
    """Follow every state for some steps, or until chance would choose among tied actions."""
    for n in range(len(states)):
        s = unpack(task, states[n])
        for step in range(steps):
            j = region(partition, s)
            visited[j] = True
            a = 0
            while not (sets[j] >> a) & 1:
                a += 1
            if sets[j] != 1 << a:
                break
            s, _, terminal = transition(task, s, a)
            if terminal:
                lengths[n] = step + 1
                break
        for i in range(len(s)):
            states[n, i] = s[i]
