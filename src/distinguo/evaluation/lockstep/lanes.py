"""Blocks of trials in lock-step: what they hold, what each kind of partition implements, and the loops over lanes.

All trials of a block share one short list of entries (prototypes, or places between cuts) that is complete while they
stay within a box around them. What is listed and how a trial picks its entry depends on the partition: each kind that
can run in lock-step has a class of blocks and implements ``make_block``, ``list_entries`` and ``pick_entries``.
Everything else is the same for all kinds.

Each trial runs in a *lane*. The numbers of a lane lie ``LANES`` apart in one array, so a loop over lanes touches
contiguous numbers at distances that the compiler knows, and becomes vector instructions. Loops that gather are
separate from those that calculate.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from distinguo.evaluation.lockstep.tuples import (
    apart,
    inlined,
    outside,
    read_state,
    widest_vectors,
    write_state,
)
from distinguo.seam import generic, generic_with_default, part
from distinguo.tasks.task import State, transition

LANES = 64  #: lanes of a block
VECTOR = 8  #: the lanes in use are rounded up to a multiple of this, so that no loop has a slow remainder
CACHE_LINE = 64  #: bytes
MOST_DIMENSIONS = 8  #: coordinates of a state; a power of two
BITS = 62  #: a list of at most this many entries names each of them by one bit
PICKED, ACTION, ORDER = 0, LANES, 2 * LANES  #: where in ``marks`` the columns begin
COINS = LANES // 2  #: lanes whose coins come out of one random number
BOX_MARGIN = 0.25  #: how far the box reaches beyond the lanes on each side, in widths of theirs


class Lanes(NamedTuple):
    """What the blocks of all partitions have."""

    numbers: np.ndarray  #: the state, one column per coordinate; then return, ended, and one spare column
    marks: np.ndarray  #: the picked entry of the list, the action, the number of the trial
    box: np.ndarray  #: low corner, high corner: while all lanes are inside, the list is complete
    entries: np.ndarray  #: what each entry stands for, as a place in ``seen``
    policy: np.ndarray  #: the action of each entry, 0 where several are tied
    ties: np.ndarray  #: whether the actions of each entry are tied
    masks: np.ndarray  #: (actions,) the bits of the entries with each action
    seen: np.ndarray  #: whether a lane picked a prototype, or came to a region
    regions: np.ndarray  #: the region of each place in ``seen``


class Luck(NamedTuple):
    """What it takes to choose among tied actions."""

    rng: Generator
    sets: np.ndarray  #: (regions, actions) which actions are preferred
    tied: np.ndarray  #: (1,) the bits of the listed entries with ties, or whether there may be some


class Results(NamedTuple):
    """The outcome of each trial of a block."""

    lengths: np.ndarray
    returns: np.ndarray
    ended: np.ndarray


def make_lanes(dimensions: int, entries: int, actions: int, regions: np.ndarray) -> Lanes:
    """Make room for lanes and for lists of up to ``entries`` entries."""
    numbers, marks = _columns(dimensions + 3, 3)
    return Lanes(
        numbers=numbers,
        marks=marks,
        box=np.zeros(2 * dimensions),
        entries=np.zeros(entries, dtype=np.int64),
        policy=np.zeros(entries, dtype=np.int64),
        ties=np.zeros(entries, dtype=np.int64),
        masks=np.zeros(max(actions, 2), dtype=np.int64),
        seen=np.zeros(len(regions), dtype=np.bool_),
        regions=regions,
    )


def _columns(numbers: int, marks: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns of numbers and of marks that begin at cache lines, the marks right behind the numbers.

    NumPy aligns arrays to 16 bytes. Columns would then begin within a line, and a vector as long as a line would take
    two of them to load and two to store: up to a fifth of the speed. In one piece the columns do not compete for the
    same places in the cache, either, as two arrays sometimes do.

    >>> numbers, marks = _columns(5, 3)
    >>> numbers.ctypes.data % CACHE_LINE, marks.ctypes.data - numbers.ctypes.data == numbers.nbytes
    (0, True)
    """
    size = 8 * LANES * (numbers + marks)
    room = np.zeros(size + CACHE_LINE, dtype=np.uint8)
    begin = -room.ctypes.data % CACHE_LINE
    middle, end = begin + 8 * LANES * numbers, begin + size
    return room[begin:middle].view(np.float64), room[middle:end].view(np.int64)


# ---- what each kind of partition implements -----------------------------------------------------------------------


