"""Grids against the arithmetic of floors, trees against the boxes of their leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.representations.boxes import Box, Boxes, count_leaves, grid, leaf_boxes, tree
from distinguo.representations.partition import region
from distinguo.seam import kernel

unit = st.floats(0.0, 1.0, exclude_max=True)


@given(st.lists(st.integers(1, 7), min_size=1, max_size=3), st.data())
def test_a_grid_numbers_its_boxes_by_rows(counts: list[int], data: st.DataObject) -> None:
    """Cells one unit wide, so that the floor of a coordinate is its interval, edges included."""
    quarters = [st.integers(0, 4 * n - 1).map(lambda k: k / 4) for n in counts]
    s = tuple(data.draw(quarter) for quarter in quarters)
    partition = grid(counts, [0.0] * len(counts), [float(n) for n in counts])
    assert region(partition, s) == np.ravel_multi_index([math.floor(c) for c in s], counts)


@given(st.integers(1, 12), st.floats(-100, 100), st.floats(0.1, 100), unit)
def test_a_grid_of_any_extent_follows_the_floor(count: int, low: float, width: float, share: float) -> None:
    x = low + share * width
    place = (x - low) / width * count
    near = math.isclose(place, round(place), abs_tol=1e-9)  # rounding may put such a point on either side
    expected = {
        min(max(math.floor(p), 0), count - 1) for p in (place, place - near * 1e-6, place + near * 1e-6)
    }
    assert region(grid([count], [low], [low + width]), (x,)) in expected


@given(st.integers(1, 12), st.floats(-100, 100), st.floats(0.1, 100))
def test_an_edge_belongs_to_the_interval_above_it(count: int, low: float, width: float) -> None:
    partition = grid([count], [low], [low + width])
    for k, edge in enumerate(np.linspace(low, low + width, count + 1)[1:-1], start=1):
        assert region(partition, (float(edge),)) == k
        assert region(partition, (float(np.nextafter(edge, -np.inf)),)) == k - 1


def test_points_beyond_the_extent_belong_to_the_outermost_boxes() -> None:
    partition = grid([3, 3], low=[-1.0, -1.0], high=[1.0, 1.0])
    far = [-math.inf, -1e300, -2.0, 0.0, 2.0, 1e300, math.inf]
    rank = [0, 0, 0, 1, 2, 2, 2]
    for i, x in enumerate(far):
        for j, y in enumerate(far):
            assert region(partition, (x, y)) == 3 * rank[i] + rank[j]


def test_a_single_box_holds_everything() -> None:
    partition = grid([1, 1], low=[0.0, 0.0], high=[1.0, 1.0])
    assert count_leaves(partition) == 1
    assert region(partition, (math.inf, -math.inf)) == 0


@st.composite
def trees(draw: st.DrawFn) -> Boxes:
    """Draw a tree of cuts through sixteenths of a box."""
    width = draw(st.integers(1, 3))

    def cut(box: Box, depth: int) -> tuple[int, float] | None:
        axis = draw(st.integers(0, width - 1))
        low, high = box[0][axis], box[1][axis]
        if depth == 5 or high - low < 2 / 16 or not draw(st.booleans()):
            return None
        return axis, draw(st.integers(round(16 * low) + 1, round(16 * high) - 1)) / 16

    return tree([-1.0] * width, [1.0] * width, cut)


@given(trees())
def test_leaves_are_numbered_in_the_order_of_the_walk(partition: Boxes) -> None:
    leaves = partition.below[partition.axis < 0]
    assert leaves.tolist() == list(range(count_leaves(partition)))


def test_the_walk_goes_to_the_low_side_first() -> None:
    cuts = {0: (0, 0.0), 1: (1, 0.5)}
    partition = tree([-1.0, -1.0], [1.0, 1.0], lambda box, depth: cuts.get(depth))
    assert leaf_boxes(partition) == [
        ((-1.0, -1.0), (0.0, 0.5)),
        ((-1.0, 0.5), (0.0, 1.0)),
        ((0.0, -1.0), (1.0, 0.5)),
        ((0.0, 0.5), (1.0, 1.0)),
    ]


@given(trees())
def test_leaf_boxes_tile_the_extent(partition: Boxes) -> None:
    boxes = leaf_boxes(partition)
    volumes = [math.prod(b - a for a, b in zip(*box, strict=True)) for box in boxes]
    assert min(volumes) > 0
    assert sum(volumes) == 2.0 ** len(partition.low)


@given(trees())
def test_a_leaf_box_is_where_its_region_is(partition: Boxes) -> None:
    """The low corner belongs to a box, and so does every point below its high corner."""
    for number, (low, high) in enumerate(leaf_boxes(partition)):
        assert region(partition, low) == number
        assert region(partition, tuple(float(np.nextafter(c, -np.inf)) for c in high)) == number


@given(trees(), st.randoms(use_true_random=False))
def test_leaf_boxes_come_in_the_order_of_the_regions_however_these_are_numbered(
    partition: Boxes, random: Any
) -> None:
    numbers = list(range(count_leaves(partition)))
    random.shuffle(numbers)
    below = partition.below.copy()
    below[partition.axis < 0] = numbers
    shuffled = partition._replace(below=below)
    for number, (low, _) in enumerate(leaf_boxes(shuffled)):
        assert region(shuffled, low) == number


def test_a_tree_may_be_deeper_than_the_stack_of_python() -> None:
    depth = 5000
    chain = Boxes(
        axis=np.array([0, -1] * depth + [-1]),
        cut=np.repeat(np.arange(depth + 1.0), 2)[:-1],
        below=np.array([k for n in range(depth) for k in (2 * n + 1, n)] + [depth]),
        above=np.array([k for n in range(depth) for k in (2 * n + 2, 0)] + [0]),
        low=np.array([-1.0]),
        high=np.array([depth + 1.0]),
    )
    boxes = leaf_boxes(chain)
    assert boxes[0] == ((-1.0,), (0.0,))
    assert boxes[-1] == ((depth - 1.0,), (depth + 1.0,))
    assert region(chain, (depth - 1.5,)) == depth - 1


def test_boxes_are_clipped_where_a_cut_lies_beyond_the_extent() -> None:
    beyond = tree([0.0], [1.0], lambda box, depth: (0, 7.0) if depth == 0 else None)
    assert leaf_boxes(beyond) == [((0.0,), (1.0,)), ((1.0,), (1.0,))]
    assert [region(beyond, (x,)) for x in (1.5, 7.0)] == [0, 1]


@kernel
def compiled_region(partition: Any, s: tuple[float, ...]) -> int:
    return region(partition, s)


@pytest.fixture(scope="module")
def uneven() -> Boxes:
    return grid([5, 3], low=[-2.4, -5.5], high=[2.4, 5.5])


@settings(deadline=None)
@given(st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False)))
def test_compiled_equals_interpreted(uneven: Boxes, s: tuple[float, float]) -> None:
    assert compiled_region(uneven, s) == compiled_region.py_func(uneven, s)
