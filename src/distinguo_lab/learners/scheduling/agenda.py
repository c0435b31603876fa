"""The agenda of a learner: which regions wait to be investigated, and which of them is due next.

Each region has at most one entry: the state of it that was seen last. The kinds differ in what they choose:

- ``stack``: the latest surprise (the paper's replacing-stack, section 3.2);
- ``sweeping``: the greatest change of value, in the region or expected from one in a successor (Moore and
  Atkeson 1993);
- ``dyna``: any known pair of region and action (Sutton 1990); ``dyna-oldest``: the one updated longest ago;
- ``rout``: the latest surprise that is not settled, from which the frontier is searched (Boyan and Moore).

>>> import numpy as np
>>> agenda, rng = fresh_agenda("stack", room=4, actions=2, width=1), np.random.default_rng(0)
>>> for j in (2, 0, 2, 1):
...     note_surprise(agenda, j, (float(j),), 1.0)
>>> [next_due(agenda, 4, rng) for _ in range(4)]
[1, 2, 0, -1]
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple, get_args

import numpy as np

from distinguo.learners.agent import ROOM, check_arrays, field, fresh_arrays, larger_arrays
from distinguo.learners.sweeping.model import enqueue, most_urgent
from distinguo.seam import part

Scheduler = Literal["stack", "sweeping", "dyna", "dyna-oldest", "rout"]
SCHEDULERS: tuple[str, ...] = get_args(Scheduler)
#: Their numbers in compiled code.
STACK, SWEEPING, DYNA, OLDEST, ROUT = range(len(SCHEDULERS))
NONE = -1  #: no region, no pair
ALL = -1  #: every action of the region is due
WAYS = 16  #: pairs remembered as leading to a region; if there are more, the rarest is forgotten

#: What is counted, as one record.
COUNTERS = np.dtype(
    [
        ("kind", np.int64),  # the code of the scheduler
        ("clock", np.int64),  # events so far
        ("waiting", np.int64),  # regions in the queue of sweeping
        ("hunt_steps", np.int64),  # of the simulations of rout
        ("cycles", np.int64),  # hunts of rout that ended in a cycle
        ("most", np.int64),  # investigations in a session; 0 for as many as were surprising
        ("session", np.int64),  # the one that is held
        ("left", np.int64),  # investigations that are left in it
        ("last", np.int64),  # the region that was investigated last
        ("size", np.int64),  # of the partition, before that
    ],
    align=True,
)


class Agenda(NamedTuple):
    """Rows are indexed by region; nothing in it depends on the task or on how the regions are made."""

    state: Annotated[np.ndarray, field(float, ROOM, "width")]  #: to investigate, for each region
    seen_at: Annotated[np.ndarray, field(int, ROOM)]  #: when it was seen; 0 for a region without one
    pushed_at: Annotated[np.ndarray, field(int, ROOM)]  #: when it was surprising; 0 if it does not wait
    updated_at: Annotated[np.ndarray, field(int, ROOM, "actions")]  #: when each action value was updated
    settled: Annotated[np.ndarray, field(bool, ROOM)]  #: whether its value is final (rout)
    tries: Annotated[np.ndarray, field(int, ROOM, "actions")]  #: of each pair of region and action
    #: Pairs that led to each region, as region * actions + action.
    way_from: Annotated[np.ndarray, field(int, ROOM, WAYS, first=NONE)]
    way_count: Annotated[np.ndarray, field(int, ROOM, WAYS)]  #: how often they did
    queue: Annotated[np.ndarray, field(int, ROOM)]  #: a heap of regions (sweeping)
    place: Annotated[np.ndarray, field(int, ROOM, first=NONE)]  #: of a region in the queue
    urgency: Annotated[np.ndarray, field(float, ROOM)]  #: its priority there
    value: Annotated[np.ndarray, field(float, 1)]  #: of the region investigated last, before that
    counters: Annotated[np.ndarray, field(COUNTERS, 1)]


def fresh_agenda(kind: str, room: int, actions: int, width: int, most: int = 0) -> Agenda:
    """An agenda on which nothing waits; ``width`` is the number of coordinates of a state.

    ``most`` investigations make a session; 0 for as many as there were surprising regions.
    """
    agenda: Agenda = fresh_arrays(Agenda, room=room, actions=actions, width=width)
    for name, value in (("kind", code_of(kind)), ("most", most), ("last", NONE)):
        agenda.counters[name] = value
    return agenda


def code_of(name: str) -> int:
    """The number of a scheduler.

    >>> code_of("dyna-oldest")
    3
    """
    return SCHEDULERS.index(name)


def agenda_with_room(agenda: Agenda, room: int) -> Agenda:
    """A copy with room for more regions."""
    size, actions = agenda.updated_at.shape
    larger: Agenda = larger_arrays(agenda, {}, size, room=room, actions=actions, width=agenda.state.shape[1])
    return larger


def check_agenda(agenda: Agenda, room: int, actions: int, width: int) -> None:
    """Raise ``ValueError`` if an agenda from a file could make compiled code leave its tables."""
    check_arrays(agenda, room=room, actions=actions, width=width)
    waiting, last = int(agenda.counters["waiting"][0]), int(agenda.counters["last"][0])
    queue, ways, places = agenda.queue[: max(waiting, 0)], agenda.way_from, np.full(room, NONE)
    if not (0 <= waiting <= room and NONE <= last < room and _all_within(queue, 0, room)):
        raise ValueError("a place of the agenda lies outside of its table")
    places[queue] = np.arange(waiting)
    if not (places == agenda.place).all() or not _all_within(ways, NONE, room * actions):
        raise ValueError("the agenda is inconsistent")


def _all_within(numbers: np.ndarray, least: int, beyond: int) -> bool:
    return bool(((numbers >= least) & (numbers < beyond)).all())


@part
def _tick(agenda: Any) -> int:
    agenda.counters["clock"][0] += 1
    return int(agenda.counters["clock"][0])


@part
def note_state(agenda: Any, j: int, s: Any) -> None:
    """Take ``s`` as the state to investigate when region ``j`` is due."""
    agenda.seen_at[j] = _tick(agenda)
    for i in range(len(s)):
        agenda.state[j, i] = s[i]


@part
def note_surprise(agenda: Any, j: int, s: Any, change: float) -> None:
    """Queue region ``j``, in place of any earlier entry of it; ``change`` is the error of its value."""
    note_state(agenda, j, s)
    if agenda.counters["kind"][0] == ROUT and agenda.settled[j]:
        return
    agenda.pushed_at[j] = agenda.seen_at[j]
    if agenda.counters["kind"][0] == SWEEPING:
        enqueue(agenda, j, change)


@part
def push_again(agenda: Any, j: int) -> None:
    """Queue region ``j`` again, as the latest, with the same state."""
    agenda.pushed_at[j] = _tick(agenda)


@part
def note_transition(agenda: Any, j: int, a: int, k: int) -> None:
    """Count that action ``a`` led from region ``j`` to region ``k``."""
    agenda.tries[j, a] += 1
    pair = j * agenda.tries.shape[1] + a
    rarest = 0
    for way in range(WAYS):
        if agenda.way_from[k, way] == pair or agenda.way_from[k, way] == NONE:
            agenda.way_from[k, way] = pair
            agenda.way_count[k, way] += 1
            return
        if agenda.way_count[k, way] < agenda.way_count[k, rarest]:
            rarest = way
    agenda.way_from[k, rarest], agenda.way_count[k, rarest] = pair, 1


@part
def note_update(agenda: Any, j: int, a: int) -> None:
    """Note that an action value of region ``j`` was updated just now."""
    agenda.updated_at[j, a] = _tick(agenda)


@part
def note_change(agenda: Any, k: int, change: float, gamma: float, least: float) -> None:
    """Queue the regions that lead to region ``k``, whose value changed, if they may change by over ``least``.

    Only sweeping does: by the change, times the discount, times the share of the pair's tries that led to ``k``.
    """
    if agenda.counters["kind"][0] != SWEEPING:
        return
    for way in range(WAYS):
        pair = agenda.way_from[k, way]
        if pair == NONE:
            return
        j, a = pair // agenda.tries.shape[1], pair % agenda.tries.shape[1]
        urgency = gamma * abs(change) * agenda.way_count[k, way] / max(agenda.tries[j, a], 1)
        if urgency > least and agenda.seen_at[j] > 0:
            enqueue(agenda, j, urgency)


@part
def waiting_regions(agenda: Any, size: int) -> int:
    """The number of regions that were surprising since they were last due: the depth of the replacing-stack."""
    count = 0
    for j in range(size):
        count += agenda.pushed_at[j] > 0
    return count


@part
def next_due(agenda: Any, size: int, rng: np.random.Generator) -> int:
    """Take the region that is due off the agenda and return it; -1 if there is none. Regions are 0 … size-1."""
    kind, due = agenda.counters["kind"][0], NONE
    if kind in (STACK, ROUT):
        due = _latest(agenda, size)
    elif kind == SWEEPING:
        due = most_urgent(agenda) if agenda.counters["waiting"][0] > 0 else NONE
    elif kind == DYNA:
        due = _any_seen(agenda, size, rng)
    elif kind == OLDEST:
        due = _oldest(agenda, size)
    if due != NONE:
        agenda.pushed_at[due] = 0
    return due


@part
def _latest(agenda: Any, size: int) -> int:
    latest = NONE
    for j in range(size):
        if agenda.pushed_at[j] > 0 and (latest == NONE or agenda.pushed_at[j] > agenda.pushed_at[latest]):
            latest = j
    return latest


@part
def _any_seen(agenda: Any, size: int, rng: np.random.Generator) -> int:
    seen = 0
    for j in range(size):
        seen += agenda.seen_at[j] > 0
    left = int(rng.random() * seen)
    for j in range(size):
        if agenda.seen_at[j] > 0:
            if left == 0:
                return j
            left -= 1
    return NONE


@part
def _oldest(agenda: Any, size: int) -> int:
    oldest, when = NONE, 0
    for j in range(size):
        if agenda.seen_at[j] > 0:
            updated = agenda.updated_at[j, stalest_action(agenda, j)]
            if oldest == NONE or updated < when:
                oldest, when = j, updated
    return oldest


@part
def stalest_action(agenda: Any, j: int) -> int:
    """The action of region ``j`` whose value was updated longest ago."""
    stalest = 0
    for a in range(1, agenda.updated_at.shape[1]):
        if agenda.updated_at[j, a] < agenda.updated_at[j, stalest]:
            stalest = a
    return stalest


@part
def due_action(agenda: Any, j: int, rng: np.random.Generator) -> int:
    """The action of region ``j`` that is due: one for DYNA, which takes pairs, otherwise ``ALL``."""
    if agenda.counters["kind"][0] == DYNA:
        return int(rng.random() * agenda.tries.shape[1])
    if agenda.counters["kind"][0] == OLDEST:
        return stalest_action(agenda, j)
    return ALL


@part
def forget_ways(agenda: Any, j: int) -> None:
    """Forget the transitions from and to region ``j``, which has changed."""
    actions = agenda.tries.shape[1]
    for a in range(actions):
        agenda.tries[j, a] = 0
    for k in range(agenda.way_from.shape[0]):
        for way in range(WAYS):
            if k == j or agenda.way_from[k, way] // actions == j:
                agenda.way_count[k, way] = 0


@part
def empty_agenda(agenda: Any) -> None:
    """Empty the agenda."""
    for j in range(agenda.pushed_at.shape[0]):
        agenda.pushed_at[j] = 0
        agenda.place[j] = NONE
    agenda.counters["waiting"][0] = 0


def forget_states(agenda: Agenda) -> None:
    """Empty the agenda, states included: the task may be unable to restore them."""
    empty_agenda(agenda)
    agenda.seen_at[:] = 0
