"""A block: trials in lock-step, and the list of what any of them may come to in its next steps.

All trials of a block share one short list of entries (prototypes, or places between cuts) that is complete while they
stay within a box around them. What is listed and how a trial picks its entry depends on the partition: each kind that
can run in lock-step has a class of blocks and implements the three generics below. All else is the same for all.

The numbers of a lane, which carries one trial, lie ``LANES`` apart in one array. So a loop over lanes touches
contiguous numbers at distances that the compiler knows, and becomes vector instructions.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from distinguo.controller import Controller
from distinguo.seam import generic
from distinguo.tasks.task import State

LANES = 64  #: lanes of a block
VECTOR = 8  #: the lanes in use are rounded up to a multiple of this, so that no loop has a slow rest
MOST_DIMENSIONS = 8  #: coordinates of a state; a power of two
BITS = 62  #: a shorter list names its entries by one bit each
PICKED, ACTION, ORDER = 0, LANES, 2 * LANES  #: where in ``marks`` the columns begin


class Lanes(NamedTuple):
    """What the blocks of all partitions have."""

    numbers: np.ndarray  #: the state, one column per coordinate; then return, ended, and one column to spare
    marks: np.ndarray  #: the picked entry of the list, the action, the number of the trial
    box: np.ndarray  #: low corner, high corner: while all lanes are inside, the list is complete
    entries: np.ndarray  #: what each entry stands for, as a place in ``seen``
    policy: np.ndarray  #: the action of each entry, 0 where several are tied
    ties: np.ndarray  #: whether the actions of each entry are tied
    masks: np.ndarray  #: (actions,) the bits of the entries with each action
    seen: np.ndarray  #: whether a lane picked a prototype, or came to a region
    regions: np.ndarray  #: the region of each place in ``seen``


def make_lanes(dimensions: int, entries: int, actions: int, regions: np.ndarray) -> Lanes:
    """Make room for lanes and for lists of so many entries."""
    return Lanes(
        numbers=np.zeros((dimensions + 3) * LANES),
        marks=np.zeros(3 * LANES, dtype=np.int64),
        box=np.zeros(2 * dimensions),
        entries=np.zeros(entries, dtype=np.int64),
        policy=np.zeros(entries, dtype=np.int64),
        ties=np.zeros(entries, dtype=np.int64),
        masks=np.zeros(max(actions, 2), dtype=np.int64),
        seen=np.zeros(len(regions), dtype=np.bool_),
        regions=regions,
    )


@singledispatch
def make_block(partition: Any, controller: Controller) -> Any:
    """Return a block for the controller of a partition; None if its kind cannot run in lock-step.

    A block is a ``NamedTuple`` whose ``lanes`` are :class:`Lanes`.
    """
    return None


@generic
def list_entries(block: Any, like: State, everywhere: bool, pause: int) -> int:
    """List what lanes within the box may come to, wherever they are if ``everywhere``; return how many entries.

    The list may be in use for ``pause`` steps; ``like`` is a state, of which only the length counts.
    """
    raise NotImplementedError


@generic
def pick_entries(block: Any, like: State, count: int, size: int) -> None:
    """Let each of the first ``count`` lanes pick its entry, by number or, of at most ``BITS``, by its bit."""
    raise NotImplementedError
