"""Greedy evaluation over a table of boxes in lock-step, with the same bits as :func:`evaluate`.

The trials run in blocks of lanes, and only the cuts that pass through a box around all lanes are looked at: of the
others it is known on which side the lanes are. The box is drawn anew when a lane leaves it, and now and then because
the lanes have drawn together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import TIED, Controller
from distinguo.evaluation.lockstep.candidates import open_wide, surround
from distinguo.evaluation.lockstep.hints import inlined, widest_vectors
from distinguo.evaluation.lockstep.lanes import BITS, LANES, ORDER, PICKED, decide, move
from distinguo.evaluation.lockstep.voronoi import (
    AGE,
    DIMENSIONS,
    DONE,
    ENDED,
    FIRST_PAUSE,
    FRESH,
    LEFT,
    PAUSE,
    RENEW,
    SIZE,
    STALE,
    TIES,
    WIDEN,
    Told,
    fill_up,
    in_use,
    is_simple,
    note,
    retire,
)
from distinguo.evaluation.simulate import CHUNK, Outcome
from distinguo.representation.table import BoxTable
from distinguo.seam import kernel, part
from distinguo.tasks.task import unpack

GROUP = 4  #: cuts of one coordinate that are compared in one pass over the lanes
NEAR = 64  #: entries that are kept for the places within the box, before those for all places
GROUPS, FIRST = (
    TIES + 1,
    TIES + 2,
)  #: in ``course``: the listed groups of cuts, and the entry below all of them


class BoxBlock(NamedTuple):
    """A block of lanes, as in :class:`Block`, and the cuts that pass through the box around them.

    A place is picked by its entry: those within the box have one bit each while they are few enough, else all
    places of the table are entries, behind the first ``NEAR``.
    """

    numbers: np.ndarray  #: the state, one column per coordinate; then returns, ended
    marks: np.ndarray  #: the picked entry, the action, the number of the trial
    box: np.ndarray  #: low corner, high corner: while all lanes are inside, the list is complete
    cuts: np.ndarray  #: the listed cuts, in groups; the last of a coordinate is filled up with NaN
    axes: np.ndarray  #: the coordinate of each group
    steps: np.ndarray  #: how many entries apart the two sides of a cut are, for each group
    below: np.ndarray  #: (dimensions,) the cuts below the box
    within: np.ndarray  #: (dimensions,) the cuts through the box
    entries: np.ndarray  #: the region of each entry
    policy: np.ndarray  #: the action of each entry, 0 where several are tied
    ties: np.ndarray  #: whether the actions of each entry are tied
    masks: np.ndarray  #: (actions,) the bits of the entries with each action
    seen: np.ndarray  #: (regions,) whether each region held a lane
    sizes: np.ndarray  #: (dimensions,) the cuts of each coordinate
    table: BoxTable


def evaluate_boxes(task: Any, controller: Controller, starts: np.ndarray, cap: int) -> Outcome | None:
    """Follow the greedy policy from every start, as :func:`evaluate` does; None where only that one can.

    That is where a trial comes to a region with tied actions, and for other partitions than tables of boxes.

    >>> from distinguo.controller import TIED, Controller
    from distinguo.representation.boxes import grid
    >>> from distinguo.controller import TIED, Controller
    from distinguo.representation.table import tabulated
    >>> from distinguo.tasks.puck.puck import Puck
    >>> four = tabulated(grid([2, 2], low=[-2.4, -5.5], high=[2.4, 5.5]))
    >>> q = np.array([[-1.0, 0.0], [0.0, -1.0], [-1.0, 0.0], [0.0, -1.0]])
    >>> starts = np.array([[0.0, 0.0], [2.0, 2.0]])
    >>> evaluate_boxes(Puck(), Controller(four, q, 0.0), starts, 1000).lengths.tolist()
    [1000, 9]
    """
    partition, q = controller.partition, controller.q
    states = np.array(starts, dtype=np.float64, order="C")
    if not supported(task, partition, states):
        return None
    count = len(states)
    lengths, returns = np.full(count, max(cap, 0), dtype=np.int64), np.zeros(count)
    ended = np.zeros(count, dtype=np.bool_)
    block = make_block(partition, controller.policy, q.shape[1])
    for first in range(0, count, LANES):
        lanes = slice(first, first + LANES)
        told = Told(lengths[lanes], returns[lanes], ended[lanes])
        if not run_to_end(task, block, states[lanes], told, cap):
            return None
    return Outcome(lengths, returns, ended, block.seen, False)


def supported(task: Any, partition: Any, states: np.ndarray) -> bool:
    """Tell whether a compiled task, a table of boxes and not too many dimensions came together."""
    if not isinstance(partition, BoxTable) or not is_simple(task) or states.ndim != 2:
        return False
    return states.shape[1] == len(partition.strides) <= DIMENSIONS


def make_block(partition: BoxTable, policy: np.ndarray, choices: int) -> BoxBlock:
    """Make room for a block of lanes and for all cuts, and write down the entries of all places."""
    dimensions, most = partition.cuts.shape
    groups = dimensions * -(-most // GROUP)
    entries = np.concatenate([np.zeros(NEAR, dtype=np.int64), partition.regions])
    shape = np.array([len(partition.regions), *partition.strides[:-1]]) // partition.strides
    return BoxBlock(
        numbers=np.zeros((dimensions + 2) * LANES),
        marks=np.zeros(3 * LANES, dtype=np.int64),
        box=np.zeros(2 * dimensions),
        cuts=np.zeros(groups * GROUP),
        axes=np.zeros(groups, dtype=np.int64),
        steps=np.zeros(groups, dtype=np.int64),
        below=np.zeros(dimensions, dtype=np.int64),
        within=np.zeros(dimensions, dtype=np.int64),
        entries=entries,
        policy=np.maximum(policy, 0)[entries],
        ties=(policy == TIED).astype(np.int64)[entries],
        masks=np.zeros(max(choices, 2), dtype=np.int64),
        seen=np.zeros(len(policy), dtype=np.bool_),
        sizes=shape - 1,
        table=partition,
    )


def run_to_end(task: Any, block: BoxBlock, starts: np.ndarray, told: Told, cap: int) -> bool:
    """Run a block of trials until all have ended or come to the cap; False if one came to tied actions."""
    count, dimensions = starts.shape
    block.numbers[:] = 0.0
    block.numbers.reshape(-1, LANES)[:dimensions, :count] = starts.T
    block.marks[ORDER : ORDER + count] = np.arange(count)
    course = np.zeros(FIRST + 1, dtype=np.int64)
    course[LEFT], course[STALE], course[PAUSE] = count, RENEW, FIRST_PAUSE
    while course[LEFT] and course[DONE] < cap and not course[TIES]:
        run_boxes(task, block, starts[0], course, min(int(course[DONE]) + CHUNK, cap), told)
    return not course[TIES]


@kernel
def run_boxes(task: Any, block: Any, row: np.ndarray, course: np.ndarray, until: int, told: Told) -> None:
    """Advance a block until so many steps are done or no lane is left."""
    widest_vectors()
    like = unpack(task, row)  # only its length counts
    fill_up(block, len(like), course[LEFT])
    while course[LEFT] > 0 and course[DONE] < until and not course[TIES]:
        if course[STALE] != FRESH:
            renew(block, len(like), course)
        advance(task, block, like, course, until)
        if course[ENDED]:
            retire(block, len(like), course, told)
    for lane in range(course[LEFT]):
        told.returns[block.marks[ORDER + lane]] = block.numbers[len(like) * LANES + lane]


@part
def advance(task: Any, block: Any, like: Any, course: np.ndarray, until: int) -> None:
    """Take steps until a lane ends or leaves the box, or it is time to draw a smaller one."""
    lanes = in_use(course[LEFT])
    size, groups, entry = course[SIZE], course[GROUPS], course[FIRST]
    step = first = course[DONE]
    stop = min(until, first + course[PAUSE] - course[AGE])
    picked = ended = left = 0
    while step < stop and ended == 0 and left == 0:
        find_place(block, lanes, size, groups, entry)
        picked = decide(block, lanes, size, picked)
        ended, left = move(task, block, like, lanes)
        step += 1
    course[TIES] = note(block, size, picked)
    course[DONE], course[ENDED] = step, ended
    course[AGE] += step - first
    if left:
        course[STALE] = WIDEN
    elif course[AGE] >= course[PAUSE]:
        course[AGE], course[STALE] = 0, RENEW
        course[PAUSE] *= 2


@part
def find_place(block: Any, count: int, size: int, groups: int, first: int) -> None:
    """Let every lane pick the entry of its place, starting from the one that is below all listed cuts."""
    inlined()
    widest_vectors()
    numbers, marks, cuts = block.numbers, block.marks, block.cuts
    for lane in range(count):
        marks[PICKED + lane] = first
    for g in range(groups):
        # known to be small and not negative: an index that might count from the end is not vectorised
        column = (block.axes[g] & (DIMENSIONS - 1)) * LANES
        step = block.steps[g]
        a, b, c, d = cuts[GROUP * g], cuts[GROUP * g + 1], cuts[GROUP * g + 2], cuts[GROUP * g + 3]
        if size <= BITS:
            for lane in range(count):
                x, pick = numbers[column + lane], marks[PICKED + lane]
                pick = pick << step if x >= a else pick
                pick = pick << step if x >= b else pick
                pick = pick << step if x >= c else pick
                marks[PICKED + lane] = pick << step if x >= d else pick
        else:
            for lane in range(count):
                x, pick = numbers[column + lane], marks[PICKED + lane]
                pick = pick + step if x >= a else pick
                pick = pick + step if x >= b else pick
                pick = pick + step if x >= c else pick
                marks[PICKED + lane] = pick + step if x >= d else pick


@part
def renew(block: Any, dimensions: int, course: np.ndarray) -> None:
    """Draw the box and list its cuts anew."""
    if not surround(block, dimensions, course[LEFT], course[STALE] == WIDEN):
        open_wide(block, dimensions)
    size = 1
    for i in range(dimensions):
        count_cuts(block, dimensions, i)
        size = min(size * (block.within[i] + 1), BITS + 1)
    course[SIZE], course[GROUPS], course[STALE] = size, 0, FRESH
    course[FIRST] = 1 if size <= BITS else NEAR
    step = 1
    for i in range(dimensions - 1, -1, -1):
        if size > BITS:
            step = block.table.strides[i]
            course[FIRST] += block.below[i] * step
        course[GROUPS] = list_cuts(block, i, step, course[GROUPS])
        step *= block.within[i] + 1
    if size <= BITS:
        write_down(block, dimensions, size)


@part
def count_cuts(block: Any, dimensions: int, i: int) -> None:
    """Count the cuts of a coordinate that are below the box and those through it."""
    low, high = block.box[i], block.box[dimensions + i]
    below = within = 0
    for k in range(block.sizes[i]):
        cut = block.table.cuts[i, k]
        below += int(cut < low)
        within += int(low <= cut <= high)
    block.below[i], block.within[i] = below, within


@part
def list_cuts(block: Any, i: int, step: int, groups: int) -> int:
    """List the cuts of a coordinate that pass through the box, and return how many groups are listed now."""
    within = block.within[i]
    added = (within + GROUP - 1) // GROUP
    for k in range(added * GROUP):  # nothing is at or above NaN
        block.cuts[groups * GROUP + k] = block.table.cuts[i, block.below[i] + k] if k < within else np.nan
    for g in range(groups, groups + added):
        block.axes[g], block.steps[g] = i, step
    return groups + added


@part
def write_down(block: Any, dimensions: int, size: int) -> None:
    """Copy the entries of the places within the box to the front, in row-major order."""
    for a in range(len(block.masks)):
        block.masks[a] = 0
    for c in range(size):
        place, rest = NEAR, c
        for i in range(dimensions - 1, -1, -1):
            sides = block.within[i] + 1
            place += (block.below[i] + rest % sides) * block.table.strides[i]
            rest //= sides
        block.entries[c], block.policy[c] = block.entries[place], block.policy[place]
        block.ties[c] = block.ties[place]
        block.masks[block.policy[c]] |= 1 << c