@singledispatch
def make_block(partition: Any, policy: np.ndarray, actions: int) -> Any:
    """Make a block for a partition and the policy of its regions; None if its kind cannot run in lock-step.

    A block is a ``NamedTuple`` whose ``lanes`` are :class:`Lanes`.
    """
    return None


@generic
def list_entries(block: Any, like: State, everywhere: bool, pause: int) -> int:
    """List what lanes within the box can come to, wherever they are if ``everywhere``; return the number of entries.

    The list may be in use for ``pause`` steps; ``like`` is a state, of which only the length counts.
    """
    raise NotImplementedError


@generic
def pick_entries(block: Any, like: State, count: int, size: int) -> None:
    """Let each of the first ``count`` lanes pick its entry: by its bit, or by its number if there are many.

    A list has many entries if it has more than ``BITS``.
    """
    raise NotImplementedError


class Steps(NamedTuple):
    """What happened in some steps of a block."""

    taken: int
    picked: int  #: the bits of the entries that were picked; 0 with a list of more than ``BITS``
    ended: int  #: how many lanes ended in the last step
    escaped: int  #: how many left the box in the last step


@generic_with_default
def advance_lanes(
    block: Any, task: Any, luck: Luck | None, like: State, count: int, size: int, most: int
) -> Steps:
    """Take up to ``most`` steps in each of the first ``count`` lanes, until one of them ends or leaves the box."""
    taken = picked = ended = escaped = 0
    while taken < most and ended == 0 and escaped == 0:
        pick_entries(block, like, count, size)
        picked = choose_actions(block.lanes, count, size, picked)
        if luck is not None:
            break_ties(block.lanes, count, size, luck)
        ended, escaped = move(task, block.lanes, like, count)
        taken += 1
    return Steps(taken, picked, ended, escaped)


# ---- one step -----------------------------------------------------------------------------------------------------


@part
def choose_actions(lanes: Lanes, count: int, size: int, picked: int) -> int:
    """Turn the picks into actions, of tied ones the first; return the bits of all entries picked so far."""
    inlined()
    widest_vectors()
    apart()
    marks, masks = lanes.marks, lanes.masks
    if size > BITS:
        for lane in range(count):
            c = marks[PICKED + lane]
            marks[ACTION + lane] = lanes.policy[c]
            lanes.seen[lanes.entries[c]] = True
        return picked
    second = masks[1]
    for lane in range(count):
        picked |= marks[PICKED + lane]
        marks[ACTION + lane] = 1 if marks[PICKED + lane] & second else 0
    for a in range(2, len(masks)):
        mask = masks[a]
        for lane in range(count):
            marks[ACTION + lane] = a if marks[PICKED + lane] & mask else marks[ACTION + lane]
    return picked


@part
def move(task: Any, lanes: Lanes, like: State, count: int) -> tuple[int, int]:
    """Take the chosen action in every lane: how many lanes ended, and how many left the box."""
    inlined()
    widest_vectors()
    apart()
    low, high = read_state(like, lanes.box, 0, 1), read_state(like, lanes.box, len(like), 1)
    ended = escaped = 0
    for lane in range(count):
        s = read_state(like, lanes.numbers, lane, LANES)
        terminal, out = move_lane(task, lanes, lane, s, lanes.marks[ACTION + lane], low, high)
        ended += terminal
        escaped += out
    return ended, escaped


@part
def move_lane(
    task: Any, lanes: Lanes, lane: int, s: State, a: int, low: State, high: State
) -> tuple[int, int]:
    """Take an action in one lane, which is at ``s``: whether it ended, and whether it left the box."""
    inlined()
    numbers, returns, over = lanes.numbers, len(s) * LANES, (len(s) + 1) * LANES
    s_next, r, terminal = transition(task, s, a)
    write_state(s_next, numbers, lane, LANES)
    numbers[returns + lane] += r
    numbers[over + lane] = 1.0 if terminal else 0.0
    return int(terminal), outside(s_next, low, high)


# ---- ties ---------------------------------------------------------------------------------------------------------


@part
def find_ties(lanes: Lanes, size: int, luck: Luck) -> None:
    """Note which entries of a new list have tied actions."""
    tied = 0
    for c in range(min(size, BITS)):
        tied |= lanes.ties[c] << c
    luck.tied[0] = tied if size <= BITS else 1


