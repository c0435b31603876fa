"""What the learner remembers: its partition, its action values, its stack and its counters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.representation.prototypes import grown

#: Places in ``Memory.counters``.
TRIALS, TRIAL_STEPS, INVESTIGATION_STEPS = 0, 1, 2
SESSIONS, FE_CALLS, MERGE_CALLS = 3, 4, 5  # process_stack, FE_TIMER and MERGE_TIMER
CLOCK = 6  # pushes so far: the time of the replacing-stack
LENGTH, ACTION = 7, 8  # the running trial: its steps so far, and the action chosen next
ATTEMPT, SINCE = 9, 10  # how often it was begun from scratch, and the trials before the last time
COUNTERS = 11

#: Whose profile a row of ``Memory.q1`` holds: a prototype's (consolidation takes them all), or one of these.
#: Compiled code allocates nothing; see ``seam``.
STATE, PRIMARY, SECOND = -1, -2, -3
EXTRA = 3

#: Places in the last axis of ``Memory.seen``: how many differences, their mean, their summed squared deviations.
COUNT, MEAN, DEVIATION = 0, 1, 2
LEAST, GREATEST = 0, 1  #: places in ``Memory.extremes``


class Memory(NamedTuple):
    """Rows are indexed by prototype; a region uses the row of its primary prototype."""

    partition: Any  #: by nearest prototype: ``Voronoi`` or ``Categories``
    q: np.ndarray  #: (room, actions) Q(j, a)
    updates: np.ndarray  #: (room, actions) Updates(j, a)
    investigated: np.ndarray  #: (room,) whether the region was ever investigated
    states: np.ndarray  #: (room, width of a state) the state whose observation each prototype is
    stacked: np.ndarray  #: (room, width of a state) the state on the stack for each region
    pushed_at: np.ndarray  #: (room,) when it was pushed; 0 for a region that is not on the stack
    now: np.ndarray  #: (width of a state,) the state of the running trial
    gained: np.ndarray  #: (1,) the sum of its rewards
    counters: np.ndarray  #: (11,) see above
    q1: np.ndarray  #: (room + 3, actions) the latest action profiles: a row per prototype, and three more
    reliable: np.ndarray  #: (room + 3, actions) which of their entries are reliable
    error: np.ndarray  #: (room + 3, actions) the standard error of each, where look-ahead is repeated
    seen: np.ndarray  #: (room, actions, 3) the differences between look-ahead and region so far
    extremes: np.ndarray  #: (2,) the least and the greatest look-ahead value ever found
    extent: np.ndarray  #: (2, dimensions) the least and the greatest of each coordinate ever observed


def fresh_memory(partition: Any, actions: int, width: int = 0) -> Memory:
    """Return the memory of a learner that knows nothing but its partition.

    ``width`` is that of a state, where it is not that of an observation; the states of the prototypes, which only
    the task knows, are for the caller to fill in.
    """
    room, dimensions = partition.prototypes.shape
    width = width or dimensions
    return Memory(
        partition=partition,
        q=np.zeros((room, actions)),
        updates=np.zeros((room, actions), dtype=np.int64),
        investigated=np.zeros(room, dtype=np.bool_),
        states=np.zeros((room, width)),
        stacked=np.zeros((room, width)),
        pushed_at=np.zeros(room, dtype=np.int64),
        now=np.zeros(width),
        gained=np.zeros(1),
        counters=np.zeros(COUNTERS, dtype=np.int64),
        q1=np.zeros((room + EXTRA, actions)),
        reliable=np.zeros((room + EXTRA, actions), dtype=np.bool_),
        error=np.zeros((room + EXTRA, actions)),
        seen=np.zeros((room, actions, 3)),
        extremes=np.array([np.inf, -np.inf]),
        extent=np.array([[np.inf] * dimensions, [-np.inf] * dimensions]),
    )


def with_room(memory: Memory, room: int) -> Memory:
    """Return the memory itself if it has room for ``room`` prototypes, else a copy that has twice that."""
    if len(memory.q) >= room:
        return memory
    larger = fresh_memory(grown(memory.partition, 2 * room), memory.q.shape[1], len(memory.now))
    size = memory.partition.size[0]
    for field in ("q", "updates", "investigated", "states", "stacked", "pushed_at", "seen"):
        getattr(larger, field)[:size] = getattr(memory, field)[:size]
    return larger._replace(
        now=memory.now,
        gained=memory.gained,
        counters=memory.counters,
        extremes=memory.extremes,
        extent=memory.extent,
    )
