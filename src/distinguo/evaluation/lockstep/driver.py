"""Greedy evaluation in lock-step, at the speed of C; without ties, with the same bits as :func:`evaluate`.

The trials run in blocks (:mod:`distinguo.evaluation.lockstep.lanes`). The list of a block is made again when a lane
leaves the box that it is good for, and at growing intervals, because the lanes may have come closer together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from distinguo.controller import TIED, Controller
from distinguo.evaluation.lockstep import boxes, voronoi  # noqa: F401 they implement the generics of a block
from distinguo.evaluation.lockstep.lanes import (
    LANES,
    MOST_DIMENSIONS,
    ORDER,
    VECTOR,
    Luck,
    Results,
    advance_lanes,
    draw_box,
    fill_up,
    find_ties,
    in_use,
    list_entries,
    make_block,
    note_visits,
    retire,
    widest_vectors,
)
from distinguo.evaluation.simulate import CHUNK_STEPS, Outcome
from distinguo.seam import has_own, is_compiled, kernel, part
from distinguo.tasks.task import State, observe, randomness, unpack

FRESH, RENEW, WIDEN = range(3)  #: states of the list
#: Steps until the first attempt at a shorter list; each pause is twice the one before.
FIRST_PAUSE = 8
#: The progress of a block: a structured array of one element, which compiled and plain code read by name. Aligned, as
#: Numba is slower with packed records; not a ``recarray``, whose type it would determine again at each call.
PROGRESS = np.dtype(
    [
        ("remaining", np.int64),  # trials that still run
        ("done", np.int64),  # steps
        ("size", np.int64),  # entries of the list
        ("state", np.int64),  # of the list: FRESH, RENEW or WIDEN
        ("pause", np.int64),  # steps between attempts at a shorter list
        ("age", np.int64),  # steps since the last attempt
        ("ended", np.int64),  # trials that ended in the last step
    ],
    align=True,
)


def evaluate_lockstep(
    task: Any, controller: Controller, rng: np.random.Generator, starts: np.ndarray, cap: int
) -> Outcome | None:
    """Follow the greedy policy from every start, as :func:`evaluate` does; None where lock-step is impossible.

    That is the case if the task is interpreted, is stochastic or has observations other than its states, and if there
    are no blocks for the partition.

    >>> from distinguo.representations.voronoi import voronoi
    >>> from distinguo.tasks.puck.puck import Puck
    >>> halves = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> two = Controller(halves, np.array([[0.0, -1.0], [-1.0, 0.0]]))
    >>> starts = np.array([[0.0, 0.0], [2.0, 2.0]])
    >>> evaluate_lockstep(Puck(), two, np.random.default_rng(0), starts, 1000).lengths.tolist()
    [1000, 9]
    """
    return advance_lockstep(task, controller, rng, np.array(starts, dtype=np.float64, order="C"), cap)


def advance_lockstep(
    task: Any, controller: Controller, rng: np.random.Generator, states: np.ndarray, cap: int
) -> Outcome | None:
    """The same from ``states``, which are replaced by the last states of trials still running at the cap."""
    if not _is_simple(task):
        return None
    policy = controller.policy
    block = make_block(controller.partition, policy, controller.q.shape[1])
    if block is None or not _fits(block, states):
        return None
    count, visited = len(states), np.zeros(len(policy), dtype=np.bool_)
    tied, luck = policy == TIED, None  # code without random choices is faster
    if tied.any():
        luck = Luck(rng, controller.action_sets, np.zeros(1, dtype=np.int64))
    results = Results(np.full(count, max(cap, 0)), np.zeros(count), np.zeros(count, dtype=np.bool_))
    for first in range(0, count, LANES):
        some = slice(first, first + LANES)
        _run_to_end(task, block, luck, states[some], Results(*(column[some] for column in results)), cap)
    visited[block.lanes.regions[block.lanes.seen]] = True
    return Outcome(*results, visited, tied=bool(tied[visited].any()))


def _is_simple(task: Any) -> bool:
    """Whether a task is compiled, deterministic, and observed as it is."""
    return is_compiled(task) and randomness(task) is None and not has_own(observe, task)


def _fits(block: Any, states: np.ndarray) -> bool:
    return states.ndim == 2 and 2 * states.shape[1] == len(block.lanes.box) <= 2 * MOST_DIMENSIONS


def _run_to_end(
    task: Any, block: Any, luck: Luck | None, states: np.ndarray, results: Results, cap: int
) -> None:
    """Run a block of trials until all have ended or reached the cap, where their states are left in ``states``."""
    count, dimensions = states.shape
    block.lanes.numbers[:] = 0.0
    columns, order = block.lanes.numbers.reshape(-1, LANES)[:dimensions], block.lanes.marks[ORDER:]
    columns[:, :count] = states.T
    order[:count] = np.arange(count)
    progress = np.array([(count, 0, 0, RENEW, FIRST_PAUSE, 0, 0)], dtype=PROGRESS)
    until, going_on = 0, count > 0
    while going_on and until < cap:
        until = min(until + CHUNK_STEPS, cap)
        going_on = run_block(task, block, luck, states[0], progress, until, results)
    remaining = progress["remaining"][0]
    states[order[:remaining]] = columns[:, :remaining].T


@kernel
def run_block(
    task: Any,
    block: Any,
    luck: Luck | None,
    row: np.ndarray,
    progress: np.ndarray,
    until: int,
    results: Results,
) -> bool:
    """Advance a block until ``until`` steps are done; return whether any trial still runs."""
    widest_vectors()
    like = unpack(task, row)  # only its length counts
    now, lanes = progress[0], block.lanes
    fill_up(lanes, len(like), now["remaining"])
    while now["remaining"] > 0 and now["done"] < until:
        if now["state"] != FRESH:
            everywhere = not draw_box(lanes, len(like), now["remaining"], now["state"] == WIDEN)
            now["size"] = list_entries(block, like, everywhere, now["pause"])
            now["state"] = FRESH
            if luck is not None:
                find_ties(lanes, now["size"], luck)
        advance_block(task, block, luck, like, progress, until)
        if now["ended"]:
            now["remaining"] = retire(lanes, len(like), now["remaining"], now["done"], results)
            now["pause"], now["age"] = FIRST_PAUSE, 0
    for lane in range(now["remaining"]):
        results.returns[lanes.marks[ORDER + lane]] = lanes.numbers[len(like) * LANES + lane]
    return now["remaining"] > 0


@part
def advance_block(
    task: Any, block: Any, luck: Luck | None, like: State, progress: np.ndarray, until: int
) -> None:
    """Take steps until a trial ends or leaves the box, or it is time to try for a shorter list."""
    now = progress[0]
    count = max(in_use(now["remaining"]), VECTOR)  # some trial remains, which the compiler does not know
    size = now["size"]
    most = min(until - now["done"], now["pause"] - now["age"])
    steps = advance_lanes(block, task, luck, like, count, size, most)
    note_visits(block.lanes, size, steps.picked)
    now["done"] += steps.taken
    now["age"] += steps.taken
    now["ended"] = steps.ended
    if steps.escaped:
        now["state"] = WIDEN
    elif now["age"] >= now["pause"]:
        now["age"], now["state"] = 0, RENEW
        now["pause"] *= 2
