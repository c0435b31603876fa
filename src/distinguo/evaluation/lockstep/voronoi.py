"""Voronoi partitions in lock-step: the list holds the prototypes that can be nearest to a state anywhere in the box.

A prototype is left out only if another one is nearer in the whole box, by more than rounding can hide. So a search of
the list finds the same prototype, bit for bit, as a search of all prototypes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import TIED
from distinguo.evaluation.lockstep.lanes import (
    BITS,
    LANES,
    PICKED,
    Lanes,
    Steps,
    advance_lanes,
    apart,
    choose_actions,
    closest,
    farthest,
    inlined,
    lead,
    list_entries,
    make_block,
    make_lanes,
    move,
    move_lane,
    pick_entries,
    read_state,
    squared_distance,
    widest_vectors,
)
from distinguo.representations.voronoi import Voronoi
from distinguo.seam import implements, part
from distinguo.tasks.task import State

#: Squared distances in double precision err by less than 1e-14 of themselves in up to 40 dimensions.
SAFETY = 1e-12
SMALLEST = 1e-290  #: squared distances below this lose digits
PAIRWISE = 2048  #: the longest list that is thinned by comparing every two entries


class VoronoiBlock(NamedTuple):
    """Lanes, the listed prototypes and all prototypes."""

    lanes: Lanes
    places: np.ndarray  #: the coordinates of the listed prototypes, one row after the other
    everything: np.ndarray  #: the coordinates of all prototypes, one row after the other
    actions: np.ndarray  #: (prototypes,) the action of each, ``TIED`` where there are several
    weight: np.ndarray  #: (dimensions,)


class TwoActionBlock(VoronoiBlock):
    """The same for two actions without ties: the last two entries are compared in the loop that moves the lanes."""

    __slots__ = ()


@make_block.register(Voronoi)
def make_voronoi_block(partition: Voronoi, policy: np.ndarray, actions: int) -> VoronoiBlock:
    """Make room for lists of any length; the last of an odd number of prototypes is listed twice."""
    size, dimensions = partition.prototypes.shape
    kind = TwoActionBlock if actions == 2 and not (policy == TIED).any() else VoronoiBlock
    return kind(
        lanes=make_lanes(dimensions, size + 1, actions, partition.regions),
        places=np.zeros((size + 1) * dimensions),
        everything=partition.prototypes.ravel(),
        actions=policy[partition.regions],
        weight=partition.weight,
    )


@implements(pick_entries, VoronoiBlock)
@part
def pick_nearest(block: VoronoiBlock, like: State, count: int, size: int) -> None:
    """Let every lane pick the nearest prototype of the list, which is padded to an even size."""
    inlined()
    for c in range(0, size, 2):
        if size <= BITS:
            pick_nearer(block, like, count, c, 1 << c, 2 << c)
        else:
            pick_nearer(block, like, count, c, c, c + 1)


@part
def pick_nearer(block: VoronoiBlock, like: State, count: int, c: int, first: int, second: int) -> None:
    """Let every lane pick the nearer of the entries ``c`` and ``c + 1``; at ``c > 0`` if nearer than its pick."""
    inlined()
    widest_vectors()
    apart()
    numbers, marks = block.lanes.numbers, block.lanes.marks
    best = (len(like) + 2) * LANES
    w = read_state(like, block.weight, 0, 1)
    p = read_state(like, block.places, c * len(like), 1)
    o = read_state(like, block.places, (c + 1) * len(like), 1)
    if c == 0:
        for lane in range(count):
            s = read_state(like, numbers, lane, LANES)
            near, other = squared_distance(s, p, w, 0.0), squared_distance(s, o, w, 0.0)
            numbers[best + lane] = other if other < near else near
            marks[PICKED + lane] = second if other < near else first
        return
    for lane in range(count):
        s = read_state(like, numbers, lane, LANES)
        near, pick = numbers[best + lane], marks[PICKED + lane]
        here, other = squared_distance(s, p, w, 0.0), squared_distance(s, o, w, 0.0)
        pick = first if here < near else pick
        near = here if here < near else near
        numbers[best + lane] = other if other < near else near
        marks[PICKED + lane] = second if other < near else pick


@implements(advance_lanes, TwoActionBlock)
def advance_with_two_actions(
    block: TwoActionBlock, task: Any, luck: None, like: State, count: int, size: int, most: int
) -> Steps:
    """Take steps, with one loop for the comparison with the last two entries of a short list and for the move."""
    if size <= BITS:
        return advance_with_short_list(block, task, like, count, size - 2, most)
    taken = ended = escaped = 0
    while taken < most and ended == 0 and escaped == 0:
        pick_nearest(block, like, count, size)
        choose_actions(block.lanes, count, size, 0)
        ended, escaped = move(task, block.lanes, like, count)
        taken += 1
    return Steps(taken, 0, ended, escaped)


@part
def advance_with_short_list(
    block: TwoActionBlock, task: Any, like: State, count: int, c: int, most: int
) -> Steps:
    """Take steps with a list whose last entries are ``c`` and ``c + 1``."""
    widest_vectors()
    apart()
    lanes = block.lanes
    numbers, marks, best = lanes.numbers, lanes.marks, (len(like) + 2) * LANES
    first, second, one = 1 << c, 2 << c, lanes.masks[1]
    low, high = read_state(like, lanes.box, 0, 1), read_state(like, lanes.box, len(like), 1)
    w = read_state(like, block.weight, 0, 1)
    p = read_state(like, block.places, c * len(like), 1)
    o = read_state(like, block.places, (c + 1) * len(like), 1)
    taken = picked = ended = escaped = 0
    while taken < most and ended == 0 and escaped == 0:
        for d in range(0, c, 2):
            pick_nearer(block, like, count, d, 1 << d, 2 << d)
        for lane in range(count):
            s = read_state(like, numbers, lane, LANES)
            near, pick = numbers[best + lane], marks[PICKED + lane]
            here, other = squared_distance(s, p, w, 0.0), squared_distance(s, o, w, 0.0)
            pick = first if here < near else pick
            near = here if here < near else near
            pick = second if other < near else pick
            terminal, out = move_lane(task, lanes, lane, s, 1 if pick & one else 0, low, high)
            picked |= pick
            ended += terminal
            escaped += out
        taken += 1
    return Steps(taken, picked, ended, escaped)


@implements(list_entries, TwoActionBlock)
def list_for_two_actions(block: TwoActionBlock, like: State, everywhere: bool, pause: int) -> int:
    """List the prototypes; in a list of two the last entries are the first as well, so nothing is near before."""
    size, best = list_prototypes(block, like, everywhere, pause), (len(like) + 2) * LANES
    if size == 2:
        for lane in range(LANES):
            block.lanes.numbers[best + lane], block.lanes.marks[PICKED + lane] = np.inf, 1
    return size


@implements(list_entries, VoronoiBlock)
@part
def list_prototypes(block: VoronoiBlock, like: State, everywhere: bool, pause: int) -> int:
    """List the prototypes that can be nearest within the box; return how many, padded to an even number.

    Comparing every two entries takes about as long as using the list for as many steps as it has entries, so this
    is only done for a list that may be in use that long.
    """
    size = list_all(block) if everywhere else list_within_reach(block, like)
    if size <= min(pause, PAIRWISE) and not everywhere:
        size = thin_out(block, like, size)
    return copy_prototypes(block, len(like), size)


@part
def list_all(block: VoronoiBlock) -> int:
    """List all prototypes."""
    for p in range(len(block.actions)):
        block.lanes.entries[p] = p
    return len(block.actions)


@part
def list_within_reach(block: VoronoiBlock, like: State) -> int:
    """List the prototypes that are somewhere not farther than some other one is everywhere."""
    dimensions, box = len(like), block.lanes.box
    low, high = read_state(like, box, 0, 1), read_state(like, box, dimensions, 1)
    w = read_state(like, block.weight, 0, 1)
    least = np.inf
    for p in range(len(block.actions)):
        distance = farthest(read_state(like, block.everything, p * dimensions, 1), low, high, w, 0.0)
        least = distance if distance < least else least
    least = least * (1.0 + SAFETY) + SMALLEST
    size = 0
    for p in range(len(block.actions)):
        if not closest(read_state(like, block.everything, p * dimensions, 1), low, high, w, 0.0) > least:
            block.lanes.entries[size] = p
            size += 1
    return size


@part
def thin_out(block: VoronoiBlock, like: State, size: int) -> int:
    """Take out of the list what another entry beats in the whole box."""
    dimensions, box, entries = len(like), block.lanes.box, block.lanes.entries
    low, high = read_state(like, box, 0, 1), read_state(like, box, dimensions, 1)
    w = read_state(like, block.weight, 0, 1)
    kept = 0
    for c in range(size):
        p = read_state(like, block.everything, entries[c] * dimensions, 1)
        limit = -(SAFETY * farthest(p, low, high, w, 0.0) + SMALLEST)
        beaten = False
        for other in range(size):
            # places below ``kept`` hold survivors, those above ``c`` what is still to be compared: any may beat it
            if other < kept or other > c:
                q = read_state(like, block.everything, entries[other] * dimensions, 1)
                if lead(p, q, low, high, w, 0.0) < limit:
                    beaten = True
                    break
        if not beaten:
            entries[kept] = entries[c]
            kept += 1
    return kept


@part
def copy_prototypes(block: VoronoiBlock, dimensions: int, size: int) -> int:
    """Copy what the lanes need of each entry; an odd list gets its last entry twice, which changes no pick."""
    lanes, padded = block.lanes, size + size % 2
    if size % 2:
        lanes.entries[size] = lanes.entries[size - 1]
    for a in range(len(lanes.masks)):
        lanes.masks[a] = 0
    for c in range(padded):
        p = lanes.entries[c]
        for i in range(dimensions):
            block.places[c * dimensions + i] = block.everything[p * dimensions + i]
        lanes.ties[c] = block.actions[p] == TIED
        lanes.policy[c] = max(block.actions[p], 0)
        if padded <= BITS:
            lanes.masks[lanes.policy[c]] |= 1 << c
    return padded
