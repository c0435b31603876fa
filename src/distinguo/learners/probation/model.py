"""Imagined trials: what a map would do if every step changed the observation as the most similar step so far did.

Nothing is run for them and nothing is kept because of them: they only choose which proposal is worth trying.
"""

from __future__ import annotations

from distinguo.learners.agent import GREATEST, LEAST, Agent
from distinguo.learners.probation.memory import ENDED, NONE, RUNNING_ON, Model, Scratch
from distinguo.seam import kernel, part
from distinguo.search.maps import PrototypeMap, action_of

NARROW = 1e-12  #: an extent below this counts as none


@part
def remember_transition(agent: Agent, k: int, a: int, j: int) -> None:
    """Remember the transition from node ``k`` to ``j`` in place of the oldest by the same action."""
    tree, model = agent.memory.tree, agent.memory.model
    place = model.times[a] % model.reward.shape[1]
    model.times[a] += 1
    for i in range(tree.seen.shape[1]):
        model.seen[a, place, i] = tree.seen[k, i]
        model.change[a, place, i] = tree.seen[j, i] - tree.seen[k, i]
    model.reward[a, place] = tree.gained[j] - tree.gained[k]
    model.end[a, place] = tree.end[j] == ENDED


@kernel
def most_similar(model: Model, scratch: Scratch, a: int) -> int:
    """Return the remembered transition by action ``a`` that began nearest to the imagined point.

    A kernel of its own: it knows no task, so it runs compiled for tasks that do not.
    """
    best, place = 1e300, NONE
    for q in range(min(model.times[a], model.reward.shape[1])):
        distance = 0.0
        for i in range(len(scratch.point)):
            d = (scratch.point[i] - model.seen[a, q, i]) * scratch.weight[i]
            distance += d * d
        if distance < best:
            best, place = distance, q
    return place


@part
def set_weights(agent: Agent) -> None:
    """Weigh coordinates by the extent that was seen so far."""
    extent, scratch = agent.progress.extent, agent.memory.scratch
    for i in range(len(scratch.weight)):
        scratch.weight[i] = 1.0 / max(extent[GREATEST, i] - extent[LEAST, i], NARROW)


@part
def imagined_return(agent: Agent, given: PrototypeMap, k: int, cap: int, first: int, need: float) -> float:
    """Imagine the trial of a map from node ``k``, where it takes the action ``first`` if there is one.

    It is given up when it can no longer gain what is needed.
    """
    tree, model, point = agent.memory.tree, agent.memory.model, agent.memory.scratch.point
    while first == NONE and tree.end[k] == RUNNING_ON and tree.depth[k] < cap:  # what is known needs no guess
        j = tree.child[k, action_of(given, tree.seen[k])]
        if j == NONE:
            break
        k = j
    gained, depth = tree.gained[k], tree.depth[k]
    if tree.end[k] != RUNNING_ON:
        return gained
    for i in range(len(point)):
        point[i] = tree.seen[k, i]
    a = first
    reward = max(agent.memory.status["reward"][0], 0.0)
    while depth < cap and gained + reward * (cap - depth) >= need:
        if a == NONE:
            a = action_of(given, point)
        place = most_similar(model, agent.memory.scratch, a)
        if place == NONE:
            return gained
        for i in range(len(point)):
            point[i] += model.change[a, place, i]
        gained += model.reward[a, place]
        depth += 1
        if model.end[a, place]:
            return gained
        a = NONE
    return gained
