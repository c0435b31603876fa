"""Trials in lock-step: the loops over lanes, how the compiler vectorises them, and blocks of trials."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, overload
from numpy.random import Generator

from distinguo.linking import PART_OPTIONS
from distinguo.seam import generic, generic_with_default, part
from distinguo.tasks.task import State, transition

# Blocks of trials in lock-step: what they hold, what each kind of partition implements, and the loops over lanes.
#
# All trials of a block share one short list of entries (prototypes, or places between cuts) that is complete while
# they stay within a box around them. What is listed and how a trial picks its entry depends on the partition: each
# kind that can run in lock-step has a class of blocks and implements ``make_block``, ``list_entries`` and
# ``pick_entries``. Everything else is the same for all kinds.
#
# Each trial runs in a *lane*. The numbers of a lane lie ``LANES`` apart in one array, so a loop over lanes touches
# contiguous numbers at distances that the compiler knows, and becomes vector instructions. Loops that gather are
# separate from those that calculate.


LANES = 64  #: lanes of a block
VECTOR = 8  #: the lanes in use are rounded up to a multiple of this, so that no loop has a slow remainder
CACHE_LINE = 64  #: bytes
MOST_DIMENSIONS = 8  #: coordinates of a state; a power of two
BITS = 62  #: a list of at most this many entries names each of them by one bit
PICKED, ACTION, ORDER = 0, LANES, 2 * LANES  #: where in ``marks`` the columns begin
COINS = LANES // 2  #: lanes whose coins come out of one random number
BOX_MARGIN = 0.25  #: how far the box reaches beyond the lanes on each side, in widths of theirs


class Lanes(NamedTuple):
    """The fields that the blocks of all partitions share."""

    numbers: np.ndarray  #: the state, one column per coordinate; then return, ended, and one spare column
    marks: np.ndarray  #: the picked entry of the list, the action, the number of the trial
    box: np.ndarray  #: low corner, high corner: while all lanes are inside, the list is complete
    entries: np.ndarray  #: what each entry stands for, as a place in ``seen``
    policy: np.ndarray  #: the action of each entry, 0 where several are tied
    ties: np.ndarray  #: whether the actions of each entry are tied
    masks: np.ndarray  #: (actions,) the bits of the entries with each action
    seen: np.ndarray  #: whether a lane picked a prototype or visited a region
    regions: np.ndarray  #: the region of each place in ``seen``


class Luck(NamedTuple):
    """The data to choose among tied actions."""

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

    NumPy aligns arrays to 16 bytes. Columns would then begin within a line, and a vector as long as a line would
    need two lines to load and two to store: up to a fifth of the speed. As one array, the columns also do not
    compete for the same places in the cache, as two arrays sometimes do.

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
    """List the entries that lanes within the box can pick, or all if ``everywhere``; return the number of entries.

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


# Functions of states that the compiler unrolls, and hints to it: with them loops over lanes become vector code.
#
# An index that is known only at run time would keep the loops around it from being vectorised. So, compiled, these
# functions recurse over the coordinates of their first argument, a tuple, and no loop and no index remain.


_OPTIONS: Any = {"nogil": True, "error_model": "numpy", **PART_OPTIONS}
Function = Callable[..., Any]


def _unrolled(last: Function, more: Function) -> Callable[[Function], Function]:
    """Compile a function as ``last`` for the last coordinate and as ``more`` while others follow."""

    def register(function: Function) -> Function:
        def pick(first: Any, *rest: Any) -> Function:
            return last if len(first) == 1 else more

        overload(function, jit_options=_OPTIONS, strict=False)(pick)
        return function

    return register


# ---- reading and writing ------------------------------------------------------------------------------------------


@_unrolled(
    lambda like, array, place, stride: (array[place],),
    lambda like, array, place, stride: (array[place], *read_state(like[1:], array, place + stride, stride)),
)
def read_state(like: State, array: np.ndarray, place: int, stride: int) -> State:
    """Read a state from every ``stride``-th number of an array, as long as the tuple ``like``.

    >>> read_state((0.0, 0.0), np.arange(8.0), 1, 3)
    (1.0, 4.0)
    """
    return tuple(float(array[place + stride * i]) for i in range(len(like)))


def _write_last(s: Any, array: Any, place: Any, stride: Any) -> None:
    array[place] = s[0]


def _write_more(s: Any, array: Any, place: Any, stride: Any) -> None:
    array[place] = s[0]
    write_state(s[1:], array, place + stride, stride)


@_unrolled(_write_last, _write_more)
def write_state(s: State, array: np.ndarray, place: int, stride: int) -> None:
    """Write a state to every ``stride``-th number of an array.

    >>> numbers = np.zeros(4)
    >>> write_state((1.0, 2.0), numbers, 0, 3)
    >>> numbers.tolist()
    [1.0, 0.0, 0.0, 2.0]
    """
    for i in range(len(s)):
        array[place + stride * i] = s[i]


# ---- sums over coordinates: for each, what its first coordinate adds to a total -----------------------------------


@part
def _add_square(s: State, p: State, w: State, total: float) -> float:
    d = (s[0] - p[0]) * w[0]
    return total + d * d


