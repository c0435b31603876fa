"""What the learner remembers: its partition, its action values, its stack and its counters."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from distinguo.learners.agent import ROOM, check_arrays, field, fresh_arrays, larger_arrays
from distinguo.learners.scheduling.agenda import NO_AGENDA, agenda_with_room, check_agenda
from distinguo.representations.growing import grown

#: What only this learner counts, as one record.
COUNTERS = np.dtype(
    [
        ("sessions", np.int64),  # of process_stack
        ("fe_calls", np.int64),  # of FE_TIMER
        ("merge_calls", np.int64),  # of MERGE_TIMER
        ("clock", np.int64),  # pushes so far: the time of the replacing-stack
    ],
    align=True,
)

#: Whose profile a row of ``Memory.q1`` holds: a prototype's (consolidation takes them all), or one of these.
#: Compiled code allocates nothing; see ``seam``.
STATE, PRIMARY, SECOND = -1, -2, -3
EXTRA = 3
SCRATCH = "room + 3"  #: rows of profiles

#: Places in the last axis of ``Memory.seen``: how many differences, their mean, their summed squared deviations.
COUNT, MEAN, DEVIATION = 0, 1, 2
LEAST, GREATEST = 0, 1  #: places in ``Memory.extremes``


class Memory(NamedTuple):
    """Rows are indexed by prototype; a region uses the row of its primary prototype.

    >>> from distinguo.representations.growing import growing_voronoi
    >>> fresh_memory(growing_voronoi([[0.0, 0.0]], [1.0, 1.0], room=4), actions=2).q.shape
    (4, 2)
    """

    partition: Any  #: ``GrowingVoronoi`` or ``GrowingCategories``
    q: Annotated[np.ndarray, field(float, ROOM, "actions")]  #: Q(j, a)
    updates: Annotated[np.ndarray, field(int, ROOM, "actions")]  #: Updates(j, a)
    investigated: Annotated[np.ndarray, field(bool, ROOM)]  #: whether the region was ever investigated
    states: Annotated[np.ndarray, field(float, ROOM, "width")]  #: whose observation each prototype is
    stacked: Annotated[np.ndarray, field(float, ROOM, "width")]  #: the state on the stack for each region
    pushed_at: Annotated[np.ndarray, field(int, ROOM)]  #: when; 0 for a region that is not on the stack
    counters: Annotated[np.ndarray, field(COUNTERS, 1)]
    q1: Annotated[np.ndarray, field(float, SCRATCH, "actions")]  #: the latest profiles, and three more
    reliable: Annotated[np.ndarray, field(bool, SCRATCH, "actions")]  #: which of their entries are
    error: Annotated[np.ndarray, field(float, SCRATCH, "actions")]  #: their standard errors, if repeated
    seen: Annotated[np.ndarray, field(float, ROOM, "actions", 3)]  #: differences of look-ahead and region
    extremes: Annotated[np.ndarray, field(float, 2, first=[np.inf, -np.inf])]  #: of all look-ahead values
    agenda: Any = NO_AGENDA  #: what a scheduler other than the stack remembers


def fresh_memory(partition: Any, actions: int, width: int = 0, agenda: Any = NO_AGENDA) -> Memory:
    """Return the memory of a learner that knows nothing but its partition.

    ``width`` is that of a state, where it is not that of an observation; the states of the prototypes, which only
    the task knows, are for the caller to fill in.
    """
    given = {"partition": partition, "agenda": agenda}
    memory: Memory = fresh_arrays(Memory, given, **sizes_of(partition, actions, width))
    return memory


def sizes_of(partition: Any, actions: int, width: int = 0) -> dict[str, int]:
    """Return the sizes that the shapes of a memory are made of."""
    room, dimensions = partition.prototypes.shape
    return {ROOM: room, SCRATCH: room + EXTRA, "actions": actions, "width": width or dimensions}


def with_room(memory: Memory, room: int) -> Memory:
    """Return the memory itself if it has room for ``room`` prototypes, else a copy that has twice that."""
    if len(memory.q) >= room:
        return memory
    partition = grown(memory.partition, 2 * room)
    sizes = sizes_of(partition, memory.q.shape[1], memory.states.shape[1])
    given = {"partition": partition, "agenda": agenda_with_room(memory.agenda, 2 * room)}
    larger: Memory = larger_arrays(memory, given, int(memory.partition.size[0]), **sizes)
    return larger


def checked_memory(memory: Memory) -> Memory:
    """Return a memory that came from a file, with everything checked that could lead compiled code astray."""
    partition, room = memory.partition, len(memory.q)
    check_arrays(memory, **sizes_of(partition, memory.q.shape[1], memory.states.shape[1]))
    check_agenda(memory.agenda, room, memory.q.shape[1], memory.states.shape[1])
    size, primary = int(partition.size[0]), partition.primary
    if not 1 <= size <= room or not ((primary[:size] >= 0) & (primary[:size] < size)).all():
        raise ValueError("the prototypes are inconsistent")
    return memory
