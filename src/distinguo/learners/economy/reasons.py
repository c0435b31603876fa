"""Why a region was split, merged or detached: a log that compiled code can write.

Each entry names two prototypes, shows both action profiles as they were at that moment, the rules of
Definition 9 that keep the two states apart (none for a merge), and the reward at stake between them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.criteria import BEST, POLICY, VALUE, Vector, incompatibility, stake
from distinguo.learners.agent import Agent
from distinguo.learners.economy.values import current_epsilon
from distinguo.seam import part

SPLIT, MERGE, DETACH = 0, 1, 2
KINDS = ("split", "merge", "detach")
RULES = {POLICY: "policy (Eq. 3)", VALUE: "value (Eq. 4)", BEST: "best action (Eq. 6)"}


class Log(NamedTuple):
    """Entries of one session of ``process_stack``; emptied by :func:`drain`."""

    size: np.ndarray  #: (1,)
    kind: np.ndarray  #: (room, 7): kind, rules, first, second, trial, step, investigation steps
    profiles: np.ndarray  #: (room, 2, actions)
    regret: np.ndarray  #: (room,)


def fresh_log(room: int, actions: int) -> Log:
    """Return an empty log with room for so many entries."""
    return Log(
        np.zeros(1, dtype=np.int64),
        np.zeros((room, 7), dtype=np.int64),
        np.zeros((room, 2, actions)),
        np.zeros(room),
    )


@part
def record(agent: Agent, kind: int, first: int, second: int, q1: Vector, q2: Vector) -> None:
    """Write down that something happened between two prototypes, with their profiles."""
    log, counts = agent.log, agent.progress.counts
    epsilon = current_epsilon(agent.memory, agent.settings)
    n = log.size[0]
    log.size[0] = n + 1
    log.kind[n, 0] = kind
    log.kind[n, 1] = incompatibility(q1, q2, epsilon, epsilon)
    log.kind[n, 2] = first
    log.kind[n, 3] = second
    log.kind[n, 4] = counts["trials"][0]
    log.kind[n, 5] = counts["trial_steps"][0]
    log.kind[n, 6] = counts["investigation_steps"][0]
    for a in range(len(q1)):
        log.profiles[n, 0, a] = q1[a]
        log.profiles[n, 1, a] = q2[a]
    log.regret[n] = stake(q1, q2)


def drain(log: Log, partition: Any) -> list[dict[str, Any]]:
    """Return the entries as plain dictionaries and empty the log."""
    entries = [_entry(log, partition, n) for n in range(log.size[0])]
    log.size[0] = 0
    return entries


def _entry(log: Log, partition: Any, n: int) -> dict[str, Any]:
    kind, rules, first, second, trial, trial_steps, investigation_steps = log.kind[n].tolist()
    states = partition.prototypes
    return {
        "event": KINDS[kind],
        "trial": trial,
        "step": trial_steps + investigation_steps,
        "prototypes": [first, second],
        "states": [states[first].tolist(), states[second].tolist()],
        "profiles": log.profiles[n].tolist(),
        "rules": [name for bit, name in RULES.items() if rules & bit],
        "regret": float(log.regret[n]),
    }
