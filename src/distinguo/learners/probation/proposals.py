"""Proposals: changes of a map in one or several places, and the log of those kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.learners.agent import GREATEST, LEAST, Agent
from distinguo.learners.probation.memory import NONE, RUNNING_ON, imagined_return, set_weights
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

# Which of the five moves of a map are tried, and how far they go.


#: Kinds of changes, and the share of each (the rest drops a prototype).
MOVE, STRETCH, ACTION, ADD, DROP = 1, 2, 4, 8, 16
MOVES, STRETCHES, ACTIONS, ADDS = 0.4, 0.15, 0.15, 0.15
MOST_CHANGES = 4
LOOKS = 10  #: states of a trajectory that are checked for regret or surprise


@part
def below(agent: Agent, number: int) -> int:
    """Draw a whole number from 0 to ``number - 1``."""
    return int(agent.rng.random() * number)


@part
def weigh_by_extent(agent: Agent, target: PrototypeMap) -> None:
    """Weigh coordinates by the extent observed so far."""
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
    """Change a copy of a map; return the kinds of changes, a bit for each.

    ``root`` is the start whose trajectory is checked for regret and surprise.
    """
    copy_map(source, target)
    kinds, more = 0, MOST_CHANGES
    while more > 0:
        kinds |= change(agent, target, root, cap)
        more = more - 1 if agent.rng.random() < agent.settings.several else 0
    return kinds


@part
def change(agent: Agent, target: PrototypeMap, root: int, cap: int) -> int:
    """Make one change and return its kind."""
    u = agent.rng.random()
    p = below(agent, target.partition.size[0])
    if u < MOVES:
        move_somewhere(agent, target, p)
        return MOVE
    u -= MOVES
    if u < STRETCHES:
        i = below(agent, len(target.partition.weight))
        stretch_weight(target, i, np.exp(agent.rng.normal() * agent.settings.stretch))
        if agent.memory.scratch.share[i] < 1.0:
            include_or_leave_out(agent, target, i)
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
def include_or_leave_out(agent: Agent, target: PrototypeMap, i: int) -> None:
    """Give a coordinate that does not seem to matter its whole weight, or as little as before."""
    share, weight = agent.memory.scratch.share[i], agent.memory.scratch.weight[i]
    small = target.partition.weight[i] < weight / np.sqrt(share)
    stretch_weight(target, i, (weight / share if small else weight) / target.partition.weight[i])


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
    """Add a prototype: anywhere, where imagined regret is greatest, or where the value is most surprising."""
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
    """Return the node ``depth`` steps from the root along the trajectory of the present map, or its last."""
    tree, k = agent.memory.tree, root
    while tree.depth[k] < depth and tree.end[k] == RUNNING_ON:
        j = tree.child[k, action_of(agent.memory.incumbent, tree.seen[k])]
        if j == NONE:
            return k
        k = j
    return k


@part
def most_regretted(agent: Agent, root: int, cap: int) -> tuple[int, int]:
    """Return the state of the trajectory, and another action there, with the greatest imagined gain."""
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
    """Return the state of the trajectory whose future return differs most from the others of its region."""
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


# Why a change was kept: its kind, its first difference, and its gain on the worst start.


#: Kinds of changes by their bits (proposals.py), in words.
KINDS = {1: "move", 2: "stretch", 4: "action", 8: "add", 16: "drop"}
ENTRIES = 64  #: room in the log before it is drained

ENTRY = np.dtype(
    [
        ("trial", np.int64),
        ("kinds", np.int64),
        ("before", np.int64),  # prototypes
        ("after", np.int64),
        ("steps", np.int64),  # that trying it took
        ("starts", np.int64),  # that it was tried on
        ("action", np.int64),  # of the present map where the two first differ, on the worst start
        ("instead", np.int64),  # of the proposal
        ("step", np.int64),  # of the trial, where that is
        ("worst", np.float64),  # return of the present map from that start
        ("then", np.float64),  # of the proposal
        ("gain", np.float64),  # over all starts
    ],
    align=True,
)


class RaceLog(NamedTuple):
    """Entries that were not drained yet."""

    used: np.ndarray  #: (1,) how many there are
    entries: np.ndarray
    seen: np.ndarray  #: (entries, dimensions) where the two first differ


def fresh_race_log(dimensions: int) -> RaceLog:
    """Return an empty log."""
    return RaceLog(
        np.zeros(1, dtype=np.int64), np.zeros(ENTRIES, dtype=ENTRY), np.zeros((ENTRIES, dimensions))
    )


@part
def log_kept(agent: Agent) -> None:
    """Log a proposal that is about to be kept."""
    memory, log = agent.memory, agent.log
    n = log.used[0]
    if n >= len(log.entries):
        return
    log.used[0] = n + 1
    status, starts, entries = memory.status, memory.starts, log.entries
    i = starts.order[0] if memory.facts["repeats"][0] else 0
    entries["trial"][n] = agent.progress.counts["trials"][0]
    entries["kinds"][n], entries["steps"][n] = status["kinds"][0], status["ran"][0]
    entries["before"][n] = memory.incumbent.partition.size[0]
    entries["after"][n] = memory.candidate.partition.size[0]
    entries["starts"][n] = status["place"][0]
    entries["worst"][n], entries["then"][n] = starts.returns[i], starts.tried[i]
    entries["gain"][n] = status["total"][0] - status["present"][0]
    write_first_difference(agent, starts.roots[i], n)


@part
def write_first_difference(agent: Agent, root: int, n: int) -> None:
    """Log where the proposal first acts differently on a trajectory of the present map."""
    memory, log = agent.memory, agent.log
    tree, k = memory.tree, root
    log.entries["action"][n] = NONE
    while tree.end[k] == RUNNING_ON:
        a, b = action_of(memory.incumbent, tree.seen[k]), action_of(memory.candidate, tree.seen[k])
        if a != b:
            log.entries["action"][n], log.entries["instead"][n] = a, b
            log.entries["step"][n] = tree.depth[k]
            for i in range(log.seen.shape[1]):
                log.seen[n, i] = tree.seen[k, i]
            return
        k = tree.child[k, a]
        if k == NONE:
            return


def drain_race(log: RaceLog) -> list[dict[str, Any]]:
    """Return the entries, and empty the log."""
    entries = [_in_words(log.entries[n], log.seen[n]) for n in range(int(log.used[0]))]
    log.used[0] = 0
    return entries


def _in_words(entry: Any, seen: np.ndarray) -> dict[str, Any]:
    words: dict[str, Any] = {
        "event": "kept",
        "trial": int(entry["trial"]),
        "changes": [word for bit, word in KINDS.items() if int(entry["kinds"]) & bit],
        "prototypes": [int(entry["before"]), int(entry["after"])],
        "starts": int(entry["starts"]),
        "worst_start": [float(entry["worst"]), float(entry["then"])],
        "gain": float(entry["gain"]),
        "steps": int(entry["steps"]),
    }
    if entry["action"] != NONE:
        words["first_difference"] = {
            "step": int(entry["step"]),
            "state": seen.tolist(),
            "action": int(entry["action"]),
            "instead": int(entry["instead"]),
        }
    return words
