"""What the learner on a kd-tree remembers, and its settings."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from distinguo.learners.agent import ROOM, check_arrays, field, fresh_arrays, larger_arrays
from distinguo.settings import Explore
from distinguo_lab.growing_boxes import GrowingBoxes, check_tree, with_leaf_room

# What the learner on a kd-tree remembers: the tree, the values of its leaves, and the steps not yet learned from.


STACK = "stack"
NO_FACE = -1  #: the mark of a leaf that is not to be halved

#: What is counted, as one record.
COUNTERS = np.dtype(
    [
        ("stacked", np.int64),  # steps that wait to be learned from
        ("since", np.int64),  # steps since all boundaries were checked
        ("looks", np.int64),  # how often that was
        ("halved", np.int64),  # leaves, of all looks
    ],
    align=True,
)


class KdTreeMemory(NamedTuple):
    """Rows are indexed by leaf, or by step of the stack.

    >>> from distinguo_lab.growing_boxes import growing_boxes
    >>> fresh_kd_tree(growing_boxes([0.0], [1.0], room=8), actions=2, stack=16).q.shape
    (8, 2)
    """

    tree: GrowingBoxes
    q: Annotated[np.ndarray, field(float, ROOM, "actions")]  #: Q(j, a)
    lessons: Annotated[
        np.ndarray, field(int, ROOM, "actions")
    ]  #: how often each was learned since the leaf was made
    mark: Annotated[
        np.ndarray, field(int, ROOM, first=NO_FACE)
    ]  #: scratch: the coordinate to halve a leaf across
    loss: Annotated[np.ndarray, field(float, ROOM)]  #: scratch: the difference at the boundary that marked it
    leaf: Annotated[np.ndarray, field(int, STACK)]  #: where each step was taken
    action: Annotated[np.ndarray, field(int, STACK)]
    reward: Annotated[np.ndarray, field(float, STACK)]  #: discounted, if the action was held
    discount: Annotated[np.ndarray, field(float, STACK)]  #: of what followed it
    explored: Annotated[np.ndarray, field(bool, STACK)]  #: whether the action was not the preferred one
    counters: Annotated[np.ndarray, field(COUNTERS, 1)]


def fresh_kd_tree(tree: GrowingBoxes, actions: int, stack: int) -> KdTreeMemory:
    """The memory of an untrained learner."""
    memory: KdTreeMemory = fresh_arrays(
        KdTreeMemory, {"tree": tree}, **_sizes(len(tree.node), actions, stack)
    )
    return memory


def _sizes(room: int, actions: int, stack: int) -> dict[str, int]:
    return {ROOM: room, "actions": actions, STACK: stack}


def with_leaves_to_spare(memory: KdTreeMemory) -> KdTreeMemory:
    """The memory itself if there is room to halve every leaf, otherwise a copy with that room."""
    leaves = int(memory.tree.size[0])
    if 2 * leaves <= len(memory.q):
        return memory
    tree = with_leaf_room(memory.tree, 4 * leaves)
    sizes = _sizes(len(tree.node), memory.q.shape[1], len(memory.leaf))
    larger: KdTreeMemory = larger_arrays(memory, {"tree": tree}, leaves, **sizes)
    return larger


def check_kd_tree(memory: KdTreeMemory, actions: int, stack: int, dimensions: int) -> None:
    """Raise ``ValueError`` if a memory from a file could make compiled code leave its arrays."""
    room = len(memory.q)
    check_arrays(memory, **_sizes(room, actions, stack))
    check_tree(memory.tree, room, dimensions)
    stacked, leaves = int(memory.counters["stacked"][0]), int(memory.tree.size[0])
    steps = memory.leaf[:stacked], memory.action[:stacked]
    within = all(((row >= 0) & (row < end)).all() for row, end in zip(steps, (leaves, actions), strict=True))
    if not 0 <= stacked < stack + 1 or not within:
        raise ValueError("the stack is inconsistent")


# The settings of the learner ``kd-tree`` (docs/readings.md, "The kd-tree learner").


class KdTreeSettings(NamedTuple):
    """The constants of the learner ``kd-tree``.

    >>> KdTreeSettings().by_policy, KdTreeSettings().by_value
    (True, False)
    """

    gamma: Annotated[float, Field(gt=0, le=1, description="discount of future reward; ours")] = 0.99
    alpha: Annotated[float, Field(gt=0, le=1, description="learning rate of Q-learning, at last; ours")] = 0.1
    lambda_: Annotated[
        float, Field(ge=0, le=1, description="lambda of the returns that are replayed; ours")
    ] = 0.0
    stack: Annotated[
        int, Field(ge=1, le=10**6, description="steps that are replayed together, latest first; ours")
    ] = 256
    explore: Explore = 0.0
    hold: Annotated[
        bool, Field(description="an action is kept until its leaf is left, and learned once; ours")
    ] = True
    by_policy: Annotated[
        bool, Field(description="halve neighbours that prefer different actions; Reynolds 2000")
    ] = True
    by_value: Annotated[
        bool, Field(description="halve neighbours of different value; the other criterion of Reynolds 2000")
    ] = False
    epsilon: Annotated[
        float,
        Field(ge=0, le=10, description="difference that counts, as a share of the range of values; ours"),
    ] = 0.01
    enough: Annotated[
        int, Field(ge=1, le=10**9, description="lessons that a leaf must have had to be halved; ours")
    ] = 20
    interval: Annotated[
        int, Field(ge=1, le=10**9, description="steps per leaf between two looks at all boundaries; ours")
    ] = 50
    first_leaves: Annotated[
        int, Field(ge=2, le=10**6, description="leaves of the even tree to begin with, at most; ours")
    ] = 64
    finest: Annotated[int, Field(ge=1, le=40, description="halvings of a coordinate, at most; ours")] = 6
    leaves: Annotated[int, Field(ge=1, le=10**6, description="leaves, at most; ours")] = 2_000
