"""Attempts from scratch, and the best one: luck in the first trials should not decide a whole run."""

from __future__ import annotations

from typing import Any, NamedTuple

from distinguo.learners.agent import Agent, Progress
from distinguo.learners.learner import leaves, with_leaves

#: Reasons of their own: another attempt began from scratch; the stage ended with an earlier attempt.
RESTART, RETURN = "restart", "return"


def luby(n: int) -> int:
    """Return the n-th number of 1, 1, 2, 1, 1, 2, 4, …: how long the n-th attempt should be, in units of the first.

    Of all ways to restart without knowing how long success takes, this one is within a small factor of the best.

    >>> [luby(n) for n in range(1, 8)]
    [1, 1, 2, 1, 1, 2, 4]
    """
    power = n.bit_length()
    return 2 ** (power - 1) if n == 2**power - 1 else luby(n - 2 ** (power - 1) + 1)


def is_over(progress: Progress, restart: int) -> bool:
    """Tell whether an attempt had as many trials as it should."""
    if restart == 0:
        return False
    counts = progress.counts
    had = counts["trials"][0] - counts["since"][0]
    return bool(had >= restart * luby(int(counts["attempt"][0]) + 1))


class Best(NamedTuple):
    """The best attempt so far, its mean return, which attempt it was, and the trials until then."""

    score: float
    memory: Any
    attempt: int
    trials: int


def better(best: Best | None, score: float, agent: Agent) -> Best:
    """Return the better of the best attempt so far and this one; the earlier, if they are equal."""
    if best is not None and best.score >= score:
        return best
    copies = {name: array.copy() for name, array in leaves(agent.memory).items()}
    counts = agent.progress.counts
    memory = with_leaves(agent.memory, copies)
    return Best(score, memory, int(counts["attempt"][0]), int(counts["trials"][0]))


def returned_to(trial: int, attempt: int, until: int) -> dict[str, Any]:
    """Return the entry that says which attempt a stage ended with, and how far that had come."""
    return {"event": RETURN, "trial": trial, "attempt": attempt, "until": until}


def of_these_regions(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries about the regions that there are now: those of one attempt.

    A learner that begins again by itself says nothing of that here, so all of its entries are of one attempt.

    >>> of_these_regions([{"event": "split", "trial": 1}, {"event": "restart", "trial": 9}])
    []
    >>> of_these_regions([{"event": "kept", "trial": 1}, {"event": "kept", "trial": 7}, returned_to(9, 2, until=3)])
    [{'event': 'kept', 'trial': 1}]
    """
    attempts: list[list[dict[str, Any]]] = [[]]
    for entry in entries:
        if entry["event"] == RESTART:
            attempts.append([])
        elif entry["event"] == RETURN:
            of_it = attempts[min(entry["attempt"], len(attempts) - 1)]
            attempts.append([e for e in of_it if e["trial"] <= entry["until"]])
        else:
            attempts[-1].append(entry)
    return attempts[-1]
