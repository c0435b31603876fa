"""Lanes in lock-step: the loops that take most of the time of an evaluation.

All numbers of a lane lie ``LANES`` apart in one array. So a loop over lanes touches contiguous numbers at distances
that the compiler knows, and becomes vector instructions; loops that gather stand apart from those that calculate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.evaluation.lockstep.hints import inlined, widest_vectors
from distinguo.evaluation.lockstep.tuples import load, outside, squared, store
from distinguo.seam import part
from distinguo.tasks.task import State, transition

LANES = 64  #: lanes of a block
VECTOR = 8  #: the lanes in use are rounded up to a multiple of this, so that no loop has a slow rest
BITS = 62  #: a shorter list names its entries by one bit each
PICKED, ACTION, ORDER = 0, LANES, 2 * LANES  #: where in ``marks`` the columns begin


class Block(NamedTuple):
    """A block of lanes and the list of prototypes that can be nearest to any of them."""

    numbers: np.ndarray  #: the state, one column per coordinate; then returns, ended, least distance
    marks: np.ndarray  #: the picked entry of the list, the action, the number of the trial
    box: np.ndarray  #: low corner, high corner: while all lanes are inside, the list is complete
    entries: np.ndarray  #: (prototypes,) the listed prototypes, in ascending order
    places: np.ndarray  #: their coordinates, one row after the other
    policy: np.ndarray  #: the action of each entry, 0 where several are tied
    ties: np.ndarray  #: whether the actions of each entry are tied
    masks: np.ndarray  #: (actions,) the bits of the entries with each action
    seen: np.ndarray  #: (prototypes,) whether each prototype was nearest to a lane
    weight: np.ndarray  #: (dimensions,)
    everything: np.ndarray  #: the coordinates of all prototypes, one row after the other


@part
def find_two(block: Block, like: State, count: int, c: int, first: int, second: int) -> None:
    """Let every lane pick the nearer of the entries ``c`` and ``c + 1``; at ``c > 0`` if nearer than its pick."""
    inlined()
    widest_vectors()
    numbers, marks = block.numbers, block.marks
    best = (len(like) + 2) * LANES
    w = load(like, block.weight, 0, 1)
    p = load(like, block.places, c * len(like), 1)
    o = load(like, block.places, (c + 1) * len(like), 1)
    if c == 0:
        for lane in range(count):
            s = load(like, numbers, lane, LANES)
            near, other = squared(s, p, w, 0.0), squared(s, o, w, 0.0)
            numbers[best + lane] = other if other < near else near
            marks[PICKED + lane] = second if other < near else first
        return
    for lane in range(count):
        s = load(like, numbers, lane, LANES)
        near, pick = numbers[best + lane], marks[PICKED + lane]
        here, other = squared(s, p, w, 0.0), squared(s, o, w, 0.0)
        pick = first if here < near else pick
        near = here if here < near else near
        numbers[best + lane] = other if other < near else near
        marks[PICKED + lane] = second if other < near else pick


@part
def find(block: Block, like: State, count: int, size: int) -> None:
    """Let every lane pick the nearest entry of the list, which is padded to an even size."""
    inlined()
    for c in range(0, size, 2):
        if size <= BITS:
            find_two(block, like, count, c, 1 << c, 2 << c)
        else:
            find_two(block, like, count, c, c, c + 1)


@part
def decide(block: Block, count: int, size: int, visited: int) -> int:
    """Turn the picks into actions. Return the bits of all entries picked so far, or whether one of them had ties."""
    inlined()
    widest_vectors()
    marks, masks = block.marks, block.masks
    if size > BITS:
        for lane in range(count):
            c = marks[PICKED + lane]
            marks[ACTION + lane] = block.policy[c]
            block.seen[block.entries[c]] = True
            visited |= block.ties[c]
        return visited
    second = masks[1]
    for lane in range(count):
        visited |= marks[PICKED + lane]
        marks[ACTION + lane] = 1 if marks[PICKED + lane] & second else 0
    for a in range(2, len(masks)):
        mask = masks[a]
        for lane in range(count):
            marks[ACTION + lane] = a if marks[PICKED + lane] & mask else marks[ACTION + lane]
    return visited


@part
def move(task: Any, block: Block, like: State, count: int) -> tuple[int, int]:
    """Take one step in every lane: how many lanes ended, and how many left the box."""
    inlined()
    widest_vectors()
    numbers, marks = block.numbers, block.marks
    low, high = load(like, block.box, 0, 1), load(like, block.box, len(like), 1)
    returns, over = len(like) * LANES, (len(like) + 1) * LANES
    ended = left = 0
    for lane in range(count):
        s, r, terminal = transition(task, load(like, numbers, lane, LANES), marks[ACTION + lane])
        store(s, numbers, lane, LANES)
        numbers[returns + lane] += r
        numbers[over + lane] = 1.0 if terminal else 0.0
        ended += int(terminal)
        left += outside(s, low, high)
    return ended, left
