"""The discretized task: where each action leads from each corner, and what the corners are worth.

An action is held from a corner until the trajectory leaves the leaf that it came into. So the corners are the states
of a Markov chain, whose chances are barycentric coordinates, and which dynamic programming solves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.representations.partition import region
from distinguo.seam import at_speed, kernel, part
from distinguo.tasks.task import State, observe, transition, unpack
from distinguo_lab.controls.resolution.corners import Corners, interpolated, weigh_corners

LONGEST = 200  #: steps that an action is held, at most
SWEEPS = 5_000  #: of dynamic programming, at most
PRECISION = 1e-6  #: change of a sweep that ends it, as a share of the greatest value


class ResolutionPlan(NamedTuple):
    """The corners as states of a Markov chain, and their values."""

    corners: Corners
    gamma: float  #: discount of a step
    next: np.ndarray  #: (corners, actions, dimensions + 1) the corners that an action leads to
    weight: np.ndarray  #: (corners, actions, dimensions + 1) with what chance, discounted; 0 after the end
    gained: np.ndarray  #: (corners, actions) the discounted rewards on the way
    values: np.ndarray  #: (corners,) the value of each
    queries: int  #: transitions of the task that were asked for

    @property
    def q(self) -> np.ndarray:
        """Return the value of every action at every corner."""
        ahead: np.ndarray = (self.weight * self.values[self.next]).sum(axis=2)
        return self.gained + ahead


@part
def held_action(
    task: Any, corners: Corners, gamma: float, s: State, a: int
) -> tuple[State, float, float, int]:
    """Hold an action until the state leaves its leaf: where to, reward, discount (0 at an end), steps."""
    gained, discount, steps = 0.0, 1.0, 0
    leaf, left = -1, False
    while not left and steps < LONGEST:
        s, r, terminal = transition(task, s, a)
        steps += 1
        gained += discount * r
        discount *= gamma
        if terminal:
            return s, gained, 0.0, steps
        here = region(corners.tree, observe(task, s))
        left = leaf >= 0 and here != leaf
        leaf = here
    return s, gained, discount, steps


@kernel
def _fill_model(
    task: Any, corners: Corners, gamma: float, following: np.ndarray, weight: np.ndarray, gained: np.ndarray
) -> int:
    queries = 0
    for c in range(len(corners.points)):
        for a in range(gained.shape[1]):
            s, gained[c, a], discount, steps = held_action(
                task, corners, gamma, unpack(task, corners.points[c]), a
            )
            queries += steps
            weigh_corners(corners, observe(task, s), following[c, a], weight[c, a])
            for k in range(weight.shape[2]):
                weight[c, a, k] *= discount
    return queries


@kernel
def _sweep(next_: np.ndarray, weight: np.ndarray, gained: np.ndarray, values: np.ndarray, sweeps: int) -> int:
    """Back up all corners in turn until nothing changes much; say how many times."""
    for number in range(sweeps):
        change, greatest = 0.0, 0.0
        for c in range(len(values)):
            best = -np.inf
            for a in range(gained.shape[1]):
                value = gained[c, a]
                for k in range(weight.shape[2]):
                    value += weight[c, a, k] * values[next_[c, a, k]]
                best = max(best, value)
            change = max(change, abs(best - values[c]))
            greatest = max(greatest, abs(best))
            values[c] = best
        if change <= PRECISION * greatest:
            return number + 1
    return sweeps


def plan_on(task: Any, corners: Corners, actions: int, gamma: float) -> ResolutionPlan:
    """Ask the task where every action leads from every corner, and solve what comes of it."""
    count, dimensions = corners.points.shape
    following = np.zeros((count, actions, dimensions + 1), dtype=np.int64)
    weight = np.zeros((count, actions, dimensions + 1))
    gained, values = np.zeros((count, actions)), np.zeros(count)
    queries = at_speed(_fill_model, task)(task, corners, gamma, following, weight, gained)
    _sweep(following, weight, gained, values, SWEEPS)
    return ResolutionPlan(corners, gamma, following, weight, gained, values, int(queries))


@part
def best_ahead(task: Any, plan: ResolutionPlan, s: State) -> int:
    """Return the action that leads to the most, by holding each until the leaf is left; of equal ones the first."""
    best, most = 0, -np.inf
    for a in range(plan.gained.shape[1]):
        s_next, gained, discount, _ = held_action(task, plan.corners, plan.gamma, s, a)
        value = gained + discount * interpolated(plan.corners, plan.values, observe(task, s_next))
        if value > most:
            best, most = a, value
    return best
