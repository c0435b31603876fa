"""Where leaves are halved, on trees made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from distinguo_lab.growing_boxes import growing_boxes, halve_evenly
from distinguo_lab.learners.kdtree.memory import (
    NO_FACE,
    KdTreeMemory,
    KdTreeSettings,
    fresh_kd_tree,
    with_leaves_to_spare,
)
from distinguo_lab.learners.kdtree.trials import halve_marked, mark_boundaries

#: Leaf 0 is low in both coordinates, 1 is high in x, 2 high in y, 3 high in both.
LEFT, RIGHT = [1.0, 0.0], [0.0, 1.0]
USUAL = KdTreeSettings(epsilon=0.1, enough=5, finest=4)


def four(rows: list[list[float]], lessons: int = 5) -> KdTreeMemory:
    tree = growing_boxes([0.0, 0.0], [1.0, 1.0], room=8)
    halve_evenly(tree, 4)
    memory = fresh_kd_tree(tree, actions=2, stack=4)
    memory.q[:4] = rows
    memory.lessons[:4, 0] = lessons
    return memory


def marks(memory: KdTreeMemory, settings: KdTreeSettings = USUAL) -> list[int]:
    mark_boundaries.py_func(memory, settings)
    return memory.mark[:4].tolist()


def test_leaves_on_both_sides_of_a_change_of_action_are_marked() -> None:
    assert marks(four([LEFT, RIGHT, LEFT, RIGHT])) == [0, 0, 0, 0]
    assert marks(four([LEFT, LEFT, RIGHT, RIGHT])) == [1, 1, 1, 1]
    assert marks(four([LEFT, LEFT, LEFT, LEFT])) == [NO_FACE] * 4


def test_a_leaf_is_halved_where_it_disagrees_most() -> None:
    very = [0.0, 3.0]
    # leaf 0 disagrees with 1 (across x, by 2) and with 2 (across y, by 4); 3 agrees with both
    assert marks(four([LEFT, RIGHT, very, RIGHT])) == [1, 0, 1, NO_FACE]
    assert marks(four([LEFT, very, RIGHT, RIGHT])) == [0, 0, 1, NO_FACE]


@pytest.mark.parametrize(("epsilon", "marked"), [(0.49, True), (0.51, False)])
def test_small_differences_do_not_count(epsilon: float, marked: bool) -> None:
    """A change of action that costs 1 in all, where all values lie within 2 of each other."""
    memory = four([[0.5, 0.0], [0.0, 0.5], [2.0, 2.0], [2.0, 2.0]])
    found = marks(memory, USUAL._replace(epsilon=epsilon))
    assert (found[:2] == [0, 0]) == marked


def test_both_sides_must_have_learned_enough() -> None:
    memory = four([LEFT, RIGHT, LEFT, RIGHT])
    memory.lessons[1] = 2, 2
    assert marks(memory) == [NO_FACE, NO_FACE, 0, 0]
    memory.lessons[1] = 2, 3
    assert marks(memory) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"by_policy": True, "by_value": False}, [NO_FACE] * 4),
        ({"by_policy": False, "by_value": True}, [1, 1, 1, 1]),
        ({"by_policy": False, "by_value": False}, [NO_FACE] * 4),
    ],
)
def test_criteria_can_be_switched(words: dict[str, Any], expected: list[int]) -> None:
    memory = four([[1.0, 0.0], [1.0, 0.0], [9.0, 0.0], [9.0, 0.0]])  # values differ, actions do not
    assert marks(memory, USUAL._replace(**words)) == expected


@pytest.mark.parametrize(("finest", "expected"), [(1, [NO_FACE] * 4), (2, [0, 0, 0, 0])])
def test_boxes_do_not_become_too_small(finest: int, expected: list[int]) -> None:
    assert marks(four([LEFT, RIGHT, LEFT, RIGHT]), USUAL._replace(finest=finest)) == expected


def test_both_halves_begin_with_the_values_of_the_whole() -> None:
    memory = four([LEFT, RIGHT, LEFT, LEFT])
    assert marks(memory) == [0, 0, NO_FACE, 1]
    halve_marked.py_func(memory, USUAL)
    tree = memory.tree
    assert tree.size[0] == 7
    assert memory.q[:7].tolist() == [LEFT, RIGHT, LEFT, LEFT, LEFT, RIGHT, LEFT]
    assert memory.lessons[:7].sum(axis=1).tolist() == [0, 0, 5, 0, 0, 0, 0]
    assert [tree.least[4].tolist(), tree.most[4].tolist()] == [[0.25, 0.0], [0.5, 0.5]]
    assert [tree.least[6].tolist(), tree.most[6].tolist()] == [[0.5, 0.75], [1.0, 1.0]]


def test_there_are_no_more_leaves_than_allowed() -> None:
    memory = four([LEFT, RIGHT, LEFT, RIGHT])
    marks(memory)
    halve_marked.py_func(memory, USUAL._replace(leaves=6))
    assert memory.tree.size[0] == 6


def test_there_is_room_to_halve_every_leaf() -> None:
    memory = four([LEFT, RIGHT, LEFT, RIGHT])
    assert with_leaves_to_spare(memory) is memory
    marks(memory)
    halve_marked.py_func(memory, USUAL)
    larger = with_leaves_to_spare(memory)
    assert len(larger.q) == len(larger.tree.node) >= 16
    assert np.array_equal(larger.q[:8], memory.q)
