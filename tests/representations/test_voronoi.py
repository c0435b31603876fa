"""Nearest-neighbour partitions against brute force in exact arithmetic, and the laws of their changes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from distinguo.representations.growing import (
    GrowingVoronoi,
    add,
    detach,
    growing_voronoi,
    grown,
    is_at,
    is_primary,
    merge,
    primary_rows,
    settled,
)
from distinguo.representations.partition import count_regions, nearest, region
from distinguo.representations.voronoi import voronoi
from distinguo.seam import kernel

# Small multiples of an eighth and scales that are powers of two: every distance is exact, and ties are common.
eighths = st.integers(-8, 8).map(lambda n: n / 8)
scales = st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0])
reals = st.floats(-1e3, 1e3)


@st.composite
def partitions(
    draw: st.DrawFn, numbers: st.SearchStrategy[float] = eighths, width: int | None = None
) -> GrowingVoronoi:
    """Draw a partition of simple regions, with some spare room."""
    width = width or draw(st.integers(1, 4))
    points = st.lists(numbers, min_size=width, max_size=width).map(tuple)
    rows = draw(st.lists(points, min_size=1, max_size=12, unique=True))
    scale = draw(st.lists(scales, min_size=width, max_size=width))
    return growing_voronoi(rows, scale, room=len(rows) + draw(st.integers(0, 3)))


def state_for(
    partition: GrowingVoronoi, numbers: st.SearchStrategy[float] = eighths
) -> st.SearchStrategy[tuple[float, ...]]:
    width = partition.prototypes.shape[1]
    return st.lists(numbers, min_size=width, max_size=width).map(tuple)


def exact_distance(partition: GrowingVoronoi, p: int, s: Sequence[float]) -> Fraction:
    """Return the squared scaled distance to a prototype, without any rounding."""
    coordinates = zip(s, partition.prototypes[p].tolist(), partition.scale.tolist(), strict=True)
    return sum((((Fraction(a) - Fraction(b)) / Fraction(c)) ** 2 for a, b, c in coordinates), Fraction(0))


def exact_nearest(partition: GrowingVoronoi, s: Sequence[float]) -> int:
    """Return the first of the prototypes at the least distance."""
    return min(range(int(partition.size[0])), key=lambda p: exact_distance(partition, p, s))


@given(st.data())
def test_nearest_is_the_oldest_of_the_nearest(data: st.DataObject) -> None:
    partition = data.draw(partitions())
    s = data.draw(state_for(partition))
    assert nearest(partition, s) == nearest(settled(partition), s) == exact_nearest(partition, s)


@given(st.data())
def test_nearest_agrees_with_numpy_on_arbitrary_numbers(data: st.DataObject) -> None:
    partition = data.draw(partitions(reals))
    s = data.draw(state_for(partition, reals))
    rows = partition.prototypes[: partition.size[0]]
    distances = np.square((np.array(s) - rows) * (1.0 / partition.scale)).sum(axis=1)
    assert nearest(partition, s) == int(np.argmin(distances))


def test_scaling_decides_which_prototype_is_near() -> None:
    rows = [[1.0, 0.0], [0.0, 3.0]]
    assert region(voronoi(rows, [1.0, 1.0]), (0.0, 1.0)) == 0
    assert region(voronoi(rows, [1.0, 4.0]), (0.0, 1.0)) == 1


@given(st.data())
def test_scaling_all_coordinates_alike_changes_nothing(data: st.DataObject) -> None:
    partition = data.draw(partitions())
    s = data.draw(state_for(partition))
    wider = voronoi(partition.prototypes[: partition.size[0]], 8.0 * partition.scale)
    assert nearest(wider, s) == nearest(partition, s)


def test_spare_room_is_never_the_nearest() -> None:
    """The unused rows are zeros, and zero is nearer than the only prototype."""
    assert nearest(growing_voronoi([[5.0, 5.0]], [1.0, 1.0], room=9), (0.0, 0.0)) == 0


@kernel
def compiled_region(partition: Any, s: tuple[float, ...]) -> int:
    return region(partition, s)


def test_states_without_a_distance_still_have_a_region() -> None:
    partition = voronoi([[1.0, 0.0], [-1.0, 0.0]], [1.0, 1.0])
    for s in [(np.inf, 0.0), (-np.inf, np.inf), (np.nan, 0.0), (1e200, 1e200)]:
        assert compiled_region(partition, s) in (0, 1)


@settings(deadline=None)
@given(st.data())
def test_compiled_equals_interpreted(data: st.DataObject) -> None:
    partition = data.draw(partitions(st.one_of(eighths, reals), width=2))
    s = data.draw(state_for(partition, st.one_of(eighths, reals)))
    for made in (partition, settled(partition)):
        assert compiled_region(made, s) == compiled_region.py_func(made, s)


class Changes(RuleBasedStateMachine):
    """Add, merge and detach beside a model that knows each region as a set of prototypes."""

    @initialize(rows=st.lists(eighths, min_size=1, max_size=3, unique=True), scale=scales)
    def begin(self, rows: list[float], scale: float) -> None:
        self.partition = growing_voronoi([[x] for x in rows], [scale], room=40)
        self.states = [(x,) for x in rows]
        self.regions = {p: {p} for p in range(len(rows))}

    @precondition(lambda self: len(self.states) < 40)
    @rule(x=eighths)
    def add(self, x: float) -> None:
        p = add(self.partition, (x,))
        assert p == len(self.states)
        self.states.append((x,))
        self.regions[p] = {p}

    @precondition(lambda self: len(self.regions) > 1)
    @rule(data=st.data())
    def merge(self, data: st.DataObject) -> None:
        j, k = data.draw(st.lists(st.sampled_from(sorted(self.regions)), min_size=2, max_size=2, unique=True))
        merge(self.partition, j, k)
        self.regions[j] |= self.regions.pop(k)

    @precondition(lambda self: len(self.regions) < len(self.states))
    @rule(data=st.data())
    def detach(self, data: st.DataObject) -> None:
        """Any prototype may be detached but a primary, which is what the others of its region go by."""
        p = data.draw(st.sampled_from([p for p in range(len(self.states)) if p not in self.regions]))
        detach(self.partition, p)
        for members in self.regions.values():
            members.discard(p)
        self.regions[p] = {p}

    @rule()
    def grow(self) -> None:
        self.partition = grown(self.partition, room=len(self.states) + 40)

    @invariant()
    def every_region_is_its_set(self) -> None:
        for j, members in self.regions.items():
            assert is_primary(self.partition, j)
            assert {p for p in range(len(self.states)) if self.partition.primary[p] == j} == members

    @invariant()
    def primaries_are_their_own_primary(self) -> None:
        size = self.partition.size[0]
        primary = self.partition.primary[:size]
        assert size == len(self.states)
        assert (primary[primary] == primary).all()
        assert primary_rows(self.partition).tolist() == sorted(self.regions)

    @invariant()
    def what_is_handed_out_has_numbers_in_the_order_of_primaries(self) -> None:
        given, rows = settled(self.partition), sorted(self.regions)
        assert count_regions(given) == len(rows)
        assert given.primaries.tolist() == rows
        for s in self.states:
            assert region(given, s) == rows.index(region(self.partition, s))

    @invariant()
    def a_state_belongs_where_its_nearest_prototype_does(self) -> None:
        for p, s in enumerate(self.states):
            oldest = self.states.index(s)
            assert is_at(self.partition, p, s)
            assert nearest(self.partition, s) == oldest
            assert region(self.partition, s) == self.partition.primary[oldest]


Changes.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestChanges = Changes.TestCase


@given(partitions(), st.integers(0, 30))
def test_a_grown_partition_keeps_everything_and_shares_nothing(partition: GrowingVoronoi, more: int) -> None:
    size = int(partition.size[0])
    merge(partition, 0, size - 1)
    larger = grown(partition, size + more)
    assert len(larger.prototypes) == len(larger.primary) == size + more
    for name in ("prototypes", "primary"):
        assert (getattr(larger, name)[:size] == getattr(partition, name)[:size]).all()
        assert not np.shares_memory(getattr(larger, name), getattr(partition, name))
    assert (larger.size, larger.scale.tolist()) == (partition.size, partition.scale.tolist())
    assert larger.weight.tolist() == partition.weight.tolist()


def test_is_at_wants_every_coordinate() -> None:
    partition = growing_voronoi([[1.0, 2.0]], [1.0, 1.0])
    assert is_at(partition, 0, (1.0, 2.0))
    assert not is_at(partition, 0, (1.0, np.nextafter(2.0, 3.0)))


def test_a_partition_copies_what_it_is_built_from() -> None:
    rows, scale = np.ones((1, 2)), np.ones(2)
    partition = voronoi(rows, scale)
    rows[:], scale[:] = 7.0, 7.0
    assert partition.prototypes.tolist() == [[1.0, 1.0]]
    assert partition.scale.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_prototypes_may_come_as_any_rows(kind: Any) -> None:
    assert voronoi(kind([[0, 1], [2, 3]]), kind([1, 2])).prototypes.tolist() == [[0.0, 1.0], [2.0, 3.0]]
