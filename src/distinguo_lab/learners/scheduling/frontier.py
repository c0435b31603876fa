"""The frontier of what is learned, found by simulations (ROUT: Boyan and Moore 1995, 1996).

A region is on the frontier if it is not settled and everything that was seen to follow it is: then its value can be
learned once and for all. To find one, simulate from a region to the end of the trial, each action first and then the
greedy policy, and search on from the last region on the way that is not settled. The source recognises such states by
their Bellman residual; in a table, a settled region has none, and is never investigated again.

The search needs a task without cycles. With cycles it may return to an earlier region: then it gives up, counts that
under ``cycles``, and nothing is settled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.random import Generator

from distinguo.controller import choose
from distinguo.representations.partition import region
from distinguo.seam import part
from distinguo.tasks.world import BEFORE, ON_THE_WAY, copy_row, look, step, stops
from distinguo_lab.learners.scheduling.agenda import NONE, Agenda, note_state


class Hunt(NamedTuple):
    """How far a search for the frontier may go."""

    simulations: int  #: of each action, from each region that is tried
    horizon: int  #: steps of a simulation
    most: int  #: steps in all; the search ends if the next region might take more


@part
def hunt_frontier(
    world: Any, partition: Any, q: Any, agenda: Agenda, x: int, hunt: Hunt, rng: Generator
) -> int:
    """A region of the frontier that follows region ``x``, or ``x`` itself; -1 if a cycle is in the way.

    Its steps are counted under ``hunt_steps``.
    """
    last = agenda.counters["hunt_steps"][0] + hunt.most - q.shape[1] * hunt.simulations * hunt.horizon
    for _ in range(len(q)):  # without cycles a search only moves forward, and ends earlier
        if agenda.counters["hunt_steps"][0] > last:
            return NONE
        y = x
        for a in range(q.shape[1]):
            for _ in range(hunt.simulations):
                if y == x:
                    y = last_unsettled(world, partition, q, agenda, x, a, hunt.horizon, rng)
        if y == x:
            return x
        if y == NONE:
            break
        x = y
    agenda.counters["cycles"][0] += 1
    return NONE


@part
def last_unsettled(
    world: Any, partition: Any, q: Any, agenda: Agenda, x: int, a: int, horizon: int, rng: Generator
) -> int:
    """Simulate a trial from region ``x``; return the last region on it that is not settled, or ``x``.

    The first action is kept until ``x`` is left, as in a mini-trial. Returns -1 if the simulation comes back to
    ``x`` or does not end within the horizon.
    """
    s, j, last = world.spare[ON_THE_WAY], x, x
    copy_row(agenda.state[x], s)
    for _ in range(horizon):
        _, terminal = step(world, s, a, s)
        agenda.counters["hunt_steps"][0] += 1
        if terminal:
            return last
        k = region(partition, look(world, s, BEFORE).seen)
        if stops(world, s) or (k == x and j != x):
            return NONE
        if k != j:
            a = choose(q[k], 0.0, rng)
            if not agenda.settled[k]:
                last = k
                note_state(agenda, k, s)
        j = k
    return NONE
