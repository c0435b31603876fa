"""The loops over lanes that all partitions share: act, step, draw the box, note what happened.

Loops that gather stand apart from those that calculate, which become vector instructions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.evaluation.lockstep.block import ACTION, BITS, LANES, ORDER, PICKED, VECTOR, Lanes
from distinguo.evaluation.lockstep.tuples import inlined, outside, read_state, widest_vectors, write_state
from distinguo.seam import part
from distinguo.tasks.task import State, transition

BOX_MARGIN = 0.25  #: how far the box reaches beyond the lanes on each side, in widths of theirs


class Results(NamedTuple):
    """What became of each trial of a block."""

    lengths: np.ndarray
    returns: np.ndarray
    ended: np.ndarray


@part
def choose_actions(lanes: Lanes, count: int, size: int, visited: int) -> int:
    """Turn the picks into actions. Return the bits of all entries picked so far, or whether one of them had ties."""
    inlined()
    widest_vectors()
    marks, masks = lanes.marks, lanes.masks
    if size > BITS:
        for lane in range(count):
            c = marks[PICKED + lane]
            marks[ACTION + lane] = lanes.policy[c]
            lanes.seen[lanes.entries[c]] = True
            visited |= lanes.ties[c]
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
def note_visits(lanes: Lanes, size: int, picked: int) -> int:
    """Note what the entries whose bits are set stand for; tell whether one of them has tied actions."""
    if size > BITS:
        return picked
    ties = 0
    for c in range(size):
        if picked & (1 << c):
            lanes.seen[lanes.entries[c]] = True
            ties |= lanes.ties[c]
    return ties


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
    """Let the lanes in use that carry no trial repeat the first one: they end and leave the box with it."""
    for lane in range(count, in_use(count)):
        for i in range(dimensions):
            lanes.numbers[i * LANES + lane] = lanes.numbers[i * LANES]
