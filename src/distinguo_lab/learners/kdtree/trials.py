"""Trials on the leaves of a kd-tree: act, stack the steps, and learn from the stack, the latest step first.

Q-learning needs no reset and no end of a trial: the stack is learned from when the trial ends, when it is full, and
before a leaf is halved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from distinguo.controller import choose
from distinguo.criteria import Vector, look_ahead, prefers, state_value
from distinguo.learners.agent import NO_ACTION, Agent, Progress
from distinguo.learners.driver import first_action, get_action, locate, pauses
from distinguo.references import by_reference
from distinguo.representations.partition import region
from distinguo.seam import implements, kernel, part
from distinguo.tasks.world import AFTER, BEFORE, look
from distinguo_lab.growing_boxes import halve, share_of_width, shared_face
from distinguo_lab.learners.kdtree.memory import NO_FACE, KdTreeMemory, KdTreeSettings


@implements(locate, KdTreeMemory)
@part
def leaf_of_state(memory: KdTreeMemory, agent: Agent, s: np.ndarray) -> int:
    """The leaf that a state lies in."""
    return region(memory.tree, look(agent.world, s, BEFORE).seen)


@implements(first_action, KdTreeMemory)
def _first_action(memory: KdTreeMemory, agent: Agent, s: np.ndarray, j: int) -> int:
    return act_on_leaf(memory, agent.settings, j, agent.rng)


@implements(get_action, KdTreeMemory)
def _stack_and_act(
    memory: KdTreeMemory,
    agent: Agent,
    s: np.ndarray,
    j: int,
    a: int,
    r: float,
    s_next: np.ndarray,
    terminal: bool,
) -> tuple[int, int]:
    """Put a step on the stack, learn from it if it is full, and choose the next action."""
    settings = agent.settings
    k = region(memory.tree, look(agent.world, s_next, AFTER).seen)
    memory.counters["since"][0] += 1
    stack_step(memory, settings, j, a, r)
    held = settings.hold and k == j
    if memory.counters["stacked"][0] == len(memory.leaf) and not held:
        learn_from_stack(memory, settings, 0.0 if terminal else state_value(memory.q[k]))
    if terminal:
        return NO_ACTION, k
    return (a if held else act_on_leaf(memory, settings, k, agent.rng)), k


@implements(pauses, KdTreeMemory)
def _pauses(memory: KdTreeMemory, agent: Agent, length: int) -> bool:
    return is_look_due(memory, agent.settings)


@kernel
def learn_so_far(
    world: Any,
    memory: KdTreeMemory,
    settings: KdTreeSettings,
    progress: Progress,
    log: Any,
    rng: Generator,
    terminal: bool,
) -> None:
    """Learn from the steps on the stack of a trial that has ended, was stopped or paused."""
    agent = by_reference(Agent(world, memory, settings, progress, log, rng))
    j = leaf_of_state(agent.memory, agent, progress.now)
    learn_from_stack(memory, settings, 0.0 if terminal else state_value(memory.q[j]))


@part
def act_on_leaf(memory: KdTreeMemory, settings: KdTreeSettings, j: int, rng: Generator) -> int:
    """Choose a preferred action of a leaf, or now and then any."""
    if settings.explore > 0.0 and rng.random() < settings.explore:
        return int(rng.random() * memory.q.shape[1])
    return choose(memory.q[j], 0.0, rng)


@part
def is_look_due(memory: KdTreeMemory, settings: KdTreeSettings) -> bool:
    """Whether it is time to check the boundaries."""
    return memory.counters["since"][0] >= settings.interval * memory.tree.size[0]


@part
def stack_step(memory: KdTreeMemory, settings: KdTreeSettings, j: int, a: int, r: float) -> None:
    """Put a step on the stack; a step that holds the last action is joined to the previous one."""
    place = memory.counters["stacked"][0]
    last = place - 1
    if settings.hold and place > 0 and memory.leaf[last] == j and memory.action[last] == a:
        memory.reward[last] += memory.discount[last] * r
        memory.discount[last] *= settings.gamma
        return
    memory.leaf[place] = j
    memory.action[place] = a
    memory.reward[place] = r
    memory.discount[place] = settings.gamma
    memory.explored[place] = not prefers(memory.q[j], a, 0.0)
    memory.counters["stacked"][0] = place + 1


@part
def learn_from_stack(memory: KdTreeMemory, settings: KdTreeSettings, v_last: float) -> None:
    """Learn from the stacked steps, the latest first, and empty the stack; ``v_last`` is the value after them.

    Each step learns from a mixture of the value that followed it and of the return along the steps after it. An
    action that was not preferred ends that return, as in Watkins's Q(lambda).
    """
    v, g = v_last, v_last
    for place in range(memory.counters["stacked"][0] - 1, -1, -1):
        j, a = memory.leaf[place], memory.action[place]
        ahead = (1.0 - settings.lambda_) * v + settings.lambda_ * g
        g = look_ahead(memory.reward[place], memory.discount[place], ahead)
        memory.lessons[j, a] += 1
        rate = max(settings.alpha, 1.0 / memory.lessons[j, a])
        memory.q[j, a] += rate * (g - memory.q[j, a])
        v = state_value(memory.q[j])
        if memory.explored[place]:
            g = v
    memory.counters["stacked"][0] = 0


# Where leaves are halved: at decision boundaries, where neighbours disagree about the action or the value.


@part
def policy_disagreement(one: Vector, other: Vector) -> float:
    """The sum of both leaves' losses if each takes the other's preferred action; 0 if they agree.

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
    """The action of the greatest value; the first of tied ones."""
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
    """Mark a leaf if it is wide enough to be halved and this is its greatest difference so far."""
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
    """Halve the marked leaves as long as more are allowed; both halves begin with the values of the whole."""
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
