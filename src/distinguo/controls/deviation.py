"""How far the trajectories from one box can part: the off-line analysis behind the controllability quantization.

An agent that sees only the box treats all its states alike, so it sends them the same actions. The *deviation* of
two states is the largest distance that their trajectories ever have, at any step up to a horizon and under any
sequence of actions that changes at most once; on the puck, changing more often adds little. Distances are measured in
widths of the space. A trajectory that ends stays where it ended.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distinguo.errors import DistinguoError
from distinguo.representations.boxes import Box
from distinguo.seam import kernel, part
from distinguo.tasks.spec import TaskSpec
from distinguo.tasks.task import actions, start, transition, unpack

NODES = 3  #: states per coordinate that stand for a box in the average over pairs (Gauss-Legendre; ours)
LONGEST = 10_000  #: steps in which repeating an action should fail, for a horizon to be found


class Trajectories(NamedTuple):
    """States that set out together, and how far they have come apart."""

    first: np.ndarray  #: (states, dimensions) where they set out
    now: np.ndarray  #: (states, dimensions)
    ended: np.ndarray  #: (states,) whose trajectories have ended
    weight: np.ndarray  #: (dimensions,) one over the widths of the space
    squared: np.ndarray  #: (states, states) the squares of the largest distances so far


def controllability_error(spec: TaskSpec, box: Box, horizon: int) -> float:
    """Return the average deviation over all pairs of states of a box.

    >>> from distinguo.tasks.catalog import task_spec
    >>> hill = task_spec("puck")
    >>> round(controllability_error(hill, ((0.0, 0.0), (1.2, 2.75)), horizon=54), 2)
    0.32
    """
    nodes, shares = np.polynomial.legendre.leggauss(NODES)
    low, high = np.array(box[0]), np.array(box[1])
    # Around the middle, the states of mirrored boxes are mirrored to the last bit, and so are their cuts.
    states = (low + high) / 2 + (high - low) / 2 * _product(nodes, len(low))
    share = _product(shares / 2, len(low)).prod(axis=1)
    deviations = _deviations(spec, states, horizon)
    return float(share @ deviations @ share)


def _product(values: np.ndarray, dimensions: int) -> np.ndarray:
    mesh = np.meshgrid(*[values] * dimensions, indexing="ij")
    return np.column_stack([axis.ravel() for axis in mesh])


def _deviations(spec: TaskSpec, states: np.ndarray, horizon: int) -> np.ndarray:
    count = len(states)
    ended, squared = np.zeros(count, dtype=np.bool_), np.zeros((count, count))
    trajectories = Trajectories(states, states.copy(), ended, 1.0 / np.array(spec.scale), squared)
    send_all_sequences(spec.task, trajectories, horizon)
    return np.sqrt(squared)


@kernel
def send_all_sequences(task: Any, trajectories: Trajectories, horizon: int) -> None:
    """Send the states out under each sequence of actions that changes at most once before the horizon."""
    for a in range(actions(task)):
        for b in range(actions(task)):
            for change in range(1, horizon + 1):
                if a != b or change == horizon:
                    _send(task, trajectories, horizon, a, b, change)


@part
def _send(task: Any, trajectories: Trajectories, horizon: int, a: int, b: int, change: int) -> None:
    """Take action ``a`` up to a step and ``b`` from there on."""
    for n in range(len(trajectories.now)):
        trajectories.ended[n] = False
        for i in range(len(trajectories.weight)):
            trajectories.now[n, i] = trajectories.first[n, i]
    _compare(trajectories)
    for step in range(horizon):
        for n in range(len(trajectories.now)):
            if not trajectories.ended[n]:
                s, _, trajectories.ended[n] = transition(
                    task, unpack(task, trajectories.now[n]), a if step < change else b
                )
                for i in range(len(s)):
                    trajectories.now[n, i] = s[i]
        _compare(trajectories)


@part
def _compare(trajectories: Trajectories) -> None:
    """Keep the largest distance of each pair."""
    for n in range(len(trajectories.now)):
        for m in range(n):
            distance = 0.0
            for i in range(len(trajectories.weight)):
                d = (trajectories.now[n, i] - trajectories.now[m, i]) * trajectories.weight[i]
                distance += d * d
            if distance > trajectories.squared[n, m]:
                trajectories.squared[n, m] = distance
                trajectories.squared[m, n] = distance


def quickest_failure(spec: TaskSpec) -> int:
    """Return the fewest steps in which repeating one action fails from the start.

    >>> from distinguo.tasks.catalog import task_spec
    >>> quickest_failure(task_spec("puck"))
    54
    """
    first = start(spec.task, np.random.default_rng(0))
    lengths = [_length(spec.task, first, a) for a in range(len(spec.actions))]
    if min(lengths) >= LONGEST:
        raise DistinguoError(
            f"No action repeated from the start of the task '{spec.name}' fails within {LONGEST:,} steps, so the "
            f"controllability analysis has no horizon; give one."
        )
    return min(lengths)


def _length(task: Any, s: tuple[float, ...], a: int) -> int:
    for length in range(1, LONGEST):
        s, _, terminal = transition(task, s, a)
        if terminal:
            return length
    return LONGEST
