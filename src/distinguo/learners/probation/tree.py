"""Trials as a tree: a decision that was tried from a state before is not tried again.

The next state is looked up where it is known. From the first decision that was never tried, the trial is run: from
that very state where the task can be put there, else by taking the same actions from the start again, which costs the
same steps again.
"""

from __future__ import annotations

import numpy as np

from distinguo.learners.agent import GREATEST, LEAST, NO_BUDGET, Agent, widen
from distinguo.learners.probation.memory import ENDED, NONE, RUNNING_ON, STOPPED
from distinguo.learners.probation.model import remember_transition
from distinguo.seam import part
from distinguo.search.maps import PrototypeMap, action_of
from distinguo.tasks.world import BEFORE, NEXT, OWN, begin, copy_row, look, step, stops


@part
def new_node(agent: Agent, s: np.ndarray, gained: float, depth: int, parent: int) -> int:
    """Add a state to the tree."""
    tree, status = agent.memory.tree, agent.memory.status
    k = status["nodes"][0]
    status["nodes"][0] = k + 1
    seen = look(agent.world, s, BEFORE).seen
    for i in range(len(s)):
        tree.states[k, i] = s[i]
    for i in range(len(seen)):
        tree.seen[k, i] = seen[i]
    tree.gained[k], tree.depth[k], tree.parent[k], tree.end[k] = gained, depth, parent, RUNNING_ON
    for a in range(tree.child.shape[1]):
        tree.child[k, a] = NONE
    widen(agent.progress, seen)
    return k


@part
def new_root(agent: Agent) -> int:
    """Add the start of a new trial."""
    s = agent.world.spare[NEXT]
    begin(agent.world, agent.rng, s)
    return new_node(agent, s, 0.0, 0, NONE)


@part
def grow(agent: Agent, k: int, s: np.ndarray, a: int) -> int:
    """Take an action from ``s``, the state of node ``k``, which moves on: the node that it leads to."""
    tree, memory = agent.memory.tree, agent.memory
    r, terminal = step(agent.world, s, a, s)
    if memory.facts["hold"][0]:
        r = 1.0
    memory.status["reward"][0] = max(memory.status["reward"][0], r)
    j = new_node(agent, s, tree.gained[k] + r, tree.depth[k] + 1, k)
    if terminal:
        tree.end[j] = ENDED
    elif stops(agent.world, s):
        tree.end[j] = STOPPED
    tree.child[k, a] = j
    remember_transition(agent, k, a, j)
    return j


@part
def return_to(agent: Agent, root: int, k: int, s: np.ndarray) -> int:
    """Bring the task to node ``k``, whose state is written to ``s``: the steps that this took."""
    tree, path = agent.memory.tree, agent.memory.scratch.path
    if agent.memory.facts["returns"][0] or k == root:
        copy_row(tree.states[k], s)
        return 0
    steps = tree.depth[k]
    at = k
    for place in range(steps - 1, -1, -1):
        above = tree.parent[at]
        for a in range(tree.child.shape[1]):
            if tree.child[above, a] == at:
                path[place] = a
        at = above
    copy_row(tree.states[root], s)
    for place in range(steps):
        step(agent.world, s, path[place], s)
    return steps


@part
def can_reach(agent: Agent, k: int, cap: int, need: float) -> bool:
    """Whether a trial that has come to node ``k`` may still gain as much as is needed."""
    tree, reward = agent.memory.tree, agent.memory.status["reward"][0]
    hope = reward * (cap - tree.depth[k]) if reward > 0.0 else 0.0
    return tree.gained[k] + hope >= need


@part
def goes_on(agent: Agent, k: int, cap: int, need: float) -> bool:
    """Whether a trial that has come to node ``k`` is neither at its end nor to be given up."""
    tree = agent.memory.tree
    return tree.end[k] == RUNNING_ON and tree.depth[k] < cap and can_reach(agent, k, cap, need)


@part
def run_trial(
    agent: Agent, given: PrototypeMap, root: int, cap: int, need: float, left: int = NO_BUDGET
) -> tuple[int, int]:
    """Run a trial of a map from a root until it ends or cannot gain what is needed: its last node, and the steps.

    It is cut where it would take more steps than are ``left``; then it could go on from its last node.
    """
    tree, facts = agent.memory.tree, agent.memory.facts
    known = agent.settings.reuse and facts["repeats"][0]
    k, steps, alive = root, 0, False
    s = agent.world.spare[OWN]
    while goes_on(agent, k, cap, need):
        a = action_of(given, tree.seen[k])
        j = tree.child[k, a]
        if j == NONE or not known:
            again = 0 if alive or facts["returns"][0] else tree.depth[k]
            if steps + again + 1 > left:
                break
            if not alive:
                steps += return_to(agent, root, k, s)
                alive = True
            j = grow(agent, k, s, a)
            steps += 1
        k = j
    return k, steps


@part
def has_ended(agent: Agent, k: int, cap: int) -> bool:
    """Whether a trial that was left at node ``k`` came to its end, and was not given up."""
    tree = agent.memory.tree
    return tree.end[k] != RUNNING_ON or tree.depth[k] >= cap


@part
def reach_of(agent: Agent, given: PrototypeMap, root: int, last: int) -> float:
    """Return how far a trial went: the extents of its observations, summed, in those of all trials so far."""
    tree, extent = agent.memory.tree, agent.progress.extent
    total = 0.0
    for i in range(tree.seen.shape[1]):
        width = extent[GREATEST, i] - extent[LEAST, i]
        k = last
        low, high = tree.seen[k, i], tree.seen[k, i]
        while k != root:
            k = tree.parent[k]
            low, high = min(low, tree.seen[k, i]), max(high, tree.seen[k, i])
        if width > 0.0:
            total += (high - low) / width
    return total
