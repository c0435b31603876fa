"""Lanes in lock-step: the loops that take most of the time of an evaluation.

All numbers of a lane lie ``LANES`` apart in one array. So a loop over lanes touches contiguous numbers at distances
that the compiler knows, and becomes vector instructions; loops that gather stand apart from those that calculate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from distinguo.seam import part
from distinguo.tasks.task import State, transition
from distinguo.testing.lockstep_hints import inlined, widest_vectors

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


_OPTIONS: Any = {"nogil": True, "error_model": "numpy"}


def load(array: np.ndarray, place: int, stride: int, like: State) -> State:
    """Read a state from every ``stride``-th number of an array, as long as the tuple ``like``.

    >>> load(np.arange(8.0), 1, 3, (0.0, 0.0))
    (1.0, 4.0)
    """
    return tuple(float(array[place + stride * i]) for i in range(len(like)))


def store(array: np.ndarray, place: int, stride: int, s: State) -> None:
    """Write a state to every ``stride``-th number of an array."""
    for i in range(len(s)):
        array[place + stride * i] = s[i]


def squared(s: State, p: State, w: State, total: float) -> float:
    """Add the squared distance of two states to a total, coordinate by coordinate as ``nearest`` does.

    >>> squared((3.0, 0.0), (0.0, 2.0), (1.0, 2.0), 0.0)
    25.0
    """
    for i in range(len(s)):
        d = (s[i] - p[i]) * w[i]
        total += d * d
    return total


def outside(s: State, low: State, high: State) -> int:
    """Tell whether a state has left a box; one that is not a number has.

    >>> outside((0.5,), (0.0,), (1.0,)), outside((float("nan"),), (0.0,), (1.0,))
    (0, 1)
    """
    left = 0
    for i in range(len(s)):
        left |= (not s[i] >= low[i]) | (not s[i] <= high[i])
    return int(left)


# Compiled, the four unroll themselves by recursion over the length of the tuple: an index that is only known when
# the program runs would keep the loops around them from becoming vector instructions.


@overload(load, jit_options=_OPTIONS, strict=False)
def _load(array: Any, place: Any, stride: Any, like: Any) -> Any:
    if len(like) == 1:
        return lambda array, place, stride, like: (array[place],)
    return lambda array, place, stride, like: (array[place], *load(array, place + stride, stride, like[1:]))


@overload(store, jit_options=_OPTIONS, strict=False)
def _store(array: Any, place: Any, stride: Any, s: Any) -> Any:
    def last(array: Any, place: Any, stride: Any, s: Any) -> None:
        array[place] = s[0]

    def more(array: Any, place: Any, stride: Any, s: Any) -> None:
        array[place] = s[0]
        store(array, place + stride, stride, s[1:])

    return last if len(s) == 1 else more


@overload(squared, jit_options=_OPTIONS, strict=False)
def _squared(s: Any, p: Any, w: Any, total: Any) -> Any:
    def last(s: Any, p: Any, w: Any, total: Any) -> Any:
        d = (s[0] - p[0]) * w[0]
        return total + d * d

    def more(s: Any, p: Any, w: Any, total: Any) -> Any:
        d = (s[0] - p[0]) * w[0]
        return squared(s[1:], p[1:], w[1:], total + d * d)

    return last if len(s) == 1 else more


@overload(outside, jit_options=_OPTIONS, strict=False)
def _outside(s: Any, low: Any, high: Any) -> Any:
    def last(s: Any, low: Any, high: Any) -> Any:
        return int(not s[0] >= low[0]) | int(not s[0] <= high[0])

    def more(s: Any, low: Any, high: Any) -> Any:
        return int(not s[0] >= low[0]) | int(not s[0] <= high[0]) | outside(s[1:], low[1:], high[1:])

    return last if len(s) == 1 else more


@part
def find_two(block: Block, like: State, count: int, c: int, first: int, second: int) -> None:
    """Let every lane pick the nearer of the entries ``c`` and ``c + 1``; at ``c > 0`` if nearer than its pick."""
    inlined()
    widest_vectors()
    numbers, marks = block.numbers, block.marks
    best = (len(like) + 2) * LANES
    w = load(block.weight, 0, 1, like)
    p = load(block.places, c * len(like), 1, like)
    o = load(block.places, (c + 1) * len(like), 1, like)
    if c == 0:
        for lane in range(count):
            s = load(numbers, lane, LANES, like)
            near, other = squared(s, p, w, 0.0), squared(s, o, w, 0.0)
            numbers[best + lane] = other if other < near else near
            marks[PICKED + lane] = second if other < near else first
        return
    for lane in range(count):
        s = load(numbers, lane, LANES, like)
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
    low, high = load(block.box, 0, 1, like), load(block.box, len(like), 1, like)
    returns, over = len(like) * LANES, (len(like) + 1) * LANES
    ended = left = 0
    for lane in range(count):
        s, r, terminal = transition(task, load(numbers, lane, LANES, like), marks[ACTION + lane])
        store(numbers, lane, LANES, s)
        numbers[returns + lane] += r
        numbers[over + lane] = 1.0 if terminal else 0.0
        ended += int(terminal)
        left += outside(s, low, high)
    return ended, left
