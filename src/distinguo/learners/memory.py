"""What the learner remembers: its partition, its action values, its stack and its counters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from distinguo.representation.voronoi import Voronoi, grown

#: Places in ``Memory.counters``.
TRIALS, TRIAL_STEPS, INVESTIGATION_STEPS = 0, 1, 2
SESSIONS, FE_CALLS, MERGE_CALLS = 3, 4, 5  # process_stack, FE_TIMER and MERGE_TIMER
CLOCK = 6  # pushes so far: the time of the replacing-stack
LENGTH, ACTION = 7, 8  # the running trial: its steps so far, and the action chosen next

#: Whose profile a row of ``Memory.q1`` holds: a prototype's (consolidation takes them all), or one of these.
#: Compiled code allocates nothing; see ``seam``.
STATE, PRIMARY, SECOND = -1, -2, -3
EXTRA = 3


class Memory(NamedTuple):
    """Rows are indexed by prototype; a region uses the row of its primary prototype."""

    partition: Voronoi
    q: np.ndarray  #: (room, actions) Q(j, a)
    updates: np.ndarray  #: (room, actions) Updates(j, a)
    investigated: np.ndarray  #: (room,) whether the region was ever investigated
    stacked: np.ndarray  #: (room, dimensions) the state on the stack for each region
    pushed_at: np.ndarray  #: (room,) when it was pushed; 0 for a region that is not on the stack
    now: np.ndarray  #: (dimensions,) the state of the running trial
    counters: np.ndarray  #: (9,) see above
    q1: np.ndarray  #: (room + 3, actions) the latest action profiles: a row per prototype, and three more
    reliable: np.ndarray  #: (room + 3, actions) which of their entries are reliable


def fresh_memory(partition: Voronoi, actions: int) -> Memory:
    """Return the memory of a learner that knows nothing but its partition."""
    room, dimensions = partition.prototypes.shape
    return Memory(
        partition=partition,
        q=np.zeros((room, actions)),
        updates=np.zeros((room, actions), dtype=np.int64),
        investigated=np.zeros(room, dtype=np.bool_),
        stacked=np.zeros((room, dimensions)),
        pushed_at=np.zeros(room, dtype=np.int64),
        now=np.zeros(dimensions),
        counters=np.zeros(9, dtype=np.int64),
        q1=np.zeros((room + EXTRA, actions)),
        reliable=np.zeros((room + EXTRA, actions), dtype=np.bool_),
    )


def with_room(memory: Memory, room: int) -> Memory:
    """Return the memory itself if it has room for ``room`` prototypes, else a copy that has twice that."""
    if len(memory.q) >= room:
        return memory
    larger = fresh_memory(grown(memory.partition, 2 * room), memory.q.shape[1])
    size = memory.partition.size[0]
    for field in ("q", "updates", "investigated", "stacked", "pushed_at"):
        getattr(larger, field)[:size] = getattr(memory, field)[:size]
    return larger._replace(now=memory.now, counters=memory.counters)
