"""A kd-tree that grows against a plain search over its boxes."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distinguo.representations.boxes import leaf_boxes
from distinguo.representations.file import Representation, dumps, loads
from distinguo.representations.partition import region, regions_of
from distinguo_lab.growing_boxes import (
    GrowingBoxes,
    check_tree,
    finished,
    growing_boxes,
    halve,
    leaf_at,
    shared_face,
    with_leaf_room,
)


@st.composite
def grown_trees(draw: st.DrawFn, dimensions: int | None = None) -> GrowingBoxes:
    """Draw an extent, and halve any leaves across any coordinates."""
    width = dimensions or draw(st.integers(1, 3))
    low = [draw(st.floats(-100, 100)) for _ in range(width)]
    high = [a + draw(st.floats(0.1, 100)) for a in low]
    halvings = draw(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, width - 1)), max_size=20))
    tree = growing_boxes(low, high, room=len(halvings) + 1)
    for place, axis in halvings:
        halve(tree, place % int(tree.size[0]), axis)
    return tree


def states_around(tree: GrowingBoxes, data: st.DataObject) -> tuple[float, ...]:
    """Draw a state: anywhere, beyond the extent, or on an edge."""
    leaves = int(tree.size[0])
    return tuple(
        data.draw(
            st.one_of(
                st.floats(-300, 300), st.sampled_from([*tree.least[:leaves, i], *tree.most[:leaves, i]])
            )
        )
        for i in range(len(tree.low))
    )


def holders(tree: GrowingBoxes, s: tuple[float, ...]) -> list[int]:
    """Return the leaves whose box holds a state, by plain search; the outermost reach to infinity."""
    return [
        leaf
        for leaf in range(int(tree.size[0]))
        if all(
            (tree.least[leaf, i] <= x or tree.least[leaf, i] == tree.low[i])
            and (x < tree.most[leaf, i] or tree.most[leaf, i] == tree.high[i])
            for i, x in enumerate(s)
        )
    ]


@given(grown_trees(), st.data())
def test_the_leaf_of_a_state_is_the_box_that_holds_it(tree: GrowingBoxes, data: st.DataObject) -> None:
    s = states_around(tree, data)
    assert [region(tree, s)] == holders(tree, s) == [region(finished(tree), s)]


@given(grown_trees())
def test_the_boxes_tile_the_extent(tree: GrowingBoxes) -> None:
    leaves = int(tree.size[0])
    volumes = (tree.most[:leaves] - tree.least[:leaves]).prod(axis=1)
    assert math.isclose(volumes.sum(), (tree.high - tree.low).prod(), rel_tol=1e-9)
    boxes = [(tuple(a), tuple(b)) for a, b in zip(tree.least.tolist(), tree.most.tolist(), strict=True)]
    assert leaf_boxes(finished(tree)) == boxes[:leaves]


@given(grown_trees())
def test_faces_are_shared_by_boxes_that_touch_in_more_than_an_edge(tree: GrowingBoxes) -> None:
    for j, k in product(range(int(tree.size[0])), repeat=2):
        touching = [i for i in range(len(tree.low)) if tree.most[j, i] == tree.least[k, i]]
        overlap = np.minimum(tree.most[j], tree.most[k]) - np.maximum(tree.least[j], tree.least[k])
        others = [x > 0 for i, x in enumerate(overlap) if i not in touching]
        expected = touching[0] if len(touching) == 1 and all(others) else -1
        assert shared_face(tree, j, k) == expected


@settings(max_examples=20)
@given(grown_trees(dimensions=2))
def test_a_tree_with_more_room_and_one_from_a_file_are_the_same(tree: GrowingBoxes) -> None:
    rows = np.random.default_rng(0).uniform(tree.low - 1, tree.high + 1, (50, 2))
    expected = [leaf_at(tree, tuple(row)) for row in rows.tolist()]
    larger = with_leaf_room(tree, 2 * int(tree.size[0]) + 3)
    again = loads(dumps(Representation(finished(tree), ("x", "y")))).partition
    check_tree(larger, len(larger.node), 2)
    assert [leaf_at(larger, tuple(row)) for row in rows.tolist()] == expected
    assert regions_of(again, rows).tolist() == expected  # this one is compiled


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [("axis", 0, 2), ("below", 0, 0), ("above", 0, 1), ("below", 1, 1), ("node", 0, 2), ("size", 0, 9)],
)
def test_a_tree_that_leads_astray_is_refused(name: str, place: int, value: int) -> None:
    tree = growing_boxes([0.0, 0.0], [1.0, 1.0], room=4)
    halve(tree, 0, 1)
    halve(tree, 0, 0)
    check_tree(tree, 4, 2)
    getattr(tree, name)[place] = value
    with pytest.raises(ValueError, match="tree"):
        check_tree(tree, 4, 2)