@_unrolled(
    _add_square,
    lambda s, p, w, total: squared_distance(s[1:], p[1:], w[1:], _add_square(s, p, w, total)),
)
def squared_distance(s: State, p: State, w: State, total: float) -> float:
    """Add the squared distance of two states to a total, coordinate by coordinate as ``nearest`` does.

    >>> squared_distance((3.0, 0.0), (0.0, 2.0), (1.0, 2.0), 0.0)
    25.0
    """
    for i in range(len(s)):
        total = _add_square(s[i:], p[i:], w[i:], total)
    return total


@part
def _is_outside(s: State, low: State, high: State) -> int:
    return int(not s[0] >= low[0]) | int(not s[0] <= high[0])


@_unrolled(
    _is_outside,
    lambda s, low, high: _is_outside(s, low, high) | outside(s[1:], low[1:], high[1:]),
)
def outside(s: State, low: State, high: State) -> int:
    """Whether a state has left a box, as 0 or 1; a state with a coordinate that is not a number has.

    >>> outside((0.5,), (0.0,), (1.0,)), outside((float("nan"),), (0.0,), (1.0,))
    (0, 1)
    """
    return max(_is_outside(s[i:], low[i:], high[i:]) for i in range(len(s)))


@part
def _add_farthest(p: State, low: State, high: State, w: State, total: float) -> float:
    below, above = (p[0] - low[0]) * w[0], (high[0] - p[0]) * w[0]
    d = below if below > above else above
    return total + d * d


@_unrolled(
    _add_farthest,
    lambda p, low, high, w, total: farthest(
        p[1:], low[1:], high[1:], w[1:], _add_farthest(p, low, high, w, total)
    ),
)
def farthest(p: State, low: State, high: State, w: State, total: float) -> float:
    """Add the squared distance of a prototype to the farthest state of a box to a total.

    >>> farthest((0.0, 0.0), (-1.0, 3.0), (2.0, 4.0), (1.0, 1.0), 0.0)
    20.0
    """
    for i in range(len(p)):
        total = _add_farthest(p[i:], low[i:], high[i:], w[i:], total)
    return total


@part
def _add_closest(p: State, low: State, high: State, w: State, total: float) -> float:
    below, above = (low[0] - p[0]) * w[0], (p[0] - high[0]) * w[0]
    d = below if below > above else above
    d = d if d > 0.0 else 0.0
    return total + d * d


@_unrolled(
    _add_closest,
    lambda p, low, high, w, total: closest(
        p[1:], low[1:], high[1:], w[1:], _add_closest(p, low, high, w, total)
    ),
)
def closest(p: State, low: State, high: State, w: State, total: float) -> float:
    """Add the squared distance of a prototype to the nearest state of a box to a total.

    >>> closest((0.0, 0.0), (-1.0, 3.0), (2.0, 4.0), (1.0, 1.0), 0.0)
    9.0
    """
    for i in range(len(p)):
        total = _add_closest(p[i:], low[i:], high[i:], w[i:], total)
    return total


@part
def _add_lead(p: State, q: State, low: State, high: State, w: State, total: float) -> float:
    slope = (p[0] - q[0]) * w[0]
    first = slope * (((low[0] - p[0]) + (low[0] - q[0])) * w[0])
    second = slope * (((high[0] - p[0]) + (high[0] - q[0])) * w[0])
    return total + (first if first > second else second)


@_unrolled(
    _add_lead,
    lambda p, q, low, high, w, total: lead(
        p[1:], q[1:], low[1:], high[1:], w[1:], _add_lead(p, q, low, high, w, total)
    ),
)
def lead(p: State, q: State, low: State, high: State, w: State, total: float) -> float:
    """Add to a total how much nearer ``p`` than ``q`` comes at most, in squared distance, to a state of a box.

    The difference of the two squared distances is affine in the state, so it is greatest at a corner.

    >>> lead((0.0,), (2.0,), (-1.0,), (0.5,), (1.0,), 0.0), lead((2.0,), (0.0,), (-1.0,), (0.5,), (1.0,), 0.0)
    (8.0, -2.0)
    """
    for i in range(len(p)):
        total = _add_lead(p[i:], q[i:], low[i:], high[i:], w[i:], total)
    return total


# ---- hints to the compiler: they change no result -----------------------------------------------------------------


def widest_vectors() -> None:
    """Make the loops of the calling function as wide as the machine can.

    >>> widest_vectors()
    """


def inlined() -> None:
    """Inline the calling function wherever it is called.

    >>> inlined()
    """


def apart() -> None:
    """Promise that no array that the calling function writes to overlaps another one that it is given.

    Without it every loop is compiled twice, as vector code and as plain code for arrays that overlap.

    >>> apart()
    """


def _prefer_wide(context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        attributes = builder.function.attributes
        if isinstance(attributes, set):  # past the list of attributes that llvmlite knows by name
            set.add(attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), generate


def _always_inline(context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.function.attributes.add("alwaysinline")
        return context.get_dummy_value()

    return types.void(), generate


def _no_alias(context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        for argument in builder.function.args:
            if isinstance(argument.type, ir.PointerType):
                argument.attributes.add("noalias")
        return context.get_dummy_value()

    return types.void(), generate


_wide: Any = intrinsic(_prefer_wide)
_inline: Any = intrinsic(_always_inline)
_apart: Any = intrinsic(_no_alias)


@overload(widest_vectors, inline="always")
def _widest_vectors() -> Any:
    return lambda: _wide()


@overload(inlined, inline="always")
def _inlined() -> Any:
    return lambda: _inline()


@overload(apart, inline="always")
def _arrays_apart() -> Any:
    return lambda: _apart()
