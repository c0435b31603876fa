"""Greedy evaluation over a Voronoi partition at the speed of C, with the same bits as :func:`evaluate`.

The trials run in blocks of lanes in lock-step. All lanes of a block share one short list of prototypes, made anew
when a lane leaves the box that the list is good for, and now and then because the lanes have drawn together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.evaluation.lockstep.candidates import make_list, open_wide, surround
from distinguo.evaluation.lockstep.hints import widest_vectors
from distinguo.evaluation.lockstep.lanes import BITS, LANES, ORDER, VECTOR, Block, decide, find, move
from distinguo.evaluation.simulate import CHUNK, Outcome
from distinguo.representation.voronoi import Voronoi
from distinguo.seam import has_own, is_compiled, kernel, part
from distinguo.tasks.task import State, observe, randomness, unpack

DIMENSIONS = 8  #: the most coordinates
#: Where in ``course`` it is kept how far a block has come.
LEFT, DONE, SIZE, STALE, PAUSE, AGE, ENDED, TIES = range(8)
FRESH, RENEW, WIDEN = range(3)  #: what the list needs
FIRST_PAUSE = (
    8  #: steps until the first look whether a shorter list will do; each pause is twice the one before
)


def evaluate_lockstep(task: Any, controller: Controller, starts: np.ndarray, cap: int) -> Outcome | None:
    """Follow the greedy policy from every start, as :func:`evaluate` does; None where only that one can.

    That is where a trial comes to a region with tied actions, and for other than Voronoi partitions.

    >>> from distinguo.controller import Controller
    from distinguo.representation.voronoi import voronoi
    >>> from distinguo.tasks.puck.puck import Puck
    >>> two = voronoi([[0.3, 0.6], [-0.3, -0.6]], [4.8, 11.0])
    >>> q = np.array([[0.0, -1.0], [-1.0, 0.0]])
    >>> starts = np.array([[0.0, 0.0], [2.0, 2.0]])
    >>> evaluate_lockstep(Puck(), Controller(two, q, 0.0), starts, 1000).lengths.tolist()
    [1000, 9]
    """
    partition, q = controller.partition, controller.q
    states = np.array(starts, dtype=np.float64, order="C")
    if not supported(task, partition, states):
        return None
    policy = controller.policy
    count = len(states)
    lengths, returns = np.full(count, max(cap, 0), dtype=np.int64), np.zeros(count)
    ended, visited = np.zeros(count, dtype=np.bool_), np.zeros(len(q), dtype=np.bool_)
    block = make_block(partition, q.shape[1])
    for first in range(0, count, LANES):
        lanes = slice(first, first + LANES)
        told = Told(lengths[lanes], returns[lanes], ended[lanes])
        if not run_to_end(task, partition, policy, block, states[lanes], told, cap):
            return None
    size = partition.size[0]
    visited[partition.primary[:size][block.seen]] = True
    return Outcome(lengths, returns, ended, visited, False)


class Told(NamedTuple):
    """What is told of each trial of a block."""

    lengths: np.ndarray
    returns: np.ndarray
    ended: np.ndarray


def supported(task: Any, partition: Any, states: np.ndarray) -> bool:
    """Tell whether a compiled task, a Voronoi partition and not too many dimensions came together."""
    if not isinstance(partition, Voronoi) or not is_simple(task) or states.ndim != 2:
        return False
    return states.shape[1] == len(partition.weight) <= DIMENSIONS


def is_simple(task: Any) -> bool:
    """Tell whether a task is compiled, without chance, and seen as it is."""
    return is_compiled(task) and randomness(task) is None and not has_own(observe, task)


def make_block(partition: Voronoi, choices: int) -> Block:
    """Make room for a block of lanes and for lists of any length."""
    size, dimensions = int(partition.size[0]), len(partition.weight)
    return Block(
        numbers=np.zeros((dimensions + 3) * LANES),
        marks=np.zeros(3 * LANES, dtype=np.int64),
        box=np.zeros(2 * dimensions),
        entries=np.zeros(size + 1, dtype=np.int64),
        places=np.zeros((size + 1) * dimensions),
        policy=np.zeros(size + 1, dtype=np.int64),
        ties=np.zeros(size + 1, dtype=np.int64),
        masks=np.zeros(max(choices, 2), dtype=np.int64),
        seen=np.zeros(size, dtype=np.bool_),
        weight=partition.weight,
        everything=partition.prototypes[:size].ravel(),
    )


def run_to_end(
    task: Any, partition: Voronoi, policy: np.ndarray, block: Block, starts: np.ndarray, told: Told, cap: int
) -> bool:
    """Run a block of trials until all have ended or come to the cap; False if one came to tied actions."""
    count, dimensions = starts.shape
    block.numbers[:] = 0.0
    block.numbers.reshape(-1, LANES)[:dimensions, :count] = starts.T
    block.marks[ORDER : ORDER + count] = np.arange(count)
    course = np.array([count, 0, 0, RENEW, FIRST_PAUSE, 0, 0, 0])
    while course[LEFT] and course[DONE] < cap and not course[TIES]:
        until = min(int(course[DONE]) + CHUNK, cap)
        run_block(task, partition, policy, block, starts[0], course, until, told)
    return not course[TIES]


@kernel
def run_block(
    task: Any,
    partition: Voronoi,
    policy: np.ndarray,
    block: Block,
    row: np.ndarray,
    course: np.ndarray,
    until: int,
    told: Told,
) -> None:
    """Advance a block until so many steps are done or no lane is left."""
    widest_vectors()
    like = unpack(task, row)  # only its length counts
    fill_up(block, len(like), course[LEFT])
    while course[LEFT] > 0 and course[DONE] < until and not course[TIES]:
        if course[STALE] != FRESH:
            renew(partition, policy, block, like, course)
        advance(task, block, like, course, until)
        if course[ENDED]:
            retire(block, len(like), course, told)
    for lane in range(course[LEFT]):
        told.returns[block.marks[ORDER + lane]] = block.numbers[len(like) * LANES + lane]


@part
def renew(partition: Voronoi, policy: np.ndarray, block: Block, like: State, course: np.ndarray) -> None:
    """Draw the box and make its list anew."""
    dimensions = len(like)
    lost = not surround(block, dimensions, course[LEFT], course[STALE] == WIDEN)
    if lost:
        open_wide(block, dimensions)
    course[SIZE] = make_list(partition, block, policy, like, lost, course[PAUSE])
    course[STALE] = FRESH


@part
def advance(task: Any, block: Block, like: State, course: np.ndarray, until: int) -> None:
    """Take steps until a lane ends or leaves the box, or it is time to look for a shorter list."""
    lanes = in_use(course[LEFT])
    size, first = course[SIZE], course[DONE]
    stop = min(until, first + course[PAUSE] - course[AGE])
    step = first
    picked = 0
    ended = left = 0
    while step < stop and ended == 0 and left == 0:
        find(block, like, lanes, size)
        picked = decide(block, lanes, size, picked)
        ended, left = move(task, block, like, lanes)
        step += 1
    course[TIES] = note(block, size, picked)
    course[DONE], course[ENDED] = step, ended
    course[AGE] += step - first
    if left:
        course[STALE] = WIDEN
    elif course[AGE] >= course[PAUSE]:
        course[AGE], course[STALE] = 0, RENEW
        course[PAUSE] *= 2


@part
def note(block: Block, size: int, picked: int) -> int:
    """Mark the prototypes of the entries whose bits are set; tell whether one of them has tied actions."""
    if size > BITS:
        return picked
    ties = 0
    for c in range(size):
        if picked & (1 << c):
            block.seen[block.entries[c]] = True
            ties |= block.ties[c]
    return ties


@part
def retire(block: Block, dimensions: int, course: np.ndarray, told: Told) -> None:
    """Write down the trials that have ended and close the gaps they leave."""
    numbers, marks = block.numbers, block.marks
    returns, over = dimensions * LANES, (dimensions + 1) * LANES
    kept = 0
    for lane in range(course[LEFT]):
        trial = marks[ORDER + lane]
        if numbers[over + lane] != 0.0:
            told.lengths[trial] = course[DONE]
            told.returns[trial] = numbers[returns + lane]
            told.ended[trial] = True
            continue
        for i in range(dimensions + 1):
            numbers[i * LANES + kept] = numbers[i * LANES + lane]
        marks[ORDER + kept] = trial
        kept += 1
    course[LEFT], course[PAUSE], course[AGE] = kept, FIRST_PAUSE, 0
    fill_up(block, dimensions, kept)


@part
def in_use(count: int) -> int:
    """Return how many lanes are advanced for so many trials.

    >>> in_use(50)
    56
    """
    return (count + VECTOR - 1) // VECTOR * VECTOR


@part
def fill_up(block: Block, dimensions: int, count: int) -> None:
    """Let the lanes in use that carry no trial repeat the first one: they end and leave the box with it."""
    for lane in range(count, in_use(count)):
        for i in range(dimensions):
            block.numbers[i * LANES + lane] = block.numbers[i * LANES]
