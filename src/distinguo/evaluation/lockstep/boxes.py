"""Tables of boxes in lock-step: the list holds the places between the cuts that pass through the box.

For the other cuts, it is known on which side the lanes are. The places within the box have one bit each if they are
few enough; else all places of the table are entries, behind the first ``NEAR``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from distinguo.controller import TIED
from distinguo.evaluation.lockstep.lanes import (
    BITS,
    LANES,
    MOST_DIMENSIONS,
    PICKED,
    Lanes,
    apart,
    inlined,
    list_entries,
    make_block,
    make_lanes,
    pick_entries,
    widest_vectors,
)
from distinguo.representations.boxes import BoxTable
from distinguo.seam import implements, part
from distinguo.tasks.task import State

GROUP = 4  #: cuts of one coordinate that are compared in one pass over the lanes
NEAR = 64  #: entries that are kept for the places within the box, before those for all places


class BoxBlock(NamedTuple):
    """Lanes, the listed cuts and all cuts."""

    lanes: Lanes
    cuts: np.ndarray  #: the listed cuts, in groups; the last of a coordinate is filled up with NaN
    axes: np.ndarray  #: the coordinate of each group
    steps: np.ndarray  #: how many entries apart the two sides of a cut are, for each group
    groups: np.ndarray  #: (1,) how many are listed
    lowest: np.ndarray  #: (1,) the entry of the place below all listed cuts
    below: np.ndarray  #: (dimensions,) the cuts below the box
    within: np.ndarray  #: (dimensions,) the cuts through the box
    sizes: np.ndarray  #: (dimensions,) the cuts of each coordinate
    table: BoxTable


@make_block.register(BoxTable)
def make_box_block(partition: BoxTable, policy: np.ndarray, actions: int) -> BoxBlock:
    """Make room for all cuts, and write down the entries of all places."""
    dimensions, most = partition.cuts.shape
    groups = dimensions * -(-most // GROUP)
    places = partition.regions
    shape = np.array([len(places), *partition.strides[:-1]]) // partition.strides
    lanes = make_lanes(dimensions, NEAR + len(places), actions, np.arange(len(policy)))
    lanes.entries[NEAR:] = places
    lanes.policy[NEAR:] = np.maximum(policy, 0)[places]
    lanes.ties[NEAR:] = policy[places] == TIED
    return BoxBlock(
        lanes=lanes,
        cuts=np.zeros(groups * GROUP),
        axes=np.zeros(groups, dtype=np.int64),
        steps=np.zeros(groups, dtype=np.int64),
        groups=np.zeros(1, dtype=np.int64),
        lowest=np.zeros(1, dtype=np.int64),
        below=np.zeros(dimensions, dtype=np.int64),
        within=np.zeros(dimensions, dtype=np.int64),
        sizes=shape - 1,
        table=partition,
    )


@implements(pick_entries, BoxBlock)
def pick_places(block: BoxBlock, like: State, count: int, size: int) -> None:
    """Let every lane pick its place, starting from the one that is below all listed cuts."""
    inlined()
    widest_vectors()
    apart()
    numbers, marks, cuts = block.lanes.numbers, block.lanes.marks, block.cuts
    lowest = block.lowest[0]
    for lane in range(count):
        marks[PICKED + lane] = lowest
    for g in range(block.groups[0]):
        # known to be small and not negative: an index that might count from the end is not vectorised
        column = (block.axes[g] & (MOST_DIMENSIONS - 1)) * LANES
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


@implements(list_entries, BoxBlock)
def list_places(block: BoxBlock, like: State, everywhere: bool, pause: int) -> int:
    """List the cuts through the box; return the number of places between them, or a number that means too many."""
    dimensions, size = len(like), 1
    for i in range(dimensions):
        count_cuts(block, dimensions, i)
        size = min(size * (block.within[i] + 1), BITS + 1)
    block.groups[0] = 0
    block.lowest[0] = 1 if size <= BITS else NEAR
    step = 1
    for i in range(dimensions - 1, -1, -1):
        if size > BITS:
            step = block.table.strides[i]
            block.lowest[0] += block.below[i] * step
        list_cuts(block, i, step)
        step *= block.within[i] + 1
    if size <= BITS:
        copy_places(block, dimensions, size)
    return size


@part
def count_cuts(block: BoxBlock, dimensions: int, i: int) -> None:
    """Count the cuts of a coordinate that are below the box and those through it."""
    low, high = block.lanes.box[i], block.lanes.box[dimensions + i]
    below = within = 0
    for k in range(block.sizes[i]):
        cut = block.table.cuts[i, k]
        below += int(cut < low)
        within += int(low <= cut <= high)
    block.below[i], block.within[i] = below, within


@part
def list_cuts(block: BoxBlock, i: int, step: int) -> None:
    """List the cuts of a coordinate that pass through the box."""
    groups, within = block.groups[0], block.within[i]
    added = (within + GROUP - 1) // GROUP
    for k in range(added * GROUP):  # nothing is at or above NaN
        block.cuts[groups * GROUP + k] = block.table.cuts[i, block.below[i] + k] if k < within else np.nan
    for g in range(groups, groups + added):
        block.axes[g], block.steps[g] = i, step
    block.groups[0] = groups + added


@part
def copy_places(block: BoxBlock, dimensions: int, size: int) -> None:
    """Copy the entries of the places within the box to the front, in row-major order."""
    lanes = block.lanes
    for a in range(len(lanes.masks)):
        lanes.masks[a] = 0
    for c in range(size):
        place, rest = NEAR, c
        for i in range(dimensions - 1, -1, -1):
            sides = block.within[i] + 1
            place += (block.below[i] + rest % sides) * block.table.strides[i]
            rest //= sides
        lanes.entries[c], lanes.policy[c] = lanes.entries[place], lanes.policy[place]
        lanes.ties[c] = lanes.ties[place]
        lanes.masks[lanes.policy[c]] |= 1 << c
