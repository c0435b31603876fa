"""What the learner on a fixed table remembers."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from distinguo.learners.agent import ROOM, check_arrays, field, fresh_arrays
from distinguo.representations.partition import count_regions
from distinguo_lab.learners.scheduling.agenda import Agenda, check_agenda, fresh_agenda

#: What only this learner counts, as one record.
COUNTERS = np.dtype(
    [
        ("backups", np.int64),  # of action values, in trials and in investigations
        ("earlier", np.int64),  # of these, before the running trial
        ("investigations", np.int64),  # of a state, or of one action in it
    ],
    align=True,
)


class TableMemory(NamedTuple):
    """Rows are indexed by region; the regions never change."""

    partition: Any
    agenda: Agenda
    q: Annotated[np.ndarray, field(float, ROOM, "actions")]  #: Q(j, a)
    updates: Annotated[np.ndarray, field(int, ROOM, "actions")]  #: Updates(j, a)
    investigated: Annotated[np.ndarray, field(bool, ROOM)]  #: whether the region was ever investigated
    profile: Annotated[np.ndarray, field(float, "actions")]  #: scratch
    counters: Annotated[np.ndarray, field(COUNTERS, 1)]


def fresh_table(partition: Any, actions: int, width: int, scheduler: str) -> TableMemory:
    """An untrained table; ``width`` is the number of coordinates of a state.

    >>> from distinguo.representations.boxes import grid
    >>> fresh_table(grid([3], low=[0.0], high=[1.0]), actions=2, width=1, scheduler="stack").q.shape
    (3, 2)
    """
    room = count_regions(partition)
    given = {"partition": partition, "agenda": fresh_agenda(scheduler, room, actions, width)}
    memory: TableMemory = fresh_arrays(TableMemory, given, room=room, actions=actions)
    return memory


def check_table(memory: TableMemory, fresh: TableMemory) -> None:
    """Raise ``ValueError`` if a table from a file could make compiled code leave its arrays."""
    room, actions = fresh.q.shape
    check_arrays(memory, room=room, actions=actions)
    check_agenda(memory.agenda, room, actions, fresh.agenda.state.shape[1])
    for ours, theirs in zip(memory.partition, fresh.partition, strict=True):
        if not np.array_equal(ours, theirs):
            raise ValueError("the table has other regions")
