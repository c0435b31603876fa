"""Why a change was kept: what it was, what it changed first, and what it paid on which start."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.learners.agent import Agent
from distinguo.learners.probation.memory import NONE, RUNNING_ON
from distinguo.seam import part
from distinguo.search.maps import action_of

#: Kinds of changes by their bits (proposals.py), in words.
KINDS = {1: "move", 2: "stretch", 4: "action", 8: "add", 16: "drop"}
ENTRIES = 64  #: that there is room for before they are drained

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
    """Write down a proposal that is about to be kept."""
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
    """Write down where a trajectory of the present map first leads the proposal to another action."""
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
