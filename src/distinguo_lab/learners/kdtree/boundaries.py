"""Where leaves are halved: at decision boundaries, where neighbours disagree about the action or the value."""

from __future__ import annotations

import numpy as np

from distinguo.criteria import Vector, state_value
from distinguo.seam import kernel, part
from distinguo_lab.growing_boxes import halve, share_of_width, shared_face
from distinguo_lab.learners.kdtree.memory import NO_FACE, KdTreeMemory
from distinguo_lab.learners.kdtree.settings import KdTreeSettings


@part
def policy_disagreement(one: Vector, other: Vector) -> float:
    """The sum of what two leaves lose if each takes the other's preferred action; 0 if they agree.

    >>> float(policy_disagreement(np.array([1.0, 0.0]), np.array([-0.5, 0.0])))
    1.5
    >>> float(policy_disagreement(np.array([1.0, 0.0]), np.array([9.0, 2.0])))
    0.0
    """
    a, b = best_action(one), best_action(other)
    return (one[a] - one[b]) + (other[b] - other[a])


@part
def value_disagreement(one: Vector, other: Vector) -> float:
    """How much the values of two leaves differ.

    >>> value_disagreement(np.array([1.0, 0.0]), np.array([-0.5, 0.0]))
    1.0
    """
    return abs(state_value(one) - state_value(other))


@part
def best_action(q: Vector) -> int:
    """The action of the greatest value, of equal ones the first."""
    best = 0
    for a in range(1, len(q)):
        if q[a] > q[best]:
            best = a
    return best


@kernel
def mark_boundaries(memory: KdTreeMemory, settings: KdTreeSettings) -> None:
    """Mark the leaves on both sides of every boundary that counts, with the coordinate that it lies across.

    A leaf at several boundaries is halved across the coordinate of the greatest difference.
    """
    tree, leaves = memory.tree, memory.tree.size[0]
    for j in range(leaves):
        memory.mark[j], memory.loss[j] = NO_FACE, settings.epsilon * range_of_values(memory)
    for j in range(leaves):
        if not is_experienced(memory, settings, j):
            continue
        for k in range(leaves):
            axis = shared_face(tree, j, k)
            if axis >= 0 and is_experienced(memory, settings, k):
                difference = disagreement(settings, memory.q[j], memory.q[k])
                mark_leaf(memory, settings, j, axis, difference)
                mark_leaf(memory, settings, k, axis, difference)


@part
def disagreement(settings: KdTreeSettings, one: Vector, other: Vector) -> float:
    """The greater difference of the criteria that are switched on."""
    by_policy = policy_disagreement(one, other) if settings.by_policy else 0.0
    by_value = value_disagreement(one, other) if settings.by_value else 0.0
    return max(by_policy, by_value)


@part
def mark_leaf(memory: KdTreeMemory, settings: KdTreeSettings, j: int, axis: int, difference: float) -> None:
    """Mark a leaf if it is wide enough to be halved and no other of its boundaries differs as much."""
    wide = share_of_width(memory.tree, j, axis) > 1.5 * 0.5**settings.finest
    if wide and difference > memory.loss[j]:
        memory.mark[j], memory.loss[j] = axis, difference


@part
def is_experienced(memory: KdTreeMemory, settings: KdTreeSettings, j: int) -> bool:
    """Whether a leaf has learned enough since it was made."""
    lessons = 0
    for a in range(memory.lessons.shape[1]):
        lessons += memory.lessons[j, a]
    return lessons >= settings.enough


@part
def range_of_values(memory: KdTreeMemory) -> float:
    """The range of all action values."""
    least, most = np.inf, -np.inf
    for j in range(memory.tree.size[0]):
        for a in range(memory.q.shape[1]):
            least, most = min(least, memory.q[j, a]), max(most, memory.q[j, a])
    return most - least


@kernel
def halve_marked(memory: KdTreeMemory, settings: KdTreeSettings) -> None:
    """Halve the marked leaves while there may be more of them; both halves begin with the values of the whole."""
    for j in range(memory.tree.size[0]):
        if memory.mark[j] == NO_FACE or memory.tree.size[0] >= settings.leaves:
            continue
        new = halve(memory.tree, j, memory.mark[j])
        for a in range(memory.q.shape[1]):
            memory.q[new, a] = memory.q[j, a]
            memory.lessons[new, a] = 0
            memory.lessons[j, a] = 0
        memory.counters["halved"][0] += 1
    memory.counters["since"][0] = 0
    memory.counters["looks"][0] += 1
