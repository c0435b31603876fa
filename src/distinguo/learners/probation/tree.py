"""Trials as a tree: a decision that was tried from a state before is not tried again.

The next state is looked up where it is known. From the first decision that was never tried, the trial is run: from
that very state where the task can be put there, else by taking the same actions from the start again, which costs the
same steps again.
"""

from __future__ import annotations

from typing import Any

from distinguo.learners.agent import GREATEST, LEAST, NO_BUDGET, Agent, widen
from distinguo.learners.probation.memory import ENDED, NONE, RUNNING_ON, STOPPED, Map
from distinguo.learners.probation.model import remember_transition
from distinguo.representations.growing import nearest_growing
from distinguo.seam import part
from distinguo.tasks.task import State, observe, start, transition, truncated, unpack


@part
def action_of(given: Map, seen: Any) -> int:
    """Return the action of the nearest prototype."""
    return given.actions[nearest_growing(given.partition, seen)]


@part
def new_node(agent: Agent, s: State, gained: float, depth: int, parent: int) -> int:
    """Add a state to the tree."""
    tree, status = agent.memory.tree, agent.memory.status
    k = status["nodes"][0]
    status["nodes"][0] = k + 1
    seen = observe(agent.task, s)
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
    return new_node(agent, start(agent.task, agent.rng), 0.0, 0, NONE)


@part
def grow(agent: Agent, k: int, s: State, a: int) -> tuple[int, State]:
    """Take an action from a state, which is that of node ``k``: the node that it leads to, and its state."""
    tree, memory = agent.memory.tree, agent.memory
    s_next, r, terminal = transition(agent.task, s, a)
    if memory.facts["hold"][0]:
        r = 1.0
    memory.status["reward"][0] = max(memory.status["reward"][0], r)
    j = new_node(agent, s_next, tree.gained[k] + r, tree.depth[k] + 1, k)
    if terminal:
        tree.end[j] = ENDED
    elif truncated(agent.task, s_next):
        tree.end[j] = STOPPED
    tree.child[k, a] = j
    remember_transition(agent, k, a, j)
    return j, s_next


@part
def return_to(agent: Agent, root: int, k: int) -> tuple[State, int]:
    """Bring the task to node ``k``: its state, and the steps that this took."""
    tree, path = agent.memory.tree, agent.memory.scratch.path
    if agent.memory.facts["returns"][0] or k == root:
        return unpack(agent.task, tree.states[k]), 0
    steps = tree.depth[k]
    at = k
    for place in range(steps - 1, -1, -1):
        above = tree.parent[at]
        for a in range(tree.child.shape[1]):
            if tree.child[above, a] == at:
                path[place] = a
        at = above
    s = unpack(agent.task, tree.states[root])
    for place in range(steps):
        s, _, _ = transition(agent.task, s, path[place])
    return s, steps


@part
def can_reach(agent: Agent, k: int, cap: int, need: float) -> bool:
    """Tell whether a trial that has come to node ``k`` may still gain as much as is needed."""
    tree, reward = agent.memory.tree, agent.memory.status["reward"][0]
    hope = reward * (cap - tree.depth[k]) if reward > 0.0 else 0.0
    return tree.gained[k] + hope >= need


@part
def goes_on(agent: Agent, k: int, cap: int, need: float) -> bool:
    """Tell whether a trial that has come to node ``k`` is neither at its end nor to be given up."""
    tree = agent.memory.tree
    return tree.end[k] == RUNNING_ON and tree.depth[k] < cap and can_reach(agent, k, cap, need)


@part
def run_trial(
    agent: Agent, given: Map, root: int, cap: int, need: float, left: int = NO_BUDGET
) -> tuple[int, int]:
    """Run a trial of a map from a root until it ends or cannot gain what is needed: its last node, and the steps.

    It is cut where it would take more steps than are ``left``; then it could go on from its last node.
    """
    tree, facts = agent.memory.tree, agent.memory.facts
    known = agent.settings.reuse and facts["repeats"][0]
    k, steps, alive = root, 0, False
    s = unpack(agent.task, tree.states[root])
    while goes_on(agent, k, cap, need):
        a = action_of(given, tree.seen[k])
        j = tree.child[k, a]
        if j == NONE or not known:
            again = 0 if alive or facts["returns"][0] else tree.depth[k]
            if steps + again + 1 > left:
                break
            if not alive:
                s, again = return_to(agent, root, k)
                steps += again
                alive = True
            j, s = grow(agent, k, s, a)
            steps += 1
        k = j
    return k, steps


@part
def has_ended(agent: Agent, k: int, cap: int) -> bool:
    """Tell whether a trial that was left at node ``k`` came to its end, and was not given up."""
    tree = agent.memory.tree
    return tree.end[k] != RUNNING_ON or tree.depth[k] >= cap


@part
def reach_of(agent: Agent, given: Map, root: int, last: int) -> float:
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
