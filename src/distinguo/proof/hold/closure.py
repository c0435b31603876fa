"""Single states that never fail: everything a controller can reach from them, cell by cell.

From the cell of a state, follow every action that is possible there to all cells that its image touches, and so on.
If this comes to an end and no step could fail, the state never fails. If some step could, or the cells run out, the
state is *undecided*: that is no proof of failure. A state that was followed to a wall is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.proof.actions import action_sets_of, possible
from distinguo.proof.enclosure import enclose
from distinguo.proof.grid import Grid, grid_over
from distinguo.proof.hold.search import FOREVER, UNDECIDED, empty_search, run_first, search_states
from distinguo.seam import has_own

__all__ = ["FOREVER", "UNDECIDED", "StateOutcomes", "certify_states", "is_provable"]

#: Cells per coordinate, coarse to fine; each is tried on the states that the one before left undecided.
RESOLUTIONS = ((400, 200), (1600, 800), (6400, 3200))
BUDGET = 60_000  #: cells that one search may touch
#: Steps that the program itself runs before the proof: what falls soon is known, and the rest has settled.
FIRST_STEPS = 150


class StateOutcomes(NamedTuple):
    """What is known of each state, and the regions that this knowledge rests on."""

    lengths: np.ndarray  #: (states,) ``FOREVER``, ``UNDECIDED``, or the steps after which it fails
    visited: np.ndarray  #: (regions,) regions that any trial or any proof may have come through
    cells: int  #: cells that the proofs touched

    @property
    def proven(self) -> np.ndarray:
        """Return which states never fail."""
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
    """Say of each state whether the greedy policy never fails from it; ties count as every tied action.

    ``enclosure`` may stand for more than the task, such as ``pucks(...)``; first steps would then show one puck
    out of many, so there are none. With a ``horizon`` the question is about so many steps only.

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
    """Tell whether ``certify_states`` can be asked about a task and a partition.

    >>> from distinguo.representations.boxes import grid
    >>> from distinguo.tasks.puck.puck import Puck
    >>> is_provable(Puck(), grid([2, 2], [0, 0], [1, 1])), is_provable("chess", grid([2, 2], [0, 0], [1, 1]))
    (True, False)
    """
    return has_own(enclose, task) and has_own(possible, partition)


def closure_grid(task: Any, counts: tuple[int, int]) -> Grid:
    """Return a grid for searches, kept for the next time: finding the extent takes longer than many proofs."""
    key = (type(task), task, counts)
    if key not in _GRIDS:
        if len(_GRIDS) > 100:
            _GRIDS.clear()
        _GRIDS[key] = grid_over(task, counts)
    return _GRIDS[key]


_GRIDS: dict[Any, Grid] = {}
