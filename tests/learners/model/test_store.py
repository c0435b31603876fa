"""The store of experience: what is kept with which prototype, and what is forgotten, against a plain list."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.learners.model.model import LearnedModel, model_of
from distinguo.learners.model.store import (
    NOTHING,
    Store,
    checked_store,
    fresh_store,
    keep_tuple,
    organise,
    with_empty_lists,
)
from distinguo.representations.growing import add, detach, growing_voronoi, merge
from distinguo.representations.partition import nearest, region
from tests.nightly import so_many

CAPACITY, ROOM, ACTIONS = 12, 16, 2
FEW = settings(max_examples=so_many(40, nightly=500))


class Kept(NamedTuple):
    """A tuple as the plain list has it."""

    s: tuple[float, float]
    a: int
    r: float


class Plain:
    """The same by brute force: a list in the order of time."""

    def __init__(self, partition: Any) -> None:
        self.partition, self.kept = partition, list[Kept]()

    def home(self, one: Kept) -> int:
        return int(nearest(self.partition, one.s))

    def remember(self, one: Kept) -> None:
        if len(self.kept) == CAPACITY:
            homes = [(self.home(k), k.a) for k in self.kept]
            longest = max(sorted(set(homes)), key=homes.count)
            del self.kept[homes.index(longest)]
        self.kept.append(one)

    def lists(self) -> dict[tuple[int, int], list[float]]:
        found: dict[tuple[int, int], list[float]] = {}
        for one in self.kept:
            found.setdefault((self.home(one), one.a), []).append(one.r)
        return found


def make_model(capacity: int = CAPACITY) -> LearnedModel:
    partition = growing_voronoi([[0.0, 0.0]], [1.0, 1.0], ROOM)
    model = model_of(fresh_store(capacity, ROOM, ACTIONS, 2), partition, 1, 0.5, True)
    organise.py_func(model)
    return model


def lists_of(store: Store) -> dict[tuple[int, int], list[float]]:
    """Walk along the lists; each tuple is known by its reward."""
    found = {}
    for p, a in np.argwhere(store.kept > 0).tolist():
        t, rewards = int(store.first[p, a]), []
        while t != NOTHING:
            assert (store.home[t], store.action[t]) == (p, a)
            rewards.append(float(store.reward[t]))
            t = int(store.following[t])
        assert len(rewards) == store.kept[p, a]
        found[(p, a)] = rewards
    return found


numbers = st.integers(-8, 8).map(lambda n: n / 8)
points = st.tuples(numbers, numbers)
steps = st.one_of(
    st.tuples(st.just("step"), points, st.integers(0, ACTIONS - 1)),
    st.tuples(st.just("split"), points, st.just(0)),
    st.tuples(st.sampled_from(["merge", "detach"]), st.just((0.0, 0.0)), st.integers(0, 99)),
    st.tuples(st.just("rescale"), st.sampled_from([(1.0, 2.0), (3.0, 1.0)]), st.just(0)),
)


@FEW
@given(st.lists(steps, max_size=60))
def test_every_tuple_is_with_its_nearest_prototype_whatever_happens_to_the_regions(done: list[Any]) -> None:
    model = make_model()
    store, partition = model.store, model.partition
    plain = Plain(partition)
    for number, (what, point, n) in enumerate(done):
        size = int(partition.size[0])
        if what == "step":
            keep_tuple(store, nearest(partition, point), point, n, float(number), point, False)
            plain.remember(Kept(point, n, float(number)))
        elif what == "split" and size < ROOM:
            add(partition, point)
        elif what == "merge":
            merge(partition, int(partition.primary[0]), int(partition.primary[n % size]))
        elif what == "detach":
            detach(partition, n % size)
        elif what == "rescale":
            partition.weight[:] = point
        organise.py_func(model)
        assert lists_of(store) == plain.lists()
        checked_store(store)
    regions = dict.fromkeys(range(ROOM), 0)
    for one in plain.kept:
        regions[int(region(partition, one.s))] += 1
    for j, count in regions.items():  # a region's tuples are those of its prototypes
        members = [p for p in range(int(partition.size[0])) if partition.primary[p] == j]
        assert store.kept[members].sum() == count


def test_a_full_store_forgets_what_it_has_most_of_and_keeps_what_is_rare() -> None:
    model = make_model()
    store, partition = model.store, model.partition
    add(partition, (5.0, 5.0))
    organise.py_func(model)
    keep_tuple(store, 1, (5.0, 5.0), 0, -1.0, (5.0, 5.0), True)  # happens once
    for n in range(1000):
        keep_tuple(store, 0, (0.0, 0.0), 1, float(n), (0.0, 0.0), False)
    assert lists_of(store) == {(1, 0): [-1.0], (0, 1): [float(n) for n in range(989, 1000)]}
    counters = store.counters[0]
    assert (counters["size"], counters["experienced"], counters["ends"]) == (CAPACITY, 1001, 1)


def test_another_map_gets_all_experience_of_the_last() -> None:
    model = make_model()
    for n in range(8):
        keep_tuple(model.store, 0, (n / 8, 0.0), 0, float(n), (0.0, 0.0), False)
    other = growing_voronoi([[0.0, 0.0], [1.0, 0.0]], [1.0, 1.0], 4)
    again = model._replace(store=with_empty_lists(model.store, 4), partition=other)
    organise.py_func(again)
    assert lists_of(again.store) == {(0, 0): [0.0, 1.0, 2.0, 3.0, 4.0], (1, 0): [5.0, 6.0, 7.0]}


@pytest.mark.parametrize(
    ("field", "place", "value"),
    [("later", 0, 0), ("following", 2, 0), ("home", 1, 99), ("kept", (0, 0), 7), ("action", 3, 5)],
)
def test_a_store_from_a_file_that_compiled_code_could_get_lost_in_is_refused(
    field: str, place: Any, value: int
) -> None:
    model = make_model()
    for n in range(5):
        keep_tuple(model.store, 0, (n / 8, 0.0), 0, float(n), (0.0, 0.0), False)
    checked_store(model.store)
    getattr(model.store, field)[place] = value
    with pytest.raises(ValueError, match=r"inconsistent|outside"):
        checked_store(model.store)
