"""The list that all lanes share: the prototypes that can be nearest to a state anywhere in a box around the lanes.

A prototype is left out only if another one is nearer in the whole box, by more than rounding can hide; so looking
through the list gives the same prototype, bit for bit, as looking through them all.
"""

from __future__ import annotations

import numpy as np

from distinguo.representation.voronoi import Voronoi
from distinguo.seam import part
from distinguo.testing.evaluation import TIED
from distinguo.testing.lockstep_hints import inlined
from distinguo.testing.lockstep_lanes import BITS, LANES, Block

#: Squared distances in double precision err by less than 1e-14 of themselves in up to 40 dimensions.
SAFETY = 1e-12
TINY = 1e-290  #: beside numbers so small that they lose digits
PAIRWISE = 2048  #: the longest list that is thinned by comparing every two entries
ROOM = 0.25  #: how far the box reaches beyond the lanes on each side, in widths of theirs


@part
def surround(block: Block, dimensions: int, count: int, keep: bool) -> bool:
    """Draw the box around the lanes, with some room, and around its old self if asked; False if a lane is lost."""
    inlined()
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
def reach(partition: Voronoi, block: Block, p: int, farthest: bool) -> float:
    """Return the squared distance of a prototype to the farthest or the nearest state of the box."""
    inlined()
    dimensions = len(partition.weight)
    total = 0.0
    for i in range(dimensions):
        below = (partition.prototypes[p, i] - block.box[i]) * partition.weight[i]
        above = (block.box[dimensions + i] - partition.prototypes[p, i]) * partition.weight[i]
        d = max(below, above) if farthest else max(0.0, max(-below, -above))
        total += d * d
    return total


@part
def always_nearer(partition: Voronoi, block: Block, q: int, p: int) -> bool:
    """Tell whether prototype ``q`` is nearer than ``p`` at every state of the box.

    The difference of the two squared distances is affine, so it is greatest at a corner.
    """
    inlined()
    dimensions = len(partition.weight)
    greatest = 0.0
    for i in range(dimensions):
        w = partition.weight[i]
        a, b = partition.prototypes[p, i], partition.prototypes[q, i]
        slope = (a - b) * w
        low = slope * (((block.box[i] - a) + (block.box[i] - b)) * w)
        high = slope * (((block.box[dimensions + i] - a) + (block.box[dimensions + i] - b)) * w)
        greatest += max(low, high)
    return greatest < -(SAFETY * reach(partition, block, p, True) + TINY)


@part
def make_list(partition: Voronoi, block: Block, policy: np.ndarray, everything: bool, patience: int) -> int:
    """List the prototypes that can be nearest within the box; return how many, padded to an even number.

    Comparing every two entries takes about as long as using the list for as many steps as it has entries, so this
    is only done for a list that may be in use that long.
    """
    inlined()
    size = list_all(partition, block) if everything else list_within_reach(partition, block)
    if size <= min(patience, PAIRWISE) and not everything:
        size = thin_out(partition, block, size)
    return write_down(partition, block, policy, size)


@part
def list_all(partition: Voronoi, block: Block) -> int:
    """List all prototypes."""
    for p in range(partition.size[0]):
        block.entries[p] = p
    return int(partition.size[0])


@part
def list_within_reach(partition: Voronoi, block: Block) -> int:
    """List the prototypes that are somewhere not farther than some other one is everywhere."""
    inlined()
    least = np.inf
    for p in range(partition.size[0]):
        least = min(least, reach(partition, block, p, True))
    least = least * (1.0 + SAFETY) + TINY
    size = 0
    for p in range(partition.size[0]):
        if not reach(partition, block, p, False) > least:
            block.entries[size] = p
            size += 1
    return size


@part
def thin_out(partition: Voronoi, block: Block, size: int) -> int:
    """Take out of the list what another entry beats in the whole box."""
    inlined()
    kept = 0
    for c in range(size):
        p = block.entries[c]
        beaten = False
        for other in range(size):
            # places below ``kept`` hold survivors, those above ``c`` what is still to be judged: any may beat it
            if (other < kept or other > c) and always_nearer(partition, block, block.entries[other], p):
                beaten = True
                break
        if not beaten:
            block.entries[kept] = p
            kept += 1
    return kept


@part
def write_down(partition: Voronoi, block: Block, policy: np.ndarray, size: int) -> int:
    """Copy what the lanes need of each entry; an odd list gets its last entry twice, which changes no pick."""
    inlined()
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
