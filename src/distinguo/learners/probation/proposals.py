"""Proposals: which of the five moves of a map are tried, and how far they go."""

from __future__ import annotations

import numpy as np

from distinguo.learners.agent import GREATEST, LEAST, Agent
from distinguo.learners.probation.memory import NONE, RUNNING_ON
from distinguo.learners.probation.model import imagined_return, set_weights
from distinguo.seam import part
from distinguo.search.maps import (
    PrototypeMap,
    action_of,
    append_prototype,
    copy_map,
    drop_prototype,
    move_prototype,
    set_action,
    stretch_weight,
)

#: Kinds of changes, and the share of each (the rest drops a prototype).
MOVE, STRETCH, ACTION, ADD, DROP = 1, 2, 4, 8, 16
MOVES, STRETCHES, ACTIONS, ADDS = 0.4, 0.15, 0.15, 0.15
MOST_CHANGES = 4
LOOKS = 10  #: states of a trajectory that are looked at for regret or surprise


@part
def below(agent: Agent, number: int) -> int:
    """Draw a whole number from 0 to ``number - 1``."""
    return int(agent.rng.random() * number)


@part
def weigh_by_extent(agent: Agent, target: PrototypeMap) -> None:
    """Weigh coordinates by the extent that was seen so far."""
    set_weights(agent)
    for i in range(len(target.partition.weight)):
        target.partition.weight[i] = agent.memory.scratch.weight[i]
        target.partition.scale[i] = 1.0 / target.partition.weight[i]


@part
def random_map(agent: Agent, target: PrototypeMap) -> None:
    """Draw two to four visited states, and any action for each."""
    most = agent.settings.regions
    size = min(2 + below(agent, 3), most)
    target.partition.size[0] = size
    for p in range(size):
        move_prototype(target, p, agent.memory.tree.seen[below(agent, agent.memory.status["nodes"][0])])
        set_action(target, p, below(agent, agent.memory.tree.child.shape[1]))
    weigh_by_extent(agent, target)


@part
def propose(agent: Agent, source: PrototypeMap, target: PrototypeMap, root: int, cap: int) -> int:
    """Change a copy of a map: the kinds of changes, a bit for each.

    ``root`` is the start whose trajectory is looked at for regret and surprise.
    """
    copy_map(source, target)
    kinds, more = 0, MOST_CHANGES
    while more > 0:
        kinds |= change(agent, target, root, cap)
        more = more - 1 if agent.rng.random() < agent.settings.several else 0
    return kinds


@part
def change(agent: Agent, target: PrototypeMap, root: int, cap: int) -> int:
    """Make one change: its kind."""
    u = agent.rng.random()
    p = below(agent, target.partition.size[0])
    if u < MOVES:
        move_somewhere(agent, target, p)
        return MOVE
    u -= MOVES
    if u < STRETCHES:
        i = below(agent, len(target.partition.weight))
        stretch_weight(target, i, np.exp(agent.rng.normal() * agent.settings.stretch))
        return STRETCH
    u -= STRETCHES
    if u < ACTIONS:
        set_action(target, p, below(agent, agent.memory.tree.child.shape[1]))
        return ACTION
    u -= ACTIONS
    if u < ADDS and target.partition.size[0] < min(agent.settings.regions, len(target.actions)):
        add_somewhere(agent, target, root, cap)
        return ADD
    if target.partition.size[0] > 1:
        drop_prototype(target, p)
    return DROP


@part
def move_somewhere(agent: Agent, target: PrototypeMap, p: int) -> None:
    """Move a prototype to a visited state, or a little."""
    if agent.rng.random() < agent.settings.jump:
        move_prototype(target, p, agent.memory.tree.seen[below(agent, agent.memory.status["nodes"][0])])
        return
    extent = agent.progress.extent
    for i in range(target.partition.prototypes.shape[1]):
        width = extent[GREATEST, i] - extent[LEAST, i]
        target.partition.prototypes[p, i] += agent.rng.normal() * agent.settings.step * width


@part
def add_somewhere(agent: Agent, target: PrototypeMap, root: int, cap: int) -> None:
    """Add a prototype: anywhere, or where imagined regret is greatest, or where the value is the most surprising."""
    u, settings = agent.rng.random(), agent.settings
    a = below(agent, agent.memory.tree.child.shape[1])
    k = below(agent, agent.memory.status["nodes"][0])
    if root != NONE and u < settings.regret:
        k, a = most_regretted(agent, root, cap)
    elif root != NONE and u < settings.regret + settings.surprise:
        k = most_surprising(agent, root, cap)
    append_prototype(target, agent.memory.tree.seen[k], a)


@part
def node_at(agent: Agent, root: int, depth: int) -> int:
    """Return the node so many steps from the root along the trajectory of the present map, or its last."""
    tree, k = agent.memory.tree, root
    while tree.depth[k] < depth and tree.end[k] == RUNNING_ON:
        j = tree.child[k, action_of(agent.memory.incumbent, tree.seen[k])]
        if j == NONE:
            return k
        k = j
    return k


@part
def most_regretted(agent: Agent, root: int, cap: int) -> tuple[int, int]:
    """Return the state of the trajectory, and the other action there, by which most would be gained, as imagined."""
    tree, incumbent = agent.memory.tree, agent.memory.incumbent
    length = tree.depth[node_at(agent, root, cap)]
    best, where, what = -1e300, root, 0
    for _ in range(LOOKS):
        k = node_at(agent, root, below(agent, length))
        a = below(agent, tree.child.shape[1])
        gained = imagined_return(agent, incumbent, k, cap, a, best)
        if a != action_of(incumbent, tree.seen[k]) and gained > best:
            best, where, what = gained, k, a
    return where, what


@part
def most_surprising(agent: Agent, root: int, cap: int) -> int:
    """Return the state of the trajectory whose return to come differs most from that of the others of its region."""
    tree, incumbent = agent.memory.tree, agent.memory.incumbent
    last = node_at(agent, root, cap)
    length, total = tree.depth[last], tree.gained[last]
    best, where = -1.0, root
    for _ in range(LOOKS):
        k = node_at(agent, root, below(agent, length))
        other = node_at(agent, root, below(agent, length))
        same = action_of(incumbent, tree.seen[k]) == action_of(incumbent, tree.seen[other])
        difference = abs((total - tree.gained[k]) - (total - tree.gained[other]))
        if same and difference > best:
            best, where = difference, k
    return where
