"""The store of experience: every ``(s, a, r, s')`` is kept with the prototype nearest to ``s`` (section 5.4).

The tuples of a prototype and an action are a list in order of time. A region's tuples are those of its prototypes,
so regions that merge or split pass their tuples on with their prototypes. When prototypes are added or distances
are rescaled, the tuples go to the prototypes that are now nearest (:func:`reorganise`).

There is room for a fixed number of tuples. When it is used up, the oldest tuple of the longest list is forgotten
(:func:`forget`): frequent experience makes way for new experience, and rare experience stays.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from distinguo.learners.agent import ROOM, check_arrays, field, fresh_arrays, larger_arrays
from distinguo.representations.growing import nearest
from distinguo.seam import kernel, part

NOTHING = -1  #: no tuple
CAPACITY = "capacity"
STARTS = 64  #: first states of trials that are remembered

#: What is counted, as one record.
COUNTERS = np.dtype(
    [
        ("size", np.int64),  # tuples that are kept
        ("experienced", np.int64),  # tuples so far, kept or forgotten
        ("organised", np.int64),  # prototypes when the tuples were last assigned
        ("oldest", np.int64),  # of all tuples
        ("latest", np.int64),
        ("starts", np.int64),  # of trials so far
        ("ends", np.int64),  # of trials so far, in terminal states
        ("queries", np.int64),  # of the model so far
        ("unknown", np.int64),  # of them that it could not answer
    ],
    align=True,
)


class Store(NamedTuple):
    """Tuples by number, and lists of them by prototype and action.

    >>> fresh_store(100, room=8, actions=2, dimensions=3).before.shape
    (100, 3)
    """

    before: Annotated[np.ndarray, field(float, CAPACITY, "dimensions")]  #: the observation of ``s``
    after: Annotated[np.ndarray, field(float, CAPACITY, "dimensions")]  #: that of ``s'``
    action: Annotated[np.ndarray, field(int, CAPACITY)]
    reward: Annotated[np.ndarray, field(float, CAPACITY)]
    ended: Annotated[np.ndarray, field(bool, CAPACITY)]  #: whether ``s'`` is terminal
    home: Annotated[np.ndarray, field(int, CAPACITY)]  #: the prototype nearest to ``s``
    following: Annotated[np.ndarray, field(int, CAPACITY, first=NOTHING)]  #: the next in the same list
    later: Annotated[np.ndarray, field(int, CAPACITY, first=NOTHING)]  #: the next of all tuples
    earlier: Annotated[np.ndarray, field(int, CAPACITY, first=NOTHING)]
    first: Annotated[np.ndarray, field(int, ROOM, "actions", first=NOTHING)]  #: the oldest of each list
    last: Annotated[np.ndarray, field(int, ROOM, "actions", first=NOTHING)]
    kept: Annotated[np.ndarray, field(int, ROOM, "actions")]  #: the length of each list
    starts: Annotated[np.ndarray, field(float, STARTS, "dimensions")]  #: the latest first observations
    weight: Annotated[np.ndarray, field(float, "dimensions")]  #: the scaling when tuples were last assigned
    counters: Annotated[np.ndarray, field(COUNTERS, 1, first=(0, 0, 0, NOTHING, NOTHING, 0, 0, 0, 0))]


def fresh_store(capacity: int, room: int, actions: int, dimensions: int) -> Store:
    """Return an empty store."""
    store: Store = fresh_arrays(Store, capacity=capacity, room=room, actions=actions, dimensions=dimensions)
    return store


def sizes_of_store(store: Store) -> dict[str, int]:
    """Return the sizes that the shapes of a store are made of."""
    capacity, dimensions = store.before.shape
    room, actions = store.kept.shape
    return {CAPACITY: capacity, ROOM: room, "actions": actions, "dimensions": dimensions}


def store_with_room(store: Store, room: int) -> Store:
    """Return the store itself, or one with lists for more prototypes."""
    have = len(store.kept)
    if have >= room:
        return store
    larger: Store = larger_arrays(store, {}, have, **{**sizes_of_store(store), ROOM: room})
    return larger


def with_empty_lists(store: Store, room: int) -> Store:
    """Return the store for another map, with empty lists for ``room`` prototypes."""
    lists = fresh_store(0, room, store.kept.shape[1], store.before.shape[1])
    store.counters["organised"] = 0
    return store._replace(first=lists.first, last=lists.last, kept=lists.kept)


@part
def keep_tuple(
    store: Store, p: int, s: np.ndarray, a: int, r: float, s_next: np.ndarray, ended: bool
) -> None:
    """Keep a tuple with prototype ``p``, which is nearest to ``s``; if there is no room, forget another."""
    counters = store.counters
    if counters["size"][0] < len(store.action):
        t = counters["size"][0]
        counters["size"][0] += 1
    else:
        t = forget(store)
    for i in range(len(s)):
        store.before[t, i] = s[i]
        store.after[t, i] = s_next[i]
    store.action[t] = a
    store.reward[t] = r
    store.ended[t] = ended
    store.home[t] = p
    counters["experienced"][0] += 1
    counters["ends"][0] += ended
    store.earlier[t] = counters["latest"][0]
    store.later[t] = NOTHING
    if counters["latest"][0] >= 0:
        store.later[counters["latest"][0]] = t
    else:
        counters["oldest"][0] = t
    counters["latest"][0] = t
    append(store, t)


@part
def append(store: Store, t: int) -> None:
    """Put tuple ``t`` at the end of the list of its prototype and action."""
    p, a = store.home[t], store.action[t]
    store.following[t] = NOTHING
    if store.last[p, a] >= 0:
        store.following[store.last[p, a]] = t
    else:
        store.first[p, a] = t
    store.last[p, a] = t
    store.kept[p, a] += 1


@part
def forget(store: Store) -> int:
    """Remove the oldest tuple of the longest list (the first of equally long ones), and return its number."""
    counters = store.counters
    p, a = 0, 0
    for q in range(counters["organised"][0]):
        for b in range(store.kept.shape[1]):
            if store.kept[q, b] > store.kept[p, a]:
                p, a = q, b
    t = store.first[p, a]
    store.first[p, a] = store.following[t]
    if store.first[p, a] < 0:
        store.last[p, a] = NOTHING
    store.kept[p, a] -= 1
    before, after = store.earlier[t], store.later[t]
    if before >= 0:
        store.later[before] = after
    else:
        counters["oldest"][0] = after
    if after >= 0:
        store.earlier[after] = before
    else:
        counters["latest"][0] = before
    return t


@part
def remember_start(store: Store, seen: np.ndarray) -> None:
    """Remember where a trial began; replace the oldest start if there is no room."""
    n = store.counters["starts"][0] % STARTS
    for i in range(len(seen)):
        store.starts[n, i] = seen[i]
    store.counters["starts"][0] += 1


@part
def is_organised(store: Store, partition: Any) -> bool:
    """Whether every tuple is with its nearest prototype: none was added, and distances are unchanged."""
    if store.counters["organised"][0] != partition.size[0]:
        return False
    for i in range(len(store.weight)):
        if store.weight[i] != partition.weight[i]:
            return False
    return True


@part
def reorganise(model: Any) -> None:
    """Give every tuple to the prototype that is nearest now, and make the lists anew, in the order of time."""
    store, partition = model.store, model.partition
    for p in range(partition.size[0]):
        for a in range(store.kept.shape[1]):
            store.first[p, a] = NOTHING
            store.last[p, a] = NOTHING
            store.kept[p, a] = 0
    for i in range(len(store.weight)):
        store.weight[i] = partition.weight[i]
    store.counters["organised"][0] = partition.size[0]
    t = store.counters["oldest"][0]
    while t >= 0:
        store.home[t] = nearest(partition, store.before[t])
        append(store, t)
        t = store.later[t]


@kernel
def organise(model: Any) -> None:
    """Reorganise the store if prototypes were added or distances were rescaled."""
    if not is_organised(model.store, model.partition):
        reorganise(model)


def checked_store(store: Store) -> Store:
    """Return a store that came from a file, after checking everything that compiled code relies on."""
    sizes = sizes_of_store(store)
    check_arrays(store, **sizes)
    size, room = int(store.counters["size"][0]), sizes[ROOM]
    if not 0 <= size <= sizes[CAPACITY] or not 0 <= store.counters["organised"][0] <= room:
        raise ValueError("there are more tuples or prototypes than there is room for")
    for numbers in (store.following, store.later, store.earlier, store.first, store.last):
        _check_within(numbers, NOTHING, size)
    _check_within(store.action[:size], 0, sizes["actions"])
    _check_within(store.home[:size], 0, room)
    _check_order(store, size)
    return store


def _check_order(store: Store, size: int) -> None:
    """Raise an error unless the list of all tuples names each of them once, and the other lists are parts of it."""
    t, order = int(store.counters["oldest"][0]), list[int]()
    while t != NOTHING and len(order) <= size:
        order.append(t)
        t = int(store.later[t]) if 0 <= t < size else NOTHING
    latest = order[-1] if order else NOTHING
    if sorted(order) != list(range(size)) or latest != store.counters["latest"][0]:
        raise ValueError("the order of the tuples is inconsistent")
    lists: dict[tuple[int, int], list[int]] = {}
    for t in order:
        lists.setdefault((int(store.home[t]), int(store.action[t])), []).append(t)
    for (p, a), tuples in lists.items():
        follow = [int(store.following[t]) for t in tuples]
        ends = (store.first[p, a], store.last[p, a], store.kept[p, a])
        if follow != [*tuples[1:], NOTHING] or ends != (tuples[0], tuples[-1], len(tuples)):
            raise ValueError("the lists of tuples are inconsistent")
    if int(store.kept.sum()) != size:
        raise ValueError("the lists of tuples are inconsistent")


def _check_within(numbers: np.ndarray, least: int, beyond: int) -> None:
    if not ((numbers >= least) & (numbers < beyond)).all():
        raise ValueError("a tuple lies outside of the store")