@part
def break_ties(lanes: Lanes, count: int, size: int, luck: Luck) -> None:
    """Let every lane whose entry has tied actions take one of them at random."""
    marks, tied = lanes.marks, luck.tied[0]
    if tied == 0:
        return
    if size <= BITS and luck.sets.shape[1] == 2:
        flip_coins(lanes, 0, min(count, COINS), luck)
        flip_coins(lanes, COINS, count, luck)
        return
    for lane in range(count):
        pick = marks[PICKED + lane]
        if size > BITS:
            if lanes.ties[pick]:
                marks[ACTION + lane] = any_action(lanes, pick, luck)
        elif pick & tied:
            c = 0
            while pick >> (c + 1):
                c += 1
            marks[ACTION + lane] = any_action(lanes, c, luck)


@part
def flip_coins(lanes: Lanes, first: int, last: int, luck: Luck) -> None:
    """Choose between two tied actions in some lanes, with one random number for all of them."""
    inlined()
    widest_vectors()
    marks, tied = lanes.marks, luck.tied[0]
    coins = int(luck.rng.random() * 2**COINS)
    for lane in range(first, last):
        a = marks[ACTION + lane]
        marks[ACTION + lane] = (coins >> (lane - first)) & 1 if marks[PICKED + lane] & tied else a


@part
def any_action(lanes: Lanes, c: int, luck: Luck) -> int:
    """Draw one of the preferred actions of an entry, each equally likely."""
    preferred = luck.sets[lanes.regions[lanes.entries[c]]]
    remaining = int(luck.rng.random() * preferred.sum())
    for a in range(len(preferred)):
        if preferred[a]:
            if remaining == 0:
                return a
            remaining -= 1
    return 0  # only for values that are not numbers


# ---- between lists: visits, the box, trials that ended ------------------------------------------------------------


@part
def note_visits(lanes: Lanes, size: int, picked: int) -> None:
    """Note what the entries whose bits are set stand for; those of longer lists were noted one by one."""
    if size <= BITS:
        for c in range(size):
            if picked & (1 << c):
                lanes.seen[lanes.entries[c]] = True


@part
def draw_box(lanes: Lanes, dimensions: int, count: int, keep: bool) -> bool:
    """Draw the box around the lanes, with a margin, and around the old box if ``keep``.

    If a coordinate of a lane is not a finite number, the box holds everything and the result is False.
    """
    for i in range(dimensions):
        low = high = lanes.numbers[i * LANES]
        for lane in range(count):
            x = lanes.numbers[i * LANES + lane]
            if not -np.inf < x < np.inf:
                open_box(lanes, dimensions)
                return False
            low, high = min(low, x), max(high, x)
        room = BOX_MARGIN * (high - low)
        low, high = low - room, high + room
        if keep:
            low, high = min(low, lanes.box[i]), max(high, lanes.box[dimensions + i])
        lanes.box[i], lanes.box[dimensions + i] = low, high
    return True


@part
def open_box(lanes: Lanes, dimensions: int) -> None:
    """Let the box hold everything."""
    for i in range(dimensions):
        lanes.box[i], lanes.box[dimensions + i] = -np.inf, np.inf


@part
def retire(lanes: Lanes, dimensions: int, count: int, length: int, results: Results) -> int:
    """Write down the trials that ended after ``length`` steps and close the gaps; return how many remain."""
    numbers, marks = lanes.numbers, lanes.marks
    returns, over = dimensions * LANES, (dimensions + 1) * LANES
    kept = 0
    for lane in range(count):
        trial = marks[ORDER + lane]
        if numbers[over + lane] != 0.0:
            results.lengths[trial] = length
            results.returns[trial] = numbers[returns + lane]
            results.ended[trial] = True
            continue
        for i in range(dimensions + 1):
            numbers[i * LANES + kept] = numbers[i * LANES + lane]
        marks[ORDER + kept] = trial
        kept += 1
    fill_up(lanes, dimensions, kept)
    return kept


@part
def in_use(count: int) -> int:
    """How many lanes advance when there are ``count`` trials.

    >>> in_use(50)
    56
    """
    return (count + VECTOR - 1) // VECTOR * VECTOR


@part
def fill_up(lanes: Lanes, dimensions: int, count: int) -> None:
    """Copy the first lane to the lanes in use that carry no trial; their results are not noted."""
    for lane in range(count, in_use(count)):
        for i in range(dimensions):
            lanes.numbers[i * LANES + lane] = lanes.numbers[i * LANES]
