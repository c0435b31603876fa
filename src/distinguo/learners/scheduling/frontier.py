"""The frontier of what is learned, found by simulations (ROUT: Boyan and Moore 1995, 1996).

A region is on the frontier if it is not settled and everything that was seen to follow it is: then its value can be
learned once and for all. To find one, simulate from a region to the end of the trial, each action first and then the
greedy policy, and hunt on from the last region on the way that is not settled. The source tells such states by their
Bellman residual; in a table, what is settled has none, and is never looked into again.

The hunt needs a task without cycles. In one with cycles it may come back to where it was: then it gives up, counts
that under ``cycles``, and nothing is settled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.random import Generator

from distinguo.controller import choose, region_at
from distinguo.learners.scheduling.agenda import NONE, note_state
from distinguo.seam import part
from distinguo.tasks.task import transition, truncated, unpack


class Hunt(NamedTuple):
    """How far a hunt may go."""

    simulations: int  #: of each action, from each region that is tried
    horizon: int  #: steps of a simulation
    most: int  #: steps of the hunt, which is given up where the next region might take more


@part
def hunt_frontier(task: Any, partition: Any, q: Any, agenda: Any, x: int, hunt: Hunt, rng: Generator) -> int:
    """Return a region of the frontier that follows region ``x``, or ``x`` itself; -1 if a cycle is in the way.

    Its steps are counted under ``hunt_steps``.
    """
    last = agenda.counters["hunt_steps"][0] + hunt.most - q.shape[1] * hunt.simulations * hunt.horizon
    for _ in range(len(q)):  # without cycles a hunt only goes forward, and ends before that
        if agenda.counters["hunt_steps"][0] > last:
            return NONE
        y = x
        for a in range(q.shape[1]):
            for _ in range(hunt.simulations):
                if y == x:
                    y = last_unsettled(task, partition, q, agenda, x, a, hunt.horizon, rng)
        if y == x:
            return x
        if y == NONE:
            break
        x = y
    agenda.counters["cycles"][0] += 1
    return NONE


@part
def last_unsettled(
    task: Any, partition: Any, q: Any, agenda: Any, x: int, a: int, horizon: int, rng: Generator
) -> int:
    """Simulate a trial from region ``x``: the last region on the way that is not settled, ``x`` if all others are.

    The first action is kept until ``x`` is left, as in a mini-trial. Returns -1 if the simulation comes back to
    ``x`` or does not end within the horizon.
    """
    s, j, last = unpack(task, agenda.state[x]), x, x
    for _ in range(horizon):
        s, _, terminal = transition(task, s, a)
        agenda.counters["hunt_steps"][0] += 1
        if terminal:
            return last
        k = region_at(task, partition, s)
        if truncated(task, s) or (k == x and j != x):
            return NONE
        if k != j:
            a = choose(q[k], 0.0, rng)
            if not agenda.settled[k]:
                last = k
                note_state(agenda, k, s)
        j = k
    return NONE
