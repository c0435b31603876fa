"""The loops over lanes that all partitions share: act, step, draw the box, note what happened.

Loops that gather stand apart from those that calculate, which become vector instructions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from distinguo.evaluation.lockstep.block import ACTION, BITS, LANES, ORDER, PICKED, VECTOR, Lanes
from distinguo.evaluation.lockstep.tuples import inlined, outside, read_state, widest_vectors, write_state
from distinguo.seam import part
from distinguo.tasks.task import State, transition

COINS = LANES // 2  #: lanes whose coins come out of one random number
BOX_MARGIN = 0.25  #: how far the box reaches beyond the lanes on each side, in widths of theirs


class Luck(NamedTuple):
    """What it takes to choose among tied actions."""

    rng: Generator
    sets: np.ndarray  #: (regions, actions) which actions are preferred
    tied: np.ndarray  #: (1,) the bits of the listed entries with ties, or whether there may be some


class Results(NamedTuple):
    """What became of each trial of a block."""

    lengths: np.ndarray
    returns: np.ndarray
    ended: np.ndarray


@part
def choose_actions(lanes: Lanes, count: int, size: int, visited: int) -> int:
    """Turn the picks into actions, of tied ones the first. Return the bits of all entries picked so far."""
    inlined()
    widest_vectors()
    marks, masks = lanes.marks, lanes.masks
    if size > BITS:
        for lane in range(count):
            c = marks[PICKED + lane]
            marks[ACTION + lane] = lanes.policy[c]
            lanes.seen[lanes.entries[c]] = True
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
    """Choose between two actions in some lanes, with one random number for all of them."""
    inlined()
    widest_vectors()
    marks, tied = lanes.marks, luck.tied[0]
    coins = int(luck.rng.random() * 2**COINS)
    for lane in range(first, last):
        a = marks[ACTION + lane]
        marks[ACTION + lane] = (coins >> (lane - first)) & 1 if marks[PICKED + lane] & tied else a


@part
def any_action(lanes: Lanes, c: int, luck: Luck) -> int:
    """Return any of the preferred actions of an entry, each as likely."""
    preferred = luck.sets[lanes.regions[lanes.entries[c]]]
    remaining = int(luck.rng.random() * preferred.sum())
    for a in range(len(preferred)):
        if preferred[a]:
            if remaining == 0:
                return a
            remaining -= 1
    return 0  # only for values that are not numbers


@part
def move(task: Any, lanes: Lanes, like: State, count: int) -> tuple[int, int]:
    """Take one step in every lane: how many lanes ended, and how many left the box."""
    inlined()
    widest_vectors()
    numbers, marks = lanes.numbers, lanes.marks
    low, high = read_state(like, lanes.box, 0, 1), read_state(like, lanes.box, len(like), 1)
    returns, over = len(like) * LANES, (len(like) + 1) * LANES
    ended = escaped = 0
    for lane in range(count):
        s, r, terminal = transition(task, read_state(like, numbers, lane, LANES), marks[ACTION + lane])
        write_state(s, numbers, lane, LANES)
        numbers[returns + lane] += r
        numbers[over + lane] = 1.0 if terminal else 0.0
        ended += int(terminal)
        escaped += outside(s, low, high)
    return ended, escaped


@part
def note_visits(lanes: Lanes, size: int, picked: int) -> None:
    """Note what the entries whose bits are set stand for; those of longer lists are noted one by one."""
    if size <= BITS:
        for c in range(size):
            if picked & (1 << c):
                lanes.seen[lanes.entries[c]] = True


@part
def draw_box(lanes: Lanes, dimensions: int, count: int, keep: bool) -> bool:
    """Draw the box around the lanes, with some room, and around its old self if asked.

    It is around everything, and False, if a lane is somewhere that is not a finite number.
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
    """Write down the trials that have ended, after so many steps, and close the gaps; return how many remain."""
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
    """Return how many lanes are advanced for so many trials.

    >>> in_use(50)
    56
    """
    return (count + VECTOR - 1) // VECTOR * VECTOR


@part
def fill_up(lanes: Lanes, dimensions: int, count: int) -> None:
    """Let the lanes in use that carry no trial set out with the first one; what becomes of them is not noted."""
    for lane in range(count, in_use(count)):
        for i in range(dimensions):
            lanes.numbers[i * LANES + lane] = lanes.numbers[i * LANES]
