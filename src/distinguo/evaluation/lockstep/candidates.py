"""The list that all lanes share: the prototypes that can be nearest to a state anywhere in a box around the lanes.

A prototype is left out only if another one is nearer in the whole box, by more than rounding can hide; so looking
through the list gives the same prototype, bit for bit, as looking through them all.
"""

from __future__ import annotations

import numpy as np

from distinguo.controller import TIED
from distinguo.evaluation.lockstep.lanes import BITS, LANES, Block
from distinguo.evaluation.lockstep.tuples import closest, farthest, lead, load
from distinguo.representation.voronoi import Voronoi
from distinguo.seam import part
from distinguo.tasks.task import State

#: Squared distances in double precision err by less than 1e-14 of themselves in up to 40 dimensions.
SAFETY = 1e-12
TINY = 1e-290  #: beside numbers so small that they lose digits
PAIRWISE = 2048  #: the longest list that is thinned by comparing every two entries
ROOM = 0.25  #: how far the box reaches beyond the lanes on each side, in widths of theirs


@part
def surround(block: Block, dimensions: int, count: int, keep: bool) -> bool:
    """Draw the box around the lanes, with some room, and around its old self if asked; False if a lane is lost."""
    for i in range(dimensions):
        low = high = block.numbers[i * LANES]
        for lane in range(count):
            x = block.numbers[i * LANES + lane]
            if not -np.inf < x < np.inf:
                return False
            low, high = min(low, x), max(high, x)
        room = ROOM * (high - low)
        low, high = low - room, high + room
        if keep:
            low, high = min(low, block.box[i]), max(high, block.box[dimensions + i])
        block.box[i], block.box[dimensions + i] = low, high
    return True


@part
def open_wide(block: Block, dimensions: int) -> None:
    """Let the box hold everything."""
    for i in range(dimensions):
        block.box[i], block.box[dimensions + i] = -np.inf, np.inf


@part
def make_list(
    partition: Voronoi, block: Block, policy: np.ndarray, like: State, everything: bool, patience: int
) -> int:
    """List the prototypes that can be nearest within the box; return how many, padded to an even number.

    Comparing every two entries takes about as long as using the list for as many steps as it has entries, so this
    is only done for a list that may be in use that long.
    """
    size = list_all(block) if everything else list_within_reach(block, like)
    if size <= min(patience, PAIRWISE) and not everything:
        size = thin_out(block, like, size)
    return write_down(partition, block, policy, size)


@part
def list_all(block: Block) -> int:
    """List all prototypes."""
    for p in range(len(block.seen)):
        block.entries[p] = p
    return len(block.seen)


@part
def list_within_reach(block: Block, like: State) -> int:
    """List the prototypes that are somewhere not farther than some other one is everywhere."""
    dimensions = len(like)
    low, high = load(like, block.box, 0, 1), load(like, block.box, dimensions, 1)
    w = load(like, block.weight, 0, 1)
    least = np.inf
    for p in range(len(block.seen)):
        distance = farthest(load(like, block.everything, p * dimensions, 1), low, high, w, 0.0)
        least = distance if distance < least else least
    least = least * (1.0 + SAFETY) + TINY
    size = 0
    for p in range(len(block.seen)):
        if not closest(load(like, block.everything, p * dimensions, 1), low, high, w, 0.0) > least:
            block.entries[size] = p
            size += 1
    return size


@part
def thin_out(block: Block, like: State, size: int) -> int:
    """Take out of the list what another entry beats in the whole box."""
    dimensions = len(like)
    low, high = load(like, block.box, 0, 1), load(like, block.box, dimensions, 1)
    w = load(like, block.weight, 0, 1)
    kept = 0
    for c in range(size):
        p = load(like, block.everything, block.entries[c] * dimensions, 1)
        limit = -(SAFETY * farthest(p, low, high, w, 0.0) + TINY)
        beaten = False
        for other in range(size):
            # places below ``kept`` hold survivors, those above ``c`` what is still to be judged: any may beat it
            if other < kept or other > c:
                q = load(like, block.everything, block.entries[other] * dimensions, 1)
                if lead(p, q, low, high, w, 0.0) < limit:
                    beaten = True
                    break
        if not beaten:
            block.entries[kept] = block.entries[c]
            kept += 1
    return kept


@part
def write_down(partition: Voronoi, block: Block, policy: np.ndarray, size: int) -> int:
    """Copy what the lanes need of each entry; an odd list gets its last entry twice, which changes no pick."""
    padded = size + size % 2
    if size % 2:
        block.entries[size] = block.entries[size - 1]
    for a in range(len(block.masks)):
        block.masks[a] = 0
    dimensions = len(partition.weight)
    for c in range(padded):
        p = block.entries[c]
        for i in range(dimensions):
            block.places[c * dimensions + i] = partition.prototypes[p, i]
        action = policy[partition.primary[p]]
        block.ties[c] = action == TIED
        block.policy[c] = max(action, 0)
        if padded <= BITS:
            block.masks[block.policy[c]] |= 1 << c
    return padded
