"""Why a region was split, merged or detached: a log that compiled code can write.

Each entry names two prototypes, shows both action profiles as they were at that moment, the rules of
Definition 9 that keep the two states apart (none for a merge), and the reward at stake between them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.criteria import BEST, POLICY, VALUE, incompatibility, stake
from distinguo.learners.economy.memory import ATTEMPT, INVESTIGATION_STEPS, TRIAL_STEPS, TRIALS, Memory
from distinguo.seam import part

SPLIT, MERGE, DETACH = 0, 1, 2
KINDS = ("split", "merge", "detach")
#: Entries of their own: another attempt began from scratch; the stage ended with an earlier attempt.
RESTART, RETURN = "restart", "return"
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
def record(
    log: Log,
    memory: Memory,
    kind: int,
    first: int,
    second: int,
    q1: np.ndarray,
    q2: np.ndarray,
    epsilon: float,
) -> None:
    """Write down that something happened between two prototypes, with their profiles."""
    n = log.size[0]
    log.size[0] = n + 1
    log.kind[n, 0] = kind
    log.kind[n, 1] = incompatibility(q1, q2, epsilon, epsilon)
    log.kind[n, 2] = first
    log.kind[n, 3] = second
    log.kind[n, 4] = memory.counters[TRIALS]
    log.kind[n, 5] = memory.counters[TRIAL_STEPS]
    log.kind[n, 6] = memory.counters[INVESTIGATION_STEPS]
    for a in range(len(q1)):
        log.profiles[n, 0, a] = q1[a]
        log.profiles[n, 1, a] = q2[a]
    log.regret[n] = stake(q1, q2)


def drain(log: Log, memory: Memory) -> list[dict[str, Any]]:
    """Return the entries as plain dictionaries and empty the log."""
    entries = [_entry(log, memory, n) for n in range(log.size[0])]
    log.size[0] = 0
    return entries


def _entry(log: Log, memory: Memory, n: int) -> dict[str, Any]:
    kind, rules, first, second, trial, trial_steps, investigation_steps = log.kind[n].tolist()
    states = memory.partition.prototypes
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


def returned_to(memory: Memory, trial: int) -> dict[str, Any]:
    """Return the entry that says which attempt a stage ended with, and how far that had come."""
    attempt, until = int(memory.counters[ATTEMPT]), int(memory.counters[TRIALS])
    return {"event": RETURN, "trial": trial, "attempt": attempt, "until": until}


def of_these_regions(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries about the regions that there are now: those of one attempt.

    >>> of_these_regions([{"event": "split", "trial": 1}, {"event": "restart", "trial": 9}])
    []
    """
    attempts: list[list[dict[str, Any]]] = [[]]
    for entry in entries:
        if entry["event"] == RESTART:
            attempts.append([])
        elif entry["event"] == RETURN:
            attempts.append([e for e in attempts[entry["attempt"]] if e["trial"] <= entry["until"]])
        else:
            attempts[-1].append(entry)
    return attempts[-1]
